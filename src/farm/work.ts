/** Does a job: reads its range of the recording, plans and composes the observation on it, and makes a result. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Backend } from '../backend/backend.js';
import { spectraSizeBytes, voltageSizeBytes } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { CorellaError, refuse } from '../core/errors.js';
import { allowReading, checkSame, isRemote, remoteIdentities } from '../formats/index.js';
import {
  checkObservation,
  gather,
  isOfSky,
  openRecording,
  planObservation,
  refuseNotOfRecordings,
  sourceKind,
  type Observation,
  type ObservationPlan,
  type OpenedRecording,
} from '../observation/index.js';
import {
  composeShare,
  type FromSpectra,
  endOfFront,
  checkRange,
  type SpectraRange,
  timeRangesOf,
} from '../compose/index.js';
import type { ProductPart } from '../products/index.js';
import { useSky } from '../sky/use-sky.js';
import { unpackFiles } from './attach.js';
import { PROTOCOL, type Job } from './job.js';
import { bytesOf, checksumOf, SUMS, type Part, type Result } from './result.js';
import { checkFacts, checkMarks } from './same-recording.js';
import { sumsClock } from './submit.js';

/** The worker's name and the folders that it may read. */
export interface Workplace {
  readonly name: string;
  readonly version: string;
  readonly backend: Backend;
  /** Relative paths of recordings are looked up under these. */
  readonly roots: readonly string[];
}

/** The job itself is wrong: no other worker should try it. */
export class WrongJobError extends CorellaError {}

/** Errors thrown here are the job's own fault. */
async function ofJob<Made>(work: () => Promise<Made>): Promise<Made> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    const { where, what, fix } = error;
    throw new WrongJobError({ where, what, fix }, { cause: error });
  }
}

/** Does one job; the recording is opened and closed for it. */
export async function doJob(job: Job, place: Workplace, stop?: AbortSignal): Promise<Result> {
  const begun = performance.now();
  if (job.backend !== 'auto' && job.backend !== place.backend.kind)
    refuse(
      job.id,
      `asks for the backend '${job.backend}', and this worker has '${place.backend.kind}'`,
      'start a worker that has it',
    );
  return inFolder(async (folder) => {
    const observation = await ofJob(() => observationOf(job, place.roots, folder));
    const opened = await openSubmitted(job, observation);
    try {
      const plan = await ofJob(() => planOf(job, observation, opened, place.backend));
      const ready = performance.now();
      const body = new Body();
      const account = await make(job, plan, place.backend, body, stop);
      await checkMarks(opened.paths, job.recording.files);
      const made = performance.now();
      const head = {
        protocol: PROTOCOL,
        version: place.version,
        plan: job.plan,
        job: job.id,
        attempt: randomUUID(),
        worker: place.name,
        backend: place.backend.kind,
        machine: place.backend.description,
        account,
        parts: body.parts,
        bytesRead: bytesRead(plan, job.range),
      };
      const bytes = Buffer.concat(body.pieces);
      return {
        body: bytes,
        head: {
          ...head,
          seconds: (performance.now() - begun) / 1000,
          overheadS: (ready - begun + performance.now() - made) / 1000,
          sha256: checksumOf(head, bytes),
        },
      };
    } finally {
      await opened.opened.close();
    }
  });
}

