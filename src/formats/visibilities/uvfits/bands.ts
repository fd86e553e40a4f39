/** The AIPS FQ table: the frequency of each IF of a UVFITS file, and its channel width. */
import { refuse } from '../../../core/errors.js';
import { formatHz } from '../../../core/units.js';
import type { FitsUnit } from '../../fits/fits.js';
import { readTable } from '../../fits/table.js';
import type { InputFile } from '../../io/input.js';

export interface Band {
  /** From the FREQ axis. */
  readonly offsetHz: number;
  /** Channel step, negative if descending; from the axis if not in this table. */
  readonly widthHz?: number;
  /** −1 if the table marks a lower sideband. */
  readonly sideband?: number;
}

export async function readBands(
  file: InputFile,
  unit: FitsUnit | undefined,
): Promise<readonly Band[] | undefined> {
  if (!unit) return undefined;
  const table = await readTable(file, unit);
  if (table.rowCount === 0 || !table.has('IF FREQ')) return undefined;
  const row = (name: string): readonly number[] => (table.has(name) ? table.numbers(name, 1)[0] : []);
  const [widths, sides] = [row('CH WIDTH'), row('SIDEBAND')];
  return row('IF FREQ').map((offsetHz, k) => ({
    offsetHz,
    ...(widths[k] && Number.isFinite(widths[k]) && { widthHz: widths[k] }),
    ...(sides[k] && { sideband: sides[k] }),
  }));
}

/** The table has single precision, the axis double. */
const SAME_WIDTH = 1e-6;

const isAlike = (oneHz: number, otherHz: number): boolean => Math.abs(oneHz / otherHz - 1) < SAME_WIDTH;

/** Each band's step as casacore reads it: CH WIDTH with its sign, whatever SIDEBAND is, else the axis's. */
export function stepsOf(
  where: string,
  bands: readonly Band[],
  axis: { readonly step: number; readonly length: number },
): {
  readonly bands: readonly { readonly offsetHz: number; readonly stepHz: number }[];
  readonly assumed: readonly string[];
} {
  const steps = bands.map(({ offsetHz, widthHz = axis.step }) => {
    const stepHz = isAlike(Math.abs(widthHz), Math.abs(axis.step))
      ? Math.sign(widthHz) * Math.abs(axis.step)
      : widthHz;
    return { offsetHz, stepHz };
  });
  const [{ stepHz: firstHz }] = steps;
  const other = steps.findIndex(({ stepHz }) => !isAlike(Math.abs(stepHz), Math.abs(firstHz)));
  if (other > 0 && firstHz !== 0)
    refuse(
      where,
      `channels of its IF 1 are ${formatHz(Math.abs(firstHz))} wide, those of IF ${other + 1} ${formatHz(Math.abs(steps[other].stepHz))} (CH WIDTH of its AIPS FQ table)`,
      'export IFs of one width each to a file of their own',
    );
  // A single channel ascends and descends alike.
  const isLone = axis.length === 1;
  const lower = bands.flatMap(({ sideband = 1 }, k) =>
    !isLone && sideband < 0 && steps[k].stepHz > 0 ? [k + 1] : [],
  );
  return {
    bands: steps,
    assumed: [
      ...(firstHz === axis.step || (isLone && firstHz === -axis.step)
        ? []
        : [
            `its FREQ axis goes by ${formatHz(axis.step)} a channel, its AIPS FQ table by ${formatHz(firstHz)}, which is used, as in casacore`,
          ]),
      ...(lower.length === 0
        ? []
        : [
            `SIDEBAND of its AIPS FQ table calls IF ${lower.join(', ')} a lower sideband, its CH WIDTH rises: treated as rising, as in casacore`,
          ]),
    ],
  };
}
