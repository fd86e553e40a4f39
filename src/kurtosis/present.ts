/** How many spectra of each window really came: missing ones are no powers of 0. */
import type { SpectraGap } from '../core/gaps.js';

interface Shape {
  readonly channels: number;
  readonly inputs: number;
}

/** Inputs' windows that did not come whole: the others did. */
export interface Presence {
  /** places : [n], where they are in [w][c][a], ascending. */
  readonly places: Int32Array;
  /** lost : [n], spectra that did not come; never 0. */
  readonly lost: Uint32Array;
}

/** Undefined where nothing is missing. Gaps may overlap, and lack one polarisation of a station. */
export function presentIn(
  { channels, inputs }: Shape,
  edges: Int32Array,
  gaps: readonly SpectraGap[],
): Presence | undefined {
  if (gaps.length === 0) return undefined;
  const parts = partsOf(inputs, gaps);
  const places: number[] = [];
  const lost: number[] = [];
  for (let w = 0; w + 1 < edges.length; w++)
    for (const { firstChannel, endChannel, byInput } of parts) {
      // The same in all channels of a part.
      const [heres, misseds]: [number[], number[]] = [[], []];
      for (const { input, gaps: mine } of byInput) {
        const missed = missedIn(mine, edges[w], edges[w + 1]);
        if (missed === 0) continue;
        heres.push(input);
        misseds.push(missed);
      }
      for (let c = firstChannel; c < endChannel; c++)
        for (let n = 0; n < heres.length; n++) {
          places.push((w * channels + c) * inputs + heres[n]);
          lost.push(misseds[n]);
        }
    }
  return { places: Int32Array.from(places), lost: Uint32Array.from(lost) };
}

/** Channels that lack the same, ascending, with the gaps of each input that has any. */
interface Part {
  readonly firstChannel: number;
  readonly endChannel: number;
  readonly byInput: readonly { readonly input: number; readonly gaps: readonly SpectraGap[] }[];
}

function partsOf(inputs: number, gaps: readonly SpectraGap[]): readonly Part[] {
  const cuts = [...new Set(gaps.flatMap(({ firstChannel, endChannel }) => [firstChannel, endChannel]))];
  cuts.sort((x, y) => x - y);
  const sorted = [...gaps].sort((x, y) => x.firstSample - y.firstSample);
  return cuts.slice(1).flatMap((endChannel, n) => {
    const firstChannel = cuts[n];
    const here = sorted.filter((gap) => gap.firstChannel <= firstChannel && gap.endChannel >= endChannel);
    if (here.length === 0) return [];
    const byInput = Array.from({ length: inputs }, (_, input) => ({
      input,
      gaps: here.filter(({ firstInput, endInput }) => firstInput <= input && endInput > input),
    })).filter((mine) => mine.gaps.length > 0);
    return [{ firstChannel, endChannel, byInput }];
  });
}

/** Samples of [first, end) in any of the gaps, which are sorted by their beginning. */
function missedIn(gaps: readonly SpectraGap[], first: number, end: number): number {
  let missed = 0;
  let seen = first;
  for (const { firstSample, endSample } of gaps) {
    const from = Math.max(seen, firstSample);
    const to = Math.min(end, endSample);
    if (to > from) missed += to - from;
    seen = Math.max(seen, to);
  }
  return missed;
}
