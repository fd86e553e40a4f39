/**
 * corella plan: which imaging method is cheaper for a telescope, the load of a machine, and the number of machines
 * needed.
 */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatSeconds } from '../core/units.js';
import {
  cardCosts,
  cardMachine,
  cardNames,
  findCard,
  measureCard,
  machineOf,
  measureCosts,
  type MethodRun,
  planImaging,
  methodNames,
  runPlan,
  workloadOf,
} from '../planner/index.js';
import { refuseGiven } from './options/command.js';
import { useEop } from './options/eop-option.js';
import { withBackend } from './open.js';
import { reportPlan, methodTitles } from './report/plan-report.js';
import { chooseTelescope } from './options/sky-options.js';
import { openTerminal } from './report/terminal.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { again, field, frequencyHz, timeS, whole, words } from '../fields/index.js';
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
  frequency: again(frequency, { otherwise: "the telescope's own", group: 'Options' }),
  bits: again(front.shape.bits, { otherwise: "the telescope's own" }),
  fromSpectra: field(given, {
    flag: '--from-spectra',
    changes,
    help: 'spectra arrive, channelised elsewhere, instead of voltages',
  }),
  taps: again(front.shape.taps, { default: 8 }),
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
  pixels: again(pixels, { default: 128 }),
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
type PlanOptions = Options<typeof planOptions>;

const DEFAULT_DATA_S = 2;

export function registerPlan(program: Command): void {
  const command = useEop(addFields(program.command('plan'), planOptions)).action(run);
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

const plainBits = (bits: 4 | 8 | 'float'): 4 | 8 =>
  bits === 'float' ? refuse('--bits', 'float is not planned', 'choose 4 or 8') : bits;

async function run(options: PlanOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  if (options.card !== undefined)
    refuseGiven(command, ['backend', 'threads'], 'is for this machine, and --card names another');
  if (options.seconds !== undefined && !options.measure) {
    refuse('--seconds', 'nothing is run', 'add --measure');
  }
  const telescope = await chooseTelescope(options);
  const workload = workloadOf({
    telescope,
    ...(options.channels === undefined ? {} : { channels: options.channels }),
    ...(options.channelWidth === undefined ? {} : { channelWidthHz: options.channelWidth }),
    ...(options.frequency === undefined ? {} : { centreFrequencyHz: options.frequency }),
    ...(options.bits === undefined ? {} : { bits: plainBits(options.bits) }),
    input: options.fromSpectra ? 'spectra' : 'voltages',
    taps: options.taps,
    cadenceS: options.cadence,
    calibrateEveryS: Math.max(options.calibrateEvery, options.cadence),
    pixels: options.pixels,
    field: options.field === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg: options.field },
    kernelSize: options.kernel,
    beams: options.beams,
  });
  if (options.card !== undefined) {
    if (options.measure) {
      refuse('plan', '--measure runs on this machine, --card names another', 'give one of the two');
    }
    const card = findCard(options.card);
    reportPlan(terminal, planImaging(workload, cardCosts(card, workload), cardMachine(card)), []);
    return;
  }
  await withBackend(options, async (backend) => {
    if (options.seconds !== undefined && backend.kind !== 'cuda')
      refuse('--seconds', `data are run through on a card, not on '${backend.kind}'`, 'leave it out');
    const stage = terminal.stage(`timing ${backend.description}`);
    const { costs, machine } =
      backend.kind === 'cuda'
        ? await measureCard(backend, telescope, workload)
        : { costs: await measureCosts(backend, workload), machine: machineOf(backend) };
    stage.done();
    const plan = planImaging(workload, costs, machine);
    const runs: MethodRun[] = [];
    for (const method of options.measure ? methodNames : []) {
      const running = terminal.stage(`running: ${methodTitles[method]}`);
      const dataS = options.seconds ?? DEFAULT_DATA_S;
      runs.push(await runPlan(method, backend, telescope, { plan, costs, dataS }));
      running.done();
    }
    reportPlan(terminal, plan, runs);
    refuseLate(runs);
  });
}

/** On a GPU the whole workload is run: falling behind is an error. */
function refuseLate(runs: readonly MethodRun[]): void {
  const late = runs.filter(({ card, elapsedS, dataS }) => card && elapsedS > dataS);
  if (late.length === 0) return;
  const slowest = late.map(
    ({ method, elapsedS, dataS }) =>
      `${methodTitles[method]} took ${formatSeconds(elapsedS)} for ${formatSeconds(dataS)} of data`,
  );
  refuse('plan', `fell behind real time: ${slowest.join(', ')}`, 'take fewer channels, or images less often');
}
