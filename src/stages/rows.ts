/** Integrations as rows with fringes stopped, read as often as an image needs them. */
import { uvwR, visibilitiesRC, weightsRC } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import {
  joinRows,
  stopFringesOf,
  type HandTally,
  type WidePrecision,
  type WideProduct,
  type WideRows,
} from '../image/index.js';
import type { SkyPosition } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { withoutLeakage } from './gains/apply-visibilities.js';
import { frameAtMiddle, stationPositions } from './geometry.js';
import { calibratedAt, type Calibrated, type CalibratedAt } from './sky-image.js';
import { groupsOf } from './shares.js';
import type { StationKinds } from '../sky/beams/powers.js';

/** Integrations in the order of time, the same each time they are requested. */
export type Integrations = () => AsyncIterable<Integration> | Iterable<Integration>;

interface RowOptions {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly centre: PhaseCentre;
  readonly precision?: WidePrecision;
  /** Gains that change in time are those at the middle of each integration. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Added to with every row of the first product that is made. */
  readonly hands?: HandTally;
  /** Where the moments and stations of an image are needed: rows are grouped by both. */
  readonly kinds?: StationKinds;
}

/** Rows of about so many visibilities are handed on together: handing on small ones costs more than gridding them. */
const TOGETHER = 2 ** 20;
/** Less than this, of all products, is kept in memory; more is read again for every pass of a product. */
const KEPT_BYTES = 2 ** 31;

/** A hundredth of a milliarcsecond: the same place, written twice. */
const SAME_PLACE_DEG = 3e-9;

function stoppedAt(
  { passThrough }: Integration,
  { raDeg, decDeg }: SkyPosition,
): NonNullable<Integration['passThrough']>['stopped'] {
  const stopped = passThrough?.stopped;
  if (!stopped) return undefined;
  const { phaseCentre } = stopped;
  const isSame =
    Math.abs(phaseCentre.raDeg - raDeg) < SAME_PLACE_DEG &&
    Math.abs(phaseCentre.decDeg - decDeg) < SAME_PLACE_DEG;
  return isSame ? stopped : undefined;
}

/** The rows of one integration that have any weight, of each product; `bin` is its moment's (prepareBins). */
export function rowsOf(
  recorded: Integration,
  options: RowOptions,
  products: readonly WideProduct[],
  bin = 0,
): WideRows[] {
  const { telescope, frequenciesHz, centre, precision } = options;
  const middle = addSeconds(recorded.start, recorded.durationS / 2);
  const { integration, calibrated } = options.calibrated
    ? withoutLeakage(recorded, calibratedAt(options.calibrated, middle))
    : { integration: recorded, calibrated: undefined };
  const frame = frameAtMiddle(telescope, integration);
  const position = centre.position(frame);
  const storedUvwM = stoppedAt(integration, position)?.uvwM;
  const stopping = {
    stationsM: stationPositions(telescope),
    axes: frame.tangentAxes(position),
    frequenciesHz,
    precision,
    hands: options.hands,
    storedUvwM,
    ...calibrated,
  };
  const groups = options.kinds && groupsOf(options.kinds, bin);
  return stopFringesOf(integration, stopping, products).map((stopped) =>
    withWeight(groups ? { ...stopped, groups } : stopped),
  );
}

function withWeight(rows: WideRows): WideRows {
  const { uvwM, frequenciesHz, visibilities, weights, groups } = rows;
  const channels = frequenciesHz.length;
  const kept: number[] = [];
  for (let row = 0; row < uvwM.length / 3; row++) {
    const first = row * channels;
    for (let at = first; at < first + channels; at++) {
      if (!(weights[at] > 0)) continue;
      kept.push(row);
      break;
    }
  }
  if (kept.length === uvwM.length / 3) return rows;
  const take = <Values extends Float32Array | Float64Array>(
    from: Values,
    into: Values,
    each: number,
  ): Values => {
    for (const [to, row] of kept.entries()) into.set(from.subarray(row * each, (row + 1) * each), to * each);
    return into;
  };
  const length = 2 * channels * kept.length;
  return {
    uvwM: uvwR(take<Float64Array>(uvwM, new Float64Array(3 * kept.length), 3), kept.length),
    frequenciesHz,
    ...(visibilities && {
      visibilities: visibilitiesRC(
        visibilities instanceof Float32Array
          ? take<Float32Array>(visibilities, new Float32Array(length), 2 * channels)
          : take<Float64Array>(visibilities, new Float64Array(length), 2 * channels),
        kept.length,
        channels,
      ),
    }),
    weights: weightsRC(
      take<Float32Array>(weights, new Float32Array(channels * kept.length), channels),
      kept.length,
      channels,
    ),
    groups: groups && Uint32Array.from(kept, (row) => groups[row]),
  };
}

