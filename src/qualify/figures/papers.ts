/** Figures of the papers, redrawn from this run, with the papers' values. */
import type { BenchRow } from '../../bench/index.js';
import { filterResponse, planChannelise } from '../../channelise/index.js';
import { linePlot, type PlotSeries } from '../../draw/index.js';
import { reported, type Figure, type FigureTable, type Plot } from '../figure.js';
import { rates } from '../rates.js';

export const papersFigure: Figure = {
  name: 'papers',
  title: 'The papers’ figures, from this machine',
  about:
    'Scalloping and leakage of the polyphase filter (its figures 3 and 4), samples a second over taps and channels (20); the X-engine’s rate over stations and over integration length, fed through the bus on a card, and the bandwidth a station may have (5 to 8); StEFCal’s rate over antennas (1 and 2; its convergence stands under gains); EPIC’s time for an image. What each paper measured, and on what, stands beside.',
  measure: async (rig) => {
    const rows = await rates(rig);
    return {
      checks: [reported('edge loss of T = 8, Hann beside a plain DFT’s 3.92', response().edgeLossDb, 'dB')],
      plots: [scalloping(), leakage(), ...drawn(rows)],
      tables: [theirs],
    };
  },
};

/** As printed in the papers. */
const theirs: FigureTable = {
  caption: 'What the papers measured',
  head: ['paper', 'figure', 'value', 'hardware'],
  rows: [
    [
      'X-engine (Clark, La Plante, Greenhill)',
      '5',
      '1058 Gflop/s at many stations, 79 % of the peak',
      'GTX 480',
    ],
    ['X-engine', '8', '3.5 MHz for 128 stations of two polarisations', 'GTX 480'],
    ['MWA poster', '–', '1040 Gflop/s, 78 % of the peak', 'GTX 480'],
    ['GPU StEFCal', '2', '168 Gflop/s, 20 solves of 500 antennas', 'as in the paper'],
    ['EPIC', '–', '35 ms for 1000 time steps of 128² pixels, a channel on each processor', 'RTX 4090'],
    ['Polyphase filter', '5 (table)', '28.6 ms against LOFAR’s 60.1, 8 taps, 8 bits', 'GTX 580'],
  ],
};

const response = () =>
  filterResponse(
    planChannelise({
      channels: 256,
      taps: 8,
      inputs: 1,
      polarisations: 1,
      blockSamples: 256 * 8,
      inputType: 'cf32',
      outputType: 'cf32',
    }),
  );

function scalloping(): Plot {
  const { offsetChannels, scallopingDb, dftScallopingDb } = response();
  return {
    caption: 'Scalloping: what a tone between two channels loses, with the filter and by a plain transform',
    picture: linePlot({
      title: 'Scalloping (polyphase filter, figure 3)',
      x: { label: 'tone, from one channel’s centre to the next (channels)' },
      y: { label: 'level in the loudest channel (dB)' },
      legend: 'bottom-right',
      series: [
        { name: 'T = 8, Hann', x: offsetChannels, y: scallopingDb },
        { name: 'plain DFT', x: offsetChannels, y: dftScallopingDb },
      ],
    }),
  };
}

function leakage(): Plot {
  const { leakageOffsetChannels, leakageDb, dftLeakageDb } = response();
  return {
    caption: 'Leakage of a tone midway between two channels, with the filter and by a plain transform',
    picture: linePlot({
      title: 'Leakage (polyphase filter, figure 4)',
      x: { label: 'channel, from the tone (channels)' },
      y: { label: 'level (dB)', range: [-120, 5] },
      series: [
        { name: 'T = 8, Hann', x: leakageOffsetChannels, y: leakageDb, drawn: 'dots', size: 4 },
        { name: 'plain DFT', x: leakageOffsetChannels, y: dftLeakageDb, drawn: 'dots', size: 4 },
      ],
    }),
  };
}

interface Axis {
  readonly kernel: string;
  readonly title: string;
  readonly parameter: string;
  readonly x: string;
  readonly y: string;
  /** Other parameters must be those of the first remaining case. */
  readonly fixed: readonly string[];
  readonly value?: (row: BenchRow) => number;
}

