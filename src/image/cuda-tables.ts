/**
 * Which stations touch which cells of the folded grid, as direct-grid.cu reads it. A task is one row |v| and 8 cells |u|
 * in all four quadrants; for each quadrant, the stations whose kernels touch those cells, in groups of 16.
 *
 *           u−  │  u+           cells of the box, counted from its middle:
 *        ───────┼───────        column |u| of u+ is BOX/2 + |u|, of u− is BOX/2 − 1 − |u|; rows likewise
 *   v+    q1    │   q0
 *        ───────┼───────
 *   v−    q3    │   q2
 */
import { halfBits } from './half.js';
import type { ImagePlan } from './plan.js';

export interface GridBox {
  /** First row and column of the box on the plan's grid. May lie outside it: such cells are never touched. */
  readonly firstRow: number;
  readonly firstColumn: number;
  /** Cells along either side, a multiple of 16. */
  readonly size: number;
}

export interface GridTables {
  /** tasks : [c][row block][cells][row in block] (groups, first group). */
  readonly tasks: Uint32Array;
  /** groups : [group] BLOCK_BYTES each: [quadrant][lane] weights, then [16][quadrant] stations. */
  readonly groups: Uint8Array;
}

export const BLOCK_BYTES = 4 * 512 + 128;
const GROUP = 16;
const STATIONS_AT = 2048;

type GridPlan = Pick<ImagePlan, 'channels' | 'stations' | 'kernelSize' | 'corners' | 'taps'>;

export function gridTables(plan: GridPlan, box: GridBox): GridTables {
  const half = box.size / 2;
  const cellBlocks = box.size / 16;
  const tasksPerChannel = half * cellBlocks;
  const tasks = new Uint32Array(2 * plan.channels * tasksPerChannel);
  // lists[task][quadrant]: stations in the order in which they are gathered
  const byChannel = Array.from({ length: plan.channels }, (_, c) => stationLists(plan, box, c));
  let groups = 0;
  for (const [c, lists] of byChannel.entries()) {
    for (let task = 0; task < tasksPerChannel; task++) {
      const longest = Math.max(...lists.slice(4 * task, 4 * task + 4).map((list) => list.length));
      const at = 2 * (c * tasksPerChannel + task);
      tasks[at] = Math.ceil(longest / GROUP);
      tasks[at + 1] = groups;
      groups += tasks[at];
    }
  }
  const bytes = new Uint8Array(Math.max(1, groups) * BLOCK_BYTES);
  for (const [c, lists] of byChannel.entries()) {
    for (let task = 0; task < tasksPerChannel; task++) {
      const at = 2 * (c * tasksPerChannel + task);
      for (let n = 0; n < tasks[at]; n++) {
        const group = new DataView(bytes.buffer, (tasks[at + 1] + n) * BLOCK_BYTES, BLOCK_BYTES);
        for (let quadrant = 0; quadrant < 4; quadrant++) {
          const list = lists[4 * task + quadrant].slice(n * GROUP, (n + 1) * GROUP);
          writeGroup(group, plan, box, { channel: c, task, quadrant, list });
        }
      }
    }
  }
  return { tasks, groups: bytes };
}

/** Where a task's quadrant lies: the row, and its first cell and the direction in which |u| grows. */
function placeOf(
  box: GridBox,
  task: number,
  quadrant: number,
): { row: number; column: number; step: 1 | -1 } {
  const half = box.size / 2;
  const cellBlocks = box.size / 16;
  const rowInBlock = task % 8;
  const cells = Math.floor(task / 8) % cellBlocks;
  const v = 8 * Math.floor(task / 8 / cellBlocks) + rowInBlock;
  const isDown = quadrant >= 2;
  const isLeft = quadrant % 2 === 1;
  return {
    row: isDown ? half - 1 - v : half + v,
    column: isLeft ? half - 1 - 8 * cells : half + 8 * cells,
    step: isLeft ? -1 : 1,
  };
}

/** lists[4 · task + quadrant] of one channel. */
function stationLists(plan: GridPlan, box: GridBox, channel: number): number[][] {
  const half = box.size / 2;
  const cellBlocks = box.size / 16;
  const lists = Array.from({ length: 4 * half * cellBlocks }, (): number[] => []);
  const { kernelSize, stations, corners } = plan;
  for (let s = 0; s < stations; s++) {
    const row = corners[2 * (channel * stations + s)] - box.firstRow;
    const column = corners[2 * (channel * stations + s) + 1] - box.firstColumn;
    for (let r = row; r < row + kernelSize; r++) {
      const v = r >= half ? r - half : half - 1 - r;
      const rowBlock = Math.floor(v / 8);
      for (let k = column; k < column + kernelSize; k++) {
        const u = k >= half ? k - half : half - 1 - k;
        const quadrant = (r >= half ? 0 : 2) + (k >= half ? 0 : 1);
        const task = (rowBlock * cellBlocks + Math.floor(u / 8)) * 8 + (v % 8);
        const list = lists[4 * task + quadrant];
        if (list.at(-1) !== s) list.push(s);
      }
    }
  }
  return lists.map(spreadOverBanks);
}

/**
 * Eight gathered rows are read at once, without conflict when their stations differ mod 8: deal them out that way,
 * the fullest residues first.
 */
function spreadOverBanks(list: readonly number[]): number[] {
  const classes = Array.from({ length: 8 }, (_, residue) => list.filter((s) => s % 8 === residue));
  const dealt: number[] = [];
  while (dealt.length < list.length) {
    for (const residue of [...classes].sort((x, y) => y.length - x.length)) {
      const next = residue.pop();
      if (next !== undefined) dealt.push(next);
    }
  }
  return dealt;
}

interface Group {
  readonly channel: number;
  readonly task: number;
  readonly quadrant: number;
  readonly list: readonly number[];
}

/**
 * Weights as the B operand of m16n8k16: lane = cell · 4 + (station mod 8)/2 holds, for (re, im), two registers of two
 * halves: register station/8, half station mod 2. Places without a station hold zeros and some station that exists.
 */
function writeGroup(
  to: DataView,
  plan: GridPlan,
  box: GridBox,
  { channel, task, quadrant, list }: Group,
): void {
  const { kernelSize: size, stations, corners, taps } = plan;
  const place = placeOf(box, task, quadrant);
  for (let n = 0; n < GROUP; n++) {
    const s = n < list.length ? list[n] : n % Math.min(8, stations);
    to.setUint16(STATIONS_AT + 2 * (4 * n + quadrant), s, true);
    if (n >= list.length) continue;
    const at = channel * stations + s;
    const row = place.row - (corners[2 * at] - box.firstRow);
    for (let cell = 0; cell < 8; cell++) {
      const column = place.column + place.step * cell - (corners[2 * at + 1] - box.firstColumn);
      if (row < 0 || row >= size || column < 0 || column >= size) continue;
      const tap = 2 * (at * size * size + row * size + column);
      const lane = cell * 4 + Math.floor((n % 8) / 2);
      const byte = quadrant * 512 + lane * 16 + Math.floor(n / 8) * 4 + (n % 2) * 2;
      to.setUint16(byte, halfBits(taps[tap]), true);
      to.setUint16(byte + 8, halfBits(taps[tap + 1]), true);
    }
  }
}
