/** Picture of the first integration of a file: matrices of baselines, and their bandpasses. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { formatInstant } from '../../core/instant.js';
import { median } from '../../core/median.js';
import { DEGREES_PER_RADIAN, formatHz, formatSeconds } from '../../core/units.js';
import type { VisibilityFile } from '../../formats/index.js';
import { pictureOf, type PanelAxis, type Picture, type PlotFrame, type Shape } from '../../draw/index.js';
import { meanOf, productName } from '../visibilities.js';
import {
  evenSide,
  frequencyAxis,
  heading,
  PICTURE_WIDTH,
  stepHz,
  TITLE_HEIGHT,
  drawBoth,
  fromMedian,
  nextPanel,
} from './parts.js';

const LEFT = 120;
const TOP = TITLE_HEIGHT + 26;
/** Space between the bottom of one panel and the top of the next: title and axis. */
const BETWEEN = 96;
/** Amplitude and phase of every pair, and over channels for the pairs with one station: of each parallel product. */
export function visibilityPicture(file: VisibilityFile, one: Integration, title: string): Picture {
  const { channels, stations, polarisations } = one;
  const middle = middleChannel(one);
  const side = evenSide(stations);
  const bandHeight = evenSide(stations, 280);
  const reference = channels > 1 ? referenceStation(one, middle) : undefined;
  const shapes: Shape[] = [];
  let top = TOP;
  for (let p = 0; p < polarisations; p++) {
    shapes.push(...drawPairs(file, one, p, middle, { left: LEFT, top, width: side, height: side }));
    top += side + BETWEEN;
  }
  if (reference !== undefined) {
    for (let p = 0; p < polarisations; p++) {
      shapes.push(
        ...drawBands(file, one, p, reference, { left: LEFT, top, width: side, height: bandHeight }),
      );
      top += bandHeight + BETWEEN;
    }
  }
  const caption = `${file.format}, ${file.telescope.title}, first integration from ${formatInstant(one.start, 3)}, ${formatSeconds(one.durationS)}; fringes running; 0 dB is the median`;
  const width = Math.max(PICTURE_WIDTH, nextPanel({ left: LEFT, width: side }) + side + 120);
  return pictureOf({ width, height: top - 20 }, [...heading(title, caption), ...shapes]);
}

/** With flags below, or lost data, if there are any. */
export function withPanel(
  picture: Picture,
  map: { readonly draw: (frame: PlotFrame) => Shape[] },
  width = 800,
): Picture {
  const height = 280;
  const drawn = map.draw({ left: LEFT, top: picture.height + 40, width, height });
  if (drawn.length === 0) return picture;
  return pictureOf({ width: picture.width, height: picture.height + height + BETWEEN + 20 }, [
    ...picture.shapes,
    ...drawn,
  ]);
}

const stationAxis = (file: VisibilityFile, label: string): PanelAxis => {
  const names = file.telescope.stations.map(({ name }) => name);
  return { label, range: [-0.5, names.length - 0.5], names };
};

function drawPairs(
  file: VisibilityFile,
  one: Integration,
  p: number,
  middle: number,
  frame: PlotFrame,
): Shape[] {
  const { channels, stations } = one;
  const product = productName(file, p, p);
  const { amplitudeDb, phaseDeg } = pairMatrices(one, middle, p);
  return drawBoth(
    {
      x: stationAxis(file, 'station j'),
      y: stationAxis(file, 'station i'),
      rows: stations,
      columns: stations,
    },
    {
      title: `${product}: amplitude${channels === 1 ? '' : `, median of ${channels} channels`}`,
      values: amplitudeDb,
    },
    {
      title: `${product}: phase of V_ij at ${formatHz(file.header.frequenciesHz[middle])}`,
      values: phaseDeg,
    },
    frame,
  );
}

