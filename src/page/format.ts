/** Numbers as text: always with their unit, never with more digits than are significant. */

const MINUS = '−';
const NARROW = '\u202f';

/** Values in place of numbers in JSON: NaN becomes null, and a field may be missing. */
type Maybe = number | null | undefined;
const isNumber = (value: Maybe): value is number => typeof value === 'number' && Number.isFinite(value);

export const fixed = (value: Maybe, digits = 1): string =>
  !isNumber(value)
    ? '–'
    : value
        .toFixed(digits)
        .replace(/^-(?=0\.?0*$)/, '')
        .replace('-', MINUS);

/** With k, M, G. */
export function scaled(value: Maybe, unit: string, digits = 3): string {
  if (!isNumber(value)) return '–';
  const size = Math.abs(value);
  const [scale, prefix] =
    size >= 1e12
      ? [1e12, 'T']
      : size >= 1e9
        ? [1e9, 'G']
        : size >= 1e6
          ? [1e6, 'M']
          : size >= 1e3
            ? [1e3, 'k']
            : [1, ''];
  return `${Number((value / scale).toPrecision(digits))
    .toString()
    .replace('-', MINUS)}${NARROW}${prefix}${unit}`;
}

/** Brightness: three digits, an exponent only for values that need one. */
export function brightness(value: Maybe): string {
  if (!isNumber(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e5 || (size > 0 && size < 1e-2))
    return value.toExponential(1).replace('e+', 'e').replace('-', MINUS);
  return Number(value.toPrecision(3)).toString().replace('-', MINUS);
}

/** A small fraction, like 3.1e−5. */
export const exponent = (value: Maybe): string =>
  isNumber(value) ? value.toExponential(1).replace('-', MINUS) : '–';

export function seconds(value: Maybe): string {
  if (!isNumber(value)) return '–';
  const size = Math.abs(value);
  if (size < 1) return `${(1000 * value).toFixed(0)}${NARROW}ms`.replace('-', MINUS);
  if (size < 10) return `${value.toFixed(1)}${NARROW}s`.replace('-', MINUS);
  if (size < 120) return `${value.toFixed(0)}${NARROW}s`.replace('-', MINUS);
  if (size < 7200) return `${(value / 60).toFixed(0)}${NARROW}min`;
  return `${(value / 3600).toFixed(1)}${NARROW}h`;
}

export const percent = (value: Maybe, digits = 2): string =>
  !isNumber(value)
    ? '–'
    : `${value > 0 && value < 0.5 * 10 ** -digits ? `<${NARROW}${(10 ** -digits).toFixed(digits)}` : value.toFixed(value === 0 || value === 100 ? 0 : digits)}${NARROW}%`;

export const hertz = (value: Maybe): string => scaled(value, 'Hz', 5);
export const bytes = (value: Maybe): string => scaled(value, 'B');
export const degrees = (value: Maybe, digits = 1): string => `${fixed(value, digits)}°`;
export const decibels = (value: Maybe, sign = false): string =>
  isNumber(value) ? `${sign && value > 0 ? '+' : ''}${fixed(value, 1)}${NARROW}dB` : '–';
export const count = (value: Maybe): string =>
  isNumber(value) ? Math.round(value).toLocaleString('en-US').replaceAll(',', NARROW) : '–';
export const clock = (unixS: Maybe): string =>
  isNumber(unixS) ? new Date(1000 * unixS).toISOString().slice(11, 19) : '–';
export const moment = (unixS: Maybe): string =>
  isNumber(unixS) ? new Date(1000 * unixS).toISOString().slice(0, 19).replace('T', ' ') : '–';

/** Altitude and azimuth for direction cosines, accurate enough for a label: north up, east left. */
export function altAz(l: number, m: number): { readonly altDeg: number; readonly azDeg: number } {
  const r = Math.min(1, Math.hypot(l, m));
  return {
    altDeg: (Math.acos(r) * 180) / Math.PI,
    azDeg: ((Math.atan2(l, m) * 180) / Math.PI + 360) % 360,
  };
}
