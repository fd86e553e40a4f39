/** Picture of the uv coverage of an observation, and its baseline lengths. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds } from '../../core/instant.js';
import { formatSeconds, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import {
  drawBars,
  drawColourBar,
  drawHeatMap,
  PAPER,
  pictureOf,
  ticks,
  type ColourScale,
  type Picture,
} from '../../draw/index.js';
import type { VisibilityFile } from '../../formats/index.js';
import { skyFrame } from '../../sky/frame.js';
import { heading, longestDistance, PICTURE_WIDTH, TITLE_HEIGHT, barBeside } from './parts.js';
import { weightOf } from '../visibilities.js';

/** Grid cells along either side of the plane; odd, so that the origin is the centre of one. */
const CELLS = 241;
const SIDE = 3 * CELLS;
const LENGTH_BINS = 40;

interface UvCoverage {
  /** Adds the uv points of an integration, at its central time. */
  add(one: Integration): void;
  picture(title: string): Picture;
}

/**
 * Collects integrations one by one; u and v are relative to the file's phase centre as the Earth rotates. Both V_ij and
 * its conjugate V_ji count, autocorrelations do not.
 */
export function uvCoverage(file: VisibilityFile): UvCoverage {
  const { frequenciesHz, phaseCentre, object } = file.header;
  const positions = file.telescope.stations.map(({ eastM, northM, upM }): Vector3 => ({
    x: eastM,
    y: northM,
    z: upM,
  }));
  const longestM = Math.max(longestDistance(positions), 1e-3);
  const shortestWave = SPEED_OF_LIGHT_M_PER_S / frequenciesHz.reduce((x, y) => Math.max(x, y), 0);
  // The projected baseline is never longer than the baseline.
  const edge = Math.max(1, (1.02 * longestM) / shortestWave);
  const counts = new Float64Array(CELLS * CELLS);
  const lengths = new Float64Array(LENGTH_BINS);
  let [integrations, samples] = [0, 0];
  let [shortestM, usedM] = [Infinity, 0];
  let fromS: Integration['start'] | undefined;
  let lastS = 0;

  const add = (one: Integration): void => {
    const moment = addSeconds(one.start, one.durationS / 2);
    const { l, m } = skyFrame(file.telescope.site, moment).tangentAxes(phaseCentre);
    const places = positions.map((position) => ({ u: dot(position, l), v: dot(position, m) }));
    const baselines = baselineCount(one.stations);
    for (let i = 0; i < one.stations; i++) {
      for (let j = 0; j < i; j++) {
        const [uM, vM] = [places[i].u - places[j].u, places[i].v - places[j].v];
        let good = 0;
        for (let c = 0; c < one.channels; c++) {
          if (!hasWeight(one, c * baselines + baselineIndex(i, j), i, j)) continue;
          good++;
          const perMetre = frequenciesHz[c] / SPEED_OF_LIGHT_M_PER_S;
          for (const sign of [1, -1]) counts[cellOf(sign * uM * perMetre, sign * vM * perMetre, edge)]++;
        }
        if (good === 0) continue;
        const lengthM = Math.hypot(uM, vM);
        samples += good;
        lengths[Math.min(LENGTH_BINS - 1, Math.floor((lengthM / longestM) * LENGTH_BINS))] += good;
        [shortestM, usedM] = [Math.min(shortestM, lengthM), Math.max(usedM, lengthM)];
      }
    }
    integrations++;
    fromS ??= one.start;
    lastS = one.durationS;
  };

  const picture = (title: string): Picture => {
    const most = counts.reduce((x, y) => Math.max(x, y), 0);
    const top = TITLE_HEIGHT + 26;
    const frame = { left: 120, top, width: SIDE, height: SIDE };
    const [unit, perUnit] = edge >= 2000 ? (['kλ', 1000] as const) : (['λ', 1] as const);
    const scale: ColourScale = {
      palette: 'brightness',
      low: 0,
      high: Math.max(1, most),
      exponent: 0.5,
      label: 'samples in a cell',
    };
    const range = edge / perUnit;
    const map = {
      title: `uv plane, towards ${object}`,
      // u increases to the east, which is on the left in pictures of the sky.
      x: { label: `u (${unit})`, range: [range, -range], ticks: ticks([-range, range], 12) },
      y: { label: `v (${unit})`, range: [-range, range], ticks: ticks([-range, range], 12) },
      rows: CELLS,
      columns: CELLS,
      values: counts.map((count) => (count === 0 ? Number.NaN : count)),
      scale,
      nothing: PAPER,
    } as const;
    const percent = lengths.map((count) => (100 * count) / Math.max(1, samples));
    const bars = {
      title: 'Projected baselines',
      x: { label: 'length (m)', range: [0, longestM] },
      y: { label: '% of samples', range: [0, 1.05 * percent.reduce((x, y) => Math.max(x, y), 1e-3)] },
      values: lengths.map((_, k) => ((k + 0.5) * longestM) / LENGTH_BINS),
      width: longestM / LENGTH_BINS,
      heights: percent,
    } as const;
    const span =
      integrations === 1
        ? `one integration of ${formatSeconds(lastS)}`
        : `${integrations} of ${file.integrationCount} integrations`;
    const caption =
      `${file.telescope.title}, ${span}, ${frequenciesHz.length} channel${frequenciesHz.length === 1 ? '' : 's'}: ${samples} samples` +
      (samples === 0 ? '' : `, projected baselines from ${shortestM.toFixed(1)} to ${usedM.toFixed(1)} m`);
    return pictureOf({ width: PICTURE_WIDTH, height: top + SIDE + 70 }, [
      ...heading(title, caption),
      ...drawHeatMap(map, frame),
      ...drawColourBar(scale, barBeside(frame), { stands: 'beside' }),
      ...drawBars(bars, { left: 1060, top, width: 300, height: 300 }),
    ]);
  };
  return { add, picture };
}

/** Column 0 is the easternmost, row 0 the southernmost. */
function cellOf(u: number, v: number, edge: number): number {
  const along = (value: number): number =>
    Math.min(CELLS - 1, Math.max(0, Math.floor(((value / edge + 1) / 2) * CELLS)));
  return along(v) * CELLS + along(-u);
}

const hasWeight = (one: Integration, cell: number, i: number, j: number): boolean => {
  const { polarisations: p } = one;
  for (let pol = 0; pol < p; pol++) if (weightOf(one, cell, i * p + pol, j * p + pol) > 0) return true;
  return false;
};
