import type { Progress } from '../core/progress.js';
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { spectraCAT, voltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { parseInstant, secondsBetween } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile, type SpectraRecording, type VoltageRecording } from '../formats/index.js';
import { trio } from '../formats/testing/trio.js';
import { planChannels } from '../stages/index.js';
import { checkObservation, runObservation } from '../observation/index.js';
import { copyRecording } from '../visibilities/index.js';
import { spectraInMemory, voltagesInMemory } from '../stages/testing.js';

const SAMPLES = 50;
const INPUTS = trio.stations.length * 2;
const start = parseInstant('2026-06-21T04:00:00.25');
const random = randomStream(2, 'files');
const gap = { firstInput: 2, endInput: 4, firstSample: 20, endSample: 23 };
const values = Int8Array.from({ length: 2 * INPUTS * SAMPLES }, () => random.below(15) - 7);
for (let a = gap.firstInput; a < gap.endInput; a++) {
  values.fill(0, 2 * (a * SAMPLES + gap.firstSample), 2 * (a * SAMPLES + gap.endSample));
}
const block: VoltageBlock = {
  type: 'ci8',
  inputs: INPUTS,
  samples: SAMPLES,
  voltages: voltagesAT(values, 'ci8', INPUTS, SAMPLES),
  gaps: [gap],
  start,
};
const recording = voltagesInMemory(block, {
  polarisations: 2,
  sampleRateHz: 1e6,
  centreFrequencyHz: 60e6,
  telescope: trio,
  bits: 4,
});

