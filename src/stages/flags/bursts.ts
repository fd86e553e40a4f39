/**
 * Bursts in flags that most baselines share: short, over most of the band, at one time or sweeping through it. A spark
 * nearby looks like this, and so does a pulse of the sky, dispersed or not: flagging them has to be requested.
 */
import { MISSING, TAKEN, type PlaneShape } from './sum-threshold.js';

export interface Burst {
  /** Integration numbers, the last included. */
  readonly firstTime: number;
  readonly lastTime: number;
  readonly channels: number;
  /** The number of channels that have data. */
  readonly ofChannels: number;
  /** [t][c], 1 where it is. */
  readonly cells: Uint8Array;
  /** Where it sweeps like a dispersed pulse, t ∝ ν⁻²: pc/cm³. */
  readonly dispersion?: number;
}

/** Less of the band is a carrier, or a drifting tone. */
const LEAST_BAND = 0.5;
/** A feature that lasts longer in most of its channels is no burst. */
const MOST_TIME = 0.5;
/** The fraction of the variance of its times that ν⁻² must explain. */
const LEAST_FIT = 0.8;
/**
 * The fraction of the band that a piece must cover to fit its sweep, and how many integrations from the sweep still
 * belong to it.
 */
const LEAST_SEED = 0.125;
const BESIDE = 1.5;
/** Seconds · MHz² for 1 pc/cm³. */
const DISPERSION_S_MHZ2 = 4148.808;

export function findBursts(
  state: Uint8Array,
  { times, channels }: PlaneShape,
  middlesS: Float64Array,
  frequenciesHz: Float64Array,
): Burst[] {
  const ofChannels = Array.from({ length: channels }, (_, c) => c).filter((c) =>
    Array.from({ length: times }, (_unused, t) => state[t * channels + c]).some((one) => one !== MISSING),
  ).length;
  const bursts: Burst[] = [];
  const reported = new Uint8Array(state.length);
  const isBroad = (cells: readonly number[]): boolean =>
    new Set(cells.map((at) => at % channels)).size >= Math.max(2, LEAST_BAND * ofChannels);
  const steady = steadiness(state, { times, channels });
  const byNumber = pieces(state, { times, channels })
    .flatMap((piece) => withoutSteady(piece, steady, state.length, { times, channels }))
    .sort((x, y) => y.length - x.length);
  for (const piece of byNumber) {
    if (times < 2 || reported[piece[0]] === 1) continue;
    const cells = isBroad(piece)
      ? piece
      : alongWay(piece, state, steady, { times, channels }, middlesS, frequenciesHz);
    if (!isBroad(cells)) continue;
    const perChannel = timesOf(cells, channels);
    const lengths = [...perChannel.values()].map((list) => list.length).sort((x, y) => x - y);
    if (lengths[Math.floor(lengths.length / 2)] > Math.max(1, MOST_TIME * times)) continue;
    const own = new Uint8Array(state.length);
    for (const at of cells) own[at] = reported[at] = 1;
    const at = cells.map((cell) => Math.floor(cell / channels));
    const dispersion = wayOf(perChannel, middlesS, frequenciesHz)?.dispersion;
    bursts.push({
      firstTime: at.reduce((x, y) => Math.min(x, y)),
      lastTime: at.reduce((x, y) => Math.max(x, y)),
      channels: perChannel.size,
      ofChannels,
      cells: own,
      dispersion,
    });
  }
  return bursts.sort((x, y) => x.firstTime - y.firstTime);
}

/** A run longer than so many times the median of its piece, plus one, is a carrier. */
const STEADY = 2;

/** [t][c], the length of the run of flagged times there; the maximum where most of a channel is flagged. */
function steadiness(state: Uint8Array, { times, channels }: PlaneShape): Float64Array {
  const lengths = new Float64Array(state.length);
  for (let c = 0; c < channels; c++) {
    let taken = 0;
    for (let t = 0; t < times; t++) if (state[t * channels + c] === TAKEN) taken++;
    const isSteady = taken > Math.max(1, MOST_TIME * times);
    for (let t = 0; t < times; t++) {
      if (state[t * channels + c] !== TAKEN) continue;
      let end = t;
      while (end < times && state[end * channels + c] === TAKEN) end++;
      const length = isSteady ? Infinity : end - t;
      for (; t < end; t++) lengths[t * channels + c] = length;
    }
  }
  return lengths;
}

/** The longest run in a piece that may belong to a burst, estimated from one run of each of its channels. */
function longestOf(piece: readonly number[], steady: Float64Array, { channels }: PlaneShape): number {
  const lengths = [...new Map(piece.map((at) => [at % channels, steady[at]])).values()].sort((x, y) => x - y);
  return STEADY * lengths[Math.floor(lengths.length / 2)] + 1;
}

