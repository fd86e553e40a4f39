/** How many spectra of each window really came: missing ones are no powers of 0. */
import type { SpectraGap } from '../core/gaps.js';

interface Shape {
  readonly channels: number;
  readonly inputs: number;
}

/** present : [w][c][a]; undefined where nothing is missing. Gaps may overlap, and lack one polarisation of a station. */
export function presentIn(
  { channels, inputs }: Shape,
  edges: Int32Array,
  gaps: readonly SpectraGap[],
): Uint32Array | undefined {
  if (gaps.length === 0) return undefined;
  const windows = edges.length - 1;
  const present = new Uint32Array(windows * channels * inputs);
  for (let w = 0; w < windows; w++)
    present.fill(edges[w + 1] - edges[w], w * channels * inputs, (w + 1) * channels * inputs);
  const cuts = [...new Set(gaps.flatMap(({ firstChannel, endChannel }) => [firstChannel, endChannel]))];
  cuts.sort((x, y) => x - y);
  for (let n = 0; n + 1 < cuts.length; n++) {
    const [first, end] = [cuts[n], cuts[n + 1]];
    const here = gaps.filter((gap) => gap.firstChannel <= first && gap.endChannel >= end);
    if (here.length === 0) continue;
    here.sort((x, y) => x.firstSample - y.firstSample);
    for (let a = 0; a < inputs; a++) {
      const mine = here.filter(({ firstInput, endInput }) => firstInput <= a && endInput > a);
      if (mine.length === 0) continue;
      for (let w = 0; w < windows; w++) {
        const missing = missingIn(mine, edges[w], edges[w + 1]);
        if (missing === 0) continue;
        for (let c = first; c < end; c++) present[(w * channels + c) * inputs + a] -= missing;
      }
    }
  }
  return present;
}

/** Samples of [first, end) in any of the gaps, which are sorted by their beginning. */
function missingIn(gaps: readonly SpectraGap[], first: number, end: number): number {
  let missing = 0;
  let seen = first;
  for (const { firstSample, endSample } of gaps) {
    const from = Math.max(seen, firstSample);
    const to = Math.min(end, endSample);
    if (to > from) missing += to - from;
    seen = Math.max(seen, to);
  }
  return missing;
}