const axes: readonly Axis[] = [
  {
    kernel: 'channelise',
    title: 'Samples a second over channels (polyphase filter, figure 20)',
    parameter: 'channels',
    x: 'log₂ of the channels',
    y: 'Gsamples/s',
    fixed: ['taps', 'inputType', 'outputType'],
  },
  {
    kernel: 'channelise',
    title: 'Samples a second over taps (polyphase filter, figure 20)',
    parameter: 'taps',
    x: 'log₂ of the taps',
    y: 'Gsamples/s',
    fixed: ['channels', 'inputType', 'outputType'],
  },
  {
    kernel: 'correlate',
    title: 'X-engine over stations (figure 5)',
    parameter: 'stations',
    x: 'log₂ of the stations',
    y: 'Tera-operations/s',
    fixed: ['samples', 'type'],
  },
  {
    kernel: 'correlate',
    title: 'X-engine over integration length (figure 6)',
    parameter: 'samples',
    x: 'log₂ of the samples integrated',
    y: 'Tera-operations/s',
    fixed: ['stations', 'type'],
  },
  {
    kernel: 'correlate',
    title: 'Bandwidth of a station (X-engine, figure 8)',
    parameter: 'stations',
    x: 'log₂ of the stations',
    y: 'log₁₀ of MHz, two polarisations',
    fixed: ['samples', 'type'],
    value: ({ median, parameters }) => {
      const inputs = 2 * Number(parameters.stations);
      return Math.log10((median * 1e12) / (4 * inputs * (inputs + 1)) / 1e6);
    },
  },
  {
    kernel: 'calibrate',
    title: 'StEFCal over antennas (figures 1 and 2)',
    parameter: 'antennas',
    x: 'log₂ of the antennas',
    y: 'log₁₀ of Gflop/s',
    fixed: [],
    // A complex multiply-add (8) and a real one (2) for each pair of antennas, in both orders.
    value: ({ median, unit, parameters }) =>
      Math.log10(unit === 'GFLOPS' ? median : (median * 10 * Number(parameters.antennas) ** 2) / 1e9),
  },
  {
    kernel: 'correlate-integrated',
    title: 'X-engine fed through the bus (figure 7)',
    parameter: 'stations',
    x: 'log₂ of the stations',
    y: 'GB/s',
    fixed: ['type'],
  },
  {
    kernel: 'image',
    title: 'Time of 1000 time steps of one channel (EPIC)',
    parameter: 'pixels',
    x: 'log₂ of the pixels along a side',
    y: 'log₁₀ of milliseconds',
    fixed: ['frequencyMHz', 'kernel'],
    value: ({ median }) => Math.log10(1e6 / (median * 1e3)),
  },
];

/** A plot for each axis with at least two measured cases. */
function drawn(rows: readonly BenchRow[]): Plot[] {
  return axes.flatMap((axis) => {
    const own = rows.filter(({ kernel, parameters }) => kernel === axis.kernel && !('delays' in parameters));
    const first = own.at(0);
    if (!first) return [];
    const alike = own
      .filter((row) => axis.fixed.every((name) => row.parameters[name] === first.parameters[name]))
      .sort((a, b) => Number(a.parameters[axis.parameter]) - Number(b.parameters[axis.parameter]));
    const x = alike.map(({ parameters }) => Math.log2(Number(parameters[axis.parameter])));
    if (new Set(x).size < 2) return [];
    const series: PlotSeries = {
      name: axis.title,
      x,
      y: alike.map((row) => axis.value?.(row) ?? row.median),
      drawn: 'dots',
      size: 5,
    };
    return [
      {
        caption: `${axis.title}, measured on this machine`,
        picture: linePlot({
          title: axis.title,
          x: { label: axis.x },
          y: { label: axis.y },
          series: [series, { ...series, drawn: 'line', colour: 0x56b4e9, unnamed: true }],
        }),
      },
    ];
  });
}
