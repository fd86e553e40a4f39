/** The decision on a block: a code for each input's window, and what later stages need of it. */
import type { SpectraGap } from '../core/gaps.js';
import type { KurtosisPlan } from './plan.js';

/** Codes of an input's window: above its limits (pulses) or below (carriers). */
export const ABOVE = 1;
export const BELOW = 2;
/** Flagged with other windows or inputs, not by its own kurtosis. */
export const WIDER = 4;
/** Part of a burst that is kept. */
export const KEPT = 8;
/** Too short, too weak or silent. */
export const UNTESTED = 16;

export const isFlagged = (code: number): boolean => (code & (ABOVE | BELOW)) !== 0 && (code & KEPT) === 0;

/** Windows in which most inputs are above their limits in most channels, and in which most are below. */
export const BURST = 1;
export const OVERLOAD = 2;

type Shape = Pick<KurtosisPlan, 'channels' | 'inputs' | 'polarisations' | 'takes' | 'flaggedInputs'>;

/** Numbers of a range for native code and cards. */
export const BOX_NUMBERS = 6;
export const packedBoxes = (boxes: readonly SpectraGap[]): Int32Array => {
  const packed = new Int32Array(BOX_NUMBERS * boxes.length);
  for (const [n, box] of boxes.entries()) {
    const { firstChannel, endChannel, firstInput, endInput, firstSample, endSample } = box;
    packed.set([firstChannel, endChannel, firstInput, endInput, firstSample, endSample], BOX_NUMBERS * n);
  }
  return packed;
};

type Box = { -readonly [key in keyof SpectraGap]: SpectraGap[key] };

export class Decision {
  /** Samples flagged, [w] and [c], and [a] of windows in which the input itself is beyond its limits. */
  readonly byWindow: Float64Array;
  readonly byChannel: Float64Array;
  readonly byInput: Float64Array;
  /** Samples that arrived, of inputs that are used. */
  samples = 0;
  /** Inputs' windows: of the flagged ones, above and below, and untested ones. */
  above = 0;
  below = 0;
  untested = 0;
  /** Flagged ranges, as gaps: treated like missing data. */
  readonly boxes: SpectraGap[] = [];
  /** Rows, [w][c], in which most inputs of a polarisation are beyond their limits, ascending. */
  readonly common: number[] = [];

  /** codes : [w][c][a]; bursts : [w]; lost : [w][c][a], missing spectra, where there are any. */
  constructor(
    private readonly plan: Shape,
    readonly edges: Int32Array,
    readonly codes: Uint8Array,
    readonly bursts: Uint8Array,
    readonly lost: Uint32Array | undefined,
  ) {
    const windows = edges.length - 1;
    this.byWindow = new Float64Array(windows);
    this.byChannel = new Float64Array(plan.channels);
    this.byInput = new Float64Array(plan.inputs);
    if (windows === 0) this.untested = plan.channels * plan.inputs;
    this.count();
  }

  /** Windows that are bursts, or overloaded. */
  get everywhere(): readonly number[] {
    return [...this.bursts.keys()].filter((w) => this.bursts[w] !== 0);
  }

  /** mask : [w][c][a], 1 where an input's samples are flagged; made on each call. */
  get mask(): Uint8Array {
    const { codes, takesBoth } = this;
    return codes.map((code, at) => (isFlagged(code) || (takesBoth && isFlagged(codes[at ^ 1])) ? 1 : 0));
  }

  /** Counts per station lose both polarisations. */
  private get takesBoth(): boolean {
    return this.plan.takes === 'stations' && this.plan.polarisations === 2;
  }

