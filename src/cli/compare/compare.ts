/** corella compare: whether two products hold the same data, whatever their history. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { compareFiles, type Comparison, type Difference } from '../../inspect/index.js';
import { addCommonOptions, addExamples, ANY_OPTION, type CommonOptions } from '../options/command.js';
import { Differs } from '../report/outcome.js';
import { openTerminal } from '../report/terminal.js';

interface CompareFlags extends CommonOptions {
  readonly tolerance: number;
}

export function registerCompare(program: Command): void {
  const command = program
    .command('compare')
    .argument('<a>', 'visibilities, a recording, a FITS image, gains or a PNG picture')
    .argument('<b>', 'another of the same kind')
    .option(
      '--tolerance <part>',
      'values may differ by this part of the largest value, like 1e-6 (images: of the peak)',
      parseTolerance,
      0,
    )
    .action(run);
  addCommonOptions(command);
  addExamples(command, [
    ['compare live.uvh5 batch.uvh5', 'the same, bit for bit? Exit code 0: yes, 1: no, 2: cannot be compared'],
    ['compare cpu.fits cuda.fits --tolerance 1e-5', 'images of two backends, within rounding'],
    [
      'compare run.uvh5 run.uvfits --tolerance 1e-6',
      'in two formats: header cards of their own are left out',
    ],
  ]);
}

function parseTolerance(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!(value >= 0 && value <= 1))
    refuse(
      ANY_OPTION,
      `'${text}' is not a part of the largest value`,
      'give a number from 0 to 1, like 1e-6',
    );
  return value;
}

async function run(a: string, b: string, options: CompareFlags): Promise<void> {
  const comparison = await compareFiles(a, b, { tolerance: options.tolerance });
  openTerminal(options).result(jsonOf(a, b, comparison), linesOf(comparison));
  if (!comparison.same) throw new Differs(`${a} and ${b} differ`);
}

/** JSON has neither undefined nor infinities. */
const jsonOf = (a: string, b: string, { differences, parts, ...comparison }: Comparison): object => ({
  ...{ a, b, ...comparison },
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
