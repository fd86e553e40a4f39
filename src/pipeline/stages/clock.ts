/**
 * When integrations (or images) end. Spectra are numbered from the first of the stream, lost ones included, so a cut is
 * where it is whatever was lost before it. A cut is told as the number of the first spectrum after it.
 */
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import { leapSecondsAfter, leapSecondsBefore } from '../../core/leap-seconds.js';

export interface IntegrationClock {
  /** The first cut after spectrum `index`; Infinity where none comes. */
  cutAfter(index: number): number;
}

/** One integration over everything. */
export const oneIntegration: IntegrationClock = { cutAfter: () => Infinity };

/** Every so many spectra from the first. */
export const everySpectra = (spectra: number): IntegrationClock => ({
  cutAfter: (index) => (Math.floor(index / spectra) + 1) * spectra,
});

/** Where the spectra of a stream lie in time. */
export interface SpectrumGrid {
  /** When the first one begins. */
  readonly start: Instant;
  readonly spectrumRateHz: number;
}

/**
 * On whole multiples of so many seconds since midnight UTC: every machine cuts at the same instants, whenever it was
 * started. A spectrum belongs where it begins, so a cut lies up to one spectrum after the boundary. A leap second is
 * cut off on both sides: boundaries after it are UTC's again, and no integration is longer than it should be.
 */
export function onUtc(everyS: number, { start, spectrumRateHz }: SpectrumGrid): IntegrationClock {
  const midnight: Instant = { unixSeconds: Math.floor(start.unixSeconds / 86_400) * 86_400, fraction: 0 };
  const firstS = secondsBetween(midnight, start);
  // All in seconds that passed since that midnight, leap seconds among them.
  const leaps = leapSecondsAfter(midnight.unixSeconds).map(
    (after) => secondsBetween(midnight, { unixSeconds: after, fraction: 0 }) - 1,
  );
  const pieces = [
    { fromS: -Infinity, originS: 0 },
    ...leaps.flatMap((leapS, passed) => [
      { fromS: leapS, originS: leapS },
      { fromS: leapS + 1, originS: passed + 1 },
    ]),
  ];
  /** Spectra that begin a rounding error before a boundary are taken to begin on it. */
  const tolerance = 1e-6;
  const indexOf = (boundaryS: number): number => Math.ceil((boundaryS - firstS) * spectrumRateHz - tolerance);
  return {
    cutAfter: (index) => {
      let piece = pieces.length - 1;
      while (indexOf(pieces[piece].fromS) > index) piece--;
      const { originS } = pieces[piece];
      let boundary = Math.floor((firstS + index / spectrumRateHz - originS) / everyS);
      while (indexOf(originS + boundary * everyS) <= index) boundary++;
      const next = piece + 1 < pieces.length ? indexOf(pieces[piece + 1].fromS) : Infinity;
      return Math.min(indexOf(originS + boundary * everyS), next);
    },
  };
}

export interface IntegrationSettings {
  /** One integration over everything unless given. */
  readonly integrationS?: number;
  /** Whether integrations are counted from the first sample (unless said) or end on UTC's own boundaries. */
  readonly align?: 'first-sample' | 'utc';
}

/** When integrations end: every so many seconds from the first sample, or on UTC's own boundaries. */
export function integrationClock(
  { integrationS, align = 'first-sample' }: IntegrationSettings,
  grid: SpectrumGrid,
): IntegrationClock {
  if (integrationS === undefined) return oneIntegration;
  const spectra = Math.round(integrationS * grid.spectrumRateHz);
  if (!(spectra >= 1)) {
    refuse(
      'integration',
      `${integrationS} s is shorter than one spectrum`,
      `give at least ${1 / grid.spectrumRateHz} s`,
    );
  }
  return align === 'utc' ? onUtc(integrationS, grid) : everySpectra(spectra);
}

/** When spectrum `index` begins. */
export const spectrumStart = ({ start, spectrumRateHz }: SpectrumGrid, index: number): Instant =>
  addSeconds(start, index / spectrumRateHz);

/** Readers take times that are closer for one. */
const ONE_DATE_S = 1e-3;

/**
 * Files keep Julian Dates, on which a leap second and the second after it are the same: integrations that a reader
 * would take for one are refused before they are made.
 */
export function refuseSharedDates(clock: IntegrationClock, grid: SpectrumGrid, spectra: number): void {
  const leaps = ({ unixSeconds }: Instant): number => leapSecondsBefore(unixSeconds);
  if (leaps(grid.start) === leaps(spectrumStart(grid, spectra))) return;
  const dates: number[] = [];
  for (let at = 0; at < spectra;) {
    const end = Math.min(spectra, clock.cutAfter(at));
    const { unixSeconds, fraction } = spectrumStart(grid, (at + end) / 2);
    dates.push(unixSeconds - grid.start.unixSeconds + fraction);
    at = end;
  }
  dates.sort((x, y) => x - y);
  if (dates.some((one, k) => k > 0 && one - dates[k - 1] < ONE_DATE_S))
    refuse(
      'integration',
      'files keep Julian Dates, on which the leap second in this recording and the second after it are the same: two integrations would have one time',
      'give a longer --integration, or take what is before the leap second and what is after it with --times',
    );
}
