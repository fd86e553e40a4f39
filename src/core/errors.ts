/** Kinds of errors that a program can act on; `messages/errors.ts` explains each. */
export type ErrorCode =
  | 'refused'
  | 'value.invalid'
  | 'unsupported'
  | 'option.unknown'
  | 'option.incomplete'
  | 'command.unknown'
  | 'argument.unexpected'
  | 'file.not-found'
  | 'file.unreadable'
  | 'file.unwritable'
  | 'file.damaged'
  | 'file.unknown-format'
  | 'file.exists'
  | 'disk.full'
  | 'memory.insufficient'
  | 'system.too-many-files'
  | 'backend.unavailable'
  | 'network.unavailable'
  | 'interrupted'
  | 'result.partial'
  | 'result.failed'
  | 'result.differs'
  | 'program.fault';

/** The parts of every refusal: where it happened, what is wrong, and how to fix it. */
export interface Refusal {
  readonly where: string;
  readonly what: string;
  readonly fix?: string;
  readonly code?: ErrorCode;
}

/** An error for users: one line, no stack trace on the terminal. Any other error is a bug of ours. */
export class CorellaError extends Error implements Refusal {
  readonly where: string;
  readonly what: string;
  readonly fix?: string;
  readonly kind: ErrorCode;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(`${refusal.where}: ${refusal.what}${refusal.fix === undefined ? '' : `; ${refusal.fix}`}`, options);
    this.name = 'CorellaError';
    this.where = refusal.where;
    this.what = refusal.what;
    this.kind = refusal.code ?? 'refused';
    if (refusal.fix !== undefined) this.fix = refusal.fix;
  }
}

export function refuse(where: string, what: string, fix?: string, code?: ErrorCode): never {
  throw new CorellaError({ where, what, fix, code });
}

/** Refuses anything but a whole number in [least, most]; sizes are never clamped. */
export function wholeNumber(where: string, name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    refuse(where, `${name} is ${value}`, `give a whole number from ${least} to ${most}`, 'value.invalid');
  }
  return value;
}

/** Refuses NaN, infinities and anything outside [least, most]. */
export function realNumber(where: string, name: string, value: number, least: number, most: number): number {
  if (!(value >= least && value <= most)) {
    refuse(where, `${name} is ${value}`, `give a number from ${least} to ${most}`, 'value.invalid');
  }
  return value;
}

/** For the end of an exhaustive switch: the compiler proves that it is unreachable. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case ${JSON.stringify(value)}`);
}
