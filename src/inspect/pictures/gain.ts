/** Picture of gains: amplitude and phase of every input over the band, or of one channel as dots. */
import { formatInstant } from '../../core/instant.js';
import { formatHz } from '../../core/units.js';
import type { GainsFile } from '../../formats/index.js';
import {
  drawPlot,
  markRows,
  pictureOf,
  text,
  WARNING,
  type Picture,
  type PlotFrame,
  type Shape,
} from '../../draw/index.js';
import { gainMatrices, lookAtGains, type GainLook } from '../gains.js';
import {
  evenSide,
  frequencyAxis,
  heading,
  listed,
  PICTURE_WIDTH,
  stepHz,
  TITLE_HEIGHT,
  drawBoth,
  nextPanel,
} from './parts.js';

const LEFT = 120;
const TOP = TITLE_HEIGHT + 26;
/** Gains this far below the median are those of inputs with almost no signal. */
const WEAK_DB = -10;

export function gainPicture(file: GainsFile, title: string): Picture {
  const look = lookAtGains(file);
  const inputs = look.inputs.length;
  const { shapes, bottom } = file.frequenciesHz.length === 1 ? oneChannel(file, look) : overBand(file, look);
  const from = `from ${file.sources.join(', ') || 'an unnamed model'}`;
  const caption = `gains of ${inputs} inputs of ${file.telescope}, ${formatInstant(file.time, 3)}, ${from}; 0 dB is the median; phases from ${file.stations[file.referenceStation]}`;
  const notes = outlierInputs(look);
  const height = bottom + 30 + 24 * notes.length;
  return pictureOf({ width: PICTURE_WIDTH, height }, [
    ...heading(title, caption),
    ...shapes,
    ...notes.map((words, k) => text('label', words, { x: 40, y: bottom + 24 + 24 * k, colour: WARNING })),
  ]);
}

interface Drawn {
  readonly shapes: readonly Shape[];
  readonly bottom: number;
}

const isWeak = ({ amplitudeDb }: GainLook['inputs'][number]): boolean =>
  amplitudeDb !== undefined && amplitudeDb < WEAK_DB;

/** In words, because a row among hundreds is easily overlooked. */
function outlierInputs({ inputs, unsolved }: GainLook): string[] {
  const weak = inputs.filter(isWeak).map(({ name }) => name);
  return [
    ...(unsolved.length > 0 ? [`no gain: ${listed(unsolved)}`] : []),
    ...(weak.length > 0 ? [`more than ${-WEAK_DB} dB below the median: ${listed(weak)}`] : []),
  ];
}

function overBand(file: GainsFile, look: GainLook): Drawn {
  const { frequenciesHz } = file;
  const rows = look.inputs.length;
  const { amplitudeDb, phaseDeg } = gainMatrices(file);
  const grid = {
    x: frequencyAxis(frequenciesHz, stepHz(frequenciesHz, 0)),
    y: { label: 'input', range: [-0.5, rows - 0.5] as const, names: look.inputs.map(({ name }) => name) },
    rows,
    columns: frequenciesHz.length,
  };
  const odd = look.inputs
    .filter((row) => row.amplitude === undefined || isWeak(row))
    .map(({ input }) => input);
  const height = evenSide(rows);
  const frame = { left: LEFT, top: TOP, width: 480, height };
  const shapes = [
    ...drawBoth(
      grid,
      { title: 'Amplitude of every gain', values: amplitudeDb },
      { title: 'Phase', values: phaseDeg },
      frame,
      true,
    ),
    ...[LEFT, nextPanel(frame)].flatMap((left) => markRows(odd, grid, { ...frame, left })),
  ];
  return { shapes, bottom: TOP + height + 60 };
}

/** The width of a single channel is unknown: inputs along the axis, a dot for each polarisation. */
function oneChannel(file: GainsFile, look: GainLook): Drawn {
  const { stations, polarisations } = file;
  const { amplitudeDb, phaseDeg } = gainMatrices(file);
  const x = { label: 'station', range: [-0.5, stations.length - 0.5] as const, names: stations };
  const series = (values: Float64Array) =>
    Array.from({ length: polarisations }, (_, p) => ({
      name: polarisations === 1 ? 'gain' : 'XY'[p],
      x: stations.map((_name, s) => s),
      y: stations.map((_name, s) => values[s * polarisations + p]),
      drawn: 'dots' as const,
      size: stations.length > 100 ? 2.5 : 4,
    }));
  const frame = (k: number): PlotFrame => ({ left: 100, top: TOP + k * 370, width: 1260, height: 270 });
  const unsolved = [
    ...new Set(
      look.inputs
        .filter((row) => row.amplitude === undefined)
        .map(({ input }) => Math.floor(input / polarisations)),
    ),
  ];
  const plots = [
    {
      title: `Amplitude at ${formatHz(file.frequenciesHz[0])}`,
      x,
      y: { label: 'amplitude (dB)', range: amplitudeRange(amplitudeDb) },
      series: series(amplitudeDb),
    },
    {
      title: 'Phase',
      x,
      y: { label: 'phase (degrees)', range: [-190, 190] as const, ticks: [-180, -90, 0, 90, 180] },
      series: series(phaseDeg),
    },
  ];
  const shapes = plots.flatMap((plot, k) => [
    ...drawPlot({ ...plot, legend: 'above' }, frame(k)),
    ...unsolved.map((s): Shape => below(s, stations.length, frame(k))),
  ]);
  return { shapes, bottom: frame(1).top + frame(1).height + 60 };
}

/** A small margin above and below; from −1 to 1 dB at least. */
function amplitudeRange(values: Float64Array): readonly [number, number] {
  const known = values.filter(Number.isFinite);
  const least = known.reduce((a, b) => Math.min(a, b), -1);
  const most = known.reduce((a, b) => Math.max(a, b), 1);
  return [least - 0.08 * (most - least), most + 0.08 * (most - least)];
}

/** An arrow from inside the frame at a station's position on the axis. */
function below(station: number, stations: number, { left, top, width, height }: PlotFrame): Shape {
  const x = left + ((station + 0.5) / stations) * width;
  const y = top + height;
  return {
    kind: 'area',
    colour: WARNING,
    points: [
      { x, y: y - 2 },
      { x: x - 4, y: y - 11 },
      { x: x + 4, y: y - 11 },
    ],
  };
}
