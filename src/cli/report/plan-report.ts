/** Output of corella plan: the loads of both imaging methods, the decision, and a comparison with test runs. */
import { formatBytes, formatHz, formatSeconds } from '../../core/units.js';
import {
  type MethodRun,
  HEADROOM,
  kernelUnits,
  type Cost,
  type Plan,
  type MethodPlan,
  manyMachines,
  methodNames,
  type KernelName,
  type MethodName,
  type Compared,
  type Workload,
} from '../../planner/index.js';
import { table, type Terminal } from './terminal.js';

export const methodTitles = {
  visibilities: 'correlate, then image',
  direct: 'direct imaging',
} as const satisfies Record<MethodName, string>;
/** In the order of the chain. */
const kernelNames = Object.keys(kernelUnits) as KernelName[];

export function reportPlan(terminal: Terminal, plan: Plan, runs: readonly MethodRun[]): void {
  const { imagedM, ...workload } = plan.workload;
  const many = manyMachines(plan);
  terminal.result({ ...plan, workload: { ...workload, imagedStations: imagedM.length }, many, runs }, [
    ...planLines(plan),
    ...runs.flatMap((one) => describeRun(one, plan.workload.cadenceS)),
    ...(runs.some(({ card }) => !card) ? ['', ...measuredRows(runs)] : []),
  ]);
}

export const planLines = (plan: Plan): string[] => [
  ...describeWorkload(plan.workload),
  plan.machine.countedAs === 'card' ? `on ${plan.machine.title}` : `on this machine: ${plan.machine.title}`,
  '',
  `how busy one ${plan.machine.countedAs} would be with all of it; 100 % is exactly real time`,
  ...table(['', ...methodNames.map((method) => methodTitles[method])], loadRows(plan)),
  ...footnotes(plan),
  '',
  ...decision(plan),
  '',
  ...manyLines(plan),
];

/** Both ways to use many machines, and the network bandwidth of each. */
function manyLines(plan: Plan): string[] {
  const { telescope, recordings } = manyMachines(plan);
  const { countedAs } = plan.machine;
  const gigabits = (bitsPerS: number): string => `${Number((bitsPerS / 1e9).toPrecision(3))} Gb/s`;
  return [
    `the telescope by channels: ${telescope.machines} ${countedAs}${telescope.machines === 1 ? '' : 's'} of ` +
      `${telescope.channels} channels, ${gigabits(telescope.toEachBitsPerS)} of spectra to each, ${gigabits(telescope.toAllBitsPerS)} in all`,
    `its recordings, correlated as fast as they are made: ${recordings.workers} worker${recordings.workers === 1 ? '' : 's'}, ` +
      `${formatBytes(recordings.readBytesPerS)} a second from the shared disk, ${formatBytes(recordings.resultBytesPerS)} a second of results ` +
      `(integrations of ${formatSeconds(plan.workload.calibrateEveryS)})`,
  ];
}

/** On a GPU: the time of each step of an image, measured and predicted. */
function describeRun(run: MethodRun, cadenceS: number): string[] {
  const { card } = run;
  if (!card) return [];
  const row = (name: string, { predictedS, measuredS }: Compared): string[] => [
    name,
    formatSeconds(predictedS),
    formatSeconds(measuredS),
    predictedS > 0 ? (measuredS / predictedS).toFixed(2) : '–',
    percent(measuredS / cadenceS),
  ];
  const { memory, kernels, bus } = card;
  return [
    '',
    `${methodTitles[run.method]}: ${run.images} images, ${formatSeconds(run.dataS)} of data in ${formatSeconds(run.elapsedS)}, ` +
      `${(run.dataS / run.elapsedS).toFixed(1)} times as fast as real time`,
    ...table(
      ['each image', 'predicted', 'measured', 'ratio', `of ${formatSeconds(cadenceS)}`],
      [
        ...kernels.map((one) => row(one.kernel, one)),
        row('bus up', bus.up),
        row('bus down', bus.down),
        row('all together', run),
        [
          'memory',
          formatBytes(memory.predictedBytes),
          formatBytes(memory.measuredBytes),
          (memory.measuredBytes / memory.predictedBytes).toFixed(2),
        ],
      ],
    ),
  ];
}

