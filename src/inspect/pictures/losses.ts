/**
 * Lost data of integrations: for each input and channel, and over time, the fraction of samples that never arrived or
 * were removed from the voltages as interference. Computed from counts: the fullest product of an integration counts as
 * complete. Flagged samples did arrive.
 */
import { baselineCount } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import { type ColourScale, type HeatMap, type PlotFrame, type Shape } from '../../draw/index.js';
import type { VisibilityFile } from '../../formats/index.js';
import { inputName } from '../../telescope/telescope.js';
import { measuredOf, visitPairs } from '../visibilities.js';
import { frequencyAxis, stepHz, timeAxis, heatMapWithBar, nextPanel } from './parts.js';

const MOST_ROWS = 240;

interface LossMap {
  add(one: Integration): void;
  /** overTime : [t][c] and ofInputs : [a][c], lost fractions; NaN without data. */
  shares(): { readonly overTime: readonly Float64Array[]; readonly ofInputs: readonly Float64Array[] };
  /** Two panels side by side; empty if nothing is lost. */
  draw(frame: PlotFrame): Shape[];
}

export function lossMap(file: VisibilityFile): LossMap {
  const { frequenciesHz, channelWidthHz, polarisations } = file.header;
  const channels = frequenciesHz.length;
  const { stations } = file.telescope;
  const baselines = baselineCount(stations.length);
  const each = Math.max(1, Math.ceil(file.integrationCount / MOST_ROWS));
  const tally = () => ({ lost: new Float64Array(channels), of: new Float64Array(channels) });
  const inputs = Array.from({ length: stations.length * polarisations }, tally);
  const times: ReturnType<typeof tally>[] = [];
  let [count, start, end]: [number, Instant | undefined, Instant | undefined] = [0, undefined, undefined];
  const sharesOf = (rows: readonly ReturnType<typeof tally>[]): Float64Array[] =>
    rows.map(({ lost, of }) => lost.map((sum, c) => sum / of[c]));
  const shares = () => ({ overTime: sharesOf(times), ofInputs: sharesOf(inputs) });
  return {
    add: (one) => {
      if (count++ % each === 0) times.push(tally());
      start ??= one.start;
      end = addSeconds(one.start, one.durationS);
      const now = times[times.length - 1];
      let [most, hasAutos] = [0, false];
      visitPairs(one, (cell, a1, a2) => {
        const weight = measuredOf(one, cell, a1, a2);
        most = Math.max(most, weight);
        hasAutos ||= a1 === a2 && weight > 0;
      });
      if (most === 0) return;
      visitPairs(one, (cell, a1, a2) => {
        // An input's autocorrelation shows its samples; files without autocorrelations show them by pairs.
        if (hasAutos && a1 !== a2) return;
        const c = Math.floor(cell / baselines);
        const lost = 1 - measuredOf(one, cell, a1, a2) / most;
        for (const row of [now, inputs[a1], ...(a1 === a2 ? [] : [inputs[a2]])]) {
          row.lost[c] += lost;
          row.of[c]++;
        }
      });
    },
    shares,
    draw: (frame) => {
      const { overTime, ofInputs } = shares();
      const worst = [...overTime, ...ofInputs].reduce(
        (most, row) => row.reduce((own, share) => (share > own ? share : own), most),
        0,
      );
      if (!start || !end || worst === 0) return [];
      const scale: ColourScale = {
        palette: 'brightness',
        low: 0,
        high: 100 * worst,
        exponent: 0.5,
        label: 'missing or flagged (%)',
      };
      const x = frequencyAxis(frequenciesHz, stepHz(frequenciesHz, channelWidthHz));
      const names = inputs.map((_, a) => inputName(file.telescope, a, polarisations, file.header.feeds));
      const times = {
        title: 'samples missing or flagged, over time',
        x,
        y: timeAxis(secondsBetween(start, end)),
        ...flat(overTime, channels, scale),
      };
      const everyInput: HeatMap = {
        title: 'samples missing or flagged, of every input',
        x,
        y: { label: 'input', range: [-0.5, inputs.length - 0.5], steps: 'whole', names },
        ...flat(ofInputs, channels, scale),
      };
      return [
        ...heatMapWithBar(times, frame),
        ...heatMapWithBar(everyInput, { ...frame, left: nextPanel(frame) }),
      ];
    },
  };
}

const flat = (
  rows: readonly Float64Array[],
  columns: number,
  scale: ColourScale,
): Pick<HeatMap, 'rows' | 'columns' | 'values' | 'scale'> => ({
  rows: rows.length,
  columns,
  scale,
  values: Float64Array.from(rows.flatMap((row) => Array.from(row, (share) => 100 * share))),
});
