/** JSON output: one document per command, with the fields described in docs/json.md. */
import { CorellaError } from '../../core/errors.js';
import { kindOf } from './failure.js';

/** Increased when a field is removed or changes its meaning; new fields may be added at any time. */
export const JSON_VERSION = 1;

const documentText = (json: unknown): string => JSON.stringify(json, null, 2);

/** Every document states its version. */
export const resultText = (json: object): string => documentText({ jsonVersion: JSON_VERSION, ...json });

/** In place of a result: the error line in parts, with its code; as an event for `live`, which prints lines. */
export function errorText(error: unknown, command?: string): string {
  const message = error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
  const parts =
    error instanceof CorellaError
      ? { where: error.where, what: error.what, fix: error.fix }
      : { what: message };
  const failure = { jsonVersion: JSON_VERSION, error: { code: kindOf(error), message, ...parts } };
  return command === 'live'
    ? JSON.stringify({ event: 'error', at: new Date().toISOString(), ...failure })
    : documentText(failure);
}
