/** Picture of flags: the flagged fraction of all pairs and products, channel by time. */
import type { Integration } from '../../core/blocks.js';
import { baselineCount } from '../../core/axes.js';
import { secondsBetween, addSeconds, type Instant } from '../../core/instant.js';
import type { VisibilityFile } from '../../formats/index.js';
import { type ColourScale, type PlotFrame, type Shape } from '../../draw/index.js';
import { isFlagged, visitPairs, weightOf } from '../visibilities.js';
import { frequencyAxis, stepHz, timeAxis, heatMapWithBar } from './parts.js';

/** More rows are averaged: the picture has no more pixels. */
const MOST_ROWS = 240;

interface FlagMap {
  add(one: Integration): void;
  /** rows : [t][c], the flagged fraction of the measured data; NaN if nothing was measured. */
  rows(): Float64Array[];
  /** Empty if nothing is flagged. */
  draw(frame: PlotFrame): Shape[];
}

const scale: ColourScale = { palette: 'brightness', low: 0, high: 1, exponent: 1, label: 'flagged share' };

export function flagMap(file: VisibilityFile): FlagMap {
  const { frequenciesHz, channelWidthHz } = file.header;
  const channels = frequenciesHz.length;
  const baselines = baselineCount(file.telescope.stations.length);
  const each = Math.max(1, Math.ceil(file.integrationCount / MOST_ROWS));
  const flagged: Float64Array[] = [];
  const measured: Float64Array[] = [];
  let [count, start, end]: [number, Instant | undefined, Instant | undefined] = [0, undefined, undefined];
  const rows = (): Float64Array[] => flagged.map((row, t) => row.map((sum, c) => sum / measured[t][c]));
  return {
    add: (one) => {
      if (count++ % each === 0) {
        flagged.push(new Float64Array(channels));
        measured.push(new Float64Array(channels));
      }
      start ??= one.start;
      end = addSeconds(one.start, one.durationS);
      const [own, of] = [flagged[flagged.length - 1], measured[measured.length - 1]];
      visitPairs(one, (cell, a1, a2) => {
        const c = Math.floor(cell / baselines);
        if (isFlagged(one, cell, a1, a2)) {
          own[c]++;
          of[c]++;
        } else if (weightOf(one, cell, a1, a2) > 0) of[c]++;
      });
    },
    rows,
    draw: (frame) => {
      const all = rows();
      if (!start || !end || !all.some((row) => row.some((share) => share > 0))) return [];
      const map = {
        title: 'flagged, over all pairs and products',
        x: frequencyAxis(frequenciesHz, stepHz(frequenciesHz, channelWidthHz)),
        y: timeAxis(secondsBetween(start, end)),
        rows: all.length,
        columns: channels,
        scale,
        values: Float64Array.from(all.flatMap((row) => [...row])),
      };
      return heatMapWithBar(map, frame);
    },
  };
}
