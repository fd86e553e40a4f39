/** Whether a result holds what its job's plan says: checked when it arrives, so that a wrong one is not merged. */
import { baselineCount, spectraSizeBytes, type SpectraType } from '../core/axes.js';
import type { SampleRange } from '../core/sources.js';
import { boxesOf, jobName, type FarmPlan } from './plan.js';
import type { ResultHead } from './result.js';

/** Of the products in a plan (products.ts, series.ts) what their results' shapes follow from. */
type Shaped =
  | {
      readonly kind: 'correlation';
      readonly integrations: readonly SampleRange[];
      readonly stations: number;
      readonly header: { readonly polarisations: 1 | 2 };
    }
  | {
      readonly kind: 'spectra';
      readonly header: { readonly type: SpectraType; readonly channels: number; readonly inputs: number };
    }
  | { readonly kind: 'series' }
  | { readonly kind?: undefined };

/** Nothing, or what is wrong with the parts of a result. */
export function wrongShape(plan: FarmPlan, { job, parts }: ResultHead): string | undefined {
  const product = plan.product as Shaped;
  const box = boxesOf(plan.cut).find((one) => jobName(one) === job);
  if (!box) return 'is of no job of the plan';
  const width = box.endChannel - box.firstChannel;
  const ranges = parts.map(({ first, end }) => ({ first, end }));
  const isCovered = (): boolean =>
    ranges.every(
      ({ first, end }, k) => end > first && first === (k === 0 ? box.firstSpectrum : ranges[k - 1].end),
    ) && ranges.at(-1)?.end === box.endSpectrum;
  switch (product.kind) {
    case 'correlation': {
      const { integrations, stations, header } = product;
      const wanted = integrations
        .map(({ first, end }) => ({
          first: Math.max(first, box.firstSpectrum),
          end: Math.min(end, box.endSpectrum),
        }))
        .filter(({ first, end }) => end > first);
      if (JSON.stringify(wanted) !== JSON.stringify(ranges)) return 'has other integrations than its job';
      const products = header.polarisations ** 2;
      const perPair = [2 * products + 1, 3 * products].map(
        (one) => 8 * width * baselineCount(stations) * one,
      );
      return parts.every(({ sizeBytes }) => perPair.includes(sizeBytes))
        ? undefined
        : 'has parts of another size';
    }
    case 'spectra': {
      if (!isCovered()) return 'has other spectra than its job';
      const { type, channels, inputs } = product.header;
      const perSpectrum = channels * inputs * spectraSizeBytes(type);
      return parts.every(({ first, end, sizeBytes }) => sizeBytes === (end - first) * perSpectrum)
        ? undefined
        : 'has parts of another size';
    }
    case 'series': {
      if (!isCovered()) return 'has other images than its job';
      const pixels = parts.map(({ sizeBytes }) => Math.sqrt(sizeBytes / 8));
      return pixels.every((side) => Number.isInteger(side) && side === pixels[0]) &&
        parts.every(({ image }) => image)
        ? undefined
        : 'has images of another size';
    }
    case undefined:
      return undefined;
  }
}
