/** The judge in C++ (judge.cpp), bit for bit as judge.ts: fences and limits are worked out here, and handed over when asked for. */
import type { NativeCall, NativeCallHere, NativeContext } from '../../../backend/cpu/context.js';
import type { Closable } from '../../../core/closing.js';
import { BOX_NUMBERS } from '../../boxes.js';
import { FenceBook } from '../../fences.js';
import type { BlockJudge } from '../../flagger.js';
import { bookOfMeans, crowdOf, inputsOfStep } from '../../judging/crowds.js';
import { Judgement } from '../../judging/judgement.js';
import { kurtosisMoments, type Limits } from '../../limits.js';
import type { KurtosisPlan, LimitBook } from '../../plan.js';
import type { Presence } from '../../present.js';
import type { RoundedCurve } from '../../rounded.js';

type RunArguments = [
  judge: bigint,
  edges: Int32Array,
  windows: number,
  variance: number,
  sums: Float64Array,
  missing: Int32Array,
  lost: Uint32Array,
  missingCount: number,
  fences: number,
  heads: Float64Array,
  tables: Float64Array,
  places: Int32Array,
  marks: Uint8Array,
  groupMarks: Uint8Array,
  totals: Float64Array,
  counts: Int32Array,
];
type Wanted = NativeCallHere<[judge: bigint, places: Int32Array]>;
type Known = NativeCallHere<[judge: bigint, count: number, places: Int32Array, limits: Float64Array]>;
type Lists = NativeCallHere<[judge: bigint, lists: Uint8Array]>;

/** Numbers that a run counts. */
const COUNTS = 9;

/** Limits are asked for by those of windows and pairs, then by one step after the other: never so often. */
const MOST_ASKED = 1000;

interface NativeJudgeOptions {
  /** Whether the context's threads help; not where they are busy with spectra meanwhile. */
  readonly shares: boolean;
}

/** What a judge is given of a block. */
type Given = Parameters<BlockJudge['judge']>;

/** A judge of native code, here and now or on another thread, one block at a time; close it. */
export interface NativeJudge extends Closable {
  readonly here: (...given: Given) => Judgement;
  readonly aside: (...given: Given) => Promise<Judgement>;
}

/** Judges before it returns. */
export interface JudgeHere extends BlockJudge, Closable {
  readonly judge: (...given: Given) => Judgement;
}

/** A judge on a context's library; close it. For plans that judge each input. */
export function openNativeJudge(
  plan: KurtosisPlan,
  native: NativeContext,
  options: NativeJudgeOptions,
): JudgeHere {
  const limits = new LimitsOnDemand(plan);
  const judge = bindNativeJudge(plan, limits, native, options);
  return {
    fencing: (edges) => limits.fences.fencing(edges),
    judge: judge.here,
    close: () => judge.close(),
  };
}

export function bindNativeJudge(
  plan: KurtosisPlan,
  book: LimitsOnDemand,
  native: NativeContext,
  { shares }: NativeJudgeOptions,
): NativeJudge {
  const where = 'kurtosis';
  const handle = native.open(
    where,
    'int32_t corella_judging_open(char *error, void *context, int64_t channels, int64_t inputs, int64_t realChannels, ' +
      'int32_t polarisations, int32_t keepsBursts, int32_t takesStations, double sigmas, const uint8_t *flaggedInputs, ' +
      'const int32_t *crowds, const double *curves, int32_t shares, _Out_ void **judge)',
    ...([plan.channels, plan.inputs, plan.realChannels, plan.polarisations] as const),
    ...([plan.bursts === 'keep' ? 1 : 0, plan.takes === 'stations' ? 1 : 0, plan.sigmas] as const),
    ...([plan.flaggedInputs, crowdsOf(plan), packedCurves(plan), shares ? 1 : 0] as const),
  );
  const running =
    'int32_t corella_judging_run(char *error, void *context, void *judge, const int32_t *edges, int64_t windows, ' +
    'double variance, const double *sums, const int32_t *missing, const uint32_t *lost, int64_t missingCount, ' +
    'int64_t fences, const double *heads, const double *tables, const int32_t *places, uint8_t *marks, ' +
    'uint8_t *groupMarks, double *totals, int32_t *counts)';
  const runHere: NativeCallHere<RunArguments> = native.bindHere(where, running);
  const runAside: NativeCall<RunArguments> = native.bind(where, running);
  const wanted: Wanted = native.bindHere(
    where,
    'int32_t corella_judging_wanted(char *error, void *context, void *judge, int32_t *places)',
  );
  const known: Known = native.bindHere(
    where,
    'int32_t corella_judging_limits(char *error, void *context, void *judge, int64_t count, const int32_t *places, ' +
      'const double *limits)',
  );
  const lists: Lists = native.bindHere(
    where,
    'int32_t corella_judging_lists(char *error, void *context, void *judge, uint8_t *lists)',
  );
  const { address } = handle;
  const counts = new Int32Array(COUNTS);

  const argumentsOf = ([edges, sums, presence, screened]: Given): RunArguments => {
    if (!screened) throw new Error('sums that nobody screened');
    const missing = presence ?? NOTHING;
    const { fences, heads, tables, places } = book.fences.fencing(edges);
    return [
      ...([address, edges, edges.length - 1, book.varianceOf(edges), sums] as const),
      ...([missing.places, missing.lost, missing.places.length] as const),
      ...([fences.length, heads, tables, places] as const),
      ...([screened.marks, screened.groupMarks, screened.totals, counts] as const),
    ];
  };
  /** Whether nothing was judged for want of limits, which are handed over then. */
  const lacksLimits = (asked: number): boolean => {
    const many = counts[0];
    if (many === 0) return false;
    if (asked === MOST_ASKED) throw new Error('limits are asked for again and again');
    const places = new Int32Array(2 * many);
    wanted(address, places);
    const limits = new Float64Array(2 * many);
    for (let n = 0; n < many; n++) {
      const { low, high } = book.of(places[2 * n], places[2 * n + 1]);
      limits.set([low, high], 2 * n);
    }
    known(address, many, places, limits);
    return true;
  };
  const decided = ([edges, , presence]: Given): Judgement =>
    read(plan, edges, presence, counts, (to) => {
      lists(address, to);
    });

  return {
    here: (...given) => {
      let asked = 0;
      do runHere(...argumentsOf(given));
      while (lacksLimits(asked++));
      return decided(given);
    },
    aside: async (...given) => {
      let asked = 0;
      do await runAside(...argumentsOf(given));
      while (lacksLimits(asked++));
      return decided(given);
    },
    close: () => handle.close(),
  };
}

