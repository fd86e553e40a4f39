/** corella sky: a simulated live sky on the page, in one process. */
import type { Command } from 'commander';
import { z } from 'zod';
import { variant, field, real } from '../fields/index.js';
import { front, observation, pageFields } from '../observation/index.js';
import { useEop } from './options/eop-option.js';
import { addFields, type Options } from './options/own.js';
import * as shared from './options/shared.js';
import { prepareSources } from './options/prepare-sources.js';
import { addHelp } from './startup/help.js';
import { whenRun } from './options/command.js';

const skyOptions = z.strictObject({
  telescope: shared.skyTelescope,
  stations: variant(shared.stations, { otherwise: '64, or all of a smaller telescope' }),
  sources: shared.sources,
  losses: field(real, {
    flag: '--losses <percent>',
    changes: 'never',
    range: { least: 0, most: 100 },
    default: 0,
    help: 'lose this much of the data, in percent; the page can change it',
  }),
  unknownGains: field(shared.given, {
    flag: '--unknown-gains',
    changes: 'never',
    help: 'antennas with unknown gains and cable delays, to be solved on the page',
  }),
  rate: variant(shared.rate, { default: 20_000 }),
  channels: variant(front.shape.channels, { default: 4 }),
  pixels: variant(shared.pixels, { default: 128 }),
  noise: shared.noise,
  for: variant(observation.shape.for, { otherwise: 'until Ctrl-C', group: 'Options' }),
  page: variant(shared.pageAddress, { otherwise: '127.0.0.1:8080, or a free port' }),
  tokenFile: variant(pageFields.shape['token-file'], { group: 'Options' }),
  open: field(shared.given, {
    flag: '--open',
    changes: 'never',
    help: 'open the page in the browser',
  }),
  seed: shared.seed,
  ...shared.computing,
  ...shared.skyFiles,
});
export type SkyOptions = Options<typeof skyOptions>;

export function registerSky(program: Command): void {
  const command = useEop(prepareSources(addFields(program.command('sky'), skyOptions))).action(
    whenRun(async () => (await import('./actions/sky.js')).run),
  );
  addHelp(command, {
    common: [
      '--open',
      '--telescope',
      '--stations',
      '--sources',
      '--losses',
      '--unknown-gains',
      '--for',
      '--page',
    ],
    examples: [
      ['sky --open', 'the sky over a small LWA-SV now, in the browser'],
      ['sky --telescope eda2 --stations 128', 'over half of EDA2'],
      ['sky --stations 5', 'the fringes of five antennas'],
      ['sky --unknown-gains --losses 5', 'something to calibrate, with losses'],
    ],
  });
}
