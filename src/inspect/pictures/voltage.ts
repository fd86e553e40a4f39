/** Picture of the first block of a recording: every input over time and frequency, and details of some. */
import { formatInstant } from '../../core/instant.js';
import { median } from '../../core/median.js';
import { formatSeconds, percent } from '../../core/units.js';
import {
  decibelScale,
  drawBars,
  drawColourBar,
  drawHeatMap,
  markRows,
  pictureOf,
  text,
  WARNING,
  type ColourScale,
  type HeatMap,
  type PanelAxis,
  type Picture,
  type PlotFrame,
  type Shape,
} from '../../draw/index.js';
import { inputName } from '../../telescope/telescope.js';
import { sampleRateOf, type Recording } from '../../formats/index.js';
import { inputPowers, type InputPowers } from '../input-powers.js';
import { isReal, type LookedBlock } from '../voltages.js';
import {
  barBeside,
  evenSide,
  frequencyAxis,
  heading,
  listed,
  PICTURE_WIDTH,
  stepHz,
  timeAxis,
  TITLE_HEIGHT,
} from './parts.js';
import { histogramOf, inputSpectra, waterfallOf, type Waterfall } from '../waterfall.js';

/** Number of inputs shown in detail. */
const CLOSE_LOOKS = 4;
/** Inputs this far below the median have almost no signal. */
const WEAK_DB = -15;
const [LEFT, PANEL_WIDTH, NEXT_PANEL] = [120, 460, 680];
const LOST = 'lost (%)';
const TOP = TITLE_HEIGHT + 26;
const BETWEEN = 100;

export function recordingPicture(file: Recording, block: LookedBlock, title: string): Picture {
  const { shapes: everything, bottom } = drawInputs(file, block);
  const shown = Array.from({ length: Math.min(CLOSE_LOOKS, file.inputs) }, (_, a) => a);
  const falls = shown.map((a) => waterfallOf(file, block, a));
  const scale = decibelScale(
    falls.map(({ powerDb }) => powerDb),
    'power (dB)',
  );
  const rowHeight = 270;
  const frame = (k: number): PlotFrame => ({
    left: LEFT,
    top: bottom + k * rowHeight,
    width: 720,
    height: 170,
  });
  const closer = shown.flatMap((a, k) => [
    ...drawHeatMap(waterfallPanel(file, falls[k], a, scale), frame(k)),
    ...bar(scale, frame(k)),
    ...histogramPanel(file, block, a, { ...frame(k), left: 1040, width: 320 }),
  ]);
  const caption = `${file.format}, from ${formatInstant(block.start, 6)}, ${formatSeconds(block.samples / sampleRateOf(file))}: ${block.samples} samples of ${file.inputs} inputs; 0 dB is the power of samples of rms 1`;
  const height = bottom + rowHeight * shown.length - 20;
  return pictureOf({ width: PICTURE_WIDTH, height }, [...heading(title, caption), ...everything, ...closer]);
}

const bar = (scale: ColourScale, frame: PlotFrame): Shape[] =>
  drawColourBar(
    scale,
    barBeside(frame),
    // The lost fraction is known everywhere.
    { stands: 'beside', ...(scale.label !== LOST && { missing: true as const }) },
  );

/** Power of every input over time and over frequency, and lost samples; `bottom`: where the next panel may begin. */
function drawInputs(
  file: Recording,
  block: LookedBlock,
): { readonly shapes: readonly Shape[]; readonly bottom: number } {
  const powers = inputPowers(file, block);
  const spectra = inputSpectra(file, block);
  const scale = decibelScale([powers.powerDb, spectra.powerDb], 'power (dB)');
  const rows = file.inputs;
  const time = timeAxis(block.samples / sampleRateOf(file));
  const y = inputAxis(file);
  const height = evenSide(rows, 260);
  const odd = outlierInputs(powers, rows);
  const frame = (column: number, top: number): PlotFrame => ({
    left: LEFT + column * NEXT_PANEL,
    top,
    width: PANEL_WIDTH,
    height,
  });
  const overTime = { x: time, y, rows, columns: powers.bins };
  const panels: readonly (readonly [HeatMap, PlotFrame])[] = [
    [{ ...overTime, title: 'Every input over time', values: powers.powerDb, scale }, frame(0, TOP)],
    [
      {
        title: 'Every input over frequency',
        x: frequencyAxis(spectra.frequenciesHz, cellHz(file, spectra.frequenciesHz)),
        y,
        rows,
        columns: spectra.columns,
        values: spectra.powerDb,
        scale,
      },
      frame(1, TOP),
    ],
  ];
  const below = TOP + height + BETWEEN;
  const notes = lossNotes(file, powers, odd);
  const most = powers.lost.reduce((x, value) => Math.max(x, value), 0);
  const lossPanel: readonly (readonly [HeatMap, PlotFrame])[] =
    most === 0
      ? []
      : [[{ ...overTime, title: 'Lost samples of every input', ...lossesOf(powers, most) }, frame(0, below)]];
  const notesAt = most === 0 ? { x: 40, y: below - 30 } : { x: LEFT + NEXT_PANEL - 60, y: below + 12 };
  return {
    shapes: [
      ...[...panels, ...lossPanel].flatMap(([panel, place]) => [
        ...drawHeatMap(panel, place),
        ...markRows([...odd.silent, ...odd.weak], panel, place),
        ...bar(panel.scale, place),
      ]),
      ...notes.map((words, k) =>
        text('label', words, { ...notesAt, y: notesAt.y + 24 * k, colour: WARNING }),
      ),
    ],
    bottom: most === 0 ? below + 24 * notes.length : below + Math.max(height, 24 * notes.length) + BETWEEN,
  };
}