/** A judgement from native code's lists, one behind the other as judge.cpp has them; the memory is the judgement's. */
function read(
  plan: KurtosisPlan,
  edges: Int32Array,
  presence: Presence | undefined,
  counts: Int32Array,
  write: (to: Uint8Array) => void,
): Judgement {
  const [, offendingCount, takenCount, commonCount, everywhereCount, boxCount, unjudged, above, below] =
    counts;
  const windows = edges.length - 1;
  const doubles = windows + plan.channels + plan.inputs;
  const boxNumbers = BOX_NUMBERS * boxCount;
  const words = offendingCount + takenCount + commonCount + everywhereCount + boxNumbers;
  // All of it is written.
  const { buffer } = Buffer.allocUnsafeSlow(8 * doubles + 4 * words + offendingCount);
  write(new Uint8Array(buffer));
  let at = 0;
  const numbers = (length: number): Float64Array => {
    at += 8 * length;
    return new Float64Array(buffer, at - 8 * length, length);
  };
  const places = (length: number): Int32Array => {
    at += 4 * length;
    return new Int32Array(buffer, at - 4 * length, length);
  };
  const byWindow = numbers(windows);
  const byChannel = numbers(plan.channels);
  const byInput = numbers(plan.inputs);
  const offending = places(offendingCount);
  const taken = places(takenCount);
  const common = places(commonCount);
  const everywhere = Array.from(places(everywhereCount));
  const packedBoxes = places(boxNumbers);
  const codes = new Uint8Array(buffer, at, offendingCount);
  const summed = { byWindow, byChannel, byInput, above, below };
  return new Judgement(plan, {
    edges,
    taken,
    offending,
    codes,
    presence,
    everywhere,
    common,
    unjudged,
    packedBoxes,
    summed,
  });
}

const NOTHING: Presence = { places: new Int32Array(0), lost: new Uint32Array(0) };

/** Limits by what native code calls them. */
export class LimitsOnDemand {
  readonly fences: FenceBook;
  private readonly means: LimitBook;
  private length = 0;
  private variance = 0;

  constructor(plan: KurtosisPlan) {
    this.fences = new FenceBook(plan);
    this.means = bookOfMeans(plan.sigmas);
  }

  /** A window's or a pair's by their key, or those of a step's means by the length of windows. */
  of(key: number, step: number): Limits {
    if (step >= 0) return this.means.of(key, 1, inputsOfStep(step));
    const limits = this.fences.limitsOf(key >> 2, key % 2 === 1 ? 1 : 0.5, key % 4 >= 2 ? 'pair' : 'window');
    if (!limits) throw new Error(`limits of ${key >> 2} spectra are asked for`);
    return limits;
  }

  /** Of a kurtosis of the shortest window. */
  varianceOf(edges: Int32Array): number {
    let length = Infinity;
    for (let w = 0; w + 1 < edges.length; w++) length = Math.min(length, edges[w + 1] - edges[w]);
    if (length !== this.length) this.variance = kurtosisMoments(length, 1).variance;
    this.length = length;
    return this.variance;
  }
}

/** crowds : [inputs], of so many of those that are asked. */
const crowdsOf = ({ sigmas, flaggedInputs }: KurtosisPlan): Int32Array =>
  Int32Array.from({ length: flaggedInputs.filter((flag) => flag === 0).length + 1 }, (_, inputs) =>
    crowdOf(sigmas, inputs),
  );

const packedCurves = ({ curves }: KurtosisPlan): Float64Array =>
  Float64Array.from([curves.complex, curves.real].flatMap(packedCurve));

const packedCurve = (curve: RoundedCurve | undefined): readonly number[] =>
  curve
    ? [
        ...[curve.leastPower, curve.plainFrom, curve.plainTo, curve.firstOctave, curve.means.length],
        ...curve.means,
        ...curve.spreads,
      ]
    : [0, 0, 0, 0, 0];
