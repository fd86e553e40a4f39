/** A filter of the user, from a file. */
import { refuse } from '../core/errors.js';
import { readText } from '../formats/index.js';

/** Numbers separated by white space or commas; errors name the line. */
export async function readCoefficients(path: string): Promise<Float64Array> {
  const values: number[] = [];
  for (const [n, line] of (await readText(path)).split('\n').entries())
    for (const word of line.split(/[\s,]+/).filter((text) => text !== '')) {
      const value = Number(word);
      if (!Number.isFinite(value))
        refuse(`${path}, line ${n + 1}`, `'${word}' is not a number`, 'give the coefficients one a line');
      values.push(value);
    }
  return Float64Array.from(values);
}
