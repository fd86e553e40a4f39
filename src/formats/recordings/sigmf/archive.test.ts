/** SigMF archives made by hand, after POSIX and in GNU tar's form for long names. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { openFile } from '../../registry.js';

const folder = temporaryFolder('archive');

interface Entry {
  readonly name: string;
  readonly body?: Buffer;
  readonly kind?: string;
  /** The size in the header, if it differs from the body's. */
  readonly sizeBytes?: number;
}

function entry({ name, body = Buffer.alloc(0), kind = '0', sizeBytes = body.length }: Entry): Buffer {
  const header = Buffer.alloc(512);
  header.write(name.slice(0, 100));
  header.write('0000644\0', 100);
  header.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write(kind, 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
const archive = (name: string, entries: readonly Entry[]): string => {
  writeFileSync(join(folder, name), Buffer.concat([...entries.map(entry), Buffer.alloc(1024)]));
  return join(folder, name);
};

const samples = Buffer.from(Array.from({ length: 600 }, (_, n) => (n % 200) - 100 + 256).map((n) => n % 256));
const metaOf = (global: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      global: { 'core:datatype': 'ci8', 'core:version': '1.0.0', 'core:sample_rate': 1e6, ...global },
      captures: [{ 'core:sample_start': 0, 'core:datetime': '2024-01-01T00:00:00Z', 'core:frequency': 1e8 }],
      annotations: [],
    }),
  );
const valuesOf = async (path: string): Promise<number[]> => {
  const file = await openFile(path);
  try {
    assert.ok(file.kind === 'voltages' && file.format === 'sigmf');
    const all: number[] = [];
    for await (const block of file.blocks(file.samples)) all.push(...block.voltages);
    return all;
  } finally {
    await file.close();
  }
};

describe('SigMF archives', () => {
  const meta = { name: 'sky.sigmf-meta', body: metaOf() };
  const data = { name: 'sky.sigmf-data', body: samples };
  const expected = [...new Int8Array(samples)];

  it('are read, whatever the order and the name, in a folder or not', async () => {
    const inFolder = [
      { name: 'sky/', kind: '5' },
      { ...data, name: 'sky/sky.sigmf-data' },
      { ...meta, name: './sky/sky.sigmf-meta' },
    ];
    assert.deepEqual(await valuesOf(archive('a.sigmf', [meta, data])), expected);
    assert.deepEqual(await valuesOf(archive('any-name', [data, meta])), expected);
    assert.deepEqual(await valuesOf(archive('c.sigmf', inFolder)), expected);
  });

  it('with long names, by GNU tar and by POSIX', async () => {
    const long = 'x'.repeat(120);
    const gnu = (name: string): Entry => ({
      name: '././@LongLink',
      kind: 'L',
      body: Buffer.from(`${name}\0`),
    });
    const pax = (name: string): Entry => {
      const text = ` path=${name}\n`;
      const length = text.length + 3;
      return { name: 'PaxHeaders/x', kind: 'x', body: Buffer.from(`${length}${text}`) };
    };
    for (const [k, named] of [gnu, pax].entries())
      assert.deepEqual(
        await valuesOf(
          archive(`long${k}.sigmf`, [
            named(`${long}.sigmf-meta`),
            { ...meta, name: long },
            named(`${long}.sigmf-data`),
            { ...data, name: long },
          ]),
        ),
        expected,
      );
  });

  it('are refused where they are damaged, hold none or several recordings, or name data elsewhere', async () => {
    const refused = (name: string, entries: readonly Entry[], words: RegExp): Promise<void> =>
      assert.rejects(openFile(archive(name, entries)), words);
    await refused('no-data.sigmf', [meta], /is an archive without sky\.sigmf-data/);
    await refused('no-meta.sigmf', [data], /is an archive without a \.sigmf-meta/);
    await refused(
      'two.sigmf',
      [meta, data, { ...meta, name: 'b.sigmf-meta' }],
      /holds 2 recordings: .*tar xf/,
    );
    await refused(
      'cut.sigmf',
      [meta, { ...data, sizeBytes: 1e6 }],
      /sky\.sigmf-data ends beyond the archive/,
    );
    await refused('json.sigmf', [{ ...meta, body: Buffer.from('{') }, data], /sky\.sigmf-meta: is no JSON/);
    const elsewhere = { ...meta, body: metaOf({ 'core:dataset': '../../etc/passwd' }) };
    await refused('elsewhere.sigmf', [elsewhere, data], /is not a plain file name/);
    const bytes = Buffer.concat([entry(meta), entry(data)]);
    bytes[130] ^= 1;
    writeFileSync(join(folder, 'damaged.sigmf'), bytes);
    await assert.rejects(
      openFile(join(folder, 'damaged.sigmf')),
      /header at byte 0 of the archive is damaged/,
    );
  });
});
