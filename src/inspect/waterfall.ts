/** A block of samples as power over time and frequency, and as a histogram, for inspect's pictures. */
import { planFft } from '../core/fft.js';
import { sampleRateOf, type Recording } from '../formats/index.js';
import { holesOf, isHole, isReal, sampleReader, type LookedBlock } from './voltages.js';

/** Power of one input. 0 dB is samples whose numbers have an rms of 1; NaN where any sample was missing. */
export interface Waterfall {
  readonly rows: number;
  readonly columns: number;
  /** powerDb : [row][column], rows in time, columns in rising frequency. */
  readonly powerDb: Float64Array;
  readonly frequenciesHz: Float64Array;
  readonly durationS: number;
}

interface Histogram {
  /** Centres of the bins, rising. */
  readonly values: Float64Array;
  readonly binWidth: number;
  /** Over all received numbers of the input; re and im count separately. */
  readonly fractions: Float64Array;
}

const MOST_ROWS = 256;
const MOST_COLUMNS = 1024;
const SPECTRUM_POINTS = 256;
/** Samples over all inputs used for the mean spectrum: enough for a smooth curve, computed quickly. */
const SPECTRUM_SAMPLES = 2 ** 22;
const MOST_BINS = 128;

export const inDb = (power: number): number => 10 * Math.log10(power);

/** Spectra of one input in succession; NaN if a sample is missing. Complex numbers have two squares. */
interface Powers {
  readonly columns: number;
  readonly rows: number;
  readonly frequenciesHz: Float64Array;
  readonly samplesPerRow: number;
  /** Fills power[column] of a row. */
  row(row: number, power: Float64Array): void;
}

function powersOf(file: Recording, block: LookedBlock, input: number, points: number): Powers {
  const { samples, inputs } = block;
  const read = sampleReader(file.type, block.elements);
  if (file.kind === 'spectra') {
    const holes = Array.from({ length: file.channels }, (_, c) => holesOf(block, c, input));
    const spectrum = new Float64Array(2 * file.channels);
    return {
      columns: file.channels,
      rows: samples,
      frequenciesHz: file.frequenciesHz,
      samplesPerRow: 1,
      row: (t, power) => {
        read(spectrum, input * samples + t, inputs * samples);
        for (let c = 0; c < file.channels; c++) {
          power[c] = isHole(holes[c], t) ? Number.NaN : (spectrum[2 * c] ** 2 + spectrum[2 * c + 1] ** 2) / 2;
        }
      },
    };
  }
  const real = isReal(file);
  const columns = real ? points / 2 : points;
  const fft = planFft(points);
  const scratch = new Float64Array(2 * points);
  const holes = holesOf(block, 0, input);
  // A Hann window keeps a strong tone out of other columns; divided by its own power, it keeps the level of white
  // noise.
  const window = Float64Array.from(
    { length: points },
    (_, n) => Math.sin((Math.PI * (n + 0.5)) / points) ** 2,
  );
  const scale = 1 / ((real ? 1 : 2) * window.reduce((sum, w) => sum + w * w, 0));
  const lowestHz = file.centreFrequencyHz - file.sampleRateHz / (real ? 4 : 2);
  return {
    columns,
    rows: Math.floor(samples / points),
    frequenciesHz: Float64Array.from(
      { length: columns },
      (_, k) => lowestHz + (k * file.sampleRateHz) / points,
    ),
    samplesPerRow: points,
    row: (row, power) => {
      if (isHole(holes, row * points, (row + 1) * points)) {
        power.fill(Number.NaN);
        return;
      }
      read(scratch, input * samples + row * points);
      for (let n = 0; n < points; n++) {
        scratch[2 * n] *= window[n];
        scratch[2 * n + 1] *= window[n];
      }
      fft.forward(scratch);
      for (let k = 0; k < columns; k++) {
        const bin = real ? k : (k + points / 2) % points;
        power[k] = (scratch[2 * bin] ** 2 + scratch[2 * bin + 1] ** 2) * scale;
      }
    },
  };
}

const powerOfTwoBelow = (value: number): number => 2 ** Math.floor(Math.log2(Math.max(2, value)));

/** Neighbouring rows and columns are averaged to the picture's size: in power, before conversion to dB. */
export function waterfallOf(file: Recording, block: LookedBlock, input: number): Waterfall {
  const points = Math.min(1024, powerOfTwoBelow(Math.sqrt(block.samples)));
  const powers = powersOf(file, block, input, points);
  const perRow = Math.ceil(powers.rows / MOST_ROWS);
  const perColumn = Math.ceil(powers.columns / MOST_COLUMNS);
  return {
    rows: Math.ceil(powers.rows / perRow),
    columns: Math.ceil(powers.columns / perColumn),
    powerDb: meansInDb(powers, powers.rows, perRow, perColumn),
    frequenciesHz: powers.frequenciesHz,
    durationS: (powers.rows * powers.samplesPerRow) / sampleRateOf(file),
  };
}

