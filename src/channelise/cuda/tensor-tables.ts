/** The tables of the channeliser on tensor cores (tensor.cuh): taps as operands, twiddles, factors. */
import { randomStream } from '../../core/random.js';
import { factorTable, turnsOf } from './tables.js';
import type { ChannelisePlan } from '../plan.js';

/**
 * The window of four neighbouring spectra, T + 3 times, fits in a product of 16 times, and one of four more. The ring
 * holds 32: the last four spectra of a tile start at 12 and reach time 19 after that, and no further.
 */
export const MOST_TAPS = 17;
/** 127 · 256 + 127: the largest value of two signed bytes; the smallest is −32896. */
const MOST_TAP = 32_639;
const LANES = 32;
const GROUPS = 16;
/** Lanes whose 16-byte reads shared memory serves together, and the number of such words in a row of banks. */
const QUARTER = 8;
const BANKS = 8;

/** A filter's peak is 32767, which fits in two bytes with only one of the signs. */
export function signOf({ kernel }: ChannelisePlan): 1 | -1 | undefined {
  if (kernel.kind !== 'int16') return undefined;
  let [least, most] = [0, 0];
  for (const tap of kernel.taps) {
    least = Math.min(least, tap);
    most = Math.max(most, tap);
  }
  return most <= MOST_TAP ? 1 : -least <= MOST_TAP ? -1 : undefined;
}

/** The channel of its pair that a lane's rows belong to: lanes are (member, shift, q) = (2, 4, 4). */
const memberOf = (lane: number): number => Math.floor(lane / 16);

/**
 * The tap in a byte of a lane's fragment, if any: its time less the lane's spectrum, 0…3. In the sparse product a
 * lane's bytes are two pairs of times of its own channel; in the dense one of times 16–19, a pair of times of either.
 */
function tapOf(lane: number, byte: number, window: number): number | undefined {
  const q = lane % 4;
  const shift = Math.floor(lane / 4) % 4;
  if (window === 1) {
    if (q >= 2 || Math.floor(byte / 2) !== memberOf(lane)) return undefined;
    return 16 + 2 * q + (byte % 2) - shift;
  }
  const pair = 2 * q + Math.floor(byte / 2);
  return 2 * (pair < 4 ? 2 * pair : 2 * (pair - 4) + 1) + (byte % 2) - shift;
}

interface Entries {
  /** The fragment each lane reads. */
  readonly entries: Uint8Array;
  readonly count: number;
}

/**
 * Lanes with the same taps share a fragment: those of one channel with equal differences of times and spectra, and all
 * without any. Fragments read together are in different banks; several orders are tried for one with few holes.
 */
export function entriesOf(taps: number, window: number): Entries {
  const names = Array.from({ length: LANES }, (_, lane) => {
    const held = [0, 1, 2, 3].map((byte) => {
      const tap = tapOf(lane, byte, window);
      return tap !== undefined && tap >= 0 && tap < taps ? tap : undefined;
    });
    return held.every((tap) => tap === undefined) ? 'none' : `${memberOf(lane)}: ${held.join(' ')}`;
  });
  const fragments = [...new Set(names)];
  const neighbours = new Map(
    fragments.map((fragment) => [
      fragment,
      Array.from({ length: LANES / QUARTER }, (_, n) => names.slice(n * QUARTER, (n + 1) * QUARTER))
        .filter((quarter) => quarter.includes(fragment))
        .flat(),
    ]),
  );
  const degree = (fragment: string): number => neighbours.get(fragment)?.length ?? 0;
  fragments.sort((a, b) => degree(b) - degree(a));
  const random = randomStream(1, 'fragments', taps, window);
  let best: Entries | undefined;
  for (let attempt = 0; attempt < 100; attempt++) {
    const places = placed(fragments, neighbours);
    if (places !== undefined) {
      const count = Math.max(...places.values()) + 1;
      if (best === undefined || count < best.count) {
        best = { entries: Uint8Array.from(names, (name) => places.get(name) ?? 0), count };
      }
    }
    for (let n = fragments.length - 1; n > 0; n--) {
      const other = random.below(n + 1);
      [fragments[n], fragments[other]] = [fragments[other], fragments[n]];
    }
  }
  // If no order is free of conflicts: in order of appearance.
  return (
    best ?? { entries: Uint8Array.from(names, (name) => fragments.indexOf(name)), count: fragments.length }
  );
}

