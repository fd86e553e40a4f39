/** From results to the files of a single-process run: the same products, from merged integrations and pieces. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Backend } from '../backend/backend.js';
import {
  baselineCount,
  visibilitiesCBPP,
  countsCB,
  countsCBPP,
  type CountsCB,
  type CountsCBPP,
} from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSamples, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import { refuse } from '../core/errors.js';
import { checkOutputs } from '../formats/index.js';
import {
  gather,
  historyOf,
  isOfSky,
  openRecording,
  planObservation,
  readsOf,
  type Observation,
  type ObservationPlan,
  type OpenedRecording,
} from '../observation/index.js';
import { finishing, type SpectraRange } from '../compose/index.js';
import { spectrumStart } from '../stages/index.js';
import { productNames, type MadeProduct } from '../products/index.js';
import { useSky } from '../sky/use-sky.js';
import { rangesOf, type FarmPlan, type FarmShape, jobName } from './job.js';
import type { Ledger } from './ledger.js';
import { floatsOf, SUMS, type Result } from './result.js';
import { checkFacts, checkMarks } from './same-recording.js';
import { sumsClock } from './submit.js';
import { allProductCounts, mostOfProducts } from '../core/product-counts.js';

interface Merging {
  readonly version: string;
  readonly backend: Backend;
  readonly overwrite?: boolean;
  /** Other output names, by product. */
  readonly outs?: readonly (string | undefined)[];
}

interface Merged extends Collected {
  readonly paths: readonly string[];
  readonly planned: ObservationPlan;
}

/** Opens the submitted recording, plans as a single process would, passes the plan on, and closes the recording. */
async function withMergePlan<Made>(
  { observation: submitted, work }: FarmPlan,
  { backend, outs = [] }: Merging,
  use: (plan: ObservationPlan, opened: OpenedRecording) => Promise<Made>,
): Promise<Made> {
  const observation = renamedOutputs(submitted, outs);
  await useSky(observation);
  const opened = await openRecording(observation, { ofSky: observation.products.some(isOfSky) });
  try {
    const { recording, telescope, paths } = opened;
    checkFacts(recording.path, recording, work.recording.facts);
    await checkMarks(paths, work.recording.files);
    const ready = (): Promise<Backend> => Promise.resolve(backend);
    const gathered = await gather(observation, recording, telescope, ready, work.level);
    return await use(await planObservation(observation, recording, telescope, gathered), opened);
  } finally {
    await opened.opened.close();
  }
}

const renamedOutputs = (observation: Observation, outs: readonly (string | undefined)[]): Observation => ({
  ...observation,
  products: observation.products.map((product, n) => {
    const key = productNames.find((name) => name in product);
    return outs[n] === undefined || key === undefined ? product : { ...product, [key]: outs[n] };
  }),
});

/** Writes all products from a complete ledger. */
export function mergeProducts(ledger: Ledger, merging: Merging): Promise<Merged> {
  const { plan } = ledger;
  return withMergePlan(plan, merging, async (planned, opened) => {
    const paths = planned.products.flatMap((product) => product.paths);
    await checkOutputs({ paths, from: opened.paths[0], overwrite: merging.overwrite });
    const { observation } = planned;
    const reads = await readsOf(observation, opened.paths);
    const results = new Results(ledger);
    const made: MadeProduct[] = [];
    try {
      for (const [k, product] of planned.products.entries()) {
        for (const path of product.paths) await mkdir(dirname(path), { recursive: true });
        const history = historyOf(merging.version, observation, k, reads(k));
        made.push(await product.make({ backend: merging.backend, history }));
      }
      await mergeSums(plan, planned, made, results);
      await mergePieces(plan, made, results);
      for (const product of made) await product.finish();
    } catch (error) {
      for (const product of made) await product.abandon().catch(() => undefined);
      throw error;
    }
    return { ...results.collected(), paths, planned };
  });
}

/** Products from integrations: sums are added and pass through the stages that follow the correlator in a whole run. */
async function mergeSums(
  { cut, shape }: FarmPlan,
  { observed, products }: ObservationPlan,
  made: readonly MadeProduct[],
  results: Results,
): Promise<void> {
  const cuts = sumsClock(products);
  if (!cuts) return;
  const { front, flaggedInputs, spectra, recording } = observed;
  const composed = made.map((one) => one.composed).filter(({ from }) => from === 'integrations');
  const stage = finishing({ front, flaggedInputs, products: composed }, cuts);
  const ranges = rangesOf(cut);
  const { grid } = spectra;
  const startOf = (spectrum: number): Instant =>
    front.source.kind === 'voltages'
      ? spectrumStart(grid, spectrum)
      : addSamples(recording.start, spectrum, grid.spectrumRateHz);
  try {
    let from = 0;
    for (const interval of shape.sums) {
      let end = from;
      while (end < ranges.length && ranges[end].firstSpectrum < interval.end) end++;
      const mine = ranges.slice(from, end);
      const sums = await integrate(shape, interval, mine, results, flaggedInputs);
      const durationS = (interval.end - interval.first) / grid.spectrumRateHz;
      await stage.push({ ...sums, start: startOf(interval.first), durationS }, nothing);
      const over = mine.filter(({ endSpectrum }) => endSpectrum <= interval.end);
      results.letGo(over);
      from += over.length;
    }
    await stage.flush(nothing);
  } finally {
    await stage.close();
  }
}

const nothing = (): Promise<void> => Promise.resolve();

