/** What machines read: one document a command, its fields in docs/json.md. */
import { CorellaError } from '../../core/errors.js';
import { kindOf } from './failure.js';

/** Raised when a field goes or changes its meaning; new ones may come at any time. */
export const JSON_VERSION = 1;

const documentText = (json: unknown): string => JSON.stringify(json, null, 2);

/** Every document says which version it is of. */
export const resultText = (json: object): string => documentText({ jsonVersion: JSON_VERSION, ...json });

/** In place of a result: the line of standard error in parts, with its code; as an event of `live`, which prints lines. */
export function errorText(error: unknown, command?: string): string {
  const message = error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
  const parts =
    error instanceof CorellaError
      ? { where: error.where, what: error.what, ...(error.fix === undefined ? {} : { fix: error.fix }) }
      : { what: message };
  const told = { jsonVersion: JSON_VERSION, error: { code: kindOf(error), message, ...parts } };
  return command === 'live'
    ? JSON.stringify({ event: 'error', at: new Date().toISOString(), ...told })
    : documentText(told);
}
