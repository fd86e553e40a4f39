/** What corella plan prints: the loads of both roads, the verdict, and how runs compared with it. */
import { formatBytes, formatHz, formatSeconds } from '../core/units.js';
import type { RoadRun } from '../pipeline/planner/measure-plan.js';
import { HEADROOM, type Plan, type RoadPlan } from '../pipeline/planner/planner.js';
import { roadNames, type RoadName } from '../pipeline/planner/roads.js';
import type { Compared, ResidentRun } from '../pipeline/resident/run.js';
import type { Workload } from '../pipeline/planner/workload.js';
import { table, type Terminal } from './terminal.js';

export const roadTitles = {
  visibilities: 'correlate, then image',
  direct: 'direct imaging',
} as const satisfies Record<RoadName, string>;

export function reportPlan(terminal: Terminal, plan: Plan, runs: readonly (RoadRun | ResidentRun)[]): void {
  const { imagedM, ...workload } = plan.workload;
  terminal.result({ ...plan, workload: { ...workload, imagedStations: imagedM.length }, runs }, [
    ...describeWorkload(plan.workload),
    `on ${plan.machine.title}`,
    '',
    ...table(['', ...roadNames.map((road) => roadTitles[road])], loadRows(plan)),
    '',
    ...verdict(plan),
    ...runs.flatMap((one) => ('images' in one ? ['', ...describeRun(one, plan.workload.cadenceS)] : [])),
    ...(runs.some((one) => !('images' in one)) ? ['', ...measuredRows(runs)] : []),
  ]);
}

/** A sustained run: what each step of an image took, beside what was predicted. */
function describeRun(run: ResidentRun, cadenceS: number): string[] {
  const row = (name: string, { predictedS, measuredS }: Compared): string[] => [
    name,
    formatSeconds(predictedS),
    formatSeconds(measuredS),
    predictedS > 0 ? (measuredS / predictedS).toFixed(2) : '–',
    percent(measuredS / cadenceS),
  ];
  const { memory } = run;
  return [
    `${roadTitles[run.road]}: ${run.images} images, ${formatSeconds(run.skyS)} of sky in ${formatSeconds(run.elapsedS)}, ` +
      `${(run.skyS / run.elapsedS).toFixed(1)} × real time`,
    ...table(
      ['each image', 'predicted', 'measured', 'ratio', `of ${formatSeconds(cadenceS)}`],
      [
        ...run.kernels.map((one) => row(one.kernel, one)),
        row('bus up', run.bus.up),
        row('bus down', run.bus.down),
        row('all together', run),
        [
          'memory',
          formatBytes(memory.predictedBytes),
          formatBytes(memory.measuredBytes),
          (memory.measuredBytes / memory.predictedBytes).toFixed(2),
        ],
      ],
    ),
    `sources: ${run.sources.map(({ name, errorPixels }) => `${name} ${errorPixels.toFixed(2)} pixels off`).join(', ')}`,
    `(${run.description})`,
  ];
}

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

function measuredRows(
  runs: readonly Pick<RoadRun, 'road' | 'channels' | 'spectra' | 'predictedS' | 'measuredS' | 'ratio'>[],
): string[] {
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
