/** From results to the file that one process would have written. */
import { baselineCount, spectraCAT, visibilitiesCBPP, type SpectraType } from '../core/axes.js';
import type { CanonicalSpectra, Integration } from '../core/blocks.js';
import { addSamples, addSeconds, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import {
  createSigmfSpectra,
  visibilityFormatFor,
  type StoredValues,
  type VisibilityHeader,
} from '../formats/index.js';
import { atUsualGain, type Level } from '../pipeline/levels.js';
import { written, writtenAsFar } from '../pipeline/write.js';
import type { SpectraBox } from '../pipeline/parts.js';
import type { Ledger } from './ledger.js';
import { boxesOf, type FarmPlan } from './plan.js';
import { PartCounts } from './part-counts.js';
import { floatsOf } from './result.js';
import { Results, type Collected } from './results.js';
import type { SeriesProduct } from './series.js';

/** Typed arrays in JSON. */
type Listed<T> = T extends Float64Array ? number[] : T;
type Json<T> = { readonly [Key in keyof T]: Listed<T[Key]> };

/** What the file of a correlation says beside its numbers. */
export interface CorrelationProduct {
  readonly kind: 'correlation';
  readonly out: string;
  readonly values: StoredValues;
  readonly header: Json<VisibilityHeader>;
  readonly integrations: readonly SampleRange[];
  readonly grid: { readonly start: Instant; readonly rateHz: number; readonly counts: 'samples' | 'seconds' };
  readonly stations: number;
  readonly channels: number;
  readonly level?: Pick<Level, 'overUsual'>;
  /** The most that a sum may come to: where 32 bits might not do, doubles are written. */
  readonly largestSum: number;
  /** Flags, and channels that are kept of those that were made, in the words of the command line. */
  readonly chosen?: {
    readonly madeHz: readonly number[];
    readonly flag?: string;
    readonly flags?: { readonly path: string; readonly sha256: string };
    readonly keepChannels?: string;
  };
  /** The table of the Earth's orientation that was named. */
  readonly eop?: string;
}

type SpectraHeader = Parameters<typeof createSigmfSpectra>[1];

/** The same of channelised data. */
export interface SpectraProduct {
  readonly kind: 'spectra';
  readonly out: string;
  readonly eop?: string;
  readonly header: Json<SpectraHeader>;
}

export type Product = CorrelationProduct | SpectraProduct | SeriesProduct;

/** Writes what was asked for from a ledger that has everything. */
export async function writeProduct(
  ledger: Ledger,
  product: CorrelationProduct | SpectraProduct,
  out: string,
  through: (one: Integration) => Integration = (one) => one,
): Promise<Collected> {
  const { plan } = ledger;
  const results = new Results(ledger);
  if (product.kind === 'correlation') await writeCorrelation(plan, product, results, out, through);
  else await writeSpectra(plan, product, results, out);
  return results.collected();
}

async function writeCorrelation(
  { cut, work }: FarmPlan,
  product: CorrelationProduct,
  results: Results,
  out: string,
  through: (one: Integration) => Integration,
): Promise<void> {
  const { header: listed, integrations, values, level } = product;
  const header: VisibilityHeader = { ...listed, frequenciesHz: Float64Array.from(listed.frequenciesHz) };
  const boxes = boxesOf(cut);
  const flaggedInputs = new Uint8Array(product.stations * header.polarisations);
  for (const input of work.flaggedInputs) flaggedInputs[input] = 1;
  const format = visibilityFormatFor(out);
  await writtenAsFar(
    { path: out, unit: 'integration' },
    () => format.createVisibilities(out, header, { values, largestSum: product.largestSum }),
    async (append, stop) => {
      let from = 0;
      for (const range of integrations) {
        stop.throwIfAborted();
        let end = from;
        while (end < boxes.length && boxes[end].firstSpectrum < range.end) end++;
        const mine = boxes.slice(from, end);
        const one = await integrate(product, header, range, mine, results, flaggedInputs);
        await append(through(level && values === 'means' ? atUsualGain(one, level) : one));
        const over = mine.filter(({ endSpectrum }) => endSpectrum <= range.end);
        results.letGo(over);
        from += over.length;
      }
    },
  );
}

/** Parts are added in the order of time: of whole numbers any order would do. */
async function integrate(
  { channels, stations, grid }: CorrelationProduct,
  { polarisations }: VisibilityHeader,
  range: SampleRange,
  boxes: readonly SpectraBox[],
  results: Results,
  flaggedInputs: Uint8Array,
): Promise<Integration> {
  const baselines = baselineCount(stations);
  const perChannel = 2 * baselines * polarisations ** 2;
  const sums = new Float64Array(channels * perChannel);
  const counts = new PartCounts({ channels, stations, polarisations, flaggedInputs });
  const covered = new Float64Array(channels);
  for (const box of boxes) {
    const { head, body } = await results.of(box);
    const width = box.endChannel - box.firstChannel;
    const part = head.parts.find(({ first, end }) => first < range.end && end > range.first);
    const kind = (['pairs', 'products'] as const).find(
      (one) => part?.sizeBytes === 8 * width * (perChannel + counts.widthOf(one)),
    );
    if (!part || !kind) throw new Error(`${head.job}: its result does not hold what its plan says`);
    const values = floatsOf(body, part.offsetBytes, width * (perChannel + counts.widthOf(kind)));
    addTo(sums, box.firstChannel * perChannel, values.subarray(0, width * perChannel));
    counts.add(kind, box.firstChannel, values.subarray(width * perChannel));
    for (let c = box.firstChannel; c < box.endChannel; c++) covered[c] += part.end - part.first;
  }
  // Nothing twice, nothing left out.
  if (covered.some((spectra) => spectra !== range.end - range.first))
    throw new Error(`spectra ${range.first} to ${range.end}: the results do not add up to the integration`);
  const start =
    grid.counts === 'samples'
      ? addSamples(grid.start, range.first, grid.rateHz)
      : addSeconds(grid.start, range.first / grid.rateHz);
  return {
    ...{ start, durationS: (range.end - range.first) / grid.rateHz, channels, stations, polarisations },
    visibilities: visibilitiesCBPP(sums, channels, baselines, polarisations),
    ...counts.finish(),
    flaggedInputs,
  };
}

function addTo(sums: Float64Array, at: number, values: Float64Array): void {
  for (let n = 0; n < values.length; n++) sums[at + n] += values[n];
}

async function writeSpectra(
  { cut }: FarmPlan,
  { header: listed }: SpectraProduct,
  results: Results,
  out: string,
): Promise<void> {
  const header = { ...listed, frequenciesHz: Float64Array.from(listed.frequenciesHz) } as SpectraHeader;
  const { type, channels, inputs, start, spectrumRateHz } = header;
  await written(
    () => createSigmfSpectra(out, header),
    async (append: (block: CanonicalSpectra) => Promise<void>) => {
      let next = 0;
      for (const box of boxesOf(cut)) {
        const { head, body } = await results.of(box);
        for (const { first, end, offsetBytes, sizeBytes, gaps = [] } of head.parts) {
          if (first !== next) throw new Error(`${head.job}: begins with spectrum ${first}, not ${next}`);
          next = end;
          const samples = end - first;
          const bytes = Uint8Array.prototype.slice.call(body, offsetBytes, offsetBytes + sizeBytes);
          const elements = elementsOf(type, bytes);
          const spectra = spectraCAT(elements, type, channels, inputs, samples);
          await append({ samples, spectra, gaps, start: addSamples(start, first, spectrumRateHz) });
        }
        results.letGo([box]);
      }
    },
  );
}

function elementsOf(type: SpectraType, bytes: Uint8Array<ArrayBuffer>) {
  switch (type) {
    case 'ci8':
      return new Int8Array(bytes.buffer);
    case 'ci4':
      return bytes;
    case 'cf32':
      return new Float32Array(bytes.buffer);
  }
}