/** Parts are added in time order; for integers any order would do. */
async function integrate(
  { channels, stations, polarisations }: FarmShape,
  range: SampleRange,
  ranges: readonly SpectraRange[],
  results: Results,
  flaggedInputs: Uint8Array,
): Promise<Omit<Integration, 'start' | 'durationS'>> {
  const baselines = baselineCount(stations);
  const perChannel = 2 * baselines * polarisations ** 2;
  const sums = new Float64Array(channels * perChannel);
  const counts = new PartCounts({ channels, stations, polarisations, flaggedInputs });
  const covered = new Float64Array(channels);
  for (const one of ranges) {
    const { head, body } = await results.of(one);
    const width = one.endChannel - one.firstChannel;
    const part = head.parts.find(
      ({ product, first, end }) => product === SUMS && first < range.end && end > range.first,
    );
    const kind = (['pairs', 'products'] as const).find(
      (kinds) => part?.sizeBytes === 8 * width * (perChannel + counts.widthOf(kinds)),
    );
    if (!part || !kind) throw new Error(`${head.job}: its result does not hold what its plan says`);
    const values = floatsOf(body, part.offsetBytes, width * (perChannel + counts.widthOf(kind)));
    const at = one.firstChannel * perChannel;
    for (let n = 0; n < width * perChannel; n++) sums[at + n] += values[n];
    counts.add(kind, one.firstChannel, values.subarray(width * perChannel));
    for (let c = one.firstChannel; c < one.endChannel; c++) covered[c] += part.end - part.first;
  }
  // Every spectrum exactly once.
  if (covered.some((spectra) => spectra !== range.end - range.first))
    throw new Error(`spectra ${range.first} to ${range.end}: the results do not add up to the integration`);
  return {
    channels,
    stations,
    polarisations,
    visibilities: visibilitiesCBPP(sums, channels, baselines, polarisations),
    ...counts.finish(),
    flaggedInputs,
  };
}

/** Products that are cut in time: their pieces, in order. */
async function mergePieces(
  { cut, shape }: FarmPlan,
  made: readonly MadeProduct[],
  results: Results,
): Promise<void> {
  if (shape.pieces.length === 0) return;
  const next = new Map(shape.pieces.map(({ product }) => [product, 0]));
  for (const range of rangesOf(cut)) {
    const { head, body } = await results.of(range);
    for (const { product, first, end, gaps, image, offsetBytes, sizeBytes } of head.parts) {
      if (product === SUMS) continue;
      if (first !== next.get(product)) throw new Error(`${head.job}: begins with spectrum ${first}`);
      next.set(product, end);
      const take = made[product].take?.bind(made[product]);
      if (!take) return refuse(head.job, `product ${product} is not made in pieces`, 'submit it again');
      const values = body.subarray(offsetBytes, offsetBytes + sizeBytes);
      await take({ first, end, gaps, image, values });
    }
    results.letGo([range]);
  }
}

interface Shape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly flaggedInputs: Uint8Array;
}

export class PartCounts {
  /** counts : [c][b] from parts with one count for all pairs. */
  private readonly alike: Float64Array;
  /** own : [c][b][p_i][p_j] from the other parts. */
  private own: Float64Array | undefined;
  private readonly baselines: number;

  constructor(private readonly shape: Shape) {
    this.baselines = baselineCount(shape.stations);
    this.alike = new Float64Array(shape.channels * this.baselines);
  }

  /** Numbers per channel, by pairs or by products. */
  widthOf(kind: 'pairs' | 'products'): number {
    return kind === 'pairs' ? this.baselines : this.baselines * this.shape.polarisations ** 2;
  }

  add(kind: 'pairs' | 'products', firstChannel: number, values: Float64Array): void {
    const sums =
      kind === 'pairs'
        ? this.alike
        : (this.own ??= new Float64Array(this.shape.channels * this.widthOf('products')));
    const at = firstChannel * this.widthOf(kind);
    for (let n = 0; n < values.length; n++) sums[at + n] += values[n];
  }

  finish(): { readonly counts: CountsCB; readonly productCounts?: CountsCBPP } {
    const { shape, baselines, own } = this;
    const counts = countsCB(this.alike, shape.channels, baselines);
    if (!own) return { counts };
    const sums = allProductCounts({ ...shape, counts }).map((count, n) => count + own[n]);
    return {
      counts: mostOfProducts(sums, shape),
      productCounts: countsCBPP(sums, shape.channels, baselines, shape.polarisations),
    };
  }
}

/** Totals over all jobs. */
interface Collected {
  readonly missingSamples: number;
  readonly saturated: number;
  /** Kinds of backends that contributed. */
  readonly backends: readonly string[];
}

/** Reads each result once, when it is needed, and releases it when its time range is over. */
export class Results {
  private readonly held = new Map<string, Result>();
  private readonly sum = { missingSamples: 0, saturated: 0 };
  private readonly backends = new Set<string>();
  /** Each result counts once, however many products use it. */
  private readonly counted = new Set<string>();

  constructor(private readonly ledger: Ledger) {}

  async of(range: SpectraRange): Promise<Result> {
    const name = jobName(range);
    const held = this.held.get(name);
    if (held) return held;
    const result = await this.ledger.read(name);
    this.held.set(name, result);
    if (this.counted.has(name)) return result;
    this.counted.add(name);
    this.sum.missingSamples += result.head.account.missingSamples;
    this.sum.saturated += result.head.account.saturated;
    this.backends.add(result.head.backend);
    return result;
  }

  letGo(ranges: readonly SpectraRange[]): void {
    for (const range of ranges) this.held.delete(jobName(range));
  }

  collected(): Collected {
    return { ...this.sum, backends: [...this.backends].sort() };
  }
}
