/** One pair of stations: amplitude and phase over time and frequency. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { meantName } from '../../core/spelling.js';
import { DEGREES_PER_RADIAN, formatSeconds } from '../../core/units.js';
import {
  drawPlot,
  pictureOf,
  type Picture,
  type PlotAxis,
  type PlotFrame,
  type Shape,
} from '../../draw/index.js';
import type { VisibilityFile } from '../../formats/index.js';
import {
  frequencyAxis,
  heading,
  PICTURE_WIDTH,
  stepHz,
  timeAxis,
  TITLE_HEIGHT,
  drawBoth,
  fromMedian,
} from './parts.js';
import { meanOf, productName } from '../visibilities.js';

/** Two stations of a file by name, "stand1,stand17". */
export function pairNamed(file: VisibilityFile, text: string): readonly [i: number, j: number] {
  const names = file.telescope.stations.map(({ name }) => name);
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length !== 2)
    refuse(
      '--baseline',
      `'${text}' does not name two stations`,
      `give them like ${names[0]},${names[1] ?? names[0]}`,
    );
  const [a, b] = parts.map((name) => {
    const at = names.indexOf(name);
    if (at >= 0) return at;
    const meant = meantName(name, names);
    return refuse(
      '--baseline',
      `the file has no station '${name}'`,
      meant === undefined
        ? `it has ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' …' : ''}`
        : `did you mean ${meant}?`,
    );
  });
  return [a, b];
}

interface BaselineCollector {
  add(one: Integration): void;
  picture(title: string): Picture;
}

interface Row {
  readonly start: Instant;
  readonly durationS: number;
  /** amplitudes, phasesDeg : [p][c]; NaN if the pair has no weight. */
  readonly amplitudes: Float64Array;
  readonly phasesDeg: Float64Array;
}

/** V_ab of the parallel products, in either order of the stations; fringes are not stopped. */
export function baselineCollector(
  file: VisibilityFile,
  [a, b]: readonly [number, number],
): BaselineCollector {
  const rows: Row[] = [];
  const { polarisations: p, frequenciesHz } = file.header;
  const channels = frequenciesHz.length;
  const [i, j] = [Math.max(a, b), Math.min(a, b)];
  return {
    add: (one) => {
      const amplitudes = new Float64Array(p * channels).fill(Number.NaN);
      const phasesDeg = new Float64Array(p * channels).fill(Number.NaN);
      for (let pol = 0; pol < p; pol++) {
        for (let c = 0; c < channels; c++) {
          const cell = c * baselineCount(one.stations) + baselineIndex(i, j);
          const value = meanOf(one, cell, i * p + pol, j * p + pol);
          if (!value) continue;
          amplitudes[pol * channels + c] = Math.hypot(value.re, value.im);
          // V_ab = conj(V_ba)
          phasesDeg[pol * channels + c] =
            Math.atan2(a === i ? value.im : -value.im, value.re) * DEGREES_PER_RADIAN;
        }
      }
      rows.push({ start: one.start, durationS: one.durationS, amplitudes, phasesDeg });
    },
    picture: (title) => drawBaseline(file, [a, b], rows, title),
  };
}

const TOP = TITLE_HEIGHT + 26;

