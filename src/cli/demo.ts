/**
 * corella demo: first light. A sky over a telescope through the whole chain, by direct imaging and from visibilities.
 */
import type { Command } from 'commander';
import { useEop } from './options/eop-option.js';
import { prepareSources } from './options/prepare-sources.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, whole } from '../fields/index.js';
import { front } from '../observation/index.js';
import { addFields, type Options } from './options/own.js';
import * as shared from './options/shared.js';
import { whenRun } from './options/command.js';

const demoOptions = z.strictObject({
  out: variant(shared.outFolder, { default: 'first-light' }),
  telescope: shared.skyTelescope,
  stations: variant(shared.stations, { otherwise: 'what the backend does quickly' }),
  time: variant(shared.time, { default: shared.FIRST_LIGHT_TIME }),
  channels: variant(front.shape.channels, { otherwise: 'by backend' }),
  spectra: field(whole, {
    flag: '--spectra <number>',
    changes: 'never',
    range: { least: 1 },
    otherwise: 'by backend',
    help: 'spectra in each channel',
  }),
  pixels: variant(shared.pixels, { otherwise: 'by backend' }),
  field: shared.fieldWidth,
  taps: variant(front.shape.taps, { default: 8 }),
  noise: shared.noise,
  page: variant(shared.pageAddress, { otherwise: 'none' }),
  seed: shared.seed,
  sources: shared.sources,
  overwrite: shared.overwrite,
  ...shared.computing,
  eop: shared.eop,
});
export type DemoOptions = Options<typeof demoOptions>;

export function registerDemo(program: Command): void {
  const command = useEop(prepareSources(addFields(program.command('demo'), demoOptions))).action(
    whenRun(async () => (await import('./actions/demo.js')).run),
  );
  addHelp(command, {
    common: [
      '--out',
      '--telescope',
      '--stations',
      '--time',
      '--sources',
      '--page',
      '--backend',
      '--overwrite',
    ],
    examples: [
      ['demo', 'first light, into first-light/'],
      ['demo --page', 'the same, and then on a page'],
      ['demo --telescope eda2 --time 2026-01-15T04:00:00Z --out sun', 'the Sun over EDA2'],
      [
        'demo --telescope mwa128 --stations 32 --field 8 --sources spot@88:90:5000',
        'one source near the zenith: an array this wide images a narrow field',
      ],
      ['demo --backend reference --stations 32 --json', 'smaller, and the summary on standard output'],
    ],
  });
}
