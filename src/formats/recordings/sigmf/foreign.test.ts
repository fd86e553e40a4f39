/** SigMF from other programs: the user may supply what it lacks. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allocateVoltages } from '../../../core/axes.js';
import { addSamples, parseInstant } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { openFile } from '../../registry.js';
import { createSigmf } from './sigmf.js';
import { trio } from '../../testing/trio.js';

const start = parseInstant('2026-06-21T04:00:00.000000125Z');
/** Two stations of two polarisations. */
const telescope = { ...trio, name: 'pair', stations: trio.stations.slice(1) };

describe('SigMF recordings', () => {
  const folder = temporaryFolder('sigmf');
  const record = async (name: string): Promise<string> => {
    const writer = await createSigmf(join(folder, `${name}.sigmf-meta`), {
      type: 'ci8',
      inputs: 4,
      polarisations: 2,
      sampleRateHz: 1e6,
      centreFrequencyHz: 1.6e8,
      start,
      telescope,
    });
    const voltages = allocateVoltages('ci8', 4, 3);
    await writer.append({ type: 'ci8', inputs: 4, samples: 3, voltages, gaps: [], start });
    await writer.finish();
    return join(folder, name);
  };
  interface Meta {
    global: Record<string, unknown>;
    captures: Record<string, unknown>[];
    annotations?: Record<string, unknown>[];
  }
  const editMeta = async (base: string, edit: (meta: Meta) => void): Promise<void> => {
    const path = `${base}.sigmf-meta`;
    const meta = JSON.parse(await readFile(path, 'utf8')) as Meta;
    edit(meta);
    await writeFile(path, JSON.stringify(meta));
  };

  it('of unsigned bytes count from their middle, and what is missing is 0', async () => {
    const base = await record('unsigned');
    await editMeta(base, ({ global, captures }) => {
      global['core:datatype'] = 'cu8';
      delete global['core:sha512'];
      captures.push({ 'core:sample_start': 2, 'core:global_index': 3 });
    });
    await writeFile(
      `${base}.sigmf-data`,
      Uint8Array.from({ length: 24 }, (_, n) => [0, 128, 255][n % 3]),
    );
    const opened = await openFile(`${base}.sigmf-meta`);
    assert.ok(opened.kind === 'voltages' && opened.type === 'ci8');
    for await (const { voltages, samples } of opened.blocks(10)) {
      assert.equal(samples, 4);
      // Input 0: bytes 0 and 1, 8 and 9, none, 16 and 17.
      assert.deepEqual([...voltages.subarray(0, 8)], [-128, 0, 127, -128, 0, 0, 0, 127]);
    }
    await opened.close();
  });

  it('keep what an annotation calls missing on both sides of a gap between captures', async () => {
    const base = await record('across');
    await editMeta(base, (meta) => {
      meta.captures.push({ 'core:sample_start': 2, 'core:global_index': 7 });
      meta.annotations = [
        { 'core:sample_start': 1, 'core:sample_count': 2, 'corella:missing': true, 'corella:end_input': 1 },
      ];
    });
    const opened = await openFile(`${base}.sigmf-meta`);
    assert.ok(opened.kind === 'voltages');
    const gaps: number[][] = [];
    for await (const block of opened.blocks(10))
      for (const gap of block.gaps) gaps.push([gap.endInput, gap.firstSample, gap.endSample]);
    // Samples 2 to 6 are between the captures; for input 0 also the last of the first and the first of the second.
    assert.deepEqual(gaps.sort((a, b) => a[1] - b[1]), [[1, 1, 2], [4, 2, 7], [1, 7, 8]]); // prettier-ignore
    await opened.close();
  });

  it('whose date and sample count of a later capture disagree are refused', async () => {
    const base = await record('hour');
    const later = async (datetime: string): Promise<void> => {
      await editMeta(base, (meta) => {
        const capture = { 'core:sample_start': 2, 'core:global_index': 7, 'core:datetime': datetime };
        meta.captures = [meta.captures[0], capture];
      });
      await (await openFile(`${base}.sigmf-meta`)).close();
    };
    // A computer's clock is not the sample clock.
    await later('2026-06-21T04:00:00.3Z');
    await assert.rejects(
      later('2026-06-21T05:00:00Z'),
      /capture 1: core:datetime is 3599\.\d+ s from where core:global_index 7 puts it/,
    );
  });

  it('of others take from the user what they do not state, and only that', async () => {
    const base = await record('foreign');
    await editMeta(base, ({ global, captures }) => {
      for (const key of Object.keys(global)) {
        if (key.startsWith('corella:') || key === 'core:sample_rate') Reflect.deleteProperty(global, key);
      }
      delete captures[0]['core:frequency'];
      delete captures[0]['core:datetime'];
    });
    const path = `${base}.sigmf-meta`;
    const [sampleRateHz, centreFrequencyHz] = [5e5, 7e7];
    const given = { sampleRateHz, centreFrequencyHz, start };
    await assert.rejects(openFile(path, { centreFrequencyHz, start }), /core:sample_rate.*source\.rate/);
    for (const [some, unknownFacts] of [
      [{ sampleRateHz, start }, ['frequency']],
      [{ sampleRateHz, centreFrequencyHz }, ['start']],
      [given, undefined],
    ] as const) {
      const opened = await openFile(path, some);
      assert.deepEqual(opened.kind === 'voltages' && opened.unknownFacts, unknownFacts);
      await opened.close();
    }
    const bareOne = await openFile(path, given);
    assert.ok(bareOne.kind === 'voltages');
    assert.deepEqual(
      [bareOne.sampleRateHz, bareOne.centreFrequencyHz, bareOne.start, bareOne.polarisations],
      [5e5, 7e7, start, 1],
    );
    await bareOne.close();
    const placed = await openFile(path, { ...given, telescope });
    assert.ok(placed.kind === 'voltages');
    assert.deepEqual([placed.polarisations, placed.telescope], [2, telescope]);
    await placed.close();
    const paired = await openFile(path, { ...given, polarisations: 2 });
    assert.ok(paired.kind === 'voltages' && paired.polarisations === 2);
    await paired.close();
    const three = { ...telescope, stations: [...telescope.stations, telescope.stations[0]] };
    await assert.rejects(
      openFile(path, { ...given, telescope: three }),
      /4 inputs where pair has 3 stations/,
    );
    // The recording's own facts have priority; a contradicting option is refused.
    const own = `${await record('own')}.sigmf-meta`;
    const said = { sampleRateHz: 1e6, centreFrequencyHz: 1.6e8, start, polarisations: 2 } as const;
    await (await openFile(own, said)).close();
    for (const [contradicting, words] of [
      [{ sampleRateHz }, /own\.sigmf-meta: states that it has 1 MHz; leave out source\.rate/],
      [{ centreFrequencyHz }, /that its band is around 160 MHz; leave out source\.frequency/],
      [
        { start: addSamples(start, 1, 1e6) },
        /begins at 2026-06-21T04:00:00\.000000125Z; leave out source\.start/,
      ],
      [{ polarisations: 1 }, /that a station has 2; leave out source\.polarisations/],
      // Every such recording states these, so the options do not apply to it.
      [
        { inputs: 4 },
        /source\.inputs means nothing for SigMF; leave it out: it is for Mark 5B, plain binary/,
      ],
      [{ skipBytes: 0 }, /source\.skip means nothing for SigMF; leave it out: it is for plain binary/],
      [{ type: 'ci8' }, /source\.sample-type means nothing for SigMF/],
    ] as const) {
      await assert.rejects(openFile(own, contradicting), words);
    }
  });
});
