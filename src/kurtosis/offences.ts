/** Who offends in a block, and in which rows and groups of inputs anybody does: few have, and the others need no look. */
import { GROUP, groupsOf } from './screen.js';
import type { KurtosisPlan } from './plan.js';

export class Offences {
  /** codes : [w][c][a] (verdicts.ts), 0 of who does not. */
  readonly codes: Uint8Array;
  /** rows : [w][c], 1 where any input offends. */
  readonly rows: Uint8Array;
  /** groups : [w][c][a / 16], 1 where any input of the group does. */
  readonly groups: Uint8Array;
  private readonly groupsPerRow: number;

  constructor(
    private readonly plan: KurtosisPlan,
    windows: number,
  ) {
    this.groupsPerRow = groupsOf(plan);
    this.codes = new Uint8Array(windows * plan.channels * plan.inputs);
    this.rows = new Uint8Array(windows * plan.channels);
    this.groups = new Uint8Array(windows * plan.channels * this.groupsPerRow);
  }

  set(row: number, input: number, code: number): void {
    this.codes[row * this.plan.inputs + input] = code;
    this.rows[row] = 1;
    this.groups[row * this.groupsPerRow + Math.floor(input / GROUP)] = 1;
  }

  /** All inputs of a row that are asked and do not offend yet. */
  setOthers(row: number, code: number): void {
    const { inputs, flaggedInputs } = this.plan;
    for (let a = 0; a < inputs; a++)
      if (this.codes[row * inputs + a] === 0 && flaggedInputs[a] === 0) this.set(row, a, code);
  }
}
