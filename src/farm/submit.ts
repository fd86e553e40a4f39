/** From an observation to a plan of jobs: opens, measures and checks everything once, before any worker. */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Backend } from '../backend/backend.js';
import type { BackendChoice } from '../core/backend-kinds.js';
import { baselineCount, spectraSizeBytes, voltageSizeBytes } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import { isRemote, remoteIdentities } from '../formats/index.js';
import {
  gather,
  isOfSky,
  openRecording,
  planObservation,
  refuseNotOfRecordings,
  type Observation,
  type ObservationPlan,
} from '../observation/index.js';
import { unionOf, endOfFront, timeRangesOf } from '../compose/index.js';
import { writeEqualiser, type IntegrationClock } from '../stages/index.js';
import type { PlannedProduct } from '../products/index.js';
import { useSky } from '../sky/use-sky.js';
import { attachFiles } from './attach.js';
import { cutChannelising, cutCorrelation } from './cut.js';
import { makePlan, type Cut, type FarmPlan, type FarmShape, type Job } from './job.js';
import { factsOf, marksOf } from './same-recording.js';

interface Submission {
  readonly version: string;
  readonly backend: BackendChoice;
  /** Approximate recording time per job; by default 256 MiB of data. */
  readonly jobS?: number;
  /** Most channels per job; by default results stay below 64 MiB. */
  readonly jobChannels?: number;
  /** Workers look for the recording under their own roots, at the same path as under this root. */
  readonly root?: string;
  /** One job in this many is done by two workers. */
  readonly verify?: number;
  /** For equaliser gains, which only a backend can measure. They are written into this file. */
  readonly openBackend: () => Promise<Backend>;
  readonly equaliserPath: string;
}

/** Approximate recording size per job: seconds of work on most machines. */
const JOB_BYTES = 256 * 2 ** 20;

export interface Submitted {
  readonly plan: FarmPlan;
  readonly planned: ObservationPlan;
}

export async function planFarm(asked: Observation, submission: Submission): Promise<Submitted> {
  refuseNotOfRecordings(asked);
  await useSky(asked);
  const opened = await openRecording(asked, { ofSky: asked.products.some(isOfSky) });
  try {
    const { recording, telescope, paths } = opened;
    const remote = remoteIdentities();
    const gathered = await gather(asked, recording, telescope, submission.openBackend);
    const planned = await planObservation(asked, recording, telescope, gathered);
    refuseUncut(asked, planned.products);
    const observation = await resolved(asked, planned, submission.equaliserPath);
    const { observation: named, attached } = await attachFiles(observation);
    const { level } = planned.front;
    const spectra = endOfFront(planned.front.front);
    const shape = shapeOf(planned, spectra);
    const cut = cutOf(planned, shape, spectra, submission);
    const plan = makePlan(submission.version, {
      observation,
      outputs: planned.products.flatMap(({ paths: own }) => own),
      work: {
        observation: asWorkersGetIt(named, submission.root),
        recording: {
          facts: factsOf(recording),
          files: await marksOf(paths),
          remote: remote.map((one) => ({ ...one })),
        },
        attached,
        backend: submission.backend,
        level,
      },
      cut,
      plannedFor: plannedFor(planned.products, cut, shape),
      shape,
      verify: submission.verify,
    });
    return { plan, planned };
  } finally {
    await opened.opened.close();
  }
}

function refuseUncut({ products, gains }: Observation, planned: readonly PlannedProduct[]): void {
  if (gains?.solve !== undefined)
    refuse(
      'gains.solve',
      'images of a job would wait for gains of the jobs before it',
      'farm the product gains, and give its file as gains.file; or use corella run',
    );
  for (const [n, product] of products.entries()) {
    const { parts } = planned[n];
    if ('beams' in product)
      refuse(
        'products.beams',
        'values of beams are averaged over spectra of several jobs, and are made by one machine',
        'use corella run; or farm the other products',
      );
    if (parts.cut === 'time' && parts.kind === 'images' && 'images' in product && product.every === undefined)
      refuse(
        'products.images.every',
        'is not given: one direct image of everything is made by one machine',
        'give it, or use corella image --direct',
      );
  }
}