/** A folder for the files of a job, which this process may also read. */
async function inFolder<Made>(work: (folder: string) => Promise<Made>): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), 'corella-job-'));
  const release = await allowReading(folder);
  try {
    return await work(folder);
  } finally {
    release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checked like any other observation, with paths to its files on this worker. */
async function observationOf(job: Job, roots: readonly string[], folder: string): Promise<Observation> {
  const checked = checkObservation(job.observation, job.id);
  refuseNotOfRecordings(checked);
  if (checked.source.recording === undefined)
    refuse(`source.${sourceKind(checked.source)}`, 'a job is of a recording', 'give source.recording');
  const observation = await unpackFiles(checked, job.attached, folder, job.id);
  const recording = [observation.source.recording ?? []].flat().map((path) => placeOf(path, roots));
  return { ...observation, source: { ...observation.source, recording } };
}

function placeOf(path: string, roots: readonly string[]): string {
  // Lists and patterns are absolute paths, each checked when it is opened.
  if (isRemote(path) || isAbsolute(path)) return path;
  const folders = roots.filter((root) => !isRemote(root));
  return (
    folders.map((root) => join(root, path)).find((candidate) => existsSync(candidate)) ??
    join(folders[0] ?? '.', path)
  );
}

/** Opens the recording that was submitted, or refuses. */
async function openSubmitted(
  { recording: { facts, files, remote } }: Job,
  observation: Observation,
): Promise<OpenedRecording> {
  const opened = await openRecording(observation, { ofSky: observation.products.some(isOfSky) });
  try {
    for (const { url, ...was } of remote) {
      const is = remoteIdentities().find((one) => one.url === url);
      if (is) checkSame(url, was, is);
    }
    checkFacts(opened.recording.path, opened.recording, facts);
    await checkMarks(opened.paths, files);
    return opened;
  } catch (error) {
    await opened.opened.close();
    throw error;
  }
}

/** The range is checked before anything is measured or made for it. */
async function planOf(
  job: Job,
  observation: Observation,
  { recording, telescope }: OpenedRecording,
  backend: Backend,
): Promise<ObservationPlan> {
  const { range, level } = job;
  await useSky(observation);
  // There are no more spectra than samples, whatever the plan: what is planned for a range stays small.
  checkRange(range, { spectra: recording.samples, channels: 2 ** 24 }, job.id);
  const gathered = await gather(observation, recording, telescope, () => Promise.resolve(backend), level);
  const plan = await planObservation(observation, recording, telescope, gathered);
  const { channels } = plan.observed.spectra;
  checkRange(range, { spectra: endOfFront(plan.front.front), channels }, job.id);
  const inTime = plan.products.some(({ parts }) => parts.cut === 'time');
  if (inTime && (range.firstChannel !== 0 || range.endChannel !== channels))
    refuse(job.id, 'direct images and spectra are made of all channels', 'submit it again');
  for (const { product } of job.plannedFor)
    if (plan.products.at(product)?.parts.cut !== 'time')
      refuse(job.id, `it has no series of images ${product}`, 'submit it again');
  return plan;
}

/** Totals of this range alone: summed over all ranges they equal the whole recording's. */
interface PartAccount {
  readonly missingSamples: number;
  readonly saturated: number;
}

async function make(
  { range, plannedFor }: Job,
  { observed, products }: ObservationPlan,
  backend: Backend,
  body: Body,
  stop: AbortSignal | undefined,
): Promise<PartAccount> {
  const cuts = sumsClock(products);
  const ends = cuts ? timeRangesOf(cuts, range.firstSpectrum, range.endSpectrum) : [];
  let summed = 0;
  const addSums = ({ visibilities, counts, productCounts }: Integration): Promise<void> => {
    const interval = ends.at(summed++);
    if (!interval) throw new Error(`more than the ${ends.length} integrations of the plan`);
    body.add({ ...interval, product: SUMS }, visibilities, productCounts ?? counts);
    return Promise.resolve();
  };
  const front = { ...observed.front, range };
  const pieces = products.flatMap(({ parts, clock }, product): FromSpectra[] => {
    if (parts.cut !== 'time') return [];
    const moment = plannedFor.find((one) => one.product === product)?.moment;
    const emit = ({ first, end, gaps, image, values }: ProductPart): Promise<void> => {
      body.add({ product, first, end, ...(gaps && { gaps: [...gaps] }), image }, values);
      return Promise.resolve();
    };
    const machine = { backend, plannedFor: moment };
    return [{ from: 'spectra', clock, stage: parts.make(front, machine, emit) }];
  });
  const share = await composeShare(observed, backend, range, {
    ...(cuts && { sums: { cuts, emit: addSums } }),
    products: pieces,
  });
  const { missingSamples, saturated } = await share.run({ stop });
  if (summed !== ends.length) throw new Error(`${summed} integrations were made instead of ${ends.length}`);
  return { missingSamples, saturated };
}

/** Grows by parts. */
class Body {
  readonly parts: Part[] = [];
  readonly pieces: Uint8Array[] = [];
  private length = 0;

  add(part: Omit<Part, 'offsetBytes' | 'sizeBytes'>, ...arrays: readonly ArrayBufferView[]): void {
    const offsetBytes = this.length;
    for (const array of arrays) {
      // Some backends reuse the same memory.
      const piece = bytesOf(array).slice();
      this.pieces.push(piece);
      this.length += piece.length;
    }
    this.parts.push({ ...part, offsetBytes, sizeBytes: this.length - offsetBytes });
  }
}

/** Bytes read from the recording for this range; readers that cannot seek read more. */
function bytesRead({ observed, front }: ObservationPlan, range: SpectraRange): number {
  const { recording } = observed;
  const spectra = range.endSpectrum - range.firstSpectrum;
  const plan = front.front.channels;
  const samples = plan ? (spectra + plan.taps - 1) * plan.samplesPerSpectrum : spectra;
  return recording.kind === 'spectra'
    ? samples * recording.channels * recording.inputs * spectraSizeBytes(recording.type)
    : samples * recording.inputs * voltageSizeBytes(recording.type);
}