function drawBands(
  file: VisibilityFile,
  one: Integration,
  p: number,
  reference: number,
  frame: PlotFrame,
): Shape[] {
  const { frequenciesHz, channelWidthHz } = file.header;
  const { amplitudeDb, phaseDeg } = withStation(one, reference, p);
  const pairs = `${productName(file, p, p)} with ${file.telescope.stations[reference].name}`;
  return drawBoth(
    {
      x: frequencyAxis(frequenciesHz, stepHz(frequenciesHz, channelWidthHz)),
      y: stationAxis(file, 'station'),
      rows: one.stations,
      columns: one.channels,
    },
    { title: `${pairs}: amplitude`, values: amplitudeDb },
    { title: `${pairs}: phase`, values: phaseDeg },
    frame,
  );
}

const degrees = (re: number, im: number): number => Math.atan2(im, re) * DEGREES_PER_RADIAN;
/** [i][j] for all pairs in both orders: V_ji = conj(V_ij). NaN if a pair has no weight. */
function pairMatrices(one: Integration, channel: number, pol: number) {
  const { channels, stations, polarisations: p } = one;
  const baselines = baselineCount(stations);
  const amplitudes = new Float64Array(stations ** 2).fill(Number.NaN);
  const phaseDeg = new Float64Array(stations ** 2).fill(Number.NaN);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const seen: number[] = [];
      for (let c = 0; c < channels; c++) {
        const value = meanOf(one, c * baselines + baselineIndex(i, j), i * p + pol, j * p + pol);
        if (!value) continue;
        seen.push(Math.hypot(value.re, value.im));
        if (c === channel) {
          phaseDeg[i * stations + j] = degrees(value.re, value.im);
          phaseDeg[j * stations + i] = degrees(value.re, -value.im);
        }
      }
      amplitudes[i * stations + j] = amplitudes[j * stations + i] = median(seen);
    }
  }
  return { amplitudeDb: fromMedian(amplitudes), phaseDeg };
}

/** The channel nearest the centre in which any pair has weight: the centre itself is often flagged, because of DC. */
function middleChannel(one: Integration): number {
  const middle = Math.floor(one.channels / 2);
  const byNearness = Array.from({ length: one.channels }, (_, c) => c).sort(
    (x, y) => Math.abs(x - middle) - Math.abs(y - middle),
  );
  return byNearness.find((c) => referenceStation(one, c) !== undefined) ?? middle;
}

/** The first station with any valid pair. */
function referenceStation(one: Integration, channel: number): number | undefined {
  const { stations, polarisations: p } = one;
  const first = channel * baselineCount(stations);
  for (let s = 0; s < stations; s++)
    for (let other = 0; other < stations; other++) {
      if (other === s) continue;
      const [i, j] = [Math.max(s, other), Math.min(s, other)];
      for (let pol = 0; pol < p; pol++)
        if (meanOf(one, first + baselineIndex(i, j), i * p + pol, j * p + pol)) return s;
    }
  return undefined;
}

/** [station][channel] of the pairs of every other station with one; that station's own row stays empty. */
function withStation(one: Integration, reference: number, pol: number) {
  const { channels, stations, polarisations: p } = one;
  const baselines = baselineCount(stations);
  const amplitudes = new Float64Array(stations * channels).fill(Number.NaN);
  const phaseDeg = new Float64Array(stations * channels).fill(Number.NaN);
  for (let s = 0; s < stations; s++) {
    if (s === reference) continue;
    const [i, j] = [Math.max(s, reference), Math.min(s, reference)];
    for (let c = 0; c < channels; c++) {
      const value = meanOf(one, c * baselines + baselineIndex(i, j), i * p + pol, j * p + pol);
      if (!value) continue;
      amplitudes[s * channels + c] = Math.hypot(value.re, value.im);
      phaseDeg[s * channels + c] = degrees(value.re, s === i ? value.im : -value.im);
    }
  }
  return { amplitudeDb: fromMedian(amplitudes), phaseDeg };
}