/** Each fragment in the first place whose bank no neighbour uses. */
function placed(
  fragments: readonly string[],
  neighbours: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, number> | undefined {
  const places = new Map<string, number>();
  const taken = new Set<number>();
  for (const fragment of fragments) {
    const banks = new Set((neighbours.get(fragment) ?? []).map((one) => (places.get(one) ?? NaN) % BANKS));
    let place = 0;
    while (place < LANES && (taken.has(place) || banks.has(place % BANKS))) place++;
    if (place === LANES) return undefined;
    places.set(fragment, place);
    taken.add(place);
  }
  return places;
}

/** Rows are read from multiples of 16 bytes: where they open at any sample, the taps are shifted by up to seven. */
export const ROTATIONS = 8;

/** Shifted taps extend into one spectrum more. */
export const rotatedTaps = ({ taps, mostDelaySamples }: ChannelisePlan): number =>
  mostDelaySamples === undefined ? taps : taps + 1;

interface TensorTables {
  /** Fragments: [rotation][pair of n2][group][entry]{high, low of n1 = group, high, low of n1 = group + 16}. */
  readonly taps: Uint32Array;
  readonly moreTaps: Uint32Array;
  /** entries : [window][lane]. */
  readonly entries: Uint8Array;
  readonly twiddles: Float32Array;
  readonly factors: Float32Array;
}

export function tensorTables(plan: ChannelisePlan, sign: 1 | -1): TensorTables {
  const windows = [0, 1].map((window) => entriesOf(rotatedTaps(plan), window));
  const rotations = plan.mostDelaySamples === undefined ? 1 : ROTATIONS;
  const tables = (window: number): Uint32Array => {
    const each = Array.from({ length: rotations }, (_, rotation) =>
      fragmentTable(plan, sign, rotation, window, windows[window]),
    );
    const all = new Uint32Array(rotations * each[0].length);
    each.forEach((table, rotation) => {
      all.set(table, rotation * table.length);
    });
    return all;
  };
  return {
    taps: tables(0),
    moreTaps: tables(1),
    entries: Uint8Array.from(windows.flatMap(({ entries }) => [...entries])),
    // For each k1 those of 32 points, ω = e^(−2πi k1/1024).
    twiddles: Float32Array.from(Array.from({ length: 32 }, (_, k1) => turnsOf(32, k1 / 1024)).flat()),
    factors: factorTable(plan).map((factor) => sign * factor),
  };
}

function fragmentTable(
  plan: ChannelisePlan,
  sign: number,
  rotation: number,
  window: number,
  { entries, count }: Entries,
): Uint32Array {
  const { channels, kernel } = plan;
  const pairs = channels / 64;
  const bytes = new Int8Array(pairs * GROUPS * count * 16);
  for (let pair = 0; pair < pairs; pair++) {
    for (let n1 = 0; n1 < 32; n1++) {
      const group = pair * GROUPS + (n1 % GROUPS);
      for (let lane = 0; lane < LANES; lane++) {
        const channel = 2 * pair + memberOf(lane) + 2 * pairs * n1;
        const to = (group * count + entries[lane]) * 16 + 8 * Math.floor(n1 / GROUPS);
        for (let byte = 0; byte < 4; byte++) {
          const tap = tapOf(lane, byte, window);
          const at = tap === undefined ? -1 : tap * channels + channel - rotation;
          if (tap === undefined || tap < 0 || at < 0 || at >= kernel.taps.length) continue;
          const value = sign * kernel.taps[at];
          const low = ((value + 128) & 255) - 128;
          bytes[to + byte] = (value - low) / 256;
          bytes[to + 4 + byte] = low;
        }
      }
    }
  }
  return new Uint32Array(bytes.buffer);
}
