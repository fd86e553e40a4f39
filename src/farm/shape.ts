/** Whether a result contains what its job should make: checked on arrival, before it counts. */
import { baselineCount, spectraSizeBytes } from '../core/axes.js';
import type { SampleRange } from '../core/sources.js';
import type { SpectraRange } from '../compose/index.js';
import { jobName, rangesOf, type FarmPlan } from './job.js';
import { numbersOf, SUMS, type Part, type Result, type ResultHead } from './result.js';

/** Undefined, or what is wrong with the parts of a result. */
export function wrongShape({ cut, shape }: FarmPlan, { job, parts }: ResultHead): string | undefined {
  const range = rangesOf(cut).find((one) => jobName(one) === job);
  if (!range) return 'is of no job of the plan';
  const known = new Set([
    ...(shape.sums.length > 0 ? [SUMS] : []),
    ...shape.pieces.map((one) => one.product),
  ]);
  if (parts.some(({ product }) => !known.has(product))) return 'has parts of no product';
  let at = 0;
  for (const { offsetBytes, sizeBytes } of parts) {
    if (offsetBytes !== at) return 'has parts that overlap';
    at += sizeBytes;
  }
  const of = (product: number): Part[] => parts.filter((part) => part.product === product);
  const sums = of(SUMS);
  if (!isSame(sums, within(shape.sums, range))) return 'has other integrations than its job';
  const width = range.endChannel - range.firstChannel;
  const products = shape.polarisations ** 2;
  const sumBytes = [2 * products + 1, 3 * products].map(
    (numbers) => 8 * width * baselineCount(shape.stations) * numbers,
  );
  if (sums.some(({ sizeBytes }) => !sumBytes.includes(sizeBytes))) return 'has parts of another size';
  for (const piece of shape.pieces) {
    const own = of(piece.product);
    const wrong =
      piece.kind === 'spectra' ? wrongSpectra(own, range, shape) : wrongImages(own, piece.images, range);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Undefined, or what is wrong with the numbers of a result whose parts are right. */
export function wrongNumbers({ shape }: FarmPlan, { head, body }: Result): string | undefined {
  const kinds = new Map(shape.pieces.map(({ product, kind }) => [product, kind]));
  for (const part of head.parts) {
    const kind = kinds.get(part.product);
    // Spectra of integers have no such numbers.
    if (part.sizeBytes === 0 || (kind === 'spectra' && shape.type !== 'cf32')) continue;
    const values = numbersOf(part, body);
    // Images have NaN outside the sky.
    const isRight = kind === 'images' ? values.some(Number.isFinite) : values.every(Number.isFinite);
    if (!isRight)
      return kind === 'images' ? 'has an image without a number' : 'has numbers that are not finite';
  }
  return undefined;
}

/** The parts of some sample ranges that are within a range. */
const within = (ranges: readonly SampleRange[], range: SpectraRange): SampleRange[] =>
  ranges
    .map(({ first, end }) => ({
      first: Math.max(first, range.firstSpectrum),
      end: Math.min(end, range.endSpectrum),
    }))
    .filter(({ first, end }) => end > first);

const isSame = (parts: readonly SampleRange[], wanted: readonly SampleRange[]): boolean =>
  parts.length === wanted.length &&
  parts.every(({ first, end }, n) => first === wanted[n].first && end === wanted[n].end);

function wrongSpectra(
  parts: readonly Part[],
  { firstSpectrum, endSpectrum }: SpectraRange,
  { type, channels, inputs }: FarmPlan['shape'],
): string | undefined {
  let at = firstSpectrum;
  for (const { first, end, sizeBytes, gaps = [] } of parts) {
    if (first !== at || end <= first) return 'has other spectra than its job';
    at = end;
    if (sizeBytes !== (end - first) * channels * inputs * spectraSizeBytes(type))
      return 'has parts of another size';
    const isInside = (from: number, to: number, of: number): boolean => from < to && to <= of;
    const isGap = gaps.every(
      (gap) =>
        isInside(gap.firstChannel, gap.endChannel, channels) &&
        isInside(gap.firstInput, gap.endInput, inputs) &&
        isInside(gap.firstSample, gap.endSample, end - first),
    );
    if (!isGap) return 'has gaps outside its spectra';
  }
  return at === endSpectrum ? undefined : 'has other spectra than its job';
}

function wrongImages(
  parts: readonly Part[],
  images: readonly SampleRange[],
  range: SpectraRange,
): string | undefined {
  if (!isSame(parts, within(images, range))) return 'has other images than its job';
  // A part without data left is empty.
  const made = parts.filter(({ sizeBytes }) => sizeBytes > 0);
  const sides = made.map(({ sizeBytes }) => Math.sqrt(sizeBytes / 8));
  return sides.every((side) => Number.isInteger(side) && side === sides[0]) &&
    made.every(({ image }) => image)
    ? undefined
    : 'has images of another size';
}
