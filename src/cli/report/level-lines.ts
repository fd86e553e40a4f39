/** What rounding costs, told where it costs something or was chosen. */
import type { Level } from '../../pipeline/levels.js';

/** Beyond it the choice of a gain is nobody's concern. */
const GOOD = 0.99;
/** In levels: weaker than that, most numbers are 0. */
const WEAK = 1;

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
const levels = (rms: number): string => Number(rms.toPrecision(3)).toString();

export function levelLines(level: Level | undefined): string[] {
  if (!level) return [];
  const { inputRms, outputRms, weakestRms, efficiency, worstEfficiency, silentInputs, gain, follows } = level;
  const lines: string[] = [];
  if (follows === 'measured' || efficiency < GOOD)
    lines.push(
      `level: ${levels(inputRms)} rms in, ${levels(outputRms)} levels rms after a gain of ${Number(gain.toPrecision(4))}${
        follows === 'measured' ? ' (measured)' : follows === 'told' ? ' (told)' : ''
      }; rounding leaves ${percent(efficiency)} of a weak signal`,
    );
  if (weakestRms < WEAK)
    lines.push(
      `the weakest input has ${levels(weakestRms)} levels rms: rounding leaves it ${percent(worstEfficiency)} of a weak signal; give a larger --gain, or --bits float`,
    );
  if (silentInputs > 0)
    lines.push(`${silentInputs} ${silentInputs === 1 ? 'input begins' : 'inputs begin'} silent`);
  return lines;
}

/** For machines, and for the files' history. */
export const levelFacts = (level: Level | undefined): { readonly level?: Level } => (level ? { level } : {});
