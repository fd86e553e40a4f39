/**
 * An observation of a recording, cut into jobs: plain data. A job is the observation, without machine, output paths and
 * folders, and a range of spectra and channels. Whoever has the plan and the jobs' results has everything; queues and
 * workers may be lost and replaced.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { backendChoices, type BackendChoice } from '../core/backend-kinds.js';
import type { SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import type { SampleRange } from '../core/sources.js';
import { canonicalJson, type Observation } from '../observation/index.js';
import type { SpectraRange } from '../compose/index.js';
import type { Level } from '../stages/index.js';
import type { Attached } from './attach.js';
import { firstIssueWords } from './words.js';

/** Raised when jobs or results change their shape. */
export const PROTOCOL = 4;

const whole = z.number().int().nonnegative();
const instantSchema = z.strictObject({ unixSeconds: z.number().int(), fraction: z.number() });

/** What the submitter found in the recording: a worker who finds something else has another file. */
const recordingSchema = z.strictObject({
  facts: z.strictObject({
    kind: z.enum(['voltages', 'spectra']),
    type: z.string(),
    inputs: whole,
    samples: whole,
    start: instantSchema,
  }),
  /** Its files on disks, as they were then. */
  files: z.array(z.strictObject({ name: z.string(), sizeBytes: whole, sha256: z.string() })),
  /** Files on web servers, as they were then. */
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
  follows: z.enum(['usual', 'measured', 'told']),
  overUsual: z.number(),
}) satisfies z.ZodType<Level>;

const rangeSchema = z.strictObject({
  firstSpectrum: whole,
  endSpectrum: whole,
  firstChannel: whole,
  endChannel: whole,
}) satisfies z.ZodType<SpectraRange>;

const failureSchema = z.strictObject({ worker: z.string(), error: z.string() });
/** One attempt that went wrong. */
export type Failure = z.infer<typeof failureSchema>;

const jobSchema = z.strictObject({
  protocol: z.number(),
  version: z.string(),
  plan: z.string().regex(/^[\w-]+$/),
  id: z.string(),
  /** Checked by the schema of observations before it is planned. */
  observation: z.looseObject({}),
  recording: recordingSchema,
  /** Files that the observation names, by the names that it has for them. */
  attached: z.record(z.string().regex(/^\d+\/[^/]+$/), z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)),
  /** The gain that the first samples want, as the submitter measured it. */
  level: levelSchema.exactOptional(),
  range: rangeSchema,
  /** Of direct images, by product: the moment that the plan was made for which one process would have at hand there. */
  plannedFor: z.array(z.strictObject({ product: whole, moment: instantSchema })),
  backend: z.enum(backendChoices),
  /** So far: a job that fails three times is set aside. */
  failures: z.array(failureSchema),
  /** Done by two workers whose results are compared; those that have answered leave it to others. */
  verified: z.strictObject({ not: z.array(z.string()) }).exactOptional(),
});
export type Job = z.infer<typeof jobSchema>;

/** Where jobs begin and end: first 0, last the whole; every time range is done in every range of channels. */
export interface Cut {
  readonly spectra: readonly number[];
  readonly channels: readonly number[];
}

/** What results hold, so that they are checked when they come. */
export interface FarmShape {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly inputs: number;
  readonly channels: number;
  readonly type: SpectraType;
  /** Of products from integrations: where sums are cut. */
  readonly sums: readonly SampleRange[];
  /** Of products that are cut in time, by their number. */
  readonly pieces: readonly (
    | { readonly product: number; readonly kind: 'spectra' }
    | { readonly product: number; readonly kind: 'images'; readonly images: readonly SampleRange[] }
  )[];
}

/** A job's name: its range. */
export const jobName = ({ firstSpectrum, endSpectrum, firstChannel, endChannel }: SpectraRange): string =>
  `t${firstSpectrum}-${endSpectrum}.c${firstChannel}-${endChannel}`;

/** The ranges of a cut, in the order of time, then of channels. */
export function rangesOf({ spectra, channels }: Cut): SpectraRange[] {
  const ranges: SpectraRange[] = [];
  for (let t = 1; t < spectra.length; t++)
    for (let c = 1; c < channels.length; c++)
      ranges.push({
        ...{ firstSpectrum: spectra[t - 1], endSpectrum: spectra[t] },
        ...{ firstChannel: channels[c - 1], endChannel: channels[c] },
      });
  return ranges;
}

export interface FarmPlan {
  readonly protocol: typeof PROTOCOL;
  readonly version: string;
  readonly id: string;
  /** As it was asked for, with the names of its outputs: for the collector. */
  readonly observation: Observation;
  /** Files that are written. */
  readonly outputs: readonly string[];
  /** As workers get it. */
  readonly work: Pick<Job, 'observation' | 'recording' | 'backend' | 'level'> & {
    readonly attached: Attached;
  };
  readonly cut: Cut;
  /** For each range of time. */
  readonly plannedFor: readonly Job['plannedFor'][];
  readonly shape: FarmShape;
  /** One job in so many is done by two workers. */
  readonly verify?: number;
}

/** The same work cut the same way is the same plan, whoever submits it again. */
export function makePlan(
  version: string,
  {
    observation,
    outputs,
    work,
    cut,
    plannedFor,
    shape,
    verify,
  }: Omit<FarmPlan, 'protocol' | 'version' | 'id'>,
): FarmPlan {
  const text = canonicalJson([PROTOCOL, version, work, cut, verify ?? 0]);
  const id = `run-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  return {
    ...{ protocol: PROTOCOL, version, id, observation, outputs, work, cut, plannedFor, shape },
    ...(verify !== undefined && { verify }),
  };
}

/** Every job of a plan. */
export const jobsOf = (plan: FarmPlan): Job[] =>
  rangesOf(plan.cut).map((range, n) => ({
    ...{ protocol: plan.protocol, version: plan.version, plan: plan.id, id: jobName(range) },
    ...plan.work,
    ...{ range, plannedFor: plan.plannedFor[Math.floor(n / (plan.cut.channels.length - 1))], failures: [] },
    ...(isVerified(plan, n) && { verified: { not: [] } }),
  }));

const isVerified = ({ verify }: Pick<FarmPlan, 'verify'>, n: number): boolean =>
  verify !== undefined && n % verify === 0;

/** A job as it comes from outside: one of another version is refused before its contents are looked at. */
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

/** Results of two versions are not added: neither would be right for the other. */
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

export type { BackendChoice };
