/**
 * Combines parts of an image from machines with different channels: weighted sums, so that the result equals that of
 * one machine with all channels. Parts of one instant wait for each other, up to a timeout.
 */
import { parseInstant, toDate } from '../../core/instant.js';
import type { Frame } from '../image-history.js';
import type { SkyHead } from '../messages.js';
import { colourRange, stokesOf, type HandSums } from '../planes.js';
import type { ImagePart } from './part.js';

/** Timeout for the other parts of an instant. */
const TIMEOUT_S = 2;
/** Limit on waiting instants; more mean that the clocks disagree. */
const MOST_MOMENTS = 16;

interface Moment {
  readonly firstAtS: number;
  readonly parts: Map<string, ImagePart>;
}

export class Combiner {
  private readonly moments = new Map<string, Moment>();
  private readonly troubles = new Map<string, string>();
  private newest = '';
  private count = 0;
  /** Parts that arrived after their instant was over. */
  late = 0;

  /** `expected`: the machines currently connected; `known`: all machines of the observation. */
  constructor(
    private readonly machines: {
      readonly expected: () => readonly string[];
      readonly known: () => readonly string[];
    },
    private readonly onFrame: (frame: Frame) => void,
  ) {}

  /** Why a machine's images are excluded from the whole; undefined if they are included. */
  troubleOf = (machine: string): string | undefined => this.troubles.get(machine);

  add(part: ImagePart, nowS: number): void {
    const { time, durationS, machine } = part.head;
    if (time <= this.newest) {
      this.late++;
      return;
    }
    const key = `${time} ${durationS.toFixed(6)}`;
    const moment = this.moments.get(key) ?? { firstAtS: nowS, parts: new Map<string, ImagePart>() };
    this.moments.set(key, moment);
    moment.parts.set(machine, part);
    if (this.machines.expected().every((one) => moment.parts.has(one) || this.troubles.has(one)))
      this.finish(key, moment);
    while (this.moments.size > MOST_MOMENTS) this.finishOldest();
  }

  /** Shows the instants past their timeout with the parts received. */
  tick(nowS: number): void {
    for (const [key, moment] of this.inOrder())
      if (nowS - moment.firstAtS > TIMEOUT_S) this.finish(key, moment);
  }

  private inOrder(): [string, Moment][] {
    return [...this.moments].sort(([x], [y]) => (x < y ? -1 : 1));
  }

  private finishOldest(): void {
    const [oldest] = this.inOrder();
    this.finish(...oldest);
  }

  private finish(key: string, { parts }: Moment): void {
    // Older instants can no longer be shown in order.
    for (const [other] of this.moments) if (other <= key) this.moments.delete(other);
    const fitting = this.fitting([...parts.values()]);
    const [first] = fitting;
    if (first.head.time <= this.newest) return;
    this.newest = first.head.time;
    const there = new Set(fitting.map(({ head }) => head.machine));
    const without = this.machines.known().filter((one) => !there.has(one));
    this.onFrame(combined(fitting, without, ++this.count));
  }

  /** Parts that can be added: one geometry and unit, no channel twice. */
  private fitting(parts: readonly ImagePart[]): readonly ImagePart[] {
    const sorted = [...parts].sort((x, y) => x.head.bandHz[0] - y.head.bandHz[0] || (x.head.machine < y.head.machine ? -1 : 1)); // prettier-ignore
    const taken: ImagePart[] = [];
    for (const part of sorted) {
      const why = misfit(part, taken);
      if (why === undefined) {
        taken.push(part);
        this.troubles.delete(part.head.machine);
      } else this.troubles.set(part.head.machine, why);
    }
    return taken;
  }
}

function misfit({ head }: ImagePart, taken: readonly ImagePart[]): string | undefined {
  const [first] = taken;
  if (taken.length === 0) return undefined;
  const [pixels] = head.shape;
  if (
    pixels !== first.head.shape[0] ||
    head.halfWidth !== first.head.halfWidth ||
    head.pixelSize !== first.head.pixelSize
  )
    // prettier-ignore
    return `its images are not those of ${first.head.machine} (${pixels} pixels, not ${first.head.shape[0]}): give all machines one products.images.pixels and products.images.field`;
  if (!isSameCentre(head.axes?.n, first.head.axes?.n))
    return `its images have another centre than those of ${first.head.machine}, since the plane of the stations is used at its frequencies: give all machines stations and products.images.kernel alike, or a narrower products.images.field`;
  if (head.unit !== first.head.unit)
    return `its images are in ${head.unit}, those of ${first.head.machine} in ${first.head.unit}: give gains to all or to none`;
  if (head.weights.length !== first.head.weights.length || head.method !== first.head.method)
    return `its images are made by another method than those of ${first.head.machine}`;
  const twice = taken.find(
    ({ head: { bandHz } }) => head.bandHz[0] <= bandHz[1] && head.bandHz[1] >= bandHz[0],
  );
  return twice && `it has channels that ${twice.head.machine} has, too`;
}

/** A millionth of a radian is far less than a pixel. */
const isSameCentre = (a: readonly number[] = [0, 0, 1], b: readonly number[] = [0, 0, 1]): boolean =>
  a.every((value, k) => Math.abs(value - b[k]) < 1e-6);

/** The sum of parts, equal to the image of one machine. */
function combined(parts: readonly ImagePart[], without: readonly string[], number: number): Frame {
  const [{ head, hands: first }] = parts;
  const hands: HandSums = {
    sums: new Float64Array(first.sums.length),
    weights: new Float64Array(first.weights.length),
  };
  const size = first.sums.length / first.weights.length;
  for (const { hands: part } of parts)
    part.weights.forEach((weight, hand) => {
      // A hand without data in any channel adds nothing.
      if (weight === 0) return;
      hands.weights[hand] += weight;
      for (let at = hand * size; at < (hand + 1) * size; at++) hands.sums[at] += part.sums[at];
    });
  const plane = stokesOf(hands);
  const { time, durationS, everyS, pixelSize, halfWidth, axes, unit, method, sources, shape } = head;
  const whole: SkyHead = {
    topic: 'sky',
    shape,
    time,
    durationS,
    number,
    everyS,
    pixelSize,
    halfWidth,
    unit,
    method,
    sources,
    ...(axes && { axes }),
    ageS: Math.max(...parts.map((one) => one.head.ageS)),
    ...colourRange(plane),
    ...(without.length > 0 && { without }),
  };
  return { head: whole, plane, unixS: toDate(parseInstant(time)).getTime() / 1000 };
}
