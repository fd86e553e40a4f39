/** Several files as one, each made here, read whole and in pieces that match none of them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openFile } from '../registry.js';
import {
  encodeDada,
  encodeGuppi,
  encodeVdif,
  type DadaSample,
  type VdifSample,
} from '../testing/encoders.js';
import { expectRecording, readRecording } from '../testing/reading.js';
import { header, integration } from '../visibilities/uvh5/testing.js';
import { createUvh5 } from '../visibilities/uvh5/write.js';

const folder = temporaryFolder('several');
const put = (name: string, bytes: Uint8Array): string => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};
const code = (sender: number, input: number, t: number, part: number): number =>
  ((sender * 31 + input * 17 + t * 5 + part * 3) % 201) - 100;

const dada: DadaSample = {
  channels: 1,
  polarisations: 2,
  samples: 100,
  bandwidthMhz: 16,
  instrument: 'x',
  offsetBytes: 0,
  code,
};
/** Four bytes per sample: the file starting at sample `from`. */
const dadaFrom = (from: number): Buffer =>
  encodeDada({
    ...dada,
    offsetBytes: 4 * from,
    code: (sender, input, t, part) => code(sender, input, t + from, part),
  });

const vdif: VdifSample = {
  bits: 8,
  parts: 2,
  threads: [0],
  channels: 1,
  samplesPerFrame: 32,
  framesPerSecond: 10,
  frames: 6,
  epoch: 28,
  seconds: 1000,
  firstFrame: 0,
  extension: 1,
  code,
};