  /** Row by row: few inputs have a code. */
  private count(): void {
    const { codes, plan, lost, edges } = this;
    const { channels, inputs, polarisations, flaggedInputs } = plan;
    const used = [0, 0];
    for (let a = 0; a < inputs; a++) used[a % polarisations] += 1 - flaggedInputs[a];
    this.samples = edges[edges.length - 1] * channels * (used[0] + used[1]);
    lost?.forEach((many, at) => {
      if (many > 0 && flaggedInputs[at % inputs] === 0) this.samples -= many;
    });
    const coded = placesOfCodes(codes);
    let open: Box[] = [];
    let before = -1;
    for (let n = 0, end = 0; n < coded.length; n = end) {
      const row = Math.floor(coded[n] / inputs);
      const sided = [0, 0];
      const untested = [0, 0];
      for (; end < coded.length && coded[end] < (row + 1) * inputs; end++) {
        const p = (coded[end] - row * inputs) % polarisations;
        if ((codes[coded[end]] & (ABOVE | BELOW)) !== 0) sided[p]++;
        if ((codes[coded[end]] & UNTESTED) !== 0) untested[p]++;
      }
      this.untested += untested[0] + untested[1];
      if (sided.some((many, p) => 2 * many > used[p] - untested[p])) this.common.push(row);
      if (row !== before + 1 || row % channels === 0) open = [];
      open = sided[0] + sided[1] > 0 ? this.addRow(row, coded.slice(n, end), open) : [];
      before = row;
    }
  }

  /** Neighbouring inputs, and the same inputs in neighbouring channels, make one range. */
  private addRow(row: number, coded: readonly number[], open: readonly Box[]): Box[] {
    const { codes, plan, edges, lost } = this;
    const { channels, inputs } = plan;
    const [w, c] = [Math.floor(row / channels), row % channels];
    const first = row * inputs;
    const times = { firstSample: edges[w], endSample: edges[w + 1] };
    const samplesOf = (a: number): number => edges[w + 1] - edges[w] - (lost ? lost[first + a] : 0);
    const here: Box[] = [];
    for (const at of coded) {
      if (!isFlagged(codes[at])) continue;
      const a = at - first;
      this.byInput[a] += samplesOf(a);
      if ((codes[at] & ABOVE) !== 0) this.above++;
      else this.below++;
      const [from, end] = this.takesBoth ? [a & ~1, (a | 1) + 1] : [a, a + 1];
      const last = here.at(-1);
      // The station's other polarisation was flagged before.
      if (last?.endInput === end) continue;
      for (let one = from; one < end; one++) {
        this.byWindow[w] += samplesOf(one);
        this.byChannel[c] += samplesOf(one);
      }
      if (last?.endInput === from) last.endInput = end;
      else here.push({ firstChannel: c, endChannel: c + 1, firstInput: from, endInput: end, ...times });
    }
    return here.map((box) => {
      const before = open.find(
        ({ firstInput, endInput }) => firstInput === box.firstInput && endInput === box.endInput,
      );
      if (!before) this.boxes.push(box);
      else before.endChannel = c + 1;
      return before ?? box;
    });
  }
}

/** Places of codes other than 0, ascending: there are few. Read four bytes at a time. */
function placesOfCodes(codes: Uint8Array): number[] {
  const words = new Uint32Array(codes.buffer, codes.byteOffset, Math.floor(codes.length / 4));
  const places: number[] = [];
  const look = (first: number, end: number): void => {
    for (let at = first; at < end; at++) if (codes[at] !== 0) places.push(at);
  };
  for (let word = 0; word < words.length; word++) if (words[word] !== 0) look(4 * word, 4 * word + 4);
  look(4 * words.length, codes.length);
  return places;
}

/** lost : [w][c][a], the missing spectra of each window; undefined where nothing is missing. Gaps may overlap. */
export function lostIn(
  { channels, inputs }: Pick<Shape, 'channels' | 'inputs'>,
  edges: Int32Array,
  gaps: readonly SpectraGap[],
): Uint32Array | undefined {
  if (gaps.length === 0) return undefined;
  const sorted = [...gaps].sort((x, y) => x.firstSample - y.firstSample);
  const lost = new Uint32Array((edges.length - 1) * channels * inputs);
  /** seen : [c][a], the sample up to which this window was counted. */
  const seen = new Int32Array(channels * inputs);
  for (let w = 0; w + 1 < edges.length; w++) {
    seen.fill(edges[w]);
    for (const gap of sorted) {
      const to = Math.min(edges[w + 1], gap.endSample);
      if (to <= Math.max(edges[w], gap.firstSample)) continue;
      for (let c = gap.firstChannel; c < gap.endChannel; c++)
        for (let a = gap.firstInput; a < gap.endInput; a++) {
          const row = c * inputs + a;
          const from = Math.max(seen[row], gap.firstSample);
          if (to > from) lost[w * channels * inputs + row] += to - from;
          seen[row] = Math.max(seen[row], to);
        }
    }
  }
  return lost;
}
