/** The first block of a recording as a picture: waterfalls and histograms. */
import { formatInstant } from '../../core/instant.js';
import { formatSeconds } from '../../core/units.js';
import {
  decibelScale,
  drawBars,
  drawColourBar,
  drawHeatMap,
  type HeatMap,
  type HeatScale,
  pictureOf,
  type PlotFrame,
} from '../../draw/index.js';
import { inputName } from '../../telescope/telescope.js';
import { sampleRateOf, type Recording } from '../../formats/index.js';
import { isReal, type LookedBlock } from './voltages.js';
import { frequencyAxis, heading, PICTURE_WIDTH, stepHz, TITLE_HEIGHT } from './picture-parts.js';
import { histogramOf, inputSpectra, waterfallOf, type Waterfall } from './waterfall.js';

const PANELS = 4;

/** A range that fits short times: seconds, milliseconds or microseconds. */
function timeUnit(durationS: number): { readonly name: string; readonly perSecond: number } {
  if (durationS >= 1) return { name: 's', perSecond: 1 };
  return durationS >= 1e-3 ? { name: 'ms', perSecond: 1e3 } : { name: 'µs', perSecond: 1e6 };
}

/** Waterfall and histogram of the first inputs, and where there are more the spectrum of every input. */
export function recordingPicture(file: Recording, block: LookedBlock, title: string): string {
  const shown = Array.from({ length: Math.min(PANELS, file.inputs) }, (_, a) => a);
  const falls = shown.map((a) => waterfallOf(file, block, a));
  const all = file.inputs > PANELS ? inputSpectra(file, block) : undefined;
  const scale = decibelScale(
    [...falls.map(({ powerDb }) => powerDb), ...(all ? [all.powerDb] : [])],
    'power (dB)',
  );
  const rowHeight = 270;
  const frame = (k: number): PlotFrame => ({
    left: 100,
    top: TITLE_HEIGHT + 26 + k * rowHeight,
    width: 740,
    height: 170,
  });
  const parts = shown.flatMap((a, k) => [
    drawHeatMap(waterfallPanel(file, falls[k], a, scale), frame(k)),
    drawColourBar(scale, { ...frame(k), left: 860, width: 18 }),
    histogramPanel(file, block, a, { ...frame(k), left: 1030, width: 330 }),
  ]);
  if (all) {
    const place = { ...frame(shown.length), height: 260 };
    parts.push(
      drawHeatMap(
        {
          title: 'Mean power of every input',
          x: frequencyAxis(all.frequenciesHz, cellHz(file, all.frequenciesHz)),
          y: { label: 'input', range: [-0.5, file.inputs - 0.5], steps: 'whole' },
          rows: file.inputs,
          columns: all.columns,
          values: all.powerDb,
          scale,
        },
        place,
      ),
      drawColourBar(scale, { ...place, left: 860, width: 18 }),
    );
  }
  const told = `${file.format}, from ${formatInstant(block.start, 6)}, ${formatSeconds(block.samples / sampleRateOf(file))}: ${block.samples} samples of ${file.inputs} inputs; 0 dB is the power of samples of rms 1`;
  const height = TITLE_HEIGHT + rowHeight * shown.length + (all ? 360 : 0);
  return pictureOf({ width: PICTURE_WIDTH, height }, [heading(title, told), ...parts]);
}

const cellHz = (file: Recording, frequenciesHz: Float64Array): number =>
  file.kind === 'spectra' ? file.channelWidthHz : stepHz(frequenciesHz, file.sampleRateHz);

function waterfallPanel(file: Recording, fall: Waterfall, input: number, scale: HeatScale): HeatMap {
  const unit = timeUnit(fall.durationS);
  return {
    title: `Input ${input}${file.telescope ? `, ${inputName(file.telescope, input, file.polarisations)}` : ''}`,
    x: frequencyAxis(fall.frequenciesHz, cellHz(file, fall.frequenciesHz)),
    y: { label: `time (${unit.name})`, range: [0, fall.durationS * unit.perSecond] },
    rows: fall.rows,
    columns: fall.columns,
    values: fall.powerDb,
    scale,
  };
}

function histogramPanel(file: Recording, block: LookedBlock, input: number, frame: PlotFrame): string {
  const { values, binWidth, fractions } = histogramOf(file, block, input);
  const percent = fractions.map((fraction) => 100 * fraction);
  const most = percent.reduce((x, y) => Math.max(x, y), 0);
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
      heights: percent,
    },
    frame,
  );
}
