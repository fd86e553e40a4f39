/**
 * The channeliser for 4096 channels (channelise-long.cu): when it can be used, the numbers it is compiled with, and its
 * tables.
 */
import { structure } from '../../backend/cuda/arguments.js';
import { POWER_CELLS } from '../../backend/cuda/power-cells.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import { mapArgument } from '../../backend/cuda/tensor-map.js';
import { shapeDefines, type OnePassPlan } from './plan.js';
import type { Card } from './shapes.js';
import { factorTable, largestOutput, turnsOf } from './tables.js';
import type { ChannelisePlan } from '../plan.js';

/** struct LongWork of channelise-long.cu. */
const LONG_WORK = {
  voltages: 0,
  pitchBytes: 8,
  taps: 16,
  turns: 24,
  lastTurns: 32,
  factors: 40,
  missing: 48,
  scratch: 56,
  saturated: 64,
  inputs: 72,
  spectra: 76,
  delays: 80,
  factor: 88,
  powers: 96,
  bytes: 96 + POWER_CELLS.bytes,
} as const;

/** The copy engine copies multiples of so many bytes, from such addresses. */
const COPY_BYTES = 16;
/** Compute capability 9.0. */
const COPY_ENGINE_SINCE = 90;
const CHANNELS = 4096;
/** k = k1 + 16 k2 + 256 k3, n = 256 n1 + m. */
const POINTS = 16;
const COLUMNS = 256;
const THREADS = 512;
const TILE = 4;
const UNIT = 16;
/** More rows than this do not fit in a block's shared memory beside the exchange. */
const MOST_TAPS = 17;
/** Taps are stored by eights, 16 bytes. */
const EIGHT = 8;
const EIGHT_BYTES = 16;
const EXCHANGE_BYTES = CHANNELS * 2 * 8;
const QUAD_BYTES = 4 * 2 * CHANNELS;
const TWIDDLE_BYTES = POINTS * 64;
const BARRIER_BYTES = 96;
/** For the spectra of two units, where they are delayed, and the openings of their rows. */
const SPECTRUM_TURN_BYTES = 2 * (UNIT * 16 + 16);

/** Undefined where the plan or the card needs other kernels. */
export function planLong(plan: ChannelisePlan, card: Card): OnePassPlan | undefined {
  const { taps, kernel } = plan;
  if (plan.channels !== CHANNELS || plan.inputType !== 'ci8' || plan.outputType === 'cf32') return undefined;
  if (taps > MOST_TAPS || kernel.kind !== 'int16') return undefined;
  if (card.capability < COPY_ENGINE_SINCE || card.path === 'dp4a') return undefined;
  // The last samples of a delayed row are at the front of the next.
  const rows = taps + TILE - 1 + (plan.mostDelaySamples === undefined ? 0 : 1);
  const quads = Math.ceil(rows / 4);
  const fixedBytes =
    EXCHANGE_BYTES + quads * QUAD_BYTES + TWIDDLE_BYTES + BARRIER_BYTES + SPECTRUM_TURN_BYTES;
  const room = card.sharedBytesPerBlock - fixedBytes;
  if (room < 0) return undefined;
  const columnBytes = Math.ceil(taps / EIGHT) * COLUMNS * EIGHT_BYTES;
  const kept = Math.min(POINTS, Math.floor(room / columnBytes));
  return {
    description: 'one pass, a block to a spectrum',
    request: ({ powers }) => ({
      ...kernelSource(
        import.meta.url,
        'channelise-long.cu',
        ...['hopper.cuh', 'powers.cuh', 'shared.cuh'],
        ...['shape.cuh', 'butterflies.cuh', 'delays.cuh', 'rounding.cuh', 'long.cuh'],
      ),
      defines: {
        ...shapeDefines(plan, true),
        CLAMP: largestOutput(plan) < 2 ** 15 ? 0 : 1,
        OPENS_AT: COPY_BYTES,
        KEPT: kept,
        AHEAD: kept === POINTS ? 1 : 3,
        POWERS: powers ? 1 : 0,
      },
      entries: { channeliseLong: [mapArgument, structure('LongWork', LONG_WORK)] },
    }),
    gapsApart: false,
    entry: 'channeliseLong',
    work: LONG_WORK,
    constants: {},
    tables: () => ({ ...longTables(plan) }),
    threads: THREADS,
    sharedBytes: fixedBytes + kept * columnBytes,
    unit: UNIT,
    low: POINTS,
    box: [UNIT, 1, 1, CHANNELS / POINTS / 4],
    scratchBytesPerBlock: 2 * CHANNELS * UNIT * 2,
  };
}

interface LongTables {
  /** taps : [n1][eight][m]{four words}, taps 2p and 2p + 1 in a word, the even one low. */
  readonly taps: Uint32Array;
  /** turns : [k1][8], (re, im). */
  readonly turns: Float32Array;
  /** lastTurns : [4][k1][k2]{two}, (re, im). */
  readonly lastTurns: Float32Array;
  /** factors : [a][k1][k2][k3], or one for all. */
  readonly factors: Float32Array;
}

export function longTables(plan: ChannelisePlan): LongTables {
  const factors = factorTable(plan);
  const lastTurns = new Float32Array(COLUMNS * 16);
  for (let k1 = 0; k1 < POINTS; k1++) {
    for (let k2 = 0; k2 < POINTS; k2++) {
      turnsOf(POINTS, (k1 + POINTS * k2) / CHANNELS).forEach((value, n) => {
        lastTurns[(Math.floor(n / 4) * COLUMNS + k1 * POINTS + k2) * 4 + (n % 4)] = value;
      });
    }
  }
  return {
    taps: tapEights(plan),
    turns: Float32Array.from(Array.from({ length: POINTS }, (_, k1) => turnsOf(POINTS, k1 / COLUMNS)).flat()),
    lastTurns,
    factors:
      factors.length === 1
        ? factors
        : factors.map((_, n) => factors[n - (n % CHANNELS) + channelAt(n % CHANNELS)]),
  };
}

/** The channel at [k1][k2][k3]; channel 0 is the lowest frequency. */
const channelAt = (n: number): number =>
  (Math.floor(n / COLUMNS) +
    POINTS * (Math.floor(n / POINTS) % POINTS) +
    COLUMNS * (n % POINTS) +
    CHANNELS / 2) %
  CHANNELS;

function tapEights({ taps, kernel }: ChannelisePlan): Uint32Array {
  const eights = Math.ceil(taps / EIGHT);
  const table = new Uint32Array(POINTS * eights * COLUMNS * 4);
  for (let tau = 0; tau < taps; tau++) {
    for (let n = 0; n < CHANNELS; n++) {
      const column = (Math.floor(n / COLUMNS) * eights + Math.floor(tau / EIGHT)) * COLUMNS + (n % COLUMNS);
      table[column * 4 + Math.floor((tau % EIGHT) / 2)] |=
        (kernel.taps[tau * CHANNELS + n] & 0xffff) << (16 * (tau % 2));
    }
  }
  return table;
}
