import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allocateVoltages } from '../../../core/axes.js';
import { addSeconds, formatInstant, parseInstant } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { openFile } from '../../registry.js';
import { expectRecording, readRecording } from '../../testing/reading.js';
import { createSigmf, type SigmfHeader } from './sigmf.js';

const start = parseInstant('2026-06-21T04:00:00.000000125Z');
const plain = { type: 'ci8', polarisations: 1, sampleRateHz: 1e6, centreFrequencyHz: 1.42e9, start } as const;
const value = (input: number, t: number, part: number): number => ((input * 41 + t * 3 + part) % 200) - 100;

describe('SigMF collections', () => {
  const folder = temporaryFolder('collection');
  /** Inputs starting at `first`, with 100 samples each. */
  const record = async (name: string, first: number, inputs = 1, of: Partial<SigmfHeader> = {}) => {
    const header: SigmfHeader = { ...plain, inputs, history: [], ...of };
    const writer = await createSigmf(join(folder, `${name}.sigmf-meta`), header);
    const voltages = allocateVoltages('ci8', inputs, 100);
    for (let k = 0; k < voltages.length; k++)
      voltages[k] = value(first + Math.floor(k / 200), (k >> 1) % 100, k & 1);
    await writer.append({ type: 'ci8', inputs, samples: 100, voltages, gaps: [], start: header.start });
    await writer.finish();
    return name;
  };
  const sha512 = (name: string): string =>
    createHash('sha512')
      .update(readFileSync(join(folder, `${name}.sigmf-meta`)))
      .digest('hex');
  const collect = (name: string, streams: readonly unknown[], more: object = {}): string => {
    const path = join(folder, `${name}.sigmf-collection`);
    const collection = { 'core:version': '1.2.0', 'core:streams': streams, ...more };
    writeFileSync(path, JSON.stringify({ collection }));
    return path;
  };

  it('are the inputs of one observation in the order of the list, of either form of it', async () => {
    const [one, two] = [await record('one', 0), await record('two', 1, 2)];
    const named = { name: one, hash: sha512(one).toUpperCase() };
    for (const streams of [
      [named, { name: two }],
      [named, [two, sha512(two)]],
    ]) {
      const file = expectRecording(await openFile(collect('both', streams)));
      assert.deepEqual([file.inputs, file.samples, file.format], [3, 100, 'sigmf']);
      assert.equal(formatInstant(file.start, 9), '2026-06-21T04:00:00.000000125Z');
      await file.verify?.();
      const { values, gaps } = await readRecording(file, 33);
      assert.deepEqual(gaps, []);
      for (let input = 0; input < 3; input++)
        assert.deepEqual(
          values[input],
          Array.from({ length: 200 }, (_, k) => value(input, k >> 1, k & 1)),
        );
    }
    const reversed = expectRecording(await openFile(collect('back', [{ name: two }, { name: one }])));
    assert.deepEqual((await readRecording(reversed, 1000)).values[2].slice(0, 2), [
      value(0, 0, 0),
      value(0, 0, 1),
    ]);
  });

  it('refuses recordings that do not belong together', async () => {
    const [one, rate, centre, late] = [
      await record('first', 0),
      await record('rate', 1, 1, { sampleRateHz: 2e6 }),
      await record('centre', 1, 1, { centreFrequencyHz: 1.421e9 }),
      await record('late', 1, 1, { start: addSeconds(start, 3e-3) }),
    ];
    const undated = await record('undated', 1);
    const path = join(folder, 'undated.sigmf-meta');
    writeFileSync(path, readFileSync(path, 'utf8').replace('core:datetime', 'no:datetime'));
    const refused: readonly (readonly [string, RegExp])[] = [
      [rate, /rate\.sigmf-meta: has 2000000 samples a second where .*first/],
      [centre, /centre\.sigmf-meta: has a band around 1421000000 Hz where/],
      [late, /late\.sigmf-meta: starts 3\.?0* ms after .*first\.sigmf-meta/],
      [undated, /undated\.sigmf-meta: only one of it and .*first\.sigmf-meta has core:datetime/],
      ['gone', /gone\.sigmf-meta/],
      ['../first', /is not a plain file name/],
      [one, /names first twice/],
    ];
    for (const [name, words] of refused)
      await assert.rejects(openFile(collect('odd', [{ name: one }, { name }])), words, name);
  });

  it('refuses a recording changed since, in its metadata or its data', async () => {
    const one = await record('kept', 0);
    const hash = sha512(one);
    const meta = join(folder, 'kept.sigmf-meta');
    const path = collect('guarded', [{ name: one, hash }]);
    const data = join(folder, 'kept.sigmf-data');
    const bytes = readFileSync(data);
    bytes[7] ^= 1;
    writeFileSync(data, bytes);
    const file = expectRecording(await openFile(path));
    await assert.rejects(
      file.verify?.() ?? Promise.resolve(),
      /kept\.sigmf-data: does not match core:sha512/,
    );
    await file.close();
    writeFileSync(meta, readFileSync(meta, 'utf8').replace('1420000000', '1430000000'));
    await assert.rejects(openFile(path), /kept\.sigmf-meta: is not the file that .*guarded/);
  });

  it('refuses a damaged collection and an extension it does not know', async () => {
    const one = await record('any', 0);
    await assert.rejects(openFile(collect('none', [])), /is not a SigMF collection \(.*streams/);
    const needs = { 'core:extensions': [{ name: 'spatial', version: '1.0.0', optional: false }] };
    await assert.rejects(
      openFile(collect('spatial', [{ name: one }], needs)),
      /needs the extension 'spatial'/,
    );
  });
});
