/** How much was taken of a block, by window, channel and input. */
import type { Presence } from '../present.js';
import { ABOVE, sideOf } from '../verdicts.js';

/** Samples are of inputs and channels, as the counts have them. */
export interface Summed {
  /** byWindow : [w] and byChannel : [c], samples that were taken; byInput : [a], of windows in which the input itself offended. */
  readonly byWindow: Float64Array;
  readonly byChannel: Float64Array;
  readonly byInput: Float64Array;
  /** Of what was taken, inputs' windows above the limits and below. */
  readonly above: number;
  readonly below: number;
}

interface Shape {
  readonly channels: number;
  readonly inputs: number;
}

/** What a judgement lists. */
interface Listed {
  readonly edges: Int32Array;
  readonly taken: Int32Array;
  readonly offending: Int32Array;
  readonly codes: Uint8Array;
  readonly presence: Presence | undefined;
}

export function summedOf({ channels, inputs }: Shape, judgement: Listed): Summed {
  const { edges, taken, offending, codes } = judgement;
  const { places: short, lost } = judgement.presence ?? WHOLE;
  const byWindow = new Float64Array(edges.length - 1);
  const byChannel = new Float64Array(channels);
  const byInput = new Float64Array(inputs);
  let [above, below] = [0, 0];
  // All lists ascend: places in them move on with the windows.
  let [next, offence, shorter] = [0, 0, 0];
  for (let w = 0; w + 1 < edges.length; w++) {
    const length = edges[w + 1] - edges[w];
    const [first, end] = [w * channels * inputs, (w + 1) * channels * inputs];
    let takenHere = 0;
    let [c, rowEnd] = [0, first];
    for (; next < taken.length && taken[next] < end; next++) {
      const at = taken[next];
      if (at >= rowEnd) {
        c = ((at - first) / inputs) | 0;
        rowEnd = first + (c + 1) * inputs;
      }
      while (shorter < short.length && short[shorter] < at) shorter++;
      const isShort = shorter < short.length && short[shorter] === at;
      const count = isShort ? length - lost[shorter] : length;
      takenHere += count;
      byChannel[c] += count;
      while (offence < offending.length && offending[offence] < at) offence++;
      if (offence === offending.length || offending[offence] !== at) continue;
      byInput[at - rowEnd + inputs] += count;
      if (sideOf(codes[offence]) === ABOVE) above++;
      else below++;
    }
    byWindow[w] = takenHere;
  }
  return { byWindow, byChannel, byInput, above, below };
}

const WHOLE = { places: new Int32Array(0), lost: new Uint32Array(0) };
