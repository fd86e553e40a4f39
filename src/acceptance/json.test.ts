/**
 * Output of every command with --json against its declaration: each document has exactly the declared fields.
 * docs/json.md is made from the declarations.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { jsonDocuments } from '../messages/index.js';
import { corellaHere } from './corella.js';

/** Fields by document; true if always present. */
const documented = new Map(
  jsonDocuments.map(({ of, fields, rows }) => [
    of,
    new Map(
      Object.entries({ ...fields, ...rows?.fields }).map(([name, field]) => [
        name,
        typeof field === 'string',
      ]),
    ),
  ]),
);

/** In every document, and not in its table. */
const IN_ALL = ['jsonVersion', 'messages'];

describe('JSON', () => {
  const folder = temporaryFolder('json');
  const corella = (words: string) => corellaHere(folder, ...words.split(' '));
  const SPOT = '--sources spot@60:90:5000';

  /** Each section with the commands that show it, ordered so that their inputs exist. */
  const shown: readonly (readonly [section: string, ...lines: string[]])[] = [
    ['simulate', `simulate --telescope eda2 --stations 6 --time 2026-03-01T12:00:00Z ${SPOT} --rate 100kHz --duration 60ms --drop 0.1 -o t.sigmf-meta`],
    ['channelise', 'channelise t.sigmf-meta --channels 8 -o c.sigmf-meta'],
    ['channelise --response', 'channelise --response --channels 8 -o r.png'],
    ['correlate', 'correlate t.sigmf-meta --channels 8 -o t.uvfits'],
    ['calibrate', `calibrate t.uvfits ${SPOT} -o gains.json`],
    ['apply', 'apply t.uvfits gains.json a.uvh5'],
    ['image', 'image t.uvfits --gains gains.json --field 30 --pixels 64 --centre zenith -o w.fits', 'image t.uvfits --field 30 --pixels 64 --clean 5 -o cl.fits --no-picture'],
    ['image --every', 'image --direct t.sigmf-meta --channels 8 --every 20ms -o s.fits'],
    ['image --direct', 'image --direct t.sigmf-meta --channels 8 -o d.fits --no-picture'],
    ['inspect RECORDING', 'inspect t.sigmf-meta --whole', 'inspect c.sigmf-meta', 'inspect early.dada'],
    ['inspect VISIBILITIES', 'inspect t.uvfits'],
    ['inspect GAINS', 'inspect gains.json'],
    ['inspect IMAGE', 'inspect w.fits'],
    ['convert', 'convert t.uvfits u.uvh5', 'convert t.sigmf-meta v.sigmf-meta', 'convert early.dada w.sigmf-meta', 'convert t.uvfits low.uvh5 --keep-channels 0-3', 'convert t.uvfits high.uvh5 --keep-channels 4-7'],
    ['compare', 'compare t.uvfits u.uvh5 --tolerance 1e-6'],
    ['send', 'send t.sigmf-meta --format vdif --to cap.pcap --speed max', 'send t.sigmf-meta --format vdif --to 127.0.0.1:9 --speed max'],
    ['inspect CAPTURE', 'inspect cap.pcap --rate 100kHz'],
    ['farm submit', 'farm submit correlate t.sigmf-meta --channels 8 -o f.uvh5 --backend reference'],
    ['worker --job', 'worker --job f.uvh5.farm/jobs/0.json --root . --backend reference', 'worker --job f.uvh5.farm/jobs/0.json --root .'],
    ['farm status', 'farm status f.uvh5.farm'],
    ['farm collect', 'farm collect f.uvh5.farm'],
    ['farm combine', 'farm combine low.uvh5 high.uvh5 -o both.uvh5'],
    ['recover', 'recover . --remove'],
    ['plan', 'plan --card h200'],
    ['devices', 'devices'],
    ['devices --network', 'devices --network'],
    ['demo', 'demo --telescope eda2 --time 2026-01-15T04:00:00Z --stations 8 -o demo'],
    ['sample', 'sample hour'],
    ['sample --list', 'sample --list'],
    ['qualify', 'qualify --quick --figures signature --backend reference -o q', 'qualify --quick --figures signature --backend reference --compare q/report.json -o q2'],
    ['bench', 'bench correlate --only stations=16 --rounds 1 --backend reference'],
  ]; // prettier-ignore

  before(async () => {
    // Two inputs of complex bytes, truncated; and partial files of a killed run.
    const keys = 'HEADER DADA|HDR_SIZE 4096|FILE_SIZE 3000|UTC_START 2026-06-21-04:00:00|FREQ 58|BW 0.1|TSAMP 10|NBIT 8|NDIM 2|NPOL 2|NCHAN 1|'; // prettier-ignore
    const bytes = new Uint8Array(4096 + 4 * 500).fill(1, 4096);
    bytes.set(Buffer.from(keys.replaceAll('|', '\n')));
    await writeFile(join(folder, 'early.dada'), bytes);
    await writeFile(join(folder, '.gone.uvfits.4194303-0123456789ab.part'), 'x');
  });

  it('of every command is as documented', async () => {
    const sections = documented;
    const notShown = [...sections.keys()].filter((title) => !shown.some(([section]) => section === title));
    assert.deepEqual(
      // telescope asks questions; its document is in roof.test.
      notShown.filter((title) => !title.startsWith('live') && title !== 'telescope'),
      [],
      'every section is shown',
    );
    const faults: string[] = [];
    for (const [section, ...lines] of shown) {
      const fields = sections.get(section);
      assert.ok(fields, `there is no document "corella ${section}"`);
      for (const line of lines) {
        const { code, stdout, stderr } = await corella(`${line} --json`);
        if (code !== 0) faults.push(`corella ${line}: ${stderr}`);
        if (code !== 0) continue;
        const json = JSON.parse(stdout) as { readonly rows?: readonly object[] };
        // The rows of a bench are part of its table.
        for (const field of IN_ALL) assert.ok(field in json, `corella ${line}: ${field}`);
        const printed = [json, ...(json.rows?.slice(0, 1) ?? [])].flatMap((one) => Object.keys(one));
        for (const field of printed)
          if (!IN_ALL.includes(field) && !fields.has(field))
            faults.push(`corella ${line}: \`${field}\` is not declared`);
        for (const [field, always] of fields)
          if (always && !printed.includes(field)) faults.push(`corella ${line}: \`${field}\` is not printed`);
      }
    }
    assert.deepEqual(faults, []);
  });

  it('of live, line by line', async () => {
    const sections = documented;
    const run = async (words: string): Promise<string> => {
      const { code, stdout, stderr } = await corella(words);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await run('simulate --stations 16 --rate 100kHz --duration 120ms -o live');
    await run('send live.sigmf-meta --format chips --channels 4 --to live.pcap');
    const printed = await run(
      'live --from live.pcap --telescope lwasv --stations 16 --integration 40ms --image 20ms -o live.uvh5 --json',
    );
    const faults = new Set<string>();
    const seen = new Set<string>();
    for (const line of printed.trim().split('\n')) {
      const { event, ...rest } = JSON.parse(line) as { event: string; at?: string };
      const fields = sections.get(`live: ${event}`);
      assert.ok(fields, `there is no document "corella live: ${event}"`);
      seen.add(event);
      const keys = ['event', ...Object.keys(rest)];
      assert.match(String(rest.at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, `${event}: at`);
      for (const key of keys)
        if (!['at', 'jsonVersion'].includes(key) && !fields.has(key))
          faults.add(`${event}: \`${key}\` is not declared`);
      for (const [field, always] of fields)
        if (always && !keys.includes(field)) faults.add(`${event}: \`${field}\` is not printed`);
    }
    assert.deepEqual([...faults], []);
    const events = [...sections.keys()].flatMap((title) => /^live: (.+)$/.exec(title)?.[1] ?? []);
    // Every image here has data, so the event for an empty one does not occur.
    assert.deepEqual(
      events.filter((event) => !seen.has(event)),
      ['no-image'],
    );
  });

  it('of errors too, whoever refuses', async () => {
    const refusal = await corella('inspect nowhere.uvfits --json');
    assert.equal(refusal.code, 1);
    assert.deepEqual(JSON.parse(refusal.stdout), {
      jsonVersion: 1,
      error: {
        code: 'file.not-found',
        message: 'nowhere.uvfits: there is no such file; check the name',
        where: 'nowhere.uvfits',
        what: 'there is no such file',
        fix: 'check the name',
      },
    });
    assert.equal(refusal.stderr, 'corella: nowhere.uvfits: there is no such file; check the name\n');
    const usage = await corella('simulate --wrong --json');
    assert.equal(usage.code, 1);
    const said = JSON.parse(usage.stdout) as { error: { message: string; code: string } };
    assert.equal(said.error.code, 'option.unknown');
    assert.equal(said.error.message, "unknown option '--wrong'");
    assert.match(usage.stderr, /^corella: unknown option '--wrong'/);
    const value = await corella('simulate --stations none --json');
    assert.match(value.stdout, /"code": "value.invalid"[^]*"where": "--stations"/);
  });
});