/** Absolute paths, and measured equaliser gains as a file: a second measurement could differ. */
async function resolved(
  observation: Observation,
  { front }: ObservationPlan,
  equaliserPath: string,
): Promise<Observation> {
  const { source } = observation;
  const paths = [source.recording ?? []].flat().map((path) => (isRemote(path) ? path : resolve(path)));
  const recording = paths.length === 1 ? paths[0] : paths;
  const whole = { ...observation, source: { ...source, recording } };
  const out = observation.front?.['equaliser-out'];
  if (observation.front?.equaliser !== 'measured' || !front.equaliser) return whole;
  const path = resolve(out ?? equaliserPath);
  await writeEqualiser(path, front.equaliser);
  return { ...whole, front: { ...observation.front, equaliser: path, 'equaliser-out': undefined } };
}

const PARTS = {
  visibilities: 'part.uvh5',
  images: 'part.fits',
  spectra: 'part.sigmf-meta',
  gains: 'part.json',
} as const;

/** Without machine, output paths and folders. */
function asWorkersGetIt(observation: Observation, root: string | undefined): Job['observation'] {
  const recording = [observation.source.recording ?? []].flat().map((path) => sentPath(path, root));
  if (root !== undefined && recording.length > 1)
    refuse(
      '--root',
      'is for one file, and several were named',
      'leave it out, and mount them alike everywhere',
    );
  const products = observation.products.map((product) => ({
    ...Object.fromEntries(
      Object.entries(product).map(([key, value]) => [key, key in PARTS ? PARTS[key as never] : value]),
    ),
    ...('images' in product && { sources: undefined, sheet: undefined, picture: undefined }),
    // Gains are solved from merged integrations: workers need the integration length.
    ...('gains' in product && {
      ...Object.fromEntries(Object.keys(product).map((key) => [key, undefined])),
      gains: PARTS.gains,
      integration: product.integration,
      align: product.align,
    }),
  }));
  const source = { ...observation.source, recording };
  const sent = { ...observation, source, products, machine: undefined, overwrite: undefined };
  // Removes undefined values: it is sent as JSON.
  return JSON.parse(JSON.stringify(sent)) as Job['observation'];
}

/** The path as workers will open it: absolute, or relative to their own roots. */
function sentPath(path: string, root: string | undefined): string {
  if (isRemote(path) || root === undefined) return path;
  const under = relative(resolve(root), path);
  if (under.startsWith('..') || !existsSync(path))
    refuse('--root', `${path} is not under ${root}`, 'name a folder above it');
  return under;
}

/** For products from integrations: a cut wherever one of them has one. */
export const sumsClock = (products: readonly PlannedProduct[]): IntegrationClock | undefined => {
  const clocks = products.filter(({ parts }) => parts.cut !== 'time').map(({ clock }) => clock);
  return clocks.length === 0 ? undefined : unionOf(clocks);
};

function shapeOf({ products, observed }: ObservationPlan, spectra: number): FarmShape {
  const { stations } = observed.telescope;
  const { type, channels, inputs, polarisations } = observed.spectra;
  const clock = sumsClock(products);
  return {
    stations: stations.length,
    polarisations,
    inputs,
    channels,
    type,
    sums: clock ? timeRangesOf(clock, 0, spectra) : [],
    pieces: products.flatMap(({ parts, clock: own }, product): FarmShape['pieces'] =>
      parts.cut !== 'time'
        ? []
        : parts.kind === 'spectra'
          ? [{ product, kind: 'spectra' }]
          : [{ product, kind: 'images', images: timeRangesOf(own, 0, spectra) }],
    ),
  };
}

