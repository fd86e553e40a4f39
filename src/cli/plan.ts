/** corella plan: which road is cheaper for a telescope, how busy a machine would be, and how many it takes. */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatBytes, formatHz, formatSeconds } from '../core/units.js';
import type { KernelSize } from '../image/index.js';
import { cardCosts, cardMachine, cardNames, findCard } from '../pipeline/cards.js';
import { machineOf, measureCosts } from '../pipeline/measure-costs.js';
import { runRoad, type RoadRun } from '../pipeline/measure-plan.js';
import { HEADROOM, planRoads, type Plan, type RoadName, type RoadPlan } from '../pipeline/planner.js';
import { workloadOf, type Workload } from '../pipeline/workload.js';
import { addBackendOptions, addExamples, optionWith, parseCount, type BackendOptions } from './command.js';
import { withBackend } from './open.js';
import { duration, frequency, plainNumber } from './quantity.js';
import { addTelescopeOptions, chooseTelescope, type TelescopeOptions } from './sky-options.js';
import { openTerminal, table, type Terminal } from './terminal.js';

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
}

const roadTitles = {
  visibilities: 'correlate, then image',
  direct: 'direct imaging',
} as const satisfies Record<RoadName, string>;

export function registerPlan(program: Command): void {
  const command = program
    .command('plan')
    .description(
      'which road is cheaper for a telescope, the load of each kernel, and how many machines it takes',
    );
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
      '--field <degrees>',
      'width of the field around the zenith (default: the whole sky)',
      plainNumber('--field'),
    )
    .option('--kernel <cells>', 'cells along a side of the antenna kernels: 1, 3, 5 or 7', parseKernel, 5)
    .option('--card <name>', `a card we have measured (${cardNames.join(', ')}) instead of this machine`)
    .option('--measure', 'also run each road on a piece of the work, and print predicted beside measured')
    .action(run);
  addBackendOptions(command);
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
  ]);
}

const parseBits = (text: string): 4 | 8 =>
  text === '4' ? 4 : text === '8' ? 8 : refuse('--bits', `'${text}' bits`, 'choose 4 or 8');
const parseKernel = (text: string): KernelSize =>
  ([1, 3, 5, 7] as const).find((size) => String(size) === text) ??
  refuse('--kernel', `'${text}' cells`, 'choose 1, 3, 5 or 7');

async function run(options: PlanOptions): Promise<void> {
  const terminal = openTerminal(options);
  const workload = workloadOf({
    telescope: await chooseTelescope(options),
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
    report(terminal, planRoads(workload, cardCosts(card, workload), cardMachine(card)), []);
    return;
  }
  await withBackend(options, async (backend) => {
    const stage = terminal.stage(`timing ${backend.description}`);
    const costs = await measureCosts(backend, workload);
    stage.done();
    const runs: RoadRun[] = [];
    for (const road of options.measure ? (['visibilities', 'direct'] as const) : []) {
      const running = terminal.stage(`running: ${roadTitles[road]}`);
      runs.push(await runRoad(road, backend, workload, costs));
      running.done();
    }
    report(terminal, planRoads(workload, costs, machineOf(backend)), runs);
  });
}

function report(terminal: Terminal, plan: Plan, runs: readonly RoadRun[]): void {
  const { imagedM, ...workload } = plan.workload;
  terminal.result({ ...plan, workload: { ...workload, imagedStations: imagedM.length }, runs }, [
    ...describeWorkload(plan.workload),
    `on ${plan.machine.title}`,
    '',
    ...table(['', ...roadNames.map((road) => roadTitles[road])], loadRows(plan)),
    '',
    ...verdict(plan),
    ...(runs.length === 0 ? [] : ['', ...measuredRows(runs)]),
  ]);
}

const roadNames = ['visibilities', 'direct'] as const satisfies readonly RoadName[];

function describeWorkload(workload: Workload): string[] {
  const { stations, polarisations, channels, channelWidthHz, bits, pixels, kernelSize, cadenceS } = workload;
  const { length } = workload.leftOut;
  return [
    `${workload.title}: ${stations} stations × ${polarisations}, ${channels} channels of ${formatHz(channelWidthHz)} ` +
      `up to ${formatHz(workload.highestHz)}, ${bits} bits, from ${workload.input}`,
    `images of ${pixels}² pixels every ${formatSeconds(cadenceS)}, ${kernelSize} × ${kernelSize} kernels, ` +
      `aperture ${workload.apertureCells} cells across` +
      (length === 0 ? '' : `, imaged without ${length} outlying: ${workload.leftOut.join(', ')}`),
  ];
}

const percent = (load: number): string =>
  load >= 10 ? `${load.toFixed(0)} × real time` : `${Number((100 * load).toPrecision(3))} %`;

function loadRows({ roads, machine }: Plan): string[][] {
  const kernels = [...new Set(roadNames.flatMap((road) => roads[road].kernels.map(({ kernel }) => kernel)))];
  const each = (text: (road: RoadPlan) => string): string[] => roadNames.map((road) => text(roads[road]));
  return [
    ...kernels.map((kernel) => [
      kernel,
      ...each(({ kernels: own }) => {
        const found = own.find((one) => one.kernel === kernel);
        return found ? `${percent(found.load)}${found.basis === 'measured' ? '' : ` (${found.basis})`}` : '–';
      }),
    ]),
    ['all kernels', ...each(({ load }) => percent(load))],
    ...(machine.bus
      ? [
          [
            'bus',
            ...each(
              ({ bus }) =>
                `${percent(bus.load)} (${formatBytes(bus.upBytesPerS)}/s up, ${formatBytes(bus.downBytesPerS)}/s down)`,
            ),
          ],
        ]
      : []),
    ['memory', ...each((road) => `${formatBytes(road.memoryBytes)} of ${formatBytes(machine.memoryBytes)}`)],
    [`${machine.countedAs}s needed`, ...each((road) => `${road.machines}, bound by ${road.boundBy}`)],
  ];
}

function verdict({ cheaper, crossoverCadenceS, machine, roads }: Plan): string[] {
  const count = roads[cheaper].machines;
  const headroom = `at most ${Math.round(100 * HEADROOM)} % busy`;
  const crossing =
    crossoverCadenceS === undefined
      ? 'the other road is never cheaper, however often images are made'
      : `direct imaging is cheaper for images closer together than ${formatSeconds(crossoverCadenceS)}`;
  return [
    `cheaper: ${roadTitles[cheaper]}, on ${count} ${machine.countedAs}${count === 1 ? '' : 's'} ${headroom}; ${crossing}`,
  ];
}

function measuredRows(runs: readonly RoadRun[]): string[] {
  return table(
    ['measured', 'channels × spectra', 'predicted', 'measured', 'ratio'],
    runs.map((one) => [
      roadTitles[one.road],
      `${one.channels} × ${one.spectra}`,
      formatSeconds(one.predictedS),
      formatSeconds(one.measuredS),
      one.ratio.toFixed(2),
    ]),
  );
}