describe('several files as one', () => {
  it('DADA that follows on DADA, in whatever order it is named, and what is lost between', async () => {
    const paths = [300, 0, 100].map((from) => put(`seq_${from}.dada`, dadaFrom(from)));
    for (const blockSamples of [1000, 37]) {
      const joined = expectRecording(await openFile(paths.join(',')));
      assert.deepEqual([joined.samples, joined.details.arranged], [400, 'in sequence']);
      const { values, gaps, starts } = await readRecording(joined, blockSamples);
      assert.equal(formatInstant(starts[0]), '2013-07-02T01:37:40.000Z');
      for (const t of [0, 99, 100, 199, 300, 399])
        assert.deepEqual(
          values[1].slice(2 * t, 2 * t + 2),
          [code(0, 1, t, 0), code(0, 1, t, 1)],
          `sample ${t}`,
        );
      assert.deepEqual(values[1].slice(2 * 200, 2 * 300), new Array(200).fill(0));
      const missing = gaps.reduce(
        (sum, gap) => sum + (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample),
        0,
      );
      assert.equal(missing, 2 * 100);
    }
  });

  it('GUPPI RAW by a pattern, whose blocks overlap from file to file', async () => {
    const sample = {
      antennas: 1,
      channels: 2,
      polarisations: 2 as const,
      blockSamples: 20,
      overlap: 4,
      bandwidthMhz: 0.001,
      directIo: 'no' as const,
      code,
    } as const;
    put('g.0000.raw', encodeGuppi({ ...sample, blocks: [0, 1] }));
    put('g.0001.raw', encodeGuppi({ ...sample, blocks: [2, 3] }));
    const { recording, values, gaps } = await readRecording(
      expectRecording(await openFile(join(folder, 'g.*.raw'))),
      11,
    );
    // 20 samples, and 16 more from each following block.
    assert.equal(recording.samples, 68);
    assert.deepEqual(gaps, []);
    for (const t of [0, 35, 36, 40, 67])
      assert.deepEqual(
        values[0].slice(2 * t, 2 * t + 2),
        [code(0, 0, t, 0), code(0, 0, t, 1)],
        `sample ${t}`,
      );
  });

  it('VDIF of one time: stations side by side, each where its own time states', async () => {
    const station = (sender: number, firstFrame: number): Buffer =>
      encodeVdif({
        ...vdif,
        firstFrame,
        code: (_thread, input, t, part) => code(sender, input, t + 32 * firstFrame, part),
        drop: (_thread, frame) => (sender === 1 && frame === 3 ? 'drop' : 'keep'),
      });
    const paths = [put('a.vdif', station(0, 0)), put('b.vdif', station(1, 2))];
    const joined = expectRecording(await openFile(paths.join(','), { sampleRateHz: 320 }));
    assert.deepEqual([joined.inputs, joined.samples, joined.details.arranged], [2, 8 * 32, 'side by side']);
    const { values, gaps } = await readRecording(joined, 50);
    const at = (row: number, t: number): number[] => values[row].slice(2 * t, 2 * t + 2);
    // Offset binary.
    const level = (sender: number, t: number): number[] =>
      [0, 1].map((part) => (code(sender, 0, t, part) & 255) - 128);
    for (const t of [0, 100, 191]) assert.deepEqual(at(0, t), level(0, t));
    for (const t of [64, 159, 192, 255]) assert.deepEqual(at(1, t), level(1, t));
    const missing = [0, 1].map((input) =>
      gaps
        .filter(({ firstInput, endInput }) => firstInput <= input && input < endInput)
        .reduce((sum, gap) => sum + gap.endSample - gap.firstSample, 0),
    );
    // The first ends two frames before the second, which begins two frames after it and lost one.
    assert.deepEqual(missing, [64, 64 + 32]);
  });

  it('VDIF of several stations and several times is not arranged by guessing', async () => {
    const paths = [0, 20, 0, 20].map((firstFrame, k) =>
      put(
        `mixed_${k}.vdif`,
        encodeVdif({
          ...vdif,
          frames: 6,
          firstFrame: firstFrame % 10,
          seconds: 1000 + Math.floor(firstFrame / 10),
        }),
      ),
    );
    await assert.rejects(
      openFile(paths.join(','), { sampleRateHz: 320 }),
      /mixed_1\.vdif: follows .*mixed_0\.vdif, where other files are of the same time/,
    );
    const threads = put('threads.vdif', encodeVdif({ ...vdif, threads: [1], seconds: 1002 }));
    await assert.rejects(
      openFile([paths[0], threads].join(','), { sampleRateHz: 320 }),
      /has threads \[1\] where .* has threads \[0\]/,
    );
  });

  it('visibilities that follow each other; what does not belong together is refused by name', async () => {
    const write = async (name: string, of: typeof header, ks: readonly number[]): Promise<string> => {
      const writer = await createUvh5(join(folder, name), of, { values: 'complex64' });
      for (const k of ks) await writer.append(integration(k));
      await writer.finish();
      return join(folder, name);
    };
    const [late, early] = [await write('late.uvh5', header, [2, 3]), await write('early.uvh5', header, [0])];
    const file = await openFile(`${late},${early}`);
    assert.ok(file.kind === 'visibilities' && file.integrationCount === 3);
    const starts: string[] = [];
    for await (const { start } of file.integrations()) starts.push(formatInstant(start));
    assert.deepEqual(
      starts,
      [0, 2, 3].map((k) => formatInstant(integration(k).start)),
    );
    await file.close();
    const other = await write('other.uvh5', { ...header, frequenciesHz: Float64Array.of(161e6, 162e6) }, [5]);
    await assert.rejects(openFile(`${late},${other}`), /other\.uvh5: has channels other than .*late\.uvh5/);
    const site = { ...header.telescope.site, longitudeDeg: 116.68 };
    const far = await write('far.uvh5', { ...header, telescope: { ...header.telescope, site } }, [5]);
    await assert.rejects(
      openFile(`${late},${far}`),
      /far\.uvh5: is of a site 99\d\.\d m away from that of .*late/,
    );
    await assert.rejects(openFile(`${late},${put('x.dada', dadaFrom(0))}`), /holds no visibilities as/);
    await assert.rejects(openFile(join(folder, '*.nothing')), /matches no file/);
    const again = await write('again.uvh5', header, [2]);
    await assert.rejects(openFile(`${late},${again}`), /files of the same time are not joined/);
  });
});
