/** corella simulate: voltages of a simulated sky over a telescope. */
import type { Command } from 'commander';
import { useEop } from './options/eop-option.js';
import { prepareSources } from './options/prepare-sources.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, real, words } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import * as shared from './options/shared.js';
import { whenRun } from './options/command.js';

const changes = 'never';
const simulateOptions = z.strictObject({
  telescope: shared.skyTelescope,
  stations: shared.stations,
  sources: shared.sources,
  out: variant(shared.out, { default: 'voltages.sigmf-meta' }),
  time: variant(shared.time, { default: shared.FIRST_LIGHT_TIME }),
  duration: variant(shared.duration, { default: 0.1, otherwise: '100ms' }),
  frequency: variant(shared.frequency, { otherwise: "the telescope's own", group: 'Options' }),
  rate: variant(shared.rate, { otherwise: "the telescope's own", group: 'Options' }),
  type: shared.type,
  noise: shared.noise,
  seed: shared.seed,
  perfect: shared.perfect,
  tone: field(shared.repeated('FREQ:JY[:ALT:AZ]'), {
    flag: '--tone <FREQ:JY[:ALT:AZ]>',
    changes,
    default: [],
    help: 'a carrier, its power as flux over the band; may be repeated',
  }),
  pulse: field(shared.repeated('PERIOD:DUTY:JY[:ALT:AZ]'), {
    flag: '--pulse <PERIOD:DUTY:JY[:ALT:AZ]>',
    changes,
    default: [],
    help: 'noise that is switched on for DUTY (0 to 1) of each PERIOD; may be repeated',
  }),
  pulsar: field(shared.repeated('NAME:PERIOD:DM[:WIDTH]'), {
    flag: '--pulsar <NAME:PERIOD:DM[:WIDTH]>',
    changes,
    default: [],
    help: 'one of the sources pulsates: on for WIDTH (0.05) of each PERIOD, its flux is the mean, dispersed by DM in pc/cm³; may be repeated',
  }),
  drop: field(real, {
    flag: '--drop <fraction>',
    changes,
    range: { least: 0, most: 1 },
    default: 0,
    help: 'chance of each packet to be lost',
  }),
  dead: field(words('inputs by number or name'), {
    flag: '--dead <list>',
    changes,
    help: 'inputs that receive nothing, by number (12, 30-33) or name (stand17, stand41:Y)',
  }),
  polarise: shared.polarise,
  overwrite: shared.overwrite,
  ...shared.common,
  ...shared.skyFiles,
});
export type SimulateOptions = Options<typeof simulateOptions>;

export function registerSimulate(program: Command): void {
  const command = useEop(prepareSources(addFields(program.command('simulate'), simulateOptions))).action(
    whenRun(async () => (await import('./actions/simulate.js')).run),
  );
  addHelp(command, {
    common: [
      '--out',
      '--telescope',
      '--stations',
      '--sources',
      '--time',
      '--duration',
      '--noise',
      '--perfect',
      '--overwrite',
    ],
    examples: [
      ['simulate -o night.sigmf-meta', '0.1 s of the sky over LWA-SV'],
      [
        'simulate --telescope eda2 --stations 64 --time 2026-01-15T04:00:00Z --sources Sun,CygA',
        'the Sun over EDA2',
      ],
      [
        'simulate --sources spot@60:90:50000 --perfect',
        'one source 30° east of the zenith, perfect antennas',
      ],
      ['simulate --type i16 --tone 58.1MHz:5000 --drop 0.01', 'real 16-bit samples, a carrier, lost packets'],
      [
        'simulate --sources psr@70:90:2000 --pulsar psr:50ms:30:0.1 --duration 1s --rate 200kHz',
        'a pulsar of 50 ms and DM 30',
      ],
      ['simulate --dead stand17,stand41:Y', 'one stand dead, and one polarisation of another'],
    ],
  });
}