/**
 * A carrier that a burst crosses is connected to it, and joins it to the next one: without the carrier the rest is in
 * pieces.
 */
function withoutSteady(piece: number[], steady: Float64Array, length: number, shape: PlaneShape): number[][] {
  const longest = longestOf(piece, steady, shape);
  const left = piece.filter((at) => steady[at] <= longest);
  if (left.length === piece.length) return [piece];
  const state = new Uint8Array(length);
  for (const at of left) state[at] = TAKEN;
  return pieces(state, shape);
}

function timesOf(cells: readonly number[], channels: number): ReadonlyMap<number, readonly number[]> {
  const perChannel = new Map<number, number[]>();
  for (const at of cells) {
    const list = perChannel.get(at % channels);
    if (list) list.push(Math.floor(at / channels));
    else perChannel.set(at % channels, [Math.floor(at / channels)]);
  }
  return perChannel;
}

/** Of a weak pulse only pieces are found: everything on the sweep of one piece is the same pulse. */
function alongWay(
  piece: number[],
  state: Uint8Array,
  steady: Float64Array,
  { times, channels }: PlaneShape,
  middlesS: Float64Array,
  frequenciesHz: Float64Array,
): number[] {
  const perChannel = timesOf(piece, channels);
  const way =
    perChannel.size < LEAST_SEED * channels ? undefined : wayOf(perChannel, middlesS, frequenciesHz);
  if (!way) return piece;
  const nearS = (BESIDE * (middlesS[times - 1] - middlesS[0])) / (times - 1);
  const longest = longestOf(piece, steady, { times, channels });
  const cells: number[] = [];
  for (let at = 0; at < state.length; at++) {
    if (state[at] !== TAKEN || steady[at] > longest) continue;
    const offS = middlesS[Math.floor(at / channels)] - way.timeS(frequenciesHz[at % channels]);
    if (Math.abs(offS) <= nearS) cells.push(at);
  }
  return cells;
}

/**
 * Connected pieces: consecutive times, and channels within a sixteenth of the band, since not every sample of a weak
 * pulse is found. The band is divided into at most 64 parts.
 */
const PARTS = 64;
const PARTS_APART = 4;

function pieces(state: Uint8Array, { times, channels }: PlaneShape): number[][] {
  const parts = Math.min(PARTS, channels);
  // With few channels only neighbours are connected.
  const apart = Math.max(1, Math.floor((PARTS_APART * parts) / PARTS));
  /** cells : [t][part], flagged samples in it. */
  const cells = Array.from({ length: times * parts }, (): number[] => []);
  for (let at = 0; at < state.length; at++) {
    if (state[at] !== TAKEN) continue;
    const c = at % channels;
    cells[((at - c) / channels) * parts + Math.floor((c * parts) / channels)].push(at);
  }
  const seen = new Uint8Array(cells.length);
  const found: number[][] = [];
  for (let first = 0; first < cells.length; first++) {
    if (cells[first].length === 0 || seen[first] === 1) continue;
    seen[first] = 1;
    const piece = [first];
    // The array grows during the loop.
    for (const cell of piece) {
      const [t, part] = [Math.floor(cell / parts), cell % parts];
      for (let tt = Math.max(0, t - 1); tt <= Math.min(times - 1, t + 1); tt++)
        for (let pp = Math.max(0, part - apart); pp <= Math.min(parts - 1, part + apart); pp++) {
          const at = tt * parts + pp;
          if (cells[at].length === 0 || seen[at] === 1) continue;
          seen[at] = 1;
          piece.push(at);
        }
    }
    found.push(piece.flatMap((cell) => cells[cell]));
  }
  return found;
}

interface Way {
  readonly dispersion: number;
  readonly timeS: (frequencyHz: number) => number;
}

/**
 * A least-squares fit of the channels' mean times over ν⁻²; undefined where that explains little, or sweeps upwards.
 */
function wayOf(
  perChannel: ReadonlyMap<number, readonly number[]>,
  middlesS: Float64Array,
  frequenciesHz: Float64Array,
): Way | undefined {
  const places = (frequencyHz: number): number => (frequencyHz / 1e6) ** -2;
  const points = [...perChannel].map(([c, list]) => ({
    x: places(frequenciesHz[c]),
    y: list.reduce((sum, t) => sum + middlesS[t], 0) / list.length,
  }));
  const mean = (of: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const xx = mean((point) => (point.x - x) ** 2);
  const yy = mean((point) => (point.y - y) ** 2);
  const xy = mean((point) => (point.x - x) * (point.y - y));
  if (!(xx > 0 && yy > 0) || xy <= 0 || xy ** 2 < LEAST_FIT * xx * yy) return undefined;
  return {
    dispersion: xy / xx / DISPERSION_S_MHZ2,
    timeS: (frequencyHz) => y + (xy / xx) * (places(frequencyHz) - x),
  };
}
