/**
 * When integrations (or images) end. Spectra are numbered from the first of the stream, lost ones included, so a cut is
 * where it is whatever was lost before it. A cut is told as the number of the first spectrum after it.
 */
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';

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
 * started. A spectrum belongs where it begins, so a cut lies up to one spectrum after the boundary.
 */
export function onUtc(everyS: number, { start, spectrumRateHz }: SpectrumGrid): IntegrationClock {
  const midnight: Instant = { unixSeconds: Math.floor(start.unixSeconds / 86_400) * 86_400, fraction: 0 };
  const firstS = secondsBetween(midnight, start);
  /** Spectra that begin a rounding error before a boundary are taken to begin on it. */
  const tolerance = 1e-6;
  const indexOf = (boundary: number): number =>
    Math.ceil((boundary * everyS - firstS) * spectrumRateHz - tolerance);
  return {
    cutAfter: (index) => {
      let boundary = Math.floor((firstS + index / spectrumRateHz) / everyS);
      while (indexOf(boundary) <= index) boundary++;
      return indexOf(boundary);
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
