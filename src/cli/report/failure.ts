/** What is told of an error that ends a command. */
import { CorellaError } from '../../core/errors.js';

/** More numbers than any array of the platform's holds: too large a wish, not a slip of ours. */
const MOST_ELEMENTS = 2 ** 32;

/** The platform says in its own words that an array did not fit. */
function isTooLarge(error: unknown): error is RangeError {
  if (!(error instanceof RangeError)) return false;
  const length = /^Invalid (?:typed )?array length: (\d+)$/.exec(error.message);
  return length ? Number(length[1]) > MOST_ELEMENTS : error.message === 'Array buffer allocation failed';
}

export function failureText(error: unknown): string {
  if (error instanceof CorellaError) return `corella: ${error.message}\n`;
  if (isTooLarge(error)) {
    return `corella: not enough memory (${error.message}); take fewer channels, stations or pixels at a time\n`;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `corella: a fault of our own, please report it with this text:\n${text}\n`;
}
