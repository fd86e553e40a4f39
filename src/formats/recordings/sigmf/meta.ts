/**
 * The metadata of a SigMF recording: a .sigmf-meta file, checked against the size of its data file. Facts without a
 * SigMF field (telescope, polarisations, channelised data) are under `corella:`.
 */
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { SpectraType, VoltageType } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import type { SpectraGap } from '../../../core/gaps.js';
import { parseInstant, secondsBetween, addSamples, type Instant } from '../../../core/instant.js';
import { loadTelescope } from '../../../telescope/load.js';
import { telescopeNames } from '../../../telescope/registry.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { firstIssue, telescopeSchema } from '../../telescope-json.js';
import type { SampleBytes } from '../../io/interleave.js';
import { isRemote } from '../../io/remote.js';

export const EXTENSION_VERSION = '1.0.0';

/** SigMF's name for each of our types; one-byte types have no byte order. */
export const voltageDatatypes = {
  i8: 'ri8',
  i16: 'ri16_le',
  f32: 'rf32_le',
  ci8: 'ci8',
  ci16: 'ci16_le',
  cf32: 'cf32_le',
} as const satisfies Record<VoltageType, string>;

/** Bytes from 0 to 255, as software radios write them: read as −128 … 127. */
export const unsignedDatatypes = { ru8: 'i8', cu8: 'ci8' } as const satisfies Record<string, VoltageType>;

/** SigMF has no 4-bit complex type: such bytes are stored as ru8, and `corella:spectra_type` gives their type. */
export const spectraDatatypes = { ci8: 'ci8', ci4: 'ru8', cf32: 'cf32_le' } as const satisfies Record<
  SpectraType,
  string
>;

const whole = z.number().int().nonnegative();
const captureSchema = z.looseObject({
  'core:sample_start': whole,
  'core:global_index': whole.optional(),
  'core:frequency': z.number().optional(),
  'core:datetime': z.string().optional(),
  'core:header_bytes': whole.optional(),
});
const annotationSchema = z.looseObject({
  'core:sample_start': whole,
  'core:sample_count': whole.optional(),
  'corella:missing': z.boolean().optional(),
  'corella:first_input': whole.optional(),
  'corella:end_input': whole.optional(),
  'corella:first_channel': whole.optional(),
  'corella:end_channel': whole.optional(),
});
const metaSchema = z.looseObject({
  global: z.looseObject({
    'core:datatype': z.string(),
    'core:version': z.string().optional(),
    'core:sample_rate': z.number().positive().optional(),
    'core:num_channels': z.number().int().positive().optional(),
    'core:sha512': z.string().optional(),
    'core:dataset': z.string().optional(),
    'core:trailing_bytes': whole.optional(),
    'core:metadata_only': z.boolean().optional(),
    'core:extensions': z
      .array(z.looseObject({ name: z.string(), optional: z.boolean().optional() }))
      .optional(),
    'corella:telescope': z.union([z.string(), telescopeSchema]).optional(),
    'corella:history': z.array(z.string()).optional(),
    'corella:polarisations': z.union([z.literal(1), z.literal(2)]).optional(),
    'corella:bits': z.number().int().min(1).max(32).optional(),
    'corella:spectra_type': z.enum(['ci8', 'ci4', 'cf32']).optional(),
    'corella:channels': z.number().int().positive().optional(),
    'corella:frequencies_hz': z.array(z.number()).optional(),
    'corella:channel_width_hz': z.number().positive().optional(),
    'corella:real_channels': z.literal([0, 1]).optional(),
    'corella:gain_over_usual': z.number().positive().optional(),
    'corella:levels': z.array(z.array(z.number().positive())).optional(),
  }),
  captures: z.array(captureSchema).min(1, 'a recording needs a capture'),
  annotations: z.array(annotationSchema).optional(),
});
export type SigmfMeta = z.infer<typeof metaSchema>;

export function checkMeta(json: unknown, path: string): SigmfMeta {
  const checked = metaSchema.safeParse(json);
  if (checked.success) return checked.data;
  return refuse(
    path,
    `is not SigMF metadata (${firstIssue(checked.error, json)})`,
    'correct that key or record again',
  );
}

