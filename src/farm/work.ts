/** A job done: its box of the recording read, worked on, and made a result. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Backend } from '../backend/backend.js';
import { gainsCA, spectraSizeBytes, voltageSizeBytes } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse, wholeNumber } from '../core/errors.js';
import {
  checkSame,
  isRemote,
  notingFiles,
  openFile,
  remoteIdentities,
  sampleRateOf,
  type Recording,
} from '../formats/index.js';
import { averageChannels, stokesI } from '../image/index.js';
import { channelsOf, planChannels } from '../pipeline/channels.js';
import { imageClock, imagePart } from '../pipeline/image-part.js';
import type { Calibrated, ImageSettings } from '../pipeline/sky-image.js';
import {
  channelisePart,
  clockOf,
  correlatePart,
  spectraOf,
  stretchesOf,
  type PartAccount,
  type SpectraBox,
} from '../pipeline/parts.js';
import { checkRange } from '../pipeline/compose/range.js';
import type { DirectSkyImage } from '../pipeline/stages/direct-image.js';
import type { Emit } from '../pipeline/stages/stage.js';
import { partOfRecording } from '../pipeline/part-of-recording.js';
import { fixedDelays, mostDelaySamples, type RequestedDelays } from '../pipeline/tracking.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { channelSettingsOf, PROTOCOL, type Job, type Work } from './plan.js';
import { checkFacts, checkMarks } from './same-recording.js';
import { bytesOf, sha256, type Part, type Result } from './result.js';

/** Who works, and where it may look. */
export interface Workplace {
  readonly name: string;
  readonly version: string;
  readonly backend: Backend;
  /** Relative paths of recordings are looked for under these. */
  readonly roots: readonly string[];
}

/** Does one job; the recording is opened and closed for it. */
export async function doJob(job: Job, place: Workplace, stop?: AbortSignal): Promise<Result> {
  const begun = performance.now();
  const { work } = job;
  if (work.backend !== 'auto' && work.backend !== place.backend.kind)
    refuse(
      job.id,
      `asks for the backend '${work.backend}', and this worker has '${place.backend.kind}'`,
      'start a worker that has it',
    );
  const { recording, checkUnchanged } = await openRecording(work, place.roots);
  try {
    const plan = planOf(work, recording);
    const channels = recording.kind === 'spectra' ? recording.channels : (plan?.channels ?? 0);
    checkRange(job.box, { spectra: spectraOf(recording, plan), channels }, job.id);
    const body = new Body();
    const opened = performance.now();
    const doing = { correlate, channelise, image }[work.command];
    const account = await doing(job, recording, plan, place, body, stop);
    await checkUnchanged();
    const made = performance.now();
    const bytes = body.bytes();
    return {
      body: bytes,
      head: {
        ...{ protocol: PROTOCOL, version: place.version, plan: job.plan, job: job.id },
        ...{ attempt: randomUUID(), worker: place.name, backend: place.backend.kind },
        seconds: (performance.now() - begun) / 1000,
        overheadS: (opened - begun + performance.now() - made) / 1000,
        bytesRead: bytesRead(recording, plan, job.box),
        account,
        ...{ parts: body.parts, sha256: sha256(bytes) },
      },
    };
  } finally {
    await recording.close();
  }
}

interface Submitted {
  readonly recording: Recording;
  /** Refuses files that have changed since they were submitted. */
  readonly checkUnchanged: () => Promise<void>;
}

/** The recording that the submitter meant, or a refusal. */
async function openRecording(
  { recording: { path, open, facts, times, files = [], remote = [] } }: Work,
  roots: readonly string[],
): Promise<Submitted> {
  const place = placeOf(path, roots);
  const { opened, paths } = await notingFiles(() => openFile(place, open));
  const recording = times && opened.kind !== 'visibilities' ? partOfRecording(opened, times) : opened;
  const checkUnchanged = (): Promise<void> => checkMarks(paths, files);
  try {
    for (const { url, ...was } of remote) {
      const is = remoteIdentities().find((one) => one.url === url);
      if (is) checkSame(url, was, is);
    }
    checkFacts(path, recording, facts);
    await checkUnchanged();
  } catch (error) {
    await recording.close();
    throw error;
  }
  return { recording: recording as Recording, checkUnchanged };
}

function placeOf(path: string, roots: readonly string[]): string {
  if (isRemote(path)) return path;
  // Lists and patterns are whole paths, each of which is looked at when it is opened.
  if (isAbsolute(path)) return path;
  const folders = roots.filter((root) => !isRemote(root));
  return (
    folders.map((root) => join(root, path)).find((candidate) => existsSync(candidate)) ??
    join(folders[0] ?? '.', path)
  );
}

function planOf(work: Work, recording: Recording): ChannelisePlan | undefined {
  if (recording.kind !== 'voltages' || !work.channels) return undefined;
  const delays = delaysOf(work, recording);
  return planChannels(recording, {
    ...channelSettingsOf(work.channels),
    ...(delays && { mostDelaySamples: mostDelaySamples(delays) }),
  });
}

/** Fixed ones, as a law of the recording's own ticks. */
const delaysOf = ({ delaysS }: Work, recording: Recording): RequestedDelays | undefined =>
  delaysS && fixedDelays(Float64Array.from(delaysS), sampleRateOf(recording));

/** Grows by parts. */
class Body {
  readonly parts: Part[] = [];
  private readonly pieces: Uint8Array[] = [];
  private length = 0;

  add(part: Pick<Part, 'first' | 'end' | 'gaps' | 'image'>, ...arrays: readonly ArrayBufferView[]): void {
    const offsetBytes = this.length;
    for (const array of arrays) {
      // Some backends fill the same memory again.
      const piece = bytesOf(array).slice();
      this.pieces.push(piece);
      this.length += piece.length;
    }
    this.parts.push({ ...part, offsetBytes, sizeBytes: this.length - offsetBytes });
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const piece of this.pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }
}

