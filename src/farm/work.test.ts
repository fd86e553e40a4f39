import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { spectraCAT } from '../core/axes.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createSigmfSpectra, notingFiles, openFile } from '../formats/index.js';
import { jobName, PROTOCOL, type Job } from './plan.js';
import { marksOf, type FileMark } from './same-recording.js';
import { doJob } from './work.js';

const folder = temporaryFolder('jobs');
const path = join(folder, 'x.sigmf-meta');
const place = { name: 'w', version: '1.2.3', backend: openReference(), roots: [] };
let facts: Job['work']['recording']['facts'];
let files: FileMark[];

before(async () => {
  const writer = await createSigmfSpectra(path, {
    ...{ type: 'ci8', inputs: 2, polarisations: 1, channels: 4, channelWidthHz: 1000, spectrumRateHz: 1000 },
    ...{
      start: { unixSeconds: 1_800_000_000, fraction: 0 },
      centreFrequencyHz: 1e8,
      history: [],
      description: 'x',
    },
    frequenciesHz: Float64Array.of(1e8, 1.00001e8, 1.00002e8, 1.00003e8),
  });
  const spectra = spectraCAT(new Int8Array(2 * 4 * 2 * 50).fill(3), 'ci8', 4, 2, 50);
  await writer.append({ samples: 50, spectra, gaps: [], start: { unixSeconds: 1_800_000_000, fraction: 0 } });
  await writer.finish();
  const { opened, paths } = await notingFiles(() => openFile(path));
  if (opened.kind !== 'spectra') throw new Error('spectra were written');
  const { type, inputs, samples, start } = opened;
  facts = { kind: 'spectra', type, inputs, samples, start };
  await opened.close();
  files = await marksOf(paths);
});

const jobOf = (box: Partial<Job['box']>, flaggedInputs: number[] = []): Job => {
  const whole = { firstSpectrum: 0, endSpectrum: 50, firstChannel: 0, endChannel: 4, ...box };
  return {
    ...{
      protocol: PROTOCOL,
      version: '1.2.3',
      plan: 'correlate-x',
      id: jobName(whole),
      box: whole,
      failures: [],
    },
    work: {
      command: 'correlate',
      recording: { path, open: {}, facts, files },
      ...{ align: 'first-sample', flaggedInputs, backend: 'auto', integrationS: 0.02 },
    },
  };
};

describe('a job', () => {
  it('inside its recording is done', async () => {
    const { head } = await doJob(jobOf({}), place);
    assert.deepEqual(
      head.parts.map(({ first, end }) => [first, end]),
      [[0, 20], [20, 40], [40, 50]], // prettier-ignore
    );
  });

  it('with a range outside its recording, an empty one, or inputs that are not there, is refused before any work', async () => {
    const ranges = [
      { endSpectrum: 2 ** 50 },
      { endSpectrum: 1e9 },
      { firstSpectrum: 30, endSpectrum: 20 },
      { firstSpectrum: 20, endSpectrum: 20 },
      { firstChannel: 3, endChannel: 5 },
      { firstChannel: 2, endChannel: 2 },
    ];
    for (const range of ranges)
      await assert.rejects(doJob(jobOf(range), place), /t\d+-\d+\.c\d+-\d+: /, JSON.stringify(range));
    for (const input of [2, 99]) await assert.rejects(doJob(jobOf({}, [input]), place), /a flagged input/);
  });
});
