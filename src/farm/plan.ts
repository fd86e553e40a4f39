/**
 * A recording's work, cut into jobs: plain data. Whoever has the plan and the jobs' results has everything; queues and
 * workers may be lost and replaced.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ChannelSettings } from '../pipeline/channels.js';
import type { Instant } from '../core/instant.js';
import type { SpectraBox } from '../pipeline/parts.js';
import { backendChoices } from '../core/backend-kinds.js';
import { refuse } from '../core/errors.js';
import { firstIssueWords } from './words.js';
import { telescopeSchema, type OpenFileOptions } from '../formats/index.js';

/** Raised when jobs or results change their shape. */
export const PROTOCOL = 3;

const whole = z.number().int().nonnegative();
const instantSchema = z.object({ unixSeconds: z.number().int(), fraction: z.number() });
const openSchema = z.strictObject({
  format: z.string().exactOptional(),
  sampleRateHz: z.number().exactOptional(),
  centreFrequencyHz: z.number().exactOptional(),
  telescope: telescopeSchema.exactOptional(),
  polarisations: z.union([z.literal(1), z.literal(2)]).exactOptional(),
  inputs: z.number().exactOptional(),
  bits: z.number().exactOptional(),
  type: z.enum(['i8', 'i16', 'f32', 'ci8', 'ci16', 'cf32']).exactOptional(),
  skipBytes: z.number().exactOptional(),
  start: instantSchema.exactOptional(),
  near: instantSchema.exactOptional(),
  tuning: z.union([z.literal(1), z.literal(2)]).exactOptional(),
}) satisfies z.ZodType<OpenFileOptions>;

const windowSchema = z.union([
  z.strictObject({ kind: z.enum(['rectangular', 'hann', 'hamming', 'blackman']) }),
  z.strictObject({ kind: z.literal('kaiser'), beta: z.number() }),
]);
const channelSchema = z.strictObject({
  channels: z.number().int().positive(),
  taps: z.number().int().positive(),
  window: windowSchema.exactOptional(),
  outputType: z.enum(['ci8', 'ci4', 'cf32']),
  gain: z.number().exactOptional(),
  passbandChannels: z.number().exactOptional(),
  coefficients: z.array(z.number()).exactOptional(),
});

const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);
/** A series of images, directly from spectra. */
const imageSchema = z.strictObject({
  everyS: z.number().positive(),
  pixels: z.int().positive().exactOptional(),
  fieldDeg: z.number().positive().exactOptional(),
  kernelSize: z.union([z.literal(1), z.literal(3), z.literal(5), z.literal(7)]),
  autos: z.enum(['include', 'leave-out']),
  telescope: telescopeSchema,
  /** What powers are divided by, where the gain before rounding was measured. */
  overUsual: z.number().positive().exactOptional(),
  /** gains : [c][a] complex float64 and solved : [c][a] bytes, both in base64. */
  gains: z.strictObject({ gains: base64, solved: base64 }).exactOptional(),
});

/** What a worker must know; small, since each job carries it. */
const workSchema = z.strictObject({
  command: z.enum(['correlate', 'channelise', 'image']),
  recording: z.strictObject({
    /** Absolute, or under the worker's own root. */
    path: z.string().min(1),
    open: openSchema,
    /** What the submitter found in it: a worker who finds something else has another file. */
    facts: z.strictObject({
      kind: z.enum(['voltages', 'spectra']),
      type: z.string(),
      inputs: whole,
      samples: whole,
      start: instantSchema,
    }),
    /** Of it this much alone; what was found is of the stretch. */
    times: z
      .strictObject({ from: instantSchema.exactOptional(), to: instantSchema.exactOptional() })
      .exactOptional(),
    /** Its files on disks, as they were then. */
    files: z
      .array(z.strictObject({ name: z.string(), sizeBytes: whole, sha256: z.string() }))
      .exactOptional(),
    /** Files on web servers, as they were then. */
    remote: z
      .array(
        z.strictObject({
          url: z.string(),
          sizeBytes: whole,
          etag: z.string().exactOptional(),
          modified: z.string().exactOptional(),
        }),
      )
      .exactOptional(),
  }),
  /** How voltages become channels; absent where they arrive so. */
  channels: channelSchema.exactOptional(),
  integrationS: z.number().positive().exactOptional(),
  align: z.enum(['first-sample', 'utc']),
  flaggedInputs: z.array(whole),
  /** Fixed delays of the inputs, and where the stations stand is not asked for. */
  delaysS: z.array(z.number()).exactOptional(),
  image: imageSchema.exactOptional(),
  backend: z.enum(backendChoices),
});
export type Work = z.infer<typeof workSchema>;

