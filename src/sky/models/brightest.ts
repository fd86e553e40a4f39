/** Sky models of any length: the brightest components are kept; the rest is reported. */
import type { Source } from '../source.js';

/** More take minutes and gigabytes in calibration. */
export const MOST_COMPONENTS = 100_000;

export interface SkyModel {
  readonly sources: readonly Source[];
  /** What was left out or assumed, one line each for users. */
  readonly notes: readonly string[];
}

export interface Component {
  readonly source: Source;
  /** At the component's own reference frequency. */
  readonly fluxJy: number;
}

/** Collects components in bounded memory. Up to `most` of them stay in input order. */
export function brightestOf(most = MOST_COMPONENTS): {
  add(component: Component): void;
  finish(): SkyModel;
} {
  let kept: Component[] = [];
  let count = 0;
  let allJy = 0;
  /** Fainter components are no longer among the brightest. */
  let leastJy = 0;
  const cut = (): void => {
    kept.sort((one, other) => Math.abs(other.fluxJy) - Math.abs(one.fluxJy));
    kept.length = most;
    leastJy = Math.abs(kept[most - 1].fluxJy);
  };
  return {
    add: (component) => {
      count++;
      allJy += Math.abs(component.fluxJy);
      if (Math.abs(component.fluxJy) < leastJy) return;
      kept.push(component);
      if (kept.length >= 2 * most) cut();
    },
    finish: () => {
      if (kept.length > most) cut();
      const sources = kept.map(({ source }) => source);
      if (count <= most) return { sources, notes: [] };
      const keptJy = kept.reduce((sum, { fluxJy }) => sum + Math.abs(fluxJy), 0);
      kept = [];
      const percent = ((keptJy / allJy) * 100).toFixed(2);
      return {
        sources,
        notes: [
          `the ${most.toLocaleString('en')} brightest of its ${count.toLocaleString('en')} components are used: ` +
            `${percent} % of its flux; cut it to the field to use all of that`,
        ],
      };
    },
  };
}
