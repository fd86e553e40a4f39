/**
 * Phases that are linear along an array, made by one complex product per element. Every 64 elements the phase is
 * computed anew, so that rounding stays below 64 · 2⁻⁵³ turns for any length. The loop is written three times: it is
 * the hot loop of simulations, and one loop that calls a function takes twice as long.
 */
const RESTART = 64;

/** Turns at element n: first + n · step. Whole turns are removed before the sine. */
export interface Turns {
  readonly first: number;
  readonly step: number;
}

const radians = (turns: number): number => 2 * Math.PI * (turns - Math.floor(turns));

/** target[n] += source[n] · e^(2πi turns(n)), complex, element by element. */
export function addTurned(target: Float64Array, source: Float64Array, { first, step }: Turns): void {
  const stepRe = Math.cos(radians(step));
  const stepIm = Math.sin(radians(step));
  const length = target.length / 2;
  for (let start = 0; start < length; start += RESTART) {
    const angle = radians(first + start * step);
    let re = Math.cos(angle);
    let im = Math.sin(angle);
    const end = 2 * Math.min(length, start + RESTART);
    for (let n = 2 * start; n < end; n += 2) {
      target[n] += source[n] * re - source[n + 1] * im;
      target[n + 1] += source[n] * im + source[n + 1] * re;
      const next = re * stepRe - im * stepIm;
      im = re * stepIm + im * stepRe;
      re = next;
    }
  }
}

/** values[n] ·= amplitude · e^(2πi turns(n)). */
export function turn(values: Float64Array, amplitude: number, { first, step }: Turns): void {
  const stepRe = Math.cos(radians(step));
  const stepIm = Math.sin(radians(step));
  const length = values.length / 2;
  for (let start = 0; start < length; start += RESTART) {
    const angle = radians(first + start * step);
    let re = amplitude * Math.cos(angle);
    let im = amplitude * Math.sin(angle);
    const end = 2 * Math.min(length, start + RESTART);
    for (let n = 2 * start; n < end; n += 2) {
      const value = values[n];
      values[n] = value * re - values[n + 1] * im;
      values[n + 1] = value * im + values[n + 1] * re;
      const next = re * stepRe - im * stepIm;
      im = re * stepIm + im * stepRe;
      re = next;
    }
  }
}

/** target[n] += amplitude · e^(2πi turns(n)). */
export function addTone(target: Float64Array, amplitude: number, { first, step }: Turns): void {
  const stepRe = Math.cos(radians(step));
  const stepIm = Math.sin(radians(step));
  const length = target.length / 2;
  for (let start = 0; start < length; start += RESTART) {
    const angle = radians(first + start * step);
    let re = amplitude * Math.cos(angle);
    let im = amplitude * Math.sin(angle);
    const end = 2 * Math.min(length, start + RESTART);
    for (let n = 2 * start; n < end; n += 2) {
      target[n] += re;
      target[n + 1] += im;
      const next = re * stepRe - im * stepIm;
      im = re * stepIm + im * stepRe;
      re = next;
    }
  }
}