function describeWorkload(workload: Workload): string[] {
  const { channels, channelWidthHz, highestHz, bits, pixels, kernelSize, cadenceS, leftOut, taps } = workload;
  const lowestHz = highestHz - channels * channelWidthHz;
  const arrives = {
    voltages: `8-bit voltages, channelised by ${taps} taps to ${bits}-bit spectra`,
    spectra: `${bits}-bit spectra, channelised elsewhere`,
  } as const satisfies Record<Workload['input'], string>;
  return [
    `${workload.title}: ${workload.stations} stations × ${workload.polarisations === 1 ? '1 polarisation' : '2 polarisations'}`,
    `${channels} channels of ${formatHz(channelWidthHz)}, ${formatHz(lowestHz)} to ${formatHz(highestHz)}; ${arrives[workload.input]}`,
    `an image of ${pixels} × ${pixels} pixels every ${formatSeconds(cadenceS)}, new gains every ${formatSeconds(workload.calibrateEveryS)}; ` +
      `kernels of ${kernelSize} × ${kernelSize} cells, aperture of ${workload.apertureCells}`,
    ...(leftOut.length === 0
      ? []
      : [`left out of the image, being far from the rest: ${leftOut.join(', ')}`]),
  ];
}

/** Negligible loads are printed without decimals. */
const percent = (load: number): string =>
  load > 0 && load < 1e-4 ? '< 0.01 %' : `${Number((100 * load).toPrecision(3))} %`;

function loadRows({ methods, machine }: Plan): string[][] {
  const each = (text: (method: MethodPlan) => string): string[] =>
    methodNames.map((method) => text(methods[method]));
  const kernels = kernelNames.filter((name) =>
    methodNames.some((method) => methods[method].kernels.some(({ kernel }) => kernel === name)),
  );
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
    [
      'memory',
      ...each((method) => `${formatBytes(method.memoryBytes)} of ${formatBytes(machine.memoryBytes)}`),
    ],
    ['limited by', ...each(({ boundBy }) => boundBy)],
    [`${machine.countedAs}s needed`, ...each((method) => String(method.machines))],
  ];
}

function footnotes({ methods }: Plan): string[] {
  const meanings = {
    measured: '',
    scaled: 'scaled: from a timing of another size',
    estimated: 'estimated: counted, never timed',
  } as const satisfies Record<Cost['basis'], string>;
  const found = new Set(
    methodNames.flatMap((method) => methods[method].kernels.map(({ basis }) => meanings[basis])),
  );
  return [...found].filter((meaning) => meaning !== '');
}

function decision({ cheaper, crossoverCadenceS, machine, methods, workload }: Plan): string[] {
  const [ours, others] = methodNames
    .map((method) => methods[method])
    .sort((a, b) => Number(b.method === cheaper) - Number(a.method === cheaper));
  const count = ({ machines }: MethodPlan): string =>
    `${machines} ${machine.countedAs}${machines === 1 ? '' : 's'}`;
  const busy = machine.countedAs === 'card' ? 'the card' : 'the machine';
  return [
    `cheaper at ${formatSeconds(workload.cadenceS)}: ${methodTitles[cheaper]}, on ${count(ours)}; ` +
      (ours.machines === others.machines
        ? `${methodTitles[others.method]} takes as many and keeps ${ours.machines === 1 ? busy : 'them'} busier`
        : `${methodTitles[others.method]} takes ${others.machines}`),
    crossoverCadenceS === undefined
      ? 'the other method costs more, however often images are made'
      : `images closer together than ${formatSeconds(crossoverCadenceS)} are cheaper directly, others by correlating first`,
    ...(ours.machines > 1 ? [`none is planned to be busier than ${Math.round(100 * HEADROOM)} %`] : []),
  ];
}

function measuredRows(runs: readonly MethodRun[]): string[] {
  return table(
    ['measured', 'channels × spectra', 'predicted', 'measured', 'ratio'],
    runs.map((one) => [
      methodTitles[one.method],
      `${one.channels} × ${one.spectra}`,
      formatSeconds(one.predictedS),
      formatSeconds(one.measuredS),
      one.ratio.toFixed(2),
    ]),
  );
}
