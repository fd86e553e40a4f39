/** corella plan: which road is cheaper for a telescope, how busy a machine would be, and how many it takes. */
import type { Command } from 'commander';
import type { HostBackend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { refuse } from '../core/errors.js';
import { parseInstant } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import type { KernelSize } from '../image/index.js';
import {
  cardCosts,
  cardMachine,
  cardNames,
  findCard,
  measureCard,
  machineOf,
  measureCosts,
  runRoad,
  type RoadRun,
  planRoads,
  roadNames,
  runResident,
  type ResidentRun,
  workloadOf,
  type Workload,
} from '../planner/index.js';
import { skyFrame } from '../sky/frame.js';
import { findSources } from '../sky/sources.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  addBackendOptions,
  addExamples,
  optionWith,
  parseCount,
  refuseGiven,
  type BackendOptions,
} from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { withBackend } from './open.js';
import { reportPlan, roadTitles } from './report/plan-report.js';
import { angle, duration, frequency } from './options/quantity.js';
import {
  addTelescopeOptions,
  chooseTelescope,
  FIRST_LIGHT_TIME,
  type TelescopeOptions,
} from './options/sky-options.js';
import { openTerminal, type Terminal } from './report/terminal.js';

interface PlanOptions extends BackendOptions, TelescopeOptions {
  readonly cadence: number;
  readonly channels?: number;
  readonly channelWidth?: number;
  readonly frequency?: number;
  readonly bits?: 4 | 8;
  readonly spectra?: true;
  readonly taps: number;
  readonly calibrateEvery: number;
  readonly pixels: number;
  readonly field?: number;
  readonly kernel: KernelSize;
  readonly card?: string;
  readonly measure?: true;
  readonly seconds?: number;
  readonly time: string;
}

/** Blocks of simulated sky that a run goes through over and over. */
const DISTINCT_BLOCKS = 3;
const DEFAULT_SKY_S = 2;

export function registerPlan(program: Command): void {
  const command = program.command('plan');
  addTelescopeOptions(command, 'lwasv');
  command
    .addOption(
      optionWith('--cadence <time>', 'how much sky goes into one image', duration('--cadence'), {
        value: 0.04,
        words: '40ms',
      }),
    )
    .option('--channels <number>', "how many (default: the telescope's own)", parseCount)
    .option(
      '--channel-width <frequency>',
      "width of a channel, like 25kHz (default: the telescope's)",
      frequency('--channel-width'),
    )
    .option(
      '--frequency <frequency>',
      "centre of the band, like 58MHz (default: the telescope's)",
      frequency('--frequency'),
    )
    .option(
      '--bits <number>',
      "of each real and imaginary part of the spectra: 4 or 8 (default: the telescope's)",
      parseBits,
    )
    .option('--spectra', 'spectra arrive, channelised elsewhere, instead of voltages')
    .option('--taps <number>', 'taps of the polyphase filter', parseCount, 8)
    .addOption(
      optionWith(
        '--calibrate-every <time>',
        'time between two solutions of the gains',
        duration('--calibrate-every'),
        { value: 10, words: '10s' },
      ),
    )
    .option('--pixels <number>', 'pixels along a side of the image', parseCount, 128)
    .option(
      '--field <angle>',
      'width of the field around the zenith, in degrees or with a unit (default: the whole sky)',
      angle('--field'),
    )
    .option('--kernel <cells>', 'cells along a side of the gridding kernels: 1, 3, 5 or 7', parseKernel, 5)
    .option('--card <name>', `a card we have measured (${cardNames.join(', ')}) instead of this machine`)
    .option('--measure', 'also run each road, and print predicted beside measured')
    .option(
      '--seconds <time>',
      'with --measure on a card: how much simulated sky goes through the chain (default: 2s)',
      duration('--seconds'),
    )
    .option('--time <utc>', 'when that sky is', FIRST_LIGHT_TIME)
    .action(run);
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['plan --telescope lwasv --cadence 40ms', 'what this machine, timed for some seconds, can do of it'],
    [
      'plan --telescope lwasv --channels 792 --channel-width 25kHz --cadence 40ms --card h200',
      'all 19.8 MHz of the station on one H200, by both roads',
    ],
    [
      'plan --telescope eda2 --cadence 1s --backend cpu --measure',
      'predicted beside measured on this processor',
    ],
    [
      'plan --telescope lwasv --channels 132 --cadence 40ms --spectra --backend cuda --measure --seconds 60s',
      'a minute of simulated sky through the whole chain on a card, by both roads',
    ],
  ]);
}