function drawBaseline(
  file: VisibilityFile,
  [a, b]: readonly [number, number],
  rows: readonly Row[],
  title: string,
): Picture {
  if (rows.length === 0) return refuse(title, 'holds no integration', 'leave --baseline out');
  const { stations } = file.telescope;
  const { polarisations: p, frequenciesHz } = file.header;
  const lengthM = Math.hypot(
    stations[a].eastM - stations[b].eastM,
    stations[a].northM - stations[b].northM,
    stations[a].upM - stations[b].upM,
  );
  const [first, last] = [rows[0], rows[rows.length - 1]];
  const spanS = secondsBetween(first.start, last.start) + last.durationS;
  const caption = `${stations[a].name} – ${stations[b].name}, ${lengthM.toFixed(1)} m apart, from ${formatInstant(first.start, 3)}, ${formatSeconds(spanS)} in ${rows.length} of ${file.integrationCount} integrations; fringes running; 0 dB is the median`;
  const channels = frequenciesHz.length;
  const products = Array.from({ length: p }, (_, pol) => ({
    name: productName(file, pol, pol),
    // [integration][channel]
    amplitudeDb: fromMedian(
      Float64Array.from(
        rows.flatMap((row) => Array.from(row.amplitudes.subarray(pol * channels, (pol + 1) * channels))),
      ),
    ),
    phaseDeg: Float64Array.from(
      rows.flatMap((row) => Array.from(row.phasesDeg.subarray(pol * channels, (pol + 1) * channels))),
    ),
  }));
  const shapes =
    rows.length > 1 && channels > 1 ? overBoth(file, rows, products, spanS) : overOne(file, rows, products);
  return pictureOf({ width: PICTURE_WIDTH, height: shapes.bottom }, [
    ...heading(title, caption),
    ...shapes.drawn,
  ]);
}

interface Product {
  readonly name: string;
  readonly amplitudeDb: Float64Array;
  readonly phaseDeg: Float64Array;
}
interface Drawn {
  readonly drawn: readonly Shape[];
  readonly bottom: number;
}

/** Heat maps, time upwards: one row of panels for each product. */
function overBoth(
  file: VisibilityFile,
  rows: readonly Row[],
  products: readonly Product[],
  spanS: number,
): Drawn {
  const { frequenciesHz, channelWidthHz } = file.header;
  const grid = {
    x: frequencyAxis(frequenciesHz, stepHz(frequenciesHz, channelWidthHz)),
    y: timeAxis(spanS),
    rows: rows.length,
    columns: frequenciesHz.length,
  };
  const height = 400;
  const drawn = products.flatMap(({ name, amplitudeDb, phaseDeg }, k) =>
    drawBoth(
      grid,
      { title: `${name}: amplitude`, values: amplitudeDb },
      { title: `${name}: phase`, values: phaseDeg },
      { left: 120, top: TOP + k * (height + 100), width: 480, height },
    ),
  );
  return { drawn, bottom: TOP + products.length * (height + 100) - 20 };
}

/** Dots along the axis that has more than one value. */
function overOne(file: VisibilityFile, rows: readonly Row[], products: readonly Product[]): Drawn {
  const { frequenciesHz } = file.header;
  const byTime = rows.length > 1;
  const axis = byTime ? timeAxis(secondsBetween(rows[0].start, rows[rows.length - 1].start)) : undefined;
  const perSecond = axis
    ? axis.range[1] / Math.max(1e-12, secondsBetween(rows[0].start, rows[rows.length - 1].start))
    : 1;
  const x: Float64Array = byTime
    ? Float64Array.from(rows, ({ start }) => secondsBetween(rows[0].start, start) * perSecond)
    : frequenciesHz.map((frequencyHz) => frequencyHz / 1e6);
  const label: PlotAxis = { label: axis ? axis.label : 'frequency (MHz)' };
  const frame = (k: number): PlotFrame => ({ left: 100, top: TOP + k * 370, width: 1260, height: 270 });
  const plot = (title: string, y: PlotAxis, of: (product: Product) => Float64Array, k: number): Shape[] =>
    drawPlot(
      {
        title,
        x: label,
        y,
        legend: 'above',
        series: products.map((product) => ({
          name: product.name,
          x,
          y: of(product),
          drawn: 'dots',
          size: 3,
        })),
      },
      frame(k),
    );
  const degrees = { label: 'phase (degrees)', range: [-190, 190], ticks: [-180, -90, 0, 90, 180] } as const;
  return {
    drawn: [
      ...plot('Amplitude', { label: 'amplitude (dB)' }, ({ amplitudeDb }) => amplitudeDb, 0),
      ...plot('Phase', degrees, ({ phaseDeg }) => phaseDeg, 1),
    ],
    bottom: frame(1).top + frame(1).height + 70,
  };
}
