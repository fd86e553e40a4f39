/**
 * What moments, frequencies and kinds of stations contribute to an image, by their imaging weights: a source appears
 * multiplied by the mean of its beams over them.
 */
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import type { WideRows } from '../image/index.js';
import type { StationKinds } from '../sky/beams/powers.js';

/** Part of an image: about one moment and one frequency. */
export interface Share {
  readonly moment: Instant;
  readonly frequencyHz: number;
  /** weights : [kind of station i][kind of station j] */
  readonly weights: Float64Array;
}

/** Channels closer than this share a frequency: their beams are as wide as at the middle to 1 %. */
const SAME_FREQUENCY = 0.02;
const MOST_FREQUENCIES = 16;
/** Moments closer than this are one; more where there would be too many. */
const SAME_MOMENT_S = 300;
const MOST_SHARES = 256;
const FEWEST_MOMENTS = 16;

/** groups : [r] of all pairs i > j of an integration: bin, kind of i, kind of j. */
export function groupsOf({ ofStation, count }: StationKinds, bin: number): Uint32Array {
  const groups = new Uint32Array((ofStation.length * (ofStation.length - 1)) / 2);
  let row = 0;
  for (let i = 0; i < ofStation.length; i++)
    for (let j = 0; j < i; j++) groups[row++] = (bin * count + ofStation[i]) * count + ofStation[j];
  return groups;
}

interface ShareTally {
  /** With their imaging weights. */
  add(rows: WideRows): void;
  shares(moments: readonly Instant[]): Share[];
}

/** `frequenciesHz` are those of the rows. */
export function tallyShares(frequenciesHz: Float64Array, { count }: StationKinds): ShareTally {
  const nodeOf = nodesOf(frequenciesHz);
  const nodes = 1 + (nodeOf.at(-1) ?? 0);
  /** sums : [group][node] */
  const sums = new Map<number, Float64Array>();
  const total = new Float64Array(nodes);
  const offset = new Float64Array(nodes);
  return {
    add: ({ weights, groups }) => {
      if (!groups) throw new Error('rows without groups');
      groups.forEach((group, row) => {
        let sum = sums.get(group);
        if (!sum) sums.set(group, (sum = new Float64Array(nodes)));
        for (let c = 0; c < nodeOf.length; c++) {
          const weight = weights[row * nodeOf.length + c];
          if (!(weight > 0)) continue;
          sum[nodeOf[c]] += weight;
          total[nodeOf[c]] += weight;
          offset[nodeOf[c]] += weight * (frequenciesHz[c] - frequenciesHz[0]);
        }
      });
    },
    shares: (moments) => {
      const most = Math.max(FEWEST_MOMENTS, Math.floor(MOST_SHARES / nodes));
      const lookOf = looksOf(moments, most);
      const looks = Array.from({ length: 1 + (lookOf.at(-1) ?? 0) }, () => ({
        weights: Array.from({ length: nodes }, () => new Float64Array(count ** 2)),
        total: 0,
        sinceS: 0,
      }));
      for (const [group, sum] of sums) {
        const bin = Math.floor(group / count ** 2);
        const look = looks[lookOf[bin]];
        const pair = group % count ** 2;
        const swapped = (pair % count) * count + Math.floor(pair / count);
        sum.forEach((weight, node) => {
          // A pair is in the image in both orders.
          look.weights[node][pair] += weight / 2;
          look.weights[node][swapped] += weight / 2;
          look.total += weight;
          look.sinceS += weight * secondsBetween(moments[0], moments[bin]);
        });
      }
      return looks.flatMap((look) => {
        if (look.total === 0) return [];
        const moment = addSeconds(moments[0], look.sinceS / look.total);
        return look.weights.flatMap((weights, node) =>
          weights.some((weight) => weight > 0)
            ? { moment, frequencyHz: frequenciesHz[0] + offset[node] / total[node], weights }
            : [],
        );
      });
    },
  };
}

/** nodes : [c], neighbours in frequency share one. */
function nodesOf(frequenciesHz: Float64Array, apart = SAME_FREQUENCY): Uint32Array {
  let [node, firstHz] = [0, frequenciesHz[0]];
  const nodes = Uint32Array.from(frequenciesHz, (frequencyHz) => {
    if (Math.abs(frequencyHz - firstHz) > apart * firstHz) {
      node++;
      firstHz = frequencyHz;
    }
    return node;
  });
  return node < MOST_FREQUENCIES ? nodes : nodesOf(frequenciesHz, 2 * apart);
}

/** looks : [bin], neighbours in time share one. */
function looksOf(moments: readonly Instant[], most: number, apartS = SAME_MOMENT_S): number[] {
  let [look, first] = [0, moments[0]];
  const looks = moments.map((moment) => {
    if (Math.abs(secondsBetween(first, moment)) >= apartS) {
      look++;
      first = moment;
    }
    return look;
  });
  return look < most ? looks : looksOf(moments, most, 2 * apartS);
}