function cutOf(
  { observed, front, products }: ObservationPlan,
  shape: FarmShape,
  spectra: number,
  { jobS, jobChannels }: Submission,
): Cut {
  const { channels, inputs, type, sums, pieces, stations, polarisations } = shape;
  const rateHz = observed.spectra.grid.spectrumRateHz;
  const { recording } = observed;
  const spectrumBytes =
    recording.kind === 'voltages'
      ? recording.inputs * voltageSizeBytes(recording.type) * (recording.sampleRateHz / rateHz)
      : recording.inputs * recording.channels * spectraSizeBytes(recording.type);
  const spectraPerJob = Math.max(
    1,
    Math.round(jobS === undefined ? JOB_BYTES / spectrumBytes : jobS * rateHz),
  );
  const plan = front.front.channels;
  if (pieces.length > 0 && jobChannels !== undefined)
    refuse('--job-channels', 'direct images and spectra are made of all channels', 'leave it out');
  if (sums.length === 0 && pieces.every(({ kind }) => kind === 'spectra') && plan)
    return cutChannelising({
      channels,
      spectra,
      blockSamples: plan.blockSamples,
      taps: plan.taps,
      samplesPerSpectrum: plan.samplesPerSpectrum,
      bytesPerSpectrum: channels * inputs * spectraSizeBytes(type),
      ...(jobS === undefined ? {} : { spectraPerJob }),
    });
  // Images and float products are made whole; a job of several products is cut where all of them are.
  const images = pieces.flatMap((piece) => (piece.kind === 'images' ? [piece.images] : []));
  const pixels = products.flatMap(({ facts }) => {
    const known = facts();
    return 'pixels' in known ? [known.pixels as number] : [];
  });
  const wholeOnes = [...(sums.length > 0 ? [sums] : []), ...images];
  const together = wholeOnes.length === 1 ? wholeOnes[0] : commonCuts(wholeOnes, spectra);
  const sumBytes = sums.length === 0 ? 0 : 8 * baselineCount(stations) * (2 * polarisations ** 2 + 1);
  const imageBytes = images.length === 0 ? 0 : (8 * Math.max(0, ...pixels) ** 2) / channels;
  return cutCorrelation({
    channels,
    integrations: together,
    spectraPerJob,
    sums: type === 'cf32' || images.length > 0 ? 'floats' : 'whole-numbers',
    bytesPerChannel: Math.max(1, sumBytes + imageBytes),
    ...(pieces.length > 0
      ? { channelsPerJob: channels }
      : jobChannels === undefined
        ? {}
        : { channelsPerJob: jobChannels }),
  });
}

/** The ranges between the spectra at which all of them are cut. */
function commonCuts(all: readonly (readonly SampleRange[])[], spectra: number): SampleRange[] {
  const [first = [], ...others] = all.map((ranges) => new Set(ranges.map(({ end }) => end)));
  const ends = [...first].filter((end) => others.every((one) => one.has(end)));
  if (ends.at(-1) !== spectra) ends.push(spectra);
  return ends.map((end, n) => ({ first: n === 0 ? 0 : ends[n - 1], end }));
}

function plannedFor(
  products: readonly PlannedProduct[],
  cut: Cut,
  shape: FarmShape,
): readonly Job['plannedFor'][] {
  const moments = shape.pieces.flatMap((piece) => {
    const { parts } = products[piece.product];
    if (piece.kind !== 'images' || parts.cut !== 'time' || !parts.moments) return [];
    const of = parts.moments();
    const byFirst = new Map<number, Instant>(piece.images.map(({ first }, n) => [first, of[n]]));
    return [{ product: piece.product, byFirst }];
  });
  return cut.spectra.slice(0, -1).map((first) =>
    moments.flatMap(({ product, byFirst }) => {
      const moment = byFirst.get(first);
      return moment ? [{ product, moment: { ...moment } }] : [];
    }),
  );
}
