/** Each kernel's rate relative to this machine's own ceiling, and the consequence for a telescope. */
import type { BenchRow } from '../../bench/index.js';
import { reported, type Check, type Figure } from '../figure.js';
import { rates } from '../rates.js';

export const performanceFigure: Figure = {
  name: 'performance',
  title: 'Rates, and the margin of a telescope',
  about:
    'Every kernel of the chain as `corella bench` measures it: its rate, and the part of the ceiling that the same machine was measured to have in the same minute. The margin is for one group of LWA-SV: 256 stands, two polarisations, 132 channels of 25 kHz. No threshold: machines differ.',
  measure: async (rig) => {
    const rows = await rates(rig);
    return {
      checks: margins(rows),
      tables: [
        {
          caption: 'Rates of the kernels',
          head: ['kernel', 'case', 'rate', 'unit', 'of the ceiling', 'ceiling'],
          rows: rows.map((row) => [
            row.kernel,
            Object.entries(row.parameters)
              .map(([name, value]) => `${name} ${value}`)
              .join(', '),
            `${Number(row.median.toPrecision(3))}`,
            row.unit,
            `${(100 * row.fraction).toFixed(0)} %`,
            row.ceilingName,
          ]),
        },
      ],
    };
  },
};

const STANDS = 256;
const BAND_HZ = 132 * 25e3;

/** Real-time margins that the measured cases give. */
function margins(rows: readonly BenchRow[]): Check[] {
  const inputs = 2 * STANDS;
  const neededTops = (8 * BAND_HZ * inputs * (inputs + 1)) / 2 / 1e12;
  const correlate = rows
    .filter(({ kernel, parameters }) => kernel === 'correlate' && parameters.type === 'ci8')
    .sort((a, b) => nearness(a) - nearness(b))
    .at(0);
  if (!correlate) return [];
  return [
    reported(
      `correlation, LWA-SV’s group (measured with ${correlate.parameters.stations} stations)`,
      correlate.median / neededTops,
      '× real time',
    ),
  ];
}

const nearness = ({ parameters }: BenchRow): number =>
  Math.abs(Math.log2(Number(parameters.stations) / STANDS));
