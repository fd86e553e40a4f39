/**
 * An observation of a recording, cut into jobs: plain data. A job is the observation, without machine, output paths and
 * folders, plus a range of spectra and channels. The plan and the jobs' results are complete; queues and workers may be
 * lost and replaced.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { backendChoices } from '../core/backend-kinds.js';
import type { SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import type { SampleRange } from '../core/sources.js';
import { canonicalJson, type Observation } from '../observation/index.js';
import type { SpectraRange } from '../compose/index.js';
import type { Level } from '../stages/index.js';
import type { Attached } from './attach.js';
import { firstIssueWords } from './words.js';

/** Increased when jobs or results change their format. */
export const PROTOCOL = 4;

const whole = z.number().int().nonnegative();
const instantSchema = z.strictObject({ unixSeconds: z.number().int(), fraction: z.number() });

/** What the submitter found in the recording: a worker that finds something else has another file. */
const recordingSchema = z.strictObject({
  facts: z.strictObject({
    kind: z.enum(['voltages', 'spectra']),
    type: z.string(),
    inputs: whole,
    samples: whole,
    start: instantSchema,
  }),
  /** Its files on disk, as they were at submission. */
  files: z.array(z.strictObject({ name: z.string(), sizeBytes: whole, sha256: z.string() })),
  /** Files on web servers, as they were at submission. */
  remote: z.array(
    z.strictObject({
      url: z.string(),
      sizeBytes: whole,
      etag: z.string().exactOptional(),
      modified: z.string().exactOptional(),
    }),
  ),
});
export type SubmittedRecording = z.infer<typeof recordingSchema>;

const levelSchema = z.strictObject({
  inputRms: z.number(),
  outputRms: z.number(),
  weakestRms: z.number(),
  efficiency: z.number(),
  worstEfficiency: z.number(),
  silentInputs: whole,
  silentSamples: whole,
  gain: z.number(),
  follows: z.enum(['nominal', 'measured', 'given']),
  gainRatio: z.number(),
}) satisfies z.ZodType<Level>;

const rangeSchema = z.strictObject({
  firstSpectrum: whole,
  endSpectrum: whole,
  firstChannel: whole,
  endChannel: whole,
}) satisfies z.ZodType<SpectraRange>;

const failureSchema = z.strictObject({ worker: z.string(), error: z.string() });
/** One failed attempt. */
export type Failure = z.infer<typeof failureSchema>;

const jobSchema = z.strictObject({
  protocol: z.number(),
  version: z.string(),
  plan: z.string().regex(/^[\w-]+$/),
  id: z.string(),
  /** Checked against the observation schema before it is planned. */
  observation: z.looseObject({}),
  recording: recordingSchema,
  /** Files named in the observation, keyed by the names used there. */
  attached: z.record(z.string().regex(/^\d+\/[^/]+$/), z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)),
  /** The input gain for the first samples, as measured by the submitter. */
  level: levelSchema.exactOptional(),
  range: rangeSchema,
  /** For direct images, by product: the instant that a single process would have used for its plan there. */
  plannedFor: z.array(z.strictObject({ product: whole, moment: instantSchema })),
  backend: z.enum(backendChoices),
  /** So far; a job that fails three times is set aside. */
  failures: z.array(failureSchema),
  /** Done by two workers whose results are compared; `not` lists workers that have answered and leave it to others. */
  verified: z.strictObject({ not: z.array(z.string()) }).exactOptional(),
});
export type Job = z.infer<typeof jobSchema>;

/** Job boundaries: the first is 0, the last the total. Every time range is done in every channel range. */
export interface Cut {
  readonly spectra: readonly number[];
  readonly channels: readonly number[];
}

/** The contents of results, so that they can be checked on arrival. */
export interface FarmShape {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly inputs: number;
  readonly channels: number;
  readonly type: SpectraType;
  /** For products from integrations: where sums are cut. */
  readonly sums: readonly SampleRange[];
  /** For products that are cut in time, by product number. */
  readonly pieces: readonly (
    | { readonly product: number; readonly kind: 'spectra' }
    | { readonly product: number; readonly kind: 'images'; readonly images: readonly SampleRange[] }
  )[];
}

/** A job's name, from its range. */
export const jobName = ({ firstSpectrum, endSpectrum, firstChannel, endChannel }: SpectraRange): string =>
  `t${firstSpectrum}-${endSpectrum}.c${firstChannel}-${endChannel}`;

/** The ranges of a cut, in order of time, then of channels. */
export function rangesOf({ spectra, channels }: Cut): SpectraRange[] {
  const ranges: SpectraRange[] = [];
  for (let t = 1; t < spectra.length; t++)
    for (let c = 1; c < channels.length; c++)
      ranges.push({
        firstSpectrum: spectra[t - 1],
        endSpectrum: spectra[t],
        firstChannel: channels[c - 1],
        endChannel: channels[c],
      });
  return ranges;
}

export interface FarmPlan {
  readonly protocol: typeof PROTOCOL;
  readonly version: string;
  readonly id: string;
  /** As requested, with the names of its outputs: for the collector. */
  readonly observation: Observation;
  /** Files to write. */
  readonly outputs: readonly string[];
  /** As sent to workers. */
  readonly work: Pick<Job, 'observation' | 'recording' | 'backend' | 'level'> & {
    readonly attached: Attached;
  };
  readonly cut: Cut;
  /** One entry per time range. */
  readonly plannedFor: readonly Job['plannedFor'][];
  readonly shape: FarmShape;
  /** One job in this many is done by two workers. */
  readonly verify?: number;
}

/** The same work cut the same way gives the same plan, whoever submits it. */
export function makePlan(version: string, made: Omit<FarmPlan, 'protocol' | 'version' | 'id'>): FarmPlan {
  const text = canonicalJson([PROTOCOL, version, made.work, made.cut, made.verify ?? 0]);
  const id = `run-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  return { protocol: PROTOCOL, version, id, ...made };
}

/** All jobs of a plan. */
export const jobsOf = (plan: FarmPlan): Job[] =>
  rangesOf(plan.cut).map((range, n) => ({
    protocol: plan.protocol,
    version: plan.version,
    plan: plan.id,
    id: jobName(range),
    ...plan.work,
    range,
    plannedFor: plan.plannedFor[Math.floor(n / (plan.cut.channels.length - 1))],
    failures: [],
    ...(plan.verify !== undefined && n % plan.verify === 0 && { verified: { not: [] } }),
  }));

/** Checks a job from outside; one of another version is refused before its contents are read. */
export function checkJob(json: unknown, version: string, where: string): Job {
  const head = z.looseObject({ protocol: z.number(), version: z.string() }).safeParse(json);
  if (!head.success) refuse(where, `is no job (${firstIssueWords(head.error, json)})`, 'submit it again');
  refuseOtherVersion(head.data, version, where);
  const checked = jobSchema.safeParse(json);
  if (!checked.success)
    return refuse(where, `is no job (${firstIssueWords(checked.error, json)})`, 'submit it again');
  const job = checked.data;
  if (job.id !== jobName(job.range))
    refuse(where, `is called ${job.id}, not ${jobName(job.range)}`, 'submit it again');
  return job;
}

/** Refuses results of another version: results of two versions must not be added. */
export function refuseOtherVersion(
  made: { readonly protocol: number; readonly version: string },
  version: string,
  where: string,
): void {
  if (made.version !== version || made.protocol !== PROTOCOL)
    refuse(
      where,
      `is of corella ${made.version} (protocol ${made.protocol}), and this is ${version} (protocol ${PROTOCOL})`,
      `install corella ${made.version} here, or submit again with ${version}`,
    );
}
