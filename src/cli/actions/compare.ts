/** What corella compare does, loaded when it runs. */
import { compareFiles, type Comparison, type Difference } from '../../inspect/index.js';
import { Differs } from '../report/outcome.js';
import { openTerminal } from '../report/terminal.js';
import type { CompareFlags } from '../compare/compare.js';

export async function run(a: string, b: string, options: CompareFlags): Promise<void> {
  const comparison = await compareFiles(a, b, { tolerance: options.tolerance });
  openTerminal(options).result(jsonOf(a, b, comparison), linesOf(comparison));
  if (!comparison.same) throw new Differs(`${a} and ${b} differ`);
}

/** JSON has neither undefined nor infinities. */
const jsonOf = (a: string, b: string, { differences, parts, ...comparison }: Comparison): object => ({
  a,
  b,
  ...comparison,
  differences: differences.map((one) => ({ ...one, a: one.a ?? null, b: one.b ?? null })),
  parts,
});

const MOST_LINES = 20;

function linesOf({ same, kind, formats: [one, other], tolerance, differences, parts }: Comparison): string[] {
  if (same) {
    const numbers = parts.reduce((sum, { of }) => sum + of, 0);
    const largest = parts.reduce((most, { relative }) => Math.max(most, relative), 0);
    return [
      `the same ${kind}: ${numbers} numbers and every header card` +
        (one === other ? '' : ` that ${one} and ${other} share`) +
        (tolerance > 0 ? `; largest difference ${number(largest)} of the largest value` : ''),
    ];
  }
  const lines = differences.slice(0, MOST_LINES).map(differenceLine);
  const more = differences.length - lines.length;
  return more > 0 ? [...lines, `… and ${more} more; --json lists them all`] : lines;
}

const number = (value: number): string => String(Number(value.toPrecision(4)));
const shown = (value: Difference['a']): string =>
  value === undefined ? 'absent' : typeof value === 'string' ? JSON.stringify(value) : String(value);

function differenceLine({ what, where, a, b, count, of, largest, largestAt, relative }: Difference): string {
  const head = `${what}: ${where}: ${shown(a)} and ${shown(b)}`;
  if (largest === undefined) return count === 1 ? head : `${head}; ${count} in all`;
  const part = relative === undefined ? '' : ` (${number(relative)} of the largest)`;
  return `${head}; ${count} of ${of} differ, by at most ${number(largest)}${part} at ${largestAt}`;
}