const lossesOf = ({ lost }: InputPowers, most: number): Pick<HeatMap, 'values' | 'scale'> => ({
  values: lost.map((fraction) => 100 * fraction),
  scale: { palette: 'brightness', low: 0, high: 100 * most, exponent: 0.5, label: LOST },
});

interface OutlierInputs {
  readonly silent: readonly number[];
  readonly weak: readonly number[];
}

/** Inputs without data or with only zeros, and those far below the median. */
function outlierInputs({ powerDb, bins }: InputPowers, inputs: number): OutlierInputs {
  const levels = Array.from({ length: inputs }, (_, a) =>
    median(powerDb.subarray(a * bins, (a + 1) * bins).filter((value) => !Number.isNaN(value))),
  );
  const middle = median(levels.filter(Number.isFinite));
  const where = (is: (level: number) => boolean): number[] =>
    levels.flatMap((level, a) => (is(level) ? [a] : []));
  return {
    silent: where((level) => !Number.isFinite(level)),
    weak: where((level) => Number.isFinite(level) && level < middle + WEAK_DB),
  };
}

function lossNotes(file: Recording, { lost, bins }: InputPowers, { silent, weak }: OutlierInputs): string[] {
  const names = (inputs: readonly number[]): string => listed(inputs.map((a) => nameOf(file, a)));
  const losses = Array.from({ length: file.inputs }, (_, a) => {
    const own = lost.subarray(a * bins, (a + 1) * bins);
    return { a, fraction: own.reduce((sum, value) => sum + value, 0) / bins };
  }).filter(({ fraction }) => fraction > 0);
  const mean = losses.reduce((sum, { fraction }) => sum + fraction, 0) / file.inputs;
  const [worst] = [...losses].sort((x, y) => y.fraction - x.fraction);
  return [
    ...(losses.length > 0
      ? [
          `${percent(mean)} of all samples lost, of ${losses.length} of ${file.inputs} inputs`,
          `most of ${nameOf(file, worst.a)}: ${percent(worst.fraction)}`,
        ]
      : []),
    ...(silent.length > 0 ? [`silent: ${names(silent)}`] : []),
    ...(weak.length > 0 ? [`more than ${-WEAK_DB} dB below the median: ${names(weak)}`] : []),
  ];
}

const nameOf = (file: Recording, input: number): string =>
  file.telescope ? inputName(file.telescope, input, file.polarisations) : `input ${input}`;

const inputAxis = (file: Recording): PanelAxis => ({
  label: 'input',
  range: [-0.5, file.inputs - 0.5],
  steps: 'whole',
  names: file.telescope && Array.from({ length: file.inputs }, (_, a) => nameOf(file, a)),
});

const cellHz = (file: Recording, frequenciesHz: Float64Array): number =>
  file.kind === 'spectra' ? file.channelWidthHz : stepHz(frequenciesHz, file.sampleRateHz);

function waterfallPanel(file: Recording, fall: Waterfall, input: number, scale: ColourScale): HeatMap {
  return {
    title: `Input ${input}${file.telescope ? `, ${nameOf(file, input)}` : ''}`,
    x: frequencyAxis(fall.frequenciesHz, cellHz(file, fall.frequenciesHz)),
    y: timeAxis(fall.durationS),
    rows: fall.rows,
    columns: fall.columns,
    values: fall.powerDb,
    scale,
  };
}

function histogramPanel(file: Recording, block: LookedBlock, input: number, frame: PlotFrame): Shape[] {
  const { values, binWidth, fractions } = histogramOf(file, block, input);
  const percents = fractions.map((fraction) => 100 * fraction);
  const most = percents.reduce((x, y) => Math.max(x, y), 0);
  const edge = binWidth / 2 + 0.03 * (values.length * binWidth);
  return drawBars(
    {
      title: values.length === 0 ? 'Nothing arrived' : 'Histogram',
      x: {
        label: isReal(file) ? 'sample' : 'sample (re and im)',
        range: values.length === 0 ? [-1, 1] : [values[0] - edge, values[values.length - 1] + edge],
      },
      y: { label: '% of samples', range: [0, most > 0 ? 1.05 * most : 1] },
      values,
      width: binWidth,
      heights: percents,
    },
    frame,
  );
}
