/**
 * corella plan: which imaging method is cheaper for a telescope, the load of a machine, and the number of machines
 * needed.
 */
import type { Command } from 'commander';
import { cardNames } from '../planner/index.js';
import { useEop } from './options/eop-option.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, frequencyHz, timeS, whole, words } from '../fields/index.js';
import { front } from '../observation/index.js';
import { images } from '../products/index.js';
import { addFields, type Options } from './options/own.js';
import {
  computing,
  eop,
  fieldWidth,
  frequency,
  given,
  pixels,
  skyTelescope,
  stations,
} from './options/shared.js';
import { whenRun } from './options/command.js';

const changes = 'never';
const planOptions = z.strictObject({
  telescope: skyTelescope,
  stations,
  cadence: field(timeS, {
    flag: '--cadence <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    default: 0.04,
    otherwise: '40ms',
    help: 'time from one image to the next',
  }),
  channels: front.shape.channels,
  channelWidth: field(frequencyHz, {
    flag: '--channel-width <frequency>',
    changes,
    unit: 'Hz',
    range: { above: 0 },
    help: 'width of a channel, like 25kHz',
    otherwise: "the telescope's own",
  }),
  frequency: variant(frequency, { otherwise: "the telescope's own", group: 'Options' }),
  bits: variant(front.shape.bits, { otherwise: "the telescope's own" }),
  fromSpectra: field(given, {
    flag: '--from-spectra',
    changes,
    help: 'spectra arrive, channelised elsewhere, instead of voltages',
  }),
  taps: variant(front.shape.taps, { default: 8 }),
  calibrateEvery: field(timeS, {
    flag: '--calibrate-every <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    default: 10,
    otherwise: '10s',
    help: 'time between two solutions of the gains',
  }),
  beams: field(whole, {
    flag: '--beams <number>',
    changes,
    range: { least: 0, most: 4096 },
    default: 0,
    help: 'tied-array beams beside the images, detected; of two polarisations each where stations have two',
  }),
  pixels: variant(pixels, { default: 128 }),
  field: fieldWidth,
  kernel: images.shape.kernel,
  card: field(words('the name of a card'), {
    flag: '--card <name>',
    changes,
    help: `a card we have measured (${cardNames.join(', ')}) instead of this machine`,
  }),
  measure: field(given, {
    flag: '--measure',
    changes,
    help: 'also run each method, and print what was measured beside the prediction',
  }),
  seconds: field(timeS, {
    flag: '--seconds <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    otherwise: '2s',
    help: 'with --measure on a card: length of simulated sky that is run',
  }),
  ...computing,
  eop,
});
export type PlanOptions = Options<typeof planOptions>;

export function registerPlan(program: Command): void {
  const command = useEop(addFields(program.command('plan'), planOptions)).action(
    whenRun(async () => (await import('./actions/plan.js')).run),
  );
  addHelp(command, {
    common: [
      '--telescope',
      '--stations',
      '--cadence',
      '--channels',
      '--channel-width',
      '--card',
      '--measure',
      '--backend',
    ],
    examples: [
      ['plan --telescope lwasv --cadence 40ms', 'what this machine, timed for some seconds, can do of it'],
      [
        'plan --telescope lwasv --channels 792 --channel-width 25kHz --cadence 40ms --card h200',
        'all 19.8 MHz of the station on one H200, by both methods',
      ],
      [
        'plan --telescope eda2 --cadence 1s --backend cpu --measure',
        'predicted beside measured on this processor',
      ],
      [
        'plan --telescope lwasv --channels 132 --cadence 40ms --from-spectra --backend cuda --measure --seconds 60s',
        'a minute of data through the whole chain on a card, by both methods',
      ],
    ],
  });
}
