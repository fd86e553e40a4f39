/**
 * A machine's part of an image: the contribution of its channels to the whole. The format is that of the page's
 * messages, a head in JSON followed by float32: for each hand the weighted mean over the machine's channels, and the
 * sum of the weights.
 */
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { addSeconds, formatInstant } from '../../core/instant.js';
import type { SkyImage } from '../../stages/index.js';
import type { LiveState } from '../live-state.js';
import type { SkyHead } from '../messages.js';
import { handSums, type HandSums } from '../planes.js';
import { encodeMessage } from '../wire.js';

const finite = z.number();
const enu = z.tuple([finite, finite, finite]);
const headSchema = z.looseObject({
  topic: z.literal('part'),
  machine: z.string().min(1).max(200),
  /** weights : [hand], summed over all its channels. */
  weights: z.array(finite.nonnegative()).min(1).max(2),
  channels: z.int().positive(),
  bandHz: z.tuple([finite, finite]),
  shape: z.tuple([z.int(), z.int()]),
  time: z.string().max(40),
  durationS: finite.positive(),
  ageS: finite,
  everyS: finite.positive(),
  pixelSize: finite.positive(),
  halfWidth: finite.positive(),
  axes: z.object({ l: enu, m: enu, n: enu }).optional(),
  unit: z.string().max(40),
  method: z.string().max(40),
  sources: z.array(
    z.object({ name: z.string(), l: finite, m: finite, altitudeDeg: finite, azimuthDeg: finite }),
  ),
});
type PartHead = z.infer<typeof headSchema>;

export interface ImagePart {
  readonly head: PartHead;
  readonly hands: HandSums;
}

/** At most one image per second is shared: the same on all machines, the first that begins in a second of UTC. */
const APART_S = 1;
/** Allows for rounding of clocks. */
const NEAR_S = 1e-6;

/** Whether this image is shared: complete, and the first of its second. */
export function isShared(
  { start, durationS }: Pick<SkyImage, 'start' | 'durationS'>,
  everyS: number,
): boolean {
  if (Math.abs(durationS - everyS) > 1e-6 * everyS) return false;
  if (everyS >= APART_S) return true;
  return start.fraction + NEAR_S < everyS || start.fraction + NEAR_S >= 1;
}

/** This machine's part of its latest image; undefined if it is not shared. */
export function partOf(state: LiveState, machine: string, sky: SkyImage): Uint8Array | undefined {
  const { imaging, frequenciesHz } = state.begun?.shown ?? {};
  if (!imaging || !frequenciesHz || !isShared(sky, imaging.everyS)) return undefined;
  const { plan, start, durationS } = sky;
  const time = formatInstant(addSeconds(start, durationS / 2), 3);
  // The page has already computed both, unless it was still drawing the previous image.
  const shown = state.frame?.head.time === time ? state : undefined;
  const { head } = shown?.frame ?? state.frameOf(sky, 0);
  const hands = shown?.hands ?? handSums(sky.image, plan, sky.weights);
  return encodePart(
    head,
    machine,
    hands,
    [frequenciesHz[0], frequenciesHz[frequenciesHz.length - 1]],
    plan.channels,
  );
}

export function encodePart(
  { time, durationS, ageS, everyS, pixelSize, halfWidth, axes, unit, method, sources, shape }: SkyHead,
  machine: string,
  { sums, weights }: HandSums,
  bandHz: readonly [number, number],
  channels: number,
): Uint8Array {
  const size = sums.length / weights.length;
  const means = Float32Array.from(sums, (sum, at) => sum / weights[Math.floor(at / size)]);
  return encodeMessage(
    {
      topic: 'part',
      machine,
      weights: [...weights],
      channels,
      bandHz,
      time,
      durationS,
      ageS,
      everyS,
      pixelSize,
      halfWidth,
      axes,
      unit,
      method,
      sources,
      shape,
    },
    means,
  );
}

/** Decodes untrusted input; refused if it is inconsistent. */
export function decodePart(bytes: Uint8Array): ImagePart {
  const damaged = (what: string): never =>
    refuse('part of an image', what, 'run the same version on all machines');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length >= 8 ? view.getUint32(0, true) : 0;
  const valuesAt = 8 + 8 * Math.ceil(length / 8);
  if (length === 0 || valuesAt > bytes.length) damaged('is too short');
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  } catch {
    damaged('has a head that is no JSON');
  }
  const checked = headSchema.safeParse(json);
  if (!checked.success) return damaged('has a head that says too little');
  const head = checked.data;
  const [pixels, columns] = head.shape;
  const size = pixels * columns;
  if (pixels !== columns || bytes.length !== valuesAt + 4 * size * head.weights.length)
    damaged('does not hold the pixels it says');
  // Copied: a Buffer's slice would be a view of a pool.
  const means = new Float32Array(Uint8Array.prototype.slice.call(bytes, valuesAt).buffer);
  const sums = Float64Array.from(means, (mean, at) => mean * head.weights[Math.floor(at / size)]);
  return { head, hands: { sums, weights: Float64Array.from(head.weights) } };
}