async function correlate(
  { work, box }: Job,
  recording: Recording,
  plan: ChannelisePlan | undefined,
  { backend }: Workplace,
  body: Body,
  stop?: AbortSignal,
): Promise<PartAccount> {
  const { integrationS, align } = work;
  const delays = delaysOf(work, recording);
  const settings = {
    ...{ backend, align, ...(integrationS === undefined ? {} : { integrationS }) },
    flaggedInputs: flagsOf(work, recording.inputs),
    ...(delays && { delays }),
    ...(stop && { stop }),
  };
  const stretches = stretchesOf(clockOf(settings, recording, plan), box.firstSpectrum, box.endSpectrum);
  return eachOnce(
    stretches,
    (emit: Emit<Integration>) => correlatePart(recording, plan, settings, box, emit),
    (stretch, { visibilities, counts, productCounts }) => {
      body.add(stretch, visibilities, productCounts ?? counts);
    },
  );
}

/** What is made of a part, one for each stretch that its plan has: no more, and no fewer. */
async function eachOnce<Stretch, One>(
  stretches: readonly Stretch[],
  make: (emit: Emit<One>) => Promise<PartAccount>,
  take: (stretch: Stretch, one: One) => void,
): Promise<PartAccount> {
  let made = 0;
  const account = await make((one) => {
    const stretch = stretches.at(made++);
    if (!stretch) throw new Error(`more than the ${stretches.length} of the plan`);
    take(stretch, one);
    return Promise.resolve();
  });
  if (made !== stretches.length) throw new Error(`${made} were made instead of ${stretches.length}`);
  return account;
}

/** flags : [a] */
export function flagsOf({ flaggedInputs }: Work, inputs: number): Uint8Array {
  const flags = new Uint8Array(inputs);
  for (const input of flaggedInputs) flags[wholeNumber('job', 'a flagged input', input, 0, inputs - 1)] = 1;
  return flags;
}

function channelise(
  { work, box }: Job,
  recording: Recording,
  plan: ChannelisePlan | undefined,
  { backend }: Workplace,
  body: Body,
  stop?: AbortSignal,
): Promise<PartAccount> {
  if (recording.kind !== 'voltages' || !plan)
    refuse(work.recording.path, 'holds no voltages', 'channelise a recording of voltages');
  return channelisePart(recording, plan, { backend, ...(stop && { stop }) }, box, (made) => {
    const { firstSpectrum, samples, gaps, spectra } = made;
    body.add({ first: firstSpectrum, end: firstSpectrum + samples, gaps: [...gaps] }, spectra);
    return Promise.resolve();
  });
}

/** Stokes I, or the one product there is, of each image: float64. */
async function image(
  { work, box, plannedFor }: Job,
  recording: Recording,
  plan: ChannelisePlan | undefined,
  { backend }: Workplace,
  body: Body,
  stop?: AbortSignal,
): Promise<PartAccount> {
  const { image: asked } = work;
  if (!asked || !plannedFor)
    return refuse(work.recording.path, 'the job does not say which images', 'submit it again');
  const { everyS, autos, telescope, overUsual } = asked;
  const { frequenciesHz } =
    recording.kind === 'voltages'
      ? channelsOf(
          recording,
          plan ?? refuse(work.recording.path, 'voltages need channels', 'submit it again'),
        )
      : recording;
  const stretches = stretchesOf(imageClock(everyS, recording, plan), box.firstSpectrum, box.endSpectrum);
  const calibrated = gainsOf(asked, frequenciesHz.length, recording.inputs);
  const settings = {
    ...{ backend, telescope, frequenciesHz, everyS, image: imageSettingsOf(asked), autos, plannedFor },
    gain: { overUsual },
    ...(calibrated && { calibrated }),
    ...(stop && { stop }),
  };
  return eachOnce(
    stretches,
    (emit: Emit<DirectSkyImage>) => imagePart(recording, plan, settings, box, emit),
    (stretch, { image: made, plan: planned, weights, start, durationS, frame }) => {
      const plane = stokesI(averageChannels(made, planned, weights), planned, 0);
      body.add({ ...stretch, image: { start, durationS, moment: frame.moment } }, plane);
    },
  );
}

type AskedImage = NonNullable<Work['image']>;

export const imageSettingsOf = ({ pixels, fieldDeg, kernelSize }: AskedImage): ImageSettings => ({
  ...(pixels === undefined ? {} : { pixels }),
  field: fieldDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg: fieldDeg },
  kernelSize,
});

function gainsOf({ gains: sent }: AskedImage, channels: number, inputs: number): Calibrated | undefined {
  if (!sent) return undefined;
  const bytes = Uint8Array.from(Buffer.from(sent.gains, 'base64'));
  const solved = Uint8Array.from(Buffer.from(sent.solved, 'base64'));
  if (bytes.length !== 16 * channels * inputs || solved.length !== channels * inputs)
    refuse('gains', 'are not those of the recording', 'submit it again');
  return { gains: gainsCA(new Float64Array(bytes.buffer), channels, inputs), solved };
}

/** Of the recording, for this box; readers that cannot seek read more. */
function bytesRead(recording: Recording, plan: ChannelisePlan | undefined, box: SpectraBox): number {
  const spectra = box.endSpectrum - box.firstSpectrum;
  if (recording.kind === 'spectra')
    return spectra * recording.channels * recording.inputs * spectraSizeBytes(recording.type);
  const samples = plan ? (spectra + plan.taps - 1) * plan.samplesPerSpectrum : spectra;
  return samples * recording.inputs * voltageSizeBytes(recording.type);
}
