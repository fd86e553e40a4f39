/** What cannot be joined into one recording, and what a joined recording must preserve. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allocateSpectra } from '../../core/axes.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { createSigmfSpectra, type SigmfSpectraHeader } from '../recordings/sigmf/sigmf.js';
import { openFile } from '../registry.js';

const folder = temporaryFolder('alike');
const start = parseInstant('2026-06-21T04:00:00Z');
const SPECTRA = 10;
const rateHz = 1000;
const plainHeader: Omit<SigmfSpectraHeader, 'start'> = {
  type: 'ci4',
  inputs: 2,
  polarisations: 1,
  channels: 2,
  spectrumRateHz: rateHz,
  channelWidthHz: rateHz,
  frequenciesHz: Float64Array.of(1e8, 1e8 + rateHz),
  centreFrequencyHz: 1e8,
};

let made = 0;
/** The n-th part of a recording. */
async function put(n: number, header: Partial<SigmfSpectraHeader> = {}): Promise<string> {
  const path = join(folder, `${made++}.sigmf-meta`);
  const at = addSeconds(start, (n * SPECTRA) / rateHz);
  const writer = await createSigmfSpectra(path, { ...plainHeader, ...header, start: at });
  const spectra = allocateSpectra('ci4', 2, header.inputs ?? 2, SPECTRA);
  await writer.append({ samples: SPECTRA, spectra, gaps: [], start: at });
  await writer.finish();
  return path;
}

const joined = async (...paths: string[]) => {
  const file = await openFile(paths.join(','));
  await file.close();
  assert.ok(file.kind === 'spectra');
  return file;
};

describe('channelised files that follow each other', () => {
  const gains = { gainRatio: 2.5, levels: [1, 2, 3, 4], realChannels: 1 };

  it('keep the gains that they were rounded by', async () => {
    const { samples, gainRatio, levels, realChannels } = await joined(
      await put(0, gains),
      await put(1, gains),
    );
    assert.deepEqual(
      { samples, gainRatio, levels: [...(levels ?? [])], realChannels },
      { ...gains, samples: 2 * SPECTRA },
    );
  });

  for (const [what, header, words] of [
    ['gains', { ...gains, gainRatio: 2 }, /rounded by other gains than .*; channelise them alike/],
    ['levels', { ...gains, levels: [1, 2, 3, 5] }, /rounded by other gains/],
    ['channels of real numbers', { ...gains, realChannels: 0 }, /has 0 channels of real numbers where/],
    ['polarisations', { ...gains, polarisations: 2 }, /has 2 polarisations where .* has 1 polarisation;/],
    ['bits', { ...gains, bits: 2 }, /has 2 bits of its type where .* has all bits/],
  ] as const)
    it(`are refused with other ${what}`, async () => {
      await assert.rejects(joined(await put(0, gains), await put(1, header)), words);
    });
});
