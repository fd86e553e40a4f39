/** The first integration of a file as a picture: matrices of baselines, and their bands. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { formatInstant } from '../../core/instant.js';
import { median } from '../../core/median.js';
import { DEGREES_PER_RADIAN, formatHz, formatSeconds } from '../../core/units.js';
import type { VisibilityFile } from '../../formats/index.js';
import {
  angleScale,
  decibelScale,
  drawColourBar,
  drawHeatMap,
  pictureOf,
  type PlotFrame,
} from '../../draw/index.js';
import { meanOf, productName } from './visibilities.js';
import { frequencyAxis, heading, PICTURE_WIDTH, stepHz, TITLE_HEIGHT } from './picture-parts.js';
import { inDb } from './waterfall.js';

/** Amplitude and phase of every pair, and over channels of the pairs with the first station. */
export function visibilityPicture(file: VisibilityFile, one: Integration, title: string): string {
  const { channels, stations } = one;
  const { frequenciesHz, channelWidthHz } = file.header;
  const product = productName(file, 0, 0);
  const middle = Math.floor(channels / 2);
  const matrices = pairMatrices(one, middle);
  const side = 480;
  const places: PlotFrame[] = [0, 1].map((k) => ({
    left: 100 + k * 690,
    top: TITLE_HEIGHT + 26,
    width: side,
    height: side,
  }));
  const axis = { label: 'station', range: [-0.5, stations - 0.5] as const, steps: 'whole' as const };
  const strength = decibelScale([matrices.amplitudeDb], 'amplitude (dB)');
  const square = {
    x: { ...axis, label: 'station j' },
    y: { ...axis, label: 'station i' },
    rows: stations,
    columns: stations,
  };
  const parts = [
    drawHeatMap(
      {
        ...square,
        title: `${product}: amplitude${channels === 1 ? '' : `, median of ${channels} channels`}`,
        values: matrices.amplitudeDb,
        scale: strength,
      },
      places[0],
    ),
    drawColourBar(strength, { ...places[0], left: places[0].left + side + 18, width: 18 }),
    drawHeatMap(
      {
        ...square,
        title: `${product}: phase of V_ij at ${formatHz(frequenciesHz[middle])}`,
        values: matrices.phaseDeg,
        scale: angleScale,
      },
      places[1],
    ),
    drawColourBar(angleScale, { ...places[1], left: places[1].left + side + 18, width: 18 }),
  ];
  const reference = channels > 1 ? referenceStation(one, middle) : undefined;
  if (reference !== undefined) {
    const bands = withStation(one, reference);
    const own = decibelScale([bands.amplitudeDb], strength.label);
    const x = frequencyAxis(frequenciesHz, stepHz(frequenciesHz, channelWidthHz));
    const name = file.telescope.stations[reference].name;
    const grid = { x, y: axis, rows: stations, columns: channels };
    places.forEach((place, k) => {
      const frame = { ...place, top: place.top + side + 100, height: 300 };
      const scale = k === 0 ? own : angleScale;
      parts.push(
        drawHeatMap(
          {
            ...grid,
            title: `${product} with ${name}: ${k === 0 ? 'amplitude' : 'phase'}`,
            values: k === 0 ? bands.amplitudeDb : bands.phaseDeg,
            scale,
          },
          frame,
        ),
        drawColourBar(scale, { ...frame, left: frame.left + side + 18, width: 18 }),
      );
    });
  }
  const told = `${file.format}, ${file.telescope.title}, first integration from ${formatInstant(one.start, 3)}, ${formatSeconds(one.durationS)}; fringes running; 0 dB is the median`;
  const height = TITLE_HEIGHT + side + 100 + (reference === undefined ? 0 : 400);
  return pictureOf({ width: PICTURE_WIDTH, height }, [heading(title, told), ...parts]);
}

const degrees = (re: number, im: number): number => Math.atan2(im, re) * DEGREES_PER_RADIAN;
/** Amplitudes as dB from the middle one: a few damaged values must not shift the rest. */
const fromMedian = (amplitudes: Float64Array): Float64Array => {
  const middle = median(amplitudes.filter((value) => value > 0));
  return amplitudes.map((value) => 2 * inDb(value / middle));
};

/** [i][j] for all pairs both ways round: V_ji = conj(V_ij). NaN where a pair carries no weight. */
function pairMatrices(one: Integration, channel: number) {
  const { channels, stations, polarisations: p } = one;
  const baselines = baselineCount(stations);
  const amplitudes = new Float64Array(stations ** 2).fill(Number.NaN);
  const phaseDeg = new Float64Array(stations ** 2).fill(Number.NaN);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const seen: number[] = [];
      for (let c = 0; c < channels; c++) {
        const value = meanOf(one, c * baselines + baselineIndex(i, j), i * p, j * p);
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

/** The first station with any good pair. */
function referenceStation(one: Integration, channel: number): number | undefined {
  const { stations, polarisations: p } = one;
  const first = channel * baselineCount(stations);
  for (let s = 0; s < stations; s++)
    for (let other = 0; other < stations; other++) {
      if (other === s) continue;
      const [i, j] = [Math.max(s, other), Math.min(s, other)];
      if (meanOf(one, first + baselineIndex(i, j), i * p, j * p)) return s;
    }
  return undefined;
}

/** [station][channel] of the pairs of every other station with one; that station's own row stays empty. */
function withStation(one: Integration, reference: number) {
  const { channels, stations, polarisations: p } = one;
  const baselines = baselineCount(stations);
  const amplitudes = new Float64Array(stations * channels).fill(Number.NaN);
  const phaseDeg = new Float64Array(stations * channels).fill(Number.NaN);
  for (let s = 0; s < stations; s++) {
    if (s === reference) continue;
    const [i, j] = [Math.max(s, reference), Math.min(s, reference)];
    for (let c = 0; c < channels; c++) {
      const value = meanOf(one, c * baselines + baselineIndex(i, j), i * p, j * p);
      if (!value) continue;
      amplitudes[s * channels + c] = Math.hypot(value.re, value.im);
      phaseDeg[s * channels + c] = degrees(value.re, s === i ? value.im : -value.im);
    }
  }
  return { amplitudeDb: fromMedian(amplitudes), phaseDeg };
}