/** Means of neighbours among the first rows, [row][column]; NaN where nothing arrived. */
function meansInDb(powers: Powers, rows: number, perRow: number, perColumn: number): Float64Array {
  const columns = Math.ceil(powers.columns / perColumn);
  const sums = new Float64Array(Math.max(1, Math.ceil(rows / perRow)) * columns);
  const counts = new Float64Array(sums.length);
  const power = new Float64Array(powers.columns);
  for (let t = 0; t < rows; t++) {
    powers.row(t, power);
    power.forEach((value, c) => {
      if (Number.isNaN(value)) return;
      const at = Math.floor(t / perRow) * columns + Math.floor(c / perColumn);
      sums[at] += value;
      counts[at]++;
    });
  }
  return sums.map((sum, at) => (counts[at] === 0 ? Number.NaN : inDb(sum / counts[at])));
}

/** Mean power of every input over time: [a][column] in dB, NaN where nothing arrived. */
export function inputSpectra(
  file: Recording,
  block: LookedBlock,
): { readonly frequenciesHz: Float64Array; readonly powerDb: Float64Array; readonly columns: number } {
  const points = Math.min(SPECTRUM_POINTS, powerOfTwoBelow(block.samples));
  const most = Math.max(1, Math.floor(SPECTRUM_SAMPLES / (block.inputs * block.channels)));
  let frequenciesHz: Float64Array = new Float64Array();
  let columns = 0;
  const means: number[] = [];
  for (let a = 0; a < block.inputs; a++) {
    const powers = powersOf(file, block, a, points);
    ({ frequenciesHz, columns } = powers);
    const rows = Math.min(powers.rows, Math.max(1, Math.ceil(most / powers.samplesPerRow)));
    means.push(...meansInDb(powers, rows, Math.max(1, rows), 1));
  }
  return { frequenciesHz, columns, powerDb: Float64Array.from(means) };
}

/** Mean over inputs, 0 dB at its peak. */
export function meanSpectrum(spectra: {
  readonly powerDb: Float64Array;
  readonly columns: number;
}): Float64Array {
  const { powerDb, columns } = spectra;
  const power = new Float64Array(columns);
  powerDb.forEach((value, at) => {
    if (!Number.isNaN(value)) power[at % columns] += 10 ** (value / 10);
  });
  const most = power.reduce((x, y) => Math.max(x, y), 0);
  return power.map((value) => inDb(value / most));
}

/** Over every number of one input (all its channels); whole numbers have bins of whole numbers. */
export function histogramOf(file: Recording, block: LookedBlock, input: number): Histogram {
  const { samples, inputs, channels } = block;
  const read = sampleReader(file.type, block.elements);
  const parts = isReal(file) ? 1 : 2;
  const row = new Float64Array(2 * samples);
  const eachNumber = (see: (value: number) => void): void => {
    for (let c = 0; c < channels; c++) {
      const holes = holesOf(block, c, input);
      read(row, (c * inputs + input) * samples);
      for (let t = 0; t < samples; t++) {
        if (isHole(holes, t)) continue;
        for (let part = 0; part < parts; part++) see(row[2 * t + part]);
      }
    }
  };
  let [least, most] = [Infinity, -Infinity];
  let numbers = 0;
  let broken = 0;
  eachNumber((value) => {
    least = Math.min(least, value);
    most = Math.max(most, value);
    numbers++;
    if (!Number.isInteger(value)) broken++;
  });
  const { from, width, bins } = binning(least, most, broken === 0 ? 'whole' : 'any');
  const counts = new Float64Array(bins);
  eachNumber((value) => {
    counts[Math.min(bins - 1, Math.floor((value - from) / width))]++;
  });
  return {
    values: counts.map((_, k) => from + (k + 0.5) * width),
    binWidth: width,
    fractions: counts.map((count) => count / numbers),
  };
}

function binning(
  least: number,
  most: number,
  numbers: 'whole' | 'any',
): { readonly from: number; readonly width: number; readonly bins: number } {
  if (!(least <= most)) return { from: 0, width: 1, bins: 0 };
  if (numbers === 'whole') {
    const width = 2 ** Math.max(0, Math.ceil(Math.log2((most - least + 1) / MOST_BINS)));
    const from = Math.floor(least / width) * width - (width === 1 ? 0.5 : 0);
    return { from, width, bins: Math.ceil((most - from + (width === 1 ? 0 : 1)) / width) };
  }
  const width = Math.max((most - least) / MOST_BINS, Number.MIN_VALUE);
  return { from: least - width / 2, width, bins: MOST_BINS + 1 };
}