const parseBits = (text: string): 4 | 8 =>
  text === '4' ? 4 : text === '8' ? 8 : refuse('--bits', `'${text}' bits`, 'choose 4 or 8');
const parseKernel = (text: string): KernelSize =>
  ([1, 3, 5, 7] as const).find((size) => String(size) === text) ??
  refuse('--kernel', `'${text}' cells`, 'choose 1, 3, 5 or 7');

async function run(options: PlanOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  if (options.card !== undefined)
    refuseGiven(command, ['backend', 'threads'], 'is for this machine, and --card names another');
  if (options.seconds !== undefined && !options.measure) {
    refuse('--seconds', 'nothing is run', 'add --measure');
  }
  if (!options.measure) refuseGiven(command, ['time'], 'is for --measure: nothing is run');
  const telescope = await chooseTelescope(options);
  const workload = workloadOf({
    telescope,
    ...(options.channels === undefined ? {} : { channels: options.channels }),
    ...(options.channelWidth === undefined ? {} : { channelWidthHz: options.channelWidth }),
    ...(options.frequency === undefined ? {} : { centreFrequencyHz: options.frequency }),
    ...(options.bits === undefined ? {} : { bits: options.bits }),
    input: options.spectra ? 'spectra' : 'voltages',
    taps: options.taps,
    cadenceS: options.cadence,
    calibrateEveryS: Math.max(options.calibrateEvery, options.cadence),
    pixels: options.pixels,
    field: options.field === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg: options.field },
    kernelSize: options.kernel,
  });
  if (options.card !== undefined) {
    if (options.measure) {
      refuse('plan', '--measure runs on this machine, --card names another', 'give one of the two');
    }
    const card = findCard(options.card);
    reportPlan(terminal, planRoads(workload, cardCosts(card, workload), cardMachine(card)), []);
    return;
  }
  await withBackend(options, (backend) =>
    backend.kind === 'cuda'
      ? planOnCard(backend, { terminal, options, telescope, workload })
      : planOnProcessor(backend, { terminal, options, workload }),
  );
}

interface Planning {
  readonly terminal: Terminal;
  readonly options: PlanOptions;
  readonly workload: Workload;
}

async function planOnProcessor(
  backend: HostBackend,
  { terminal, options, workload }: Planning,
): Promise<void> {
  if (options.seconds !== undefined) {
    refuse(
      '--seconds',
      `sky is run through the whole chain on a card, not on '${backend.kind}'`,
      'leave it out',
    );
  }
  const stage = terminal.stage(`timing ${backend.description}`);
  const costs = await measureCosts(backend, workload);
  stage.done();
  const runs: RoadRun[] = [];
  for (const road of options.measure ? roadNames : []) {
    const running = terminal.stage(`running: ${roadTitles[road]}`);
    runs.push(await runRoad(road, backend, workload, costs));
    running.done();
  }
  reportPlan(terminal, planRoads(workload, costs, machineOf(backend)), runs);
}

async function planOnCard(
  backend: CudaBackend,
  { terminal, options, telescope, workload }: Planning & { readonly telescope: Telescope },
): Promise<void> {
  const start = parseInstant(options.time, '--time');
  const frame = skyFrame(telescope.site, start);
  const stage = terminal.stage(`timing ${backend.description}`);
  const { costs, machine } = await measureCard(backend, { telescope, frame }, workload);
  stage.done();
  const plan = planRoads(workload, costs, machine);
  const runs: ResidentRun[] = [];
  for (const road of options.measure ? roadNames : []) {
    const running = terminal.stage(`running: ${roadTitles[road]}`);
    runs.push(
      await runResident(road, backend, plan, {
        ...{ telescope, frame, start, sources: findSources('all'), seed: 1 },
        blocks: DISTINCT_BLOCKS,
        skyS: options.seconds ?? DEFAULT_SKY_S,
      }),
    );
    running.done();
  }
  reportPlan(terminal, plan, runs);
  const late = runs.filter(({ elapsedS, skyS }) => elapsedS > skyS);
  if (late.length === 0) return;
  const slowest = late.map(
    ({ road, elapsedS, skyS }) =>
      `${roadTitles[road]} took ${formatSeconds(elapsedS)} for ${formatSeconds(skyS)} of sky`,
  );
  refuse('plan', `fell behind real time: ${slowest.join(', ')}`, 'take fewer channels, or images less often');
}
