/** Exact by definition of the metre. */
export const SPEED_OF_LIGHT_M_PER_S = 299_792_458;

export const DEGREES_PER_RADIAN = 180 / Math.PI;
export const RADIANS_PER_DEGREE = Math.PI / 180;
export const SECONDS_PER_DAY = 86_400;
/** Angular speed of the Earth's rotation. */
export const EARTH_SPIN_RAD_PER_S = 7.292115e-5;
/** Seconds · MHz² for a DM of 1 pc/cm³, 1/2.41e-4 by convention (Manchester & Taylor 1972), as in pulsar software. */
export const DISPERSION_S_MHZ2 = 1 / 2.41e-4;
/** Outer level of an optimally set two-bit sampler, in units of the inner one. */
export const HIGH_LEVEL = 3.316505;

/** "21.5 kHz", "74 MHz": for users. Machine-readable output has hertz. */
export function formatHz(frequencyHz: number, digits = 6): string {
  const size = Math.abs(Number(frequencyHz.toPrecision(digits)));
  const [scale, unit] =
    size >= 1e9 ? [1e9, 'GHz'] : size >= 1e6 ? [1e6, 'MHz'] : size >= 1e3 ? [1e3, 'kHz'] : [1, 'Hz'];
  return `${withMinus(Number((frequencyHz / scale).toPrecision(digits)))} ${unit}`;
}

/** A number with a typographic minus sign, not a hyphen. */
export const withMinus = (value: number | string): string => String(value).replace(/^-/, '−');

export function formatBytes(sizeBytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
  let size = sizeBytes;
  let step = 0;
  while (Number(size.toPrecision(3)) >= 1000 && step < units.length - 1) {
    size /= 1000;
    step++;
  }
  return `${Number(size.toPrecision(3))} ${units[step]}`;
}

export function formatSeconds(seconds: number): string {
  if (Math.round(seconds / 60) >= 60) {
    const minutes = Math.round(seconds / 60);
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  if (Math.round(seconds) >= 60) {
    const whole = Math.round(seconds);
    return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }
  // Rounded first: 999.9 ms are 1.0 s, not 1000 ms.
  const rounded = Number(seconds.toPrecision(3));
  if (rounded >= 1) return `${seconds.toFixed(1)} s`;
  if (rounded >= 1e-3) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  return `${Number((seconds * 1e6).toPrecision(3))} µs`;
}

/** 0.034, 4.8, 120: never 1.2e+2. */
export const twoDigits = (value: number): string => String(Number(value.toPrecision(2)));

/** A fraction in per cent: to two digits, or with so many decimals. */
export const percent = (part: number, decimals?: number): string =>
  `${decimals === undefined ? twoDigits(100 * part) : (100 * part).toFixed(decimals)} %`;