describe('recordings made of recordings', () => {
  const folder = temporaryFolder('files');
  const voltagesOf = async (path: string): Promise<VoltageRecording> => {
    const opened = await openFile(path);
    assert.ok(opened.kind === 'voltages');
    return opened;
  };
  const spectraOf = async (path: string): Promise<SpectraRecording> => {
    const opened = await openFile(path);
    assert.ok(opened.kind === 'spectra');
    return opened;
  };

  it('copy voltages with all that is known of them', async () => {
    const path = join(folder, 'copy.sigmf-meta');
    const progress: number[] = [];
    const options = {
      history: ['a test'],
      onProgress: ({ done, of = NaN }: Progress) => void progress.push(done / of),
    };
    // Two inputs lack three samples each.
    assert.deepEqual(await copyRecording(recording, path, options), { samples: SAMPLES, missingSamples: 6 });
    assert.equal(progress.at(-1), 1);
    const opened = await voltagesOf(path);
    const { type, bits, inputs, polarisations, samples, sampleRateHz, centreFrequencyHz } = opened;
    assert.deepEqual(
      { type, bits, inputs, polarisations, samples, sampleRateHz, centreFrequencyHz },
      {
        type: 'ci8',
        bits: 4,
        inputs: INPUTS,
        polarisations: 2,
        samples: SAMPLES,
        sampleRateHz: 1e6,
        centreFrequencyHz: 60e6,
      },
    );
    assert.deepEqual(opened.telescope, trio);
    assert.equal(secondsBetween(start, opened.start), 0);
    for await (const read of opened.blocks(SAMPLES)) {
      assert.deepEqual([...read.voltages], [...values]);
      assert.deepEqual(read.gaps, [gap]);
    }
    await opened.close();
    // Channels of the copy have the levels of the original: 7 is full scale in both.
    const settings = { channels: 4, taps: 2, outputType: 'ci8' } as const;
    assert.equal(planChannels(opened, settings).gains, planChannels(recording, settings).gains);
  });

  it('copy channelised data, one channel among them', async () => {
    for (const channels of [1, 3]) {
      const path = join(folder, `spectra${channels}.sigmf-meta`);
      const nibbles = Uint8Array.from({ length: channels * 2 * 5 }, (_, n) => 16 + (n % 7));
      const lost = {
        firstChannel: 0,
        endChannel: 1,
        firstInput: 0,
        endInput: 2,
        firstSample: 3,
        endSample: 4,
      };
      for (const a of [0, 1]) nibbles[a * 5 + 3] = 0;
      const spectra = spectraCAT(nibbles, 'ci4', channels, 2, 5);
      const frequenciesHz = Float64Array.from({ length: channels }, (_, c) => 60e6 + 25e3 * c);
      const from = spectraInMemory(
        { samples: 5, spectra, gaps: [lost], start },
        { type: 'ci4', inputs: 2, polarisations: 2, spectrumRateHz: 20e3, frequenciesHz, chunk: 2 },
      );
      // Correlating the copy undoes them as for the original.
      const gains = {
        levels: Float64Array.from({ length: 2 * channels }, (_, k) => 1 + k),
        gainRatio: 2.5,
        realChannels: 1,
      };
      // One sample of two inputs in one channel.
      const copied = await copyRecording({ ...from, ...gains, channelWidthHz: 25e3 }, path, { history: [] });
      assert.deepEqual(copied, { samples: 5, missingSamples: 2 });
      const opened = await spectraOf(path);
      const { type, inputs, samples, spectrumRateHz, channelWidthHz } = opened;
      assert.deepEqual(
        { type, channels: opened.channels, inputs, samples, spectrumRateHz, channelWidthHz },
        { type: 'ci4', channels, inputs: 2, samples: 5, spectrumRateHz: 20e3, channelWidthHz: 25e3 },
      );
      assert.deepEqual(opened.frequenciesHz, frequenciesHz);
      const { levels, gainRatio, realChannels } = opened;
      assert.deepEqual({ levels, gainRatio, realChannels }, gains);
      for await (const read of opened.blocks(5)) {
        assert.deepEqual([...read.spectra], [...nibbles]);
        assert.deepEqual(read.gaps, [lost]);
      }
      await opened.close();
    }
  });

  it('channelise to a file that has frequencies, times, gaps and the telescope', async () => {
    await copyRecording(recording, join(folder, 'voltages.sigmf-meta'), { history: [] });
    const channelised = async (path: string, gain: number) => {
      const observation = checkObservation({
        corella: 1,
        source: { recording: 'voltages.sigmf-meta' },
        front: { channels: 4, taps: 2, gain },
        products: [{ spectra: path }],
        machine: { backend: 'reference' },
      });
      const source = { ...observation.source, recording: join(folder, 'voltages.sigmf-meta') };
      return (await runObservation({ ...observation, source }, { version: '0', into: folder })).account;
    };
    const path = join(folder, 'channels.sigmf-meta');
    const facts = await channelised('channels.sigmf-meta', 4);
    // 12 spectra of 4 samples, one less under two taps.
    assert.deepEqual([facts.spectra, facts.missingSamples], [11, 6]);
    // Numbers of up to seven stay within 127 with a gain of four, and most do not with four thousand.
    assert.equal(facts.saturated, 0);
    const clipped = await channelised('loud.sigmf-meta', 4000);
    assert.ok(clipped.saturated > 11 * 4 * INPUTS, `${clipped.saturated}`);
    const opened = await spectraOf(path);
    assert.equal(opened.samples, 11);
    assert.deepEqual(opened.telescope, trio);
    assert.deepEqual([...opened.frequenciesHz], [59.5e6, 59.75e6, 60e6, 60.25e6]);
    assert.equal(opened.spectrumRateHz, 250e3);
    // The centre of the first window is 3.5 samples in; the first begins half a spectrum, 2 samples, before it.
    assert.ok(Math.abs(secondsBetween(start, opened.start) - 1.5e-6) < 1e-12);
    for await (const read of opened.blocks(11)) {
      // Samples 20…22 are in windows of eight that start at 16 and 20: spectra 4 and 5.
      const { firstInput, endInput } = gap;
      assert.deepEqual(read.gaps, [
        { firstChannel: 0, endChannel: 4, firstInput, endInput, firstSample: 4, endSample: 6 },
      ]);
      assert.ok(read.spectra.some((value) => value !== 0));
    }
    await opened.close();
  });

  it('leave nothing behind when the recording breaks off', async () => {
    const broken: VoltageRecording = {
      ...recording,
      // eslint-disable-next-line @typescript-eslint/require-await -- a stream that fails
      blocks: async function* () {
        yield block;
        throw new Error('the disk is gone');
      },
    };
    const before = await readdir(folder);
    const path = join(folder, 'broken.sigmf-meta');
    await assert.rejects(copyRecording(broken, path, { history: [] }), /the disk is gone/);
    assert.deepEqual(await readdir(folder), before);
  });
});
