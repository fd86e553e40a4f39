import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutChannelising, cutCorrelation, MOST_RESULT_BYTES } from './cut.js';
import { rangesOf } from './job.js';

const every = (length: number, count: number, last = length) =>
  Array.from({ length: count }, (_, n) => ({
    first: n * length,
    end: n === count - 1 ? n * length + last : (n + 1) * length,
  }));

describe('where a correlation is cut', () => {
  const common = { channels: 8, bytesPerChannel: 1000, sums: 'whole-numbers' as const };

  it('gathers short integrations, and never leaves one in two', () => {
    const { spectra, channels } = cutCorrelation({
      ...common,
      integrations: every(10, 7, 4),
      spectraPerJob: 30,
    });
    assert.deepEqual(spectra, [0, 30, 60, 64]);
    assert.deepEqual(channels, [0, 8]);
  });

  it('cuts long integrations of whole numbers evenly, and what follows begins anew', () => {
    const integrations = [...every(100, 1), { first: 100, end: 110 }, { first: 110, end: 120 }];
    const { spectra } = cutCorrelation({ ...common, integrations, spectraPerJob: 40 });
    assert.deepEqual(spectra, [0, 33, 67, 100, 120]);
  });

  it('keeps integrations of floats whole', () => {
    const cut = cutCorrelation({ ...common, sums: 'floats', integrations: every(100, 3), spectraPerJob: 40 });
    assert.deepEqual(cut.spectra, [0, 100, 200, 300]);
  });

  it('cuts channels, and takes fewer integrations, where results would be too large', () => {
    const bytesPerChannel = MOST_RESULT_BYTES / 3;
    const cut = cutCorrelation({ ...common, bytesPerChannel, integrations: every(1, 5), spectraPerJob: 100 });
    assert.deepEqual(cut.channels, [0, 3, 5, 8]);
    assert.deepEqual(cut.spectra, [0, 1, 2, 3, 4, 5]);
    const asked = cutCorrelation({
      ...common,
      integrations: every(1, 5),
      spectraPerJob: 100,
      channelsPerJob: 5,
    });
    assert.deepEqual(asked.channels, [0, 4, 8]);
  });

  it('covers every spectrum of every channel once, whatever is asked', () => {
    for (const spectraPerJob of [1, 2, 3, 7, 50, 1000])
      for (const channelsPerJob of [1, 3, 8]) {
        const cut = cutCorrelation({
          ...common,
          integrations: every(9, 4, 5),
          spectraPerJob,
          channelsPerJob,
        });
        const seen = new Uint8Array(32 * 8);
        for (const range of rangesOf(cut))
          for (let t = range.firstSpectrum; t < range.endSpectrum; t++)
            for (let c = range.firstChannel; c < range.endChannel; c++) seen[t * 8 + c]++;
        assert.ok(
          seen.every((times) => times === 1),
          `${spectraPerJob} × ${channelsPerJob}`,
        );
      }
  });
});

describe('where channelising is cut', () => {
  it('ends jobs where the blocks of one process end', () => {
    const cut = cutChannelising({
      channels: 4,
      spectra: 99,
      blockSamples: 40,
      samplesPerSpectrum: 4,
      taps: 3,
      bytesPerSpectrum: 32,
      spectraPerJob: 20,
    });
    // Two blocks are 20 spectra; the last two need samples of the third block.
    assert.deepEqual(cut, { spectra: [0, 18, 38, 58, 78, 98, 99], channels: [0, 4] });
  });
});