/** A block of rows of one product, by its number. */
interface PlaneRows {
  readonly plane: number;
  readonly rows: WideRows;
}

export interface RowReader {
  /** The first pass: the rows of every product, kept in memory where they fit. */
  all(): AsyncIterable<PlaneRows>;
  /** Any later pass, of one product. */
  blocks(plane: number): AsyncIterable<WideRows>;
}

/** Blocks of many integrations' rows, of several products; integrations are passed to `look` in the first pass. */
export function readRows(
  integrations: Integrations,
  options: RowOptions,
  products: readonly WideProduct[],
  look: (integration: Integration) => void,
): RowReader {
  let kept: WideRows[][] | undefined;
  return {
    all: async function* () {
      let keeping: WideRows[][] | undefined = products.map(() => []);
      let bytes = 0;
      for await (const block of together(watched(integrations(), look), options, products)) {
        bytes += bytesOf(block.rows);
        if (bytes > KEPT_BYTES) keeping = undefined;
        keeping?.[block.plane].push(block.rows);
        yield block;
      }
      kept = keeping;
    },
    blocks: async function* (plane) {
      if (kept) yield* kept[plane];
      else for await (const { rows } of together(integrations(), options, [products[plane]])) yield rows;
    },
  };
}

async function* watched(
  integrations: AsyncIterable<Integration> | Iterable<Integration>,
  look: (integration: Integration) => void,
): AsyncIterable<Integration> {
  for await (const integration of integrations) {
    look(integration);
    yield integration;
  }
}

async function* together(
  integrations: AsyncIterable<Integration> | Iterable<Integration>,
  options: RowOptions,
  products: readonly WideProduct[],
): AsyncIterable<PlaneRows> {
  const waiting = products.map(() => ({ blocks: [] as WideRows[], visibilities: 0 }));
  // The same bins in every pass: they depend on the times only.
  const bins = prepareBins();
  for await (const integration of integrations) {
    for (const [plane, rows] of rowsOf(integration, options, products, bins.add(integration)).entries()) {
      if (rows.uvwM.length === 0) continue;
      const own = waiting[plane];
      own.blocks.push(rows);
      own.visibilities += rows.weights.length;
      if (own.visibilities < TOGETHER) continue;
      yield { plane, rows: joinRows(own.blocks) };
      waiting[plane] = { blocks: [], visibilities: 0 };
    }
  }
  for (const [plane, { blocks }] of waiting.entries())
    if (blocks.length > 0) yield { plane, rows: joinRows(blocks) };
}

const bytesOf = ({ uvwM, visibilities, weights }: WideRows): number =>
  uvwM.byteLength + (visibilities?.byteLength ?? 0) + weights.byteLength;

/** One of all channels. */
export function channelOf(rows: WideRows, c: number): WideRows {
  const { uvwM, frequenciesHz, visibilities, weights, groups } = rows;
  const channels = frequenciesHz.length;
  const count = uvwM.length / 3;
  const values =
    visibilities instanceof Float32Array ? new Float32Array(2 * count) : new Float64Array(2 * count);
  const own = new Float32Array(count);
  for (let row = 0; row < count; row++) {
    const at = row * channels + c;
    own[row] = weights[at];
    if (!visibilities) continue;
    values[2 * row] = visibilities[2 * at];
    values[2 * row + 1] = visibilities[2 * at + 1];
  }
  return {
    uvwM,
    frequenciesHz: frequenciesHz.slice(c, c + 1),
    visibilities: visibilities && visibilitiesRC(values, count, 1),
    weights: weightsRC(own, count, 1),
    groups,
  };
}

/** Integrations that begin within so long of the first form one moment: the sky rotates by 0.08°. */
const ONE_MOMENT_S = 20;

interface TimeBins {
  /** The moment of an integration, added in the order of time. */
  add(integration: Pick<Integration, 'start' | 'durationS'>): number;
  /** For each moment: the mean of its integrations' middles. */
  moments(): Instant[];
}

/** Moments of some seconds: the sky hardly rotates meanwhile. */
export function prepareBins(): TimeBins {
  const bins: { readonly start: Instant; sumS: number; count: number }[] = [];
  return {
    add: ({ start, durationS }) => {
      let last = bins.at(-1);
      // An integration out of order begins a new moment.
      const sinceS = last ? secondsBetween(last.start, start) : Infinity;
      if (!last || sinceS < 0 || sinceS >= ONE_MOMENT_S) {
        last = { start, sumS: 0, count: 0 };
        bins.push(last);
      }
      last.sumS += secondsBetween(last.start, start) + durationS / 2;
      last.count++;
      return bins.length - 1;
    },
    moments: () => bins.map(({ start, sumS, count }) => addSeconds(start, sumS / count)),
  };
}
