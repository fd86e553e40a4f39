/** What every refusal carries: where it happened, what is wrong, and how to put it right. */
export interface Refusal {
  readonly where: string;
  readonly what: string;
  readonly fix?: string;
}

/** An error meant for people: one line, no stack trace on the terminal. Anything else is a bug of ours. */
export class CorellaError extends Error implements Refusal {
  readonly where: string;
  readonly what: string;
  readonly fix?: string;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(`${refusal.where}: ${refusal.what}${refusal.fix === undefined ? '' : `; ${refusal.fix}`}`, options);
    this.name = 'CorellaError';
    this.where = refusal.where;
    this.what = refusal.what;
    if (refusal.fix !== undefined) this.fix = refusal.fix;
  }
}

export function refuse(where: string, what: string, fix?: string): never {
  throw new CorellaError(fix === undefined ? { where, what } : { where, what, fix });
}

/** Refuses anything but a whole number in [least, most]; sizes are never clamped. */
export function wholeNumber(where: string, name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    refuse(where, `${name} is ${value}`, `give a whole number from ${least} to ${most}`);
  }
  return value;
}

/** Refuses NaN, infinities and anything outside [least, most]. */
export function realNumber(where: string, name: string, value: number, least: number, most: number): number {
  if (!(value >= least && value <= most)) {
    refuse(where, `${name} is ${value}`, `give a number from ${least} to ${most}`);
  }
  return value;
}

/** For the end of an exhaustive switch: the compiler proves it unreachable. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case ${JSON.stringify(value)}`);
}
