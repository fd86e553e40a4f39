/** corella calibrate --gnss: gains of a recording from the codes of navigation satellites. */
import type { Command, Option } from 'commander';
import { z } from 'zod';
import { field } from '../../fields/index.js';
import { gnssFields } from '../../gnss/index.js';
import { refuseGiven } from '../options/command.js';
import { useEop } from '../options/eop-option.js';
import { openFields } from '../options/open-options.js';
import { addFields, type Options } from '../options/own.js';
import { common, given, out, overwrite, picture, skyFiles } from '../options/shared.js';
import { addForeign } from '../options/shorthand.js';
import { addHelp } from '../startup/help.js';

export const gnss = field(given, {
  flag: '--gnss',
  changes: 'never',
  help: 'of a recording around GPS L1: gains by the codes of its satellites',
});
const positions = field(given, {
  flag: '--solve-positions',
  group: 'Satellites',
  changes: 'never',
  help: 'also where the antennas are, with covariance; takes four directions',
});
const gnssOptions = z.strictObject({
  gnss,
  out,
  picture,
  ...gnssFields,
  solvePositions: positions,
  ...openFields,
  overwrite,
  ...common,
  ...skyFiles,
});
export type GnssOptions = Options<typeof gnssOptions>;

/** `foreign`: options of gains from visibilities, refused by name. */
export function registerGnss(program: Command, foreign: readonly Option[]): Command {
  const command = program.command('calibrate').argument('<recording>', 'voltages around 1575.42 MHz');
  useEop(addFields(command, gnssOptions));
  const names = addForeign(command, foreign);
  command.action(async (recording: string, options: GnssOptions) => {
    refuseGiven(command, names, 'is for visibilities, not for --gnss');
    const { run } = await import('../actions/calibrate-gnss.js');
    await run(recording, options);
  });
  return addHelp(command, {
    common: [
      '--out',
      '--picture',
      '--orbits',
      '--direction',
      '--despread',
      '--doppler',
      '--telescope',
      '--overwrite',
    ],
    examples: [
      ['calibrate raw.hdf --gnss', 'raw-gains.json; a tilt of the sky stays open'],
      ['calibrate raw.hdf --gnss --direction 31@62.5:120 --direction 26@40:250', 'with two known directions'],
      ['calibrate raw.hdf --gnss --orbits gps.tle', 'directions of all satellites by their orbits'],
      ['calibrate raw.hdf --gnss --picture satellites.png', 'an image of each satellite beside'],
    ],
  });
}
