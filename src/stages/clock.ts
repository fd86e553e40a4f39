/**
 * When integrations (or images) end. Spectra are numbered from the first of the stream, lost ones included, so losses
 * do not move a cut. A cut is the number of the first spectrum after it.
 */
import { countSince1970 } from '../core/clock/since-1970.js';
import { refuse } from '../core/errors.js';
import {
  addSeconds,
  isInLeapSecond,
  refuseLeapSecond,
  secondsBetween,
  type Instant,
} from '../core/instant.js';
import { leapSecondsAfter, leapSecondsBefore } from '../core/leap-seconds.js';

export interface IntegrationClock {
  /** The first cut after spectrum `index`; Infinity where none comes. */
  cutAfter(index: number): number;
  /** Every cut of this clock is also a cut of that one. */
  readonly within?: IntegrationClock;
}

/** One integration over everything. */
export const oneIntegration: IntegrationClock = { cutAfter: () => Infinity };

/** A cut every so many spectra from the first. */
export const everySpectra = (spectra: number): IntegrationClock => ({
  cutAfter: (index) => (Math.floor(index / spectra) + 1) * spectra,
});

/** Times of the spectra of a stream. */
export interface SpectrumGrid {
  /** When the first one begins. */
  readonly start: Instant;
  readonly spectrumRateHz: number;
}

/** `parts` boundaries per length, of which every `each`-th is a cut: clocks of one length and parts share them. */
interface Division {
  readonly parts: number;
  readonly each: number;
}

/**
 * On whole multiples of so many seconds of UTC, counted from 1970 in days of 86 400 s (a length that divides a day
 * starts again at each midnight): every machine cuts at the same instants, whenever it was started. A spectrum belongs
 * to the integration in which it begins, so a cut is up to one spectrum after the boundary. A leap second is cut off on
 * both sides: boundaries after it are UTC's again, and no integration is longer than it should be.
 */
export function onUtc(
  everyS: number,
  { start, spectrumRateHz }: SpectrumGrid,
  { parts, each }: Division = { parts: 1, each: 1 },
): IntegrationClock {
  const midnight: Instant = { unixSeconds: Math.floor(start.unixSeconds / 86_400) * 86_400, fraction: 0 };
  const firstS = secondsBetween(midnight, start);
  // Boundary k of this day is the one of that number since 1970.
  const { count, agoS } = countSince1970(midnight.unixSeconds, everyS, parts);
  // All in seconds elapsed since that midnight, leap seconds included.
  const leaps = leapSecondsAfter(midnight.unixSeconds).map(
    (after) => secondsBetween(midnight, { unixSeconds: after, fraction: 0 }) - 1,
  );
  const pieces = [
    { fromS: -Infinity, originS: -agoS, number: count },
    ...leaps.flatMap((leapS, passed) => [
      { fromS: leapS, originS: leapS, number: 0 },
      { fromS: leapS + 1, originS: passed + 1 - agoS, number: count },
    ]),
  ];
  /** Spectra that begin a rounding error before a boundary count as beginning on it. */
  const tolerance = 1e-6;
  const indexOf = (boundaryS: number): number => Math.ceil((boundaryS - firstS) * spectrumRateHz - tolerance);
  return {
    cutAfter: (index) => {
      let piece = pieces.length - 1;
      while (indexOf(pieces[piece].fromS) > index) piece--;
      const { originS, number } = pieces[piece];
      const cutOf = (boundary: number): number => indexOf(originS + (boundary * everyS) / parts);
      let boundary = Math.floor(((firstS + index / spectrumRateHz - originS) * parts) / everyS);
      boundary -= (((number + boundary) % each) + each) % each;
      while (cutOf(boundary) <= index) boundary += each;
      const next = piece + 1 < pieces.length ? indexOf(pieces[piece + 1].fromS) : Infinity;
      return Math.min(cutOf(boundary), next);
    },
  };
}

export interface IntegrationSettings {
  /** One integration over everything by default. */
  readonly integrationS?: number;
  /** Whether integrations are counted from the first sample (default) or end on UTC boundaries. */
  readonly align?: 'first-sample' | 'utc';
}

function wholeSpectra(lengthS: number, { spectrumRateHz }: SpectrumGrid): number {
  const spectra = Math.round(lengthS * spectrumRateHz);
  if (!(spectra >= 1)) {
    refuse(
      'integration',
      `${lengthS} s is shorter than one spectrum`,
      `give at least ${1 / spectrumRateHz} s`,
    );
  }
  return spectra;
}

/** When integrations end: every so many seconds from the first sample, or on UTC boundaries. */
export function integrationClock(
  { integrationS, align = 'first-sample' }: IntegrationSettings,
  grid: SpectrumGrid,
): IntegrationClock {
  if (integrationS === undefined) return oneIntegration;
  const spectra = wholeSpectra(integrationS, grid);
  return align === 'utc' ? onUtc(integrationS, grid) : everySpectra(spectra);
}

/**
 * Clocks on one grid, of `parts` parts to a length: one of the parts, and one of so many of them together. Every cut of
 * the latter is one of the former, despite rounding.
 */
export function dividedClock(
  { integrationS, align }: Required<IntegrationSettings>,
  parts: number,
  grid: SpectrumGrid,
): (each: number) => IntegrationClock {
  const spectra = wholeSpectra(integrationS / parts, grid);
  const clock = (each: number): IntegrationClock =>
    align === 'utc' ? onUtc(integrationS, grid, { parts, each }) : everySpectra(each * spectra);
  const finest = clock(1);
  return (each) => (each === 1 ? finest : { ...clock(each), within: finest });
}

/** When spectrum `index` begins. */
export const spectrumStart = ({ start, spectrumRateHz }: SpectrumGrid, index: number): Instant =>
  addSeconds(start, index / spectrumRateHz);

/**
 * Dates of files have no leap seconds: integrations (or images) with their middle in one are refused before they are
 * made. Images give their start as a date too.
 */
export function refuseLeapSeconds(
  where: string,
  clock: IntegrationClock,
  grid: SpectrumGrid,
  spectra: number,
  dates: 'middle' | 'start and middle' = 'middle',
): void {
  // Live data have no known end.
  if (!Number.isFinite(spectra)) return;
  const ends = [grid.start, spectrumStart(grid, spectra)] as const;
  const [before, after] = ends.map(({ unixSeconds }) => leapSecondsBefore(unixSeconds));
  if (before === after && !ends.some(isInLeapSecond)) return;
  for (let at = 0; at < spectra;) {
    const end = Math.min(spectra, clock.cutAfter(at));
    refuseLeapSecond(where, spectrumStart(grid, (at + end) / 2));
    if (dates === 'start and middle') refuseLeapSecond(where, spectrumStart(grid, at));
    at = end;
  }
}