/** Samples that are contiguous in the file. */
interface Segment {
  readonly firstFrame: number;
  /** From the first sample of the recording, including missing ones. */
  readonly firstSample: number;
  readonly frames: number;
}

/** The file positions of all samples of a recording. */
export interface SigmfLayout {
  readonly samples: number;
  readonly segments: readonly Segment[];
  /** Ranges marked as missing although the file has bytes for them. */
  readonly missing: readonly SpectraGap[];
}

/** name.sigmf-meta, .sigmf-data, .sigmf or the bare name, to the bare name. */
export const sigmfBase = (path: string): string => path.replace(/\.sigmf(-meta|-data)?$/i, '');

/** The two files that make a recording. */
export const sigmfPaths = (path: string): readonly [data: string, meta: string] => [
  `${sigmfBase(path)}.sigmf-data`,
  `${sigmfBase(path)}.sigmf-meta`,
];

export function dataPathOf(metaPath: string, meta: SigmfMeta): string {
  const { 'core:dataset': named, 'core:metadata_only': alone } = meta.global;
  if (alone === true)
    refuse(metaPath, 'describes no data (core:metadata_only)', 'open a recording that has some');
  if (named === undefined) return `${sigmfBase(metaPath)}.sigmf-data`;
  if (/[/\\]/.test(named) || named === '..') {
    refuse(metaPath, `core:dataset '${named}' is not a plain file name`, 'keep the data beside the metadata');
  }
  return besideIt(metaPath, named);
}

/** On disk or on a server. */
export const besideIt = (path: string, name: string): string =>
  isRemote(path) ? path.replace(/[^/]*$/, name) : join(dirname(path), name);

interface LayoutFacts {
  readonly metaPath: string;
  readonly dataPath: string;
  readonly dataBytes: number;
  readonly sampleBytes: SampleBytes;
  /** Voltages count as one channel. */
  readonly channels: number;
  readonly inputs: number;
  readonly start: Instant;
  readonly sampleRateHz: number;
}

export function planLayout(meta: SigmfMeta, facts: LayoutFacts): SigmfLayout {
  const { metaPath, dataPath, dataBytes, sampleBytes, channels, inputs } = facts;
  const frameBytes = channels * inputs * sampleBytes;
  const spare = dataBytes % frameBytes;
  if (spare !== 0) {
    refuse(
      dataPath,
      `truncated recording: ${frameBytes - spare} bytes missing from its last sample frame ` +
        `(${dataBytes} bytes are no multiple of ${frameBytes})`,
      'copy it again, or correct core:num_channels and core:datatype if those are wrong',
    );
  }
  const frames = dataBytes / frameBytes;
  if (frames === 0) refuse(dataPath, 'the recording holds no samples', 'record again');
  const segments = planSegments(meta, frames, facts);
  const last = segments[segments.length - 1];
  const samples = last.firstSample + last.frames;
  return { samples, segments, missing: missingBoxes(meta, { metaPath, frames, segments, channels, inputs }) };
}

/** Samples are counted, dates come from a computer's clock: its error and drift may be this large. */
const CLOCK_S = 1;
const CLOCK_DRIFT = 1e-4;

