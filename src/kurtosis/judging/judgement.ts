/** What was decided of a block: lists of the few cells that offend, made anew for each block and so the caller's for good. */
import type { Presence } from '../present.js';
import type { Summed } from './summed.js';

interface Cells {
  readonly channels: number;
  readonly inputs: number;
}

interface Decided {
  /** Windows are [edges[w], edges[w + 1]). */
  readonly edges: Int32Array;
  /** Places in [w][c][a], ascending, of inputs' windows whose samples are taken. */
  readonly taken: Int32Array;
  /** The same of those that offend, kept ones too, whoever is taken with them not. */
  readonly offending: Int32Array;
  /**
   * codes : [n] of those that offend: 1 where an input's own kurtosis lies above its limits, 2 below; 4 more of a pair of windows,
   * 8 more of inputs or windows together.
   */
  readonly codes: Uint8Array;
  /** Who did not come whole; undefined where all did. */
  readonly presence: Presence | undefined;
  /** Windows in which most inputs and channels would have gone at once. */
  readonly everywhere: readonly number[];
  /** Places in [w][c], ascending, where more than half of the stations offended. */
  readonly common: Int32Array;
  /** Inputs' windows that were too short, too weak or silent, and so not judged. */
  readonly unjudged: number;
  /** Where whoever judged found them already: boxes of what is taken (boxes.ts), six numbers each, and how much that is. */
  readonly packedBoxes?: Int32Array | undefined;
  readonly summed?: Summed | undefined;
}

export class Judgement implements Decided {
  readonly edges: Int32Array;
  readonly taken: Int32Array;
  readonly offending: Int32Array;
  readonly codes: Uint8Array;
  readonly presence: Presence | undefined;
  readonly everywhere: readonly number[];
  readonly common: Int32Array;
  readonly unjudged: number;
  readonly #packedBoxes: Int32Array | undefined;
  readonly #summed: Summed | undefined;
  readonly #cells: number;
  #mask: Uint8Array | undefined;

  constructor({ channels, inputs }: Cells, decided: Decided) {
    this.edges = decided.edges;
    this.taken = decided.taken;
    this.offending = decided.offending;
    this.codes = decided.codes;
    this.presence = decided.presence;
    this.everywhere = decided.everywhere;
    this.common = decided.common;
    this.unjudged = decided.unjudged;
    this.#packedBoxes = decided.packedBoxes;
    this.#summed = decided.summed;
    this.#cells = (decided.edges.length - 1) * channels * inputs;
  }

  /** Of a block too short to be judged. */
  static nothing(plan: Cells, edges: Int32Array): Judgement {
    const none = new Int32Array(0);
    return new Judgement(plan, {
      ...{ edges, taken: none, offending: none, codes: new Uint8Array(0), presence: undefined },
      ...{ everywhere: [], common: none, unjudged: plan.channels * plan.inputs },
    });
  }

  get packedBoxes(): Int32Array | undefined {
    return this.#packedBoxes;
  }

  get summed(): Summed | undefined {
    return this.#summed;
  }

  /** mask : [w][c][a], 1 where an input's samples are taken; made when first asked for. */
  get mask(): Uint8Array {
    if (!this.#mask) {
      const mask = new Uint8Array(this.#cells);
      for (const at of this.taken) mask[at] = 1;
      this.#mask = mask;
    }
    return this.#mask;
  }

  /** offenders : [w][c][a], the codes, 0 of who does not offend; made whenever asked for. */
  get offenders(): Uint8Array {
    const offenders = new Uint8Array(this.#cells);
    for (const [n, at] of this.offending.entries()) offenders[at] = this.codes[n];
    return offenders;
  }

  /** present : [w][c][a], spectra that came; undefined where all did. Made whenever asked for. */
  get present(): Uint32Array | undefined {
    if (!this.presence) return undefined;
    const { edges } = this;
    const windows = edges.length - 1;
    const present = new Uint32Array(this.#cells);
    for (let w = 0; w < windows; w++)
      present.fill(edges[w + 1] - edges[w], (w * this.#cells) / windows, ((w + 1) * this.#cells) / windows);
    const { places, lost } = this.presence;
    for (const [n, place] of places.entries()) present[place] -= lost[n];
    return present;
  }
}
