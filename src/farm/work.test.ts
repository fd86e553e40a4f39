import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { spectraCAT } from '../core/axes.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createSigmfSpectra, notingFiles, openFile } from '../formats/index.js';
import { jobName, PROTOCOL, type Job } from './job.js';
import { marksOf, type FileMark } from './same-recording.js';
import { doJob, WrongJobError } from './work.js';

const folder = temporaryFolder('jobs');
const path = join(folder, 'x.sigmf-meta');
const place = { name: 'w', version: '1.2.3', backend: openReference(), roots: [] };
let facts: Job['recording']['facts'];
let files: FileMark[];

before(async () => {
  const writer = await createSigmfSpectra(path, {
    type: 'ci8',
    inputs: 2,
    polarisations: 1,
    channels: 4,
    channelWidthHz: 1000,
    spectrumRateHz: 1000,
    start: { unixSeconds: 1_800_000_000, fraction: 0 },
    centreFrequencyHz: 1e8,
    history: [],
    description: 'x',
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

const jobOf = (changed: Partial<Job['range']>, observation: object = {}, others: Partial<Job> = {}): Job => {
  const range = { firstSpectrum: 0, endSpectrum: 50, firstChannel: 0, endChannel: 4, ...changed };
  return {
    protocol: PROTOCOL,
    version: '1.2.3',
    plan: 'run-x',
    id: jobName(range),
    range,
    failures: [],
    observation: {
      corella: 1,
      source: { recording: path },
      telescope: 'none',
      products: [{ visibilities: 'part.uvh5', integration: '20ms' }],
      ...observation,
    },
    recording: { facts, files, remote: [] },
    attached: {},
    plannedFor: [],
    backend: 'auto',
    ...others,
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
    const refuses = (job: Job, words: RegExp): Promise<void> =>
      assert.rejects(doJob(job, place), (error) => {
        // No worker should try it again.
        assert.ok(error instanceof WrongJobError, String(error));
        assert.match(error.message, words);
        return true;
      });
    for (const range of ranges) await refuses(jobOf(range), /t\d+-\d+\.c\d+-\d+: /);
    for (const input of [2, 99]) await refuses(jobOf({}, { flags: { inputs: [input] } }), /flags\.inputs/);
    await refuses(jobOf({}, { flags: { channels: [4] } }), /flags\.channels/);
    await refuses(jobOf({}, { products: [{ visibilities: 'x.uvh5', channels: [7] }] }), /channels/);
    await refuses(jobOf({}, { products: [{ images: 'x.fits', every: '20ms', method: 'direct' }] }), /./);
    await refuses(
      jobOf({}, {}, { plannedFor: [{ product: 3, moment: facts.start }] }),
      /no series of images 3/,
    );
    await refuses(jobOf({}, { nonsense: 1 }), /nonsense/);
    await refuses(jobOf({}, { source: { listen: 4015 } }), /source\.listen/);
  });

  it('reads no file but its recording and those that it carries', async () => {
    const refuses = (observation: object, attached: Job['attached'] = {}): Promise<void> =>
      assert.rejects(doJob(jobOf({}, observation, { attached }), place), /does not carry|is called/);
    await refuses({ flags: { file: '/etc/passwd' } });
    await refuses({ flags: { file: 'attached:0/none.json' } });
    await refuses({ front: { delays: { track: '/etc/hosts.json' } } });
    await refuses({ gains: { file: 'gains.json' } });
    await refuses({ telescope: '/etc/passwd' });
    await refuses({ telescope: 'attached:0/t.json' }, { '0/t.json': Buffer.from('{"positions":"/etc/passwd"}').toString('base64') }); // prettier-ignore
    await refuses({}, { '0/..': '' });
    const flags = Buffer.from('{"flags":[{"channels":"1"}]}').toString('base64');
    const { head } = await doJob(jobOf({}, { flags: { file: 'attached:0/f.json' } }, { attached: { '0/f.json': flags } }), place); // prettier-ignore
    assert.equal(head.parts.length, 3);
  });
});