function planSegments(meta: SigmfMeta, frames: number, facts: LayoutFacts): Segment[] {
  const { metaPath, start, sampleRateHz } = facts;
  const [firstCapture] = meta.captures;
  const origin = firstCapture['core:global_index'] ?? 0;
  const segments: Segment[] = [];
  meta.captures.forEach((capture, k) => {
    const where = `${metaPath}, capture ${k}`;
    const firstFrame = capture['core:sample_start'];
    const end = meta.captures.at(k + 1)?.['core:sample_start'] ?? frames;
    if ((capture['core:header_bytes'] ?? 0) > 0) {
      refuse(where, 'has header bytes inside its data', 'strip them: only plain samples are read');
    }
    if (
      capture['core:frequency'] !== undefined &&
      capture['core:frequency'] !== firstCapture['core:frequency']
    ) {
      refuse(where, 'changes core:frequency', 'split the recording where the tuning changes');
    }
    if (k === 0 && firstFrame !== 0) {
      refuse(where, `starts at sample ${firstFrame}`, 'the first capture must start at 0');
    }
    if (firstFrame > end || end > frames) {
      refuse(
        where,
        `contradicts the data: it covers samples ${firstFrame} to ${end} of a file that holds ${frames}`,
        'the data was cut short or core:sample_start is wrong',
      );
    }
    const previous = segments.at(-1);
    const following = previous ? previous.firstSample + previous.frames : 0;
    const index = capture['core:global_index'];
    const firstSample = index === undefined ? following : index - origin;
    if (firstSample < following) {
      refuse(
        where,
        `core:global_index ${index ?? 0}is before the end of the capture before it`,
        'captures must follow each other in time',
      );
    }
    if (k > 0 && capture['core:datetime'] !== undefined) {
      const expected = addSamples(start, firstSample, sampleRateHz);
      const late = secondsBetween(expected, parseInstant(capture['core:datetime'], where));
      if (index === undefined && Math.abs(late) * sampleRateHz > 1) {
        refuse(
          where,
          `core:datetime is ${late} s from where the samples before it end`,
          'say by core:global_index how many samples are missing',
        );
      }
      const mostS = CLOCK_S + (CLOCK_DRIFT * firstSample) / sampleRateHz;
      if (firstCapture['core:datetime'] !== undefined && Math.abs(late) > mostS) {
        refuse(
          where,
          `core:datetime is ${late} s from where core:global_index ${index ?? 0} puts it`,
          'correct the one that is wrong',
        );
      }
    }
    segments.push({ firstFrame, firstSample, frames: end - firstFrame });
  });
  return segments;
}

/** Annotations marked corella:missing, converted from file positions to samples of the recording. */
function missingBoxes(
  meta: SigmfMeta,
  shape: Pick<LayoutFacts, 'metaPath' | 'channels' | 'inputs'> & {
    readonly segments: readonly Segment[];
    readonly frames: number;
  },
): SpectraGap[] {
  const { metaPath, frames, segments, channels, inputs } = shape;
  return (meta.annotations ?? []).flatMap((annotation, k) => {
    if (annotation['corella:missing'] !== true) return [];
    const box = {
      firstInput: annotation['corella:first_input'] ?? 0,
      endInput: annotation['corella:end_input'] ?? inputs,
      firstChannel: annotation['corella:first_channel'] ?? 0,
      endChannel: annotation['corella:end_channel'] ?? channels,
    };
    const first = annotation['core:sample_start'];
    const end = first + (annotation['core:sample_count'] ?? Math.max(0, frames - first));
    const fix = 'correct its sample, input and channel ranges';
    const where = `${metaPath}, annotation ${k}`;
    if (box.endInput > inputs || box.endChannel > channels || end > frames)
      refuse(where, 'reaches outside the recording', fix);
    if (box.firstInput >= box.endInput || box.firstChannel >= box.endChannel)
      refuse(where, 'ends before it begins', fix);
    // The gap between captures is already missing, and not in the file.
    return segments.flatMap((segment) => {
      const shift = segment.firstSample - segment.firstFrame;
      const from = Math.max(first, segment.firstFrame);
      const to = Math.min(end, segment.firstFrame + segment.frames);
      return to > from ? [{ ...box, firstSample: from + shift, endSample: to + shift }] : [];
    });
  });
}

/** The telescope that a recording names or describes; undefined if it does neither. */
export async function telescopeOf(meta: SigmfMeta, metaPath: string): Promise<Telescope | undefined> {
  const said = meta.global['corella:telescope'];
  if (typeof said !== 'string') return said;
  if (telescopeNames().includes(said)) return loadTelescope(said);
  return refuse(
    metaPath,
    `corella:telescope '${said}' is not known`,
    `write it out in full, or name one of ${telescopeNames().join(', ')}`,
  );
}