const boxSchema = z.strictObject({
  firstSpectrum: whole,
  endSpectrum: whole,
  firstChannel: whole,
  endChannel: whole,
}) satisfies z.ZodType<SpectraBox>;

const failureSchema = z.strictObject({ worker: z.string(), error: z.string() });
/** One attempt that went wrong. */
export type Failure = z.infer<typeof failureSchema>;

const jobSchema = z.strictObject({
  protocol: z.number(),
  version: z.string(),
  plan: z.string().regex(/^[\w-]+$/),
  id: z.string(),
  work: workSchema,
  box: boxSchema,
  /** Of images: the moment that the plan was made for which one process would have at hand there. */
  plannedFor: instantSchema.exactOptional(),
  /** So far: a job that fails three times is set aside. */
  failures: z.array(failureSchema),
});
export type Job = z.infer<typeof jobSchema>;

/** Where jobs begin and end: first 0, last the whole; every time range is done in every range of channels. */
export interface Cut {
  readonly spectra: readonly number[];
  readonly channels: readonly number[];
  /** Of images, for each range of time. */
  readonly plannedFor?: readonly Instant[];
}

/** A job's name: where its box lies. */
export const jobName = ({ firstSpectrum, endSpectrum, firstChannel, endChannel }: SpectraBox): string =>
  `t${firstSpectrum}-${endSpectrum}.c${firstChannel}-${endChannel}`;

/** The boxes of a cut, in the order of time, then of channels. */
export function boxesOf({ spectra, channels }: Cut): SpectraBox[] {
  const boxes: SpectraBox[] = [];
  for (let t = 1; t < spectra.length; t++)
    for (let c = 1; c < channels.length; c++)
      boxes.push({
        ...{ firstSpectrum: spectra[t - 1], endSpectrum: spectra[t] },
        ...{ firstChannel: channels[c - 1], endChannel: channels[c] },
      });
  return boxes;
}

/** What every plan has; `product` is what the collector needs beside it. */
export interface FarmPlan<Product = unknown> {
  readonly protocol: typeof PROTOCOL;
  readonly version: string;
  readonly id: string;
  readonly work: Work;
  readonly cut: Cut;
  readonly product: Product;
}

/** The same work cut the same way is the same plan, whoever submits it again. */
export function makePlan<Product>(
  version: string,
  { work, cut, product }: Pick<FarmPlan<Product>, 'work' | 'cut' | 'product'>,
): FarmPlan<Product> {
  const text = JSON.stringify([PROTOCOL, version, work, cut]);
  const id = `${work.command}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  return { protocol: PROTOCOL, version, id, work, cut, product };
}

/** Every job of a plan. */
export const jobsOf = (plan: FarmPlan): Job[] => {
  const { plannedFor, channels } = plan.cut;
  return boxesOf(plan.cut).map((box, n) => ({
    ...{ protocol: plan.protocol, version: plan.version, plan: plan.id },
    ...{ id: jobName(box), work: plan.work, box, failures: [] },
    ...(plannedFor && { plannedFor: plannedFor[Math.floor(n / (channels.length - 1))] }),
  }));
};

/** A job as it comes from outside: one of another version is refused before its contents are looked at. */
export function checkJob(json: unknown, version: string, where: string): Job {
  const head = z.looseObject({ protocol: z.number(), version: z.string() }).safeParse(json);
  if (!head.success) refuse(where, `is no job (${firstIssueWords(head.error, json)})`, 'submit it again');
  refuseOtherVersion(head.data, version, where);
  const checked = jobSchema.safeParse(json);
  if (!checked.success)
    return refuse(where, `is no job (${firstIssueWords(checked.error, json)})`, 'submit it again');
  const job = checked.data;
  if (job.id !== jobName(job.box))
    refuse(where, `is called ${job.id}, not ${jobName(job.box)}`, 'submit it again');
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

/** The channels' settings as pipeline takes them. */
export const channelSettingsOf = ({
  coefficients,
  ...others
}: NonNullable<Work['channels']>): ChannelSettings => ({
  ...others,
  ...(coefficients && { coefficients: Float64Array.from(coefficients) }),
});
