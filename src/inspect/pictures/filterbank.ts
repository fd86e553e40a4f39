/** Picture of a filterbank: its dynamic spectrum, every channel relative to its own median. */
import { formatInstant } from '../../core/instant.js';
import { formatSeconds } from '../../core/units.js';
import { pictureOf, type ColourScale, type HeatMap, type Picture, type PlotFrame } from '../../draw/index.js';
import type { Filterbank } from '../../formats/index.js';
import { frequencyAxis, heading, PICTURE_WIDTH, timeAxis, TITLE_HEIGHT, heatMapWithBar } from './parts.js';

const FRAME: PlotFrame = { left: 120, top: TITLE_HEIGHT + 40, width: 1080, height: 480 };
const [MOST_COLUMNS, MOST_ROWS] = [1080, 480];
/** Numbers that are read unless all are requested. */
const SOME_NUMBERS = 2 ** 26;
const NUMBERS_AT_ONCE = 2 ** 22;

/** Powers of the first plane in bins of time and frequency, lowest frequency first. */
export interface DynamicSpectrum {
  /** [row][column] means. */
  readonly cells: Float64Array;
  readonly rows: number;
  readonly columns: number;
  readonly valuesPerColumn: number;
  /** Number of values read. */
  readonly values: number;
  readonly mean: number;
  readonly least: number;
  readonly most: number;
  /** Number of non-finite values in all planes. */
  readonly notFinite: number;
}

export async function dynamicSpectrum(
  file: Filterbank,
  { whole = false }: { readonly whole?: boolean } = {},
): Promise<DynamicSpectrum> {
  const { channels, planes, channelStepHz } = file.header;
  const row = channels * planes;
  const values = whole ? file.values : Math.min(file.values, Math.max(1, Math.floor(SOME_NUMBERS / row)));
  const valuesPerColumn = Math.max(1, Math.ceil(values / MOST_COLUMNS));
  const columns = Math.max(1, Math.ceil(values / valuesPerColumn));
  const perRow = Math.ceil(channels / MOST_ROWS);
  const rows = Math.ceil(channels / perRow);
  const cells = new Float64Array(rows * columns);
  const counts = new Float64Array(rows * columns);
  let [sum, count, least, most, notFinite] = [0, 0, Infinity, -Infinity, 0];
  const atOnce = Math.max(1, Math.floor(NUMBERS_AT_ONCE / row));
  for (let first = 0; first < values; first += atOnce) {
    const many = Math.min(atOnce, values - first);
    const read = await file.read(first, many);
    for (let t = 0; t < many; t++) {
      const column = Math.floor((first + t) / valuesPerColumn);
      for (let n = 0; n < row; n++) {
        const value = read[t * row + n];
        if (!Number.isFinite(value)) notFinite++;
        else if (n < channels) {
          const c = channelStepHz < 0 ? channels - 1 - n : n;
          const at = Math.floor(c / perRow) * columns + column;
          cells[at] += value;
          counts[at]++;
          sum += value;
          count++;
          least = Math.min(least, value);
          most = Math.max(most, value);
        }
      }
    }
  }
  for (let at = 0; at < cells.length; at++) cells[at] = counts[at] > 0 ? cells[at] / counts[at] : NaN;
  return {
    cells,
    rows,
    columns,
    valuesPerColumn,
    values,
    notFinite,
    mean: count > 0 ? sum / count : NaN,
    least,
    most,
  };
}

export function filterbankPicture(file: Filterbank, spectrum: DynamicSpectrum, title: string): Picture {
  const { header } = file;
  const { rows, columns } = spectrum;
  const values = againstMedian(spectrum);
  const sorted = values.filter(Number.isFinite).sort();
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const [low, high] = [at(0.01), at(0.998)];
  const scale: ColourScale = {
    palette: 'brightness',
    exponent: 1,
    label: "over the channel's median (%)",
    ...(high > low ? { low, high } : { low: low - 1, high: low + 1 }),
    least: at(0),
    most: at(1),
  };
  const widthHz = Math.abs(header.channelStepHz);
  const lowestHz = Math.min(
    header.firstChannelHz,
    header.firstChannelHz + (header.channels - 1) * header.channelStepHz,
  );
  const frequenciesHz = Float64Array.from({ length: header.channels }, (_, c) => lowestHz + c * widthHz);
  const map: HeatMap = {
    title: `Dynamic spectrum${header.planes > 1 ? ' of the first plane' : ''}`,
    x: timeAxis(columns * spectrum.valuesPerColumn * header.valueS),
    y: frequencyAxis(frequenciesHz, widthHz),
    rows,
    columns,
    values,
    scale,
  };
  const below = `${header.sourceName ?? 'unknown'}, from ${formatInstant(header.start, 6)}: ${spectrum.values} values of ${formatSeconds(header.valueS)}, ${header.channels} channels`;
  return pictureOf({ width: PICTURE_WIDTH, height: FRAME.top + FRAME.height + 80 }, [
    ...heading(title, below),
    ...heatMapWithBar(map, FRAME),
  ]);
}

/** In per cent; NaN if a channel's median is 0. */
function againstMedian({ cells, rows, columns }: DynamicSpectrum): Float64Array {
  const made = new Float64Array(cells.length);
  for (let row = 0; row < rows; row++) {
    const own = cells.subarray(row * columns, (row + 1) * columns);
    const sorted = own.filter(Number.isFinite).sort();
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    for (let column = 0; column < columns; column++)
      made[row * columns + column] = median === 0 ? NaN : 100 * (own[column] / median - 1);
  }
  return made;
}
