/**
 * Which stations touch which cells of the folded grid, as direct-grid.cu and direct-grid-split.cu read it. A task is
 * two rows |v| and 8 cells |u| in all four quadrants; for each quadrant, the stations whose kernels touch those cells,
 * in groups of 16. Two rows share most of their stations, and fill whole sectors of memory.
 *
 *           u−  │  u+           cells of the box, counted from its middle:
 *        ───────┼───────        column |u| of u+ is BOX/2 + |u|, of u− is BOX/2 − 1 − |u|; rows likewise
 *   v+    q1    │   q0
 *        ───────┼───────
 *   v−    q3    │   q2
 */
import { roundTaps } from './halves/half-rounding.js';
import { halfBits } from './halves/half.js';
import type { ImagePlan } from '../../plan.js';
import { splitHalf, TAP_SCALE, type FoldedPrecision } from './halves/split-halves.js';

export interface GridBox {
  /** First row and column of the box on the plan's grid. May be outside it: such cells are never touched. */
  readonly firstRow: number;
  readonly firstColumn: number;
  /** Cells along either side, a multiple of 16. */
  readonly size: number;
}

interface GridTables {
  /**
   * tasks : [c][task] (groups, place, first group, 0); place = pair of rows · BOX/16 + block of cells. The four pairs
   * of a block of 8 rows are adjacent, so that their warps fill whole cache lines.
   */
  readonly tasks: Uint32Array;
  /** groups : [group] `groupBytes` each: [half][row][quadrant][lane] weights, then [16][quadrant] stations. */
  readonly groups: Uint8Array;
  readonly groupBytes: number;
}

/** struct Task of direct-grid.cuh; its last word is padding. */
export const TASK = { groups: 0, place: 4, first: 8, bytes: 16 } as const;
export const TASK_WORDS = TASK.bytes / 4;
/** Weights of two rows and four quadrants. */
export const WEIGHT_BYTES = 2 * 4 * 512;
const STATION_BYTES = 128;
const GROUP = 16;

/** halves : for each half of a weight, [c][s][row][column] complex bits. */
type RoundedPlan = Omit<GridPlan, 'taps'> & { readonly halves: readonly Uint16Array[] };
type GridPlan = Pick<
  ImagePlan,
  'channels' | 'stations' | 'kernelSize' | 'corners' | 'taps' | 'pixels' | 'correction' | 'shown'
>;

export function gridTables(given: GridPlan, box: GridBox, precision: FoldedPrecision): GridTables {
  const plan = { ...given, halves: precision === 'half' ? [halvesTogether(given)] : splitTaps(given.taps) };
  const groupBytes = plan.halves.length * WEIGHT_BYTES + STATION_BYTES;
  const places = tasksOf(box.size);
  const tasks = new Uint32Array(TASK_WORDS * plan.channels * places);
  const byChannel = Array.from({ length: plan.channels }, (_, c) => stationLists(plan, box, c));
  let groups = 0;
  for (const [c, lists] of byChannel.entries()) {
    const lengths = Array.from({ length: places }, (_, place) =>
      Math.ceil(Math.max(...lists.slice(4 * place, 4 * place + 4).map((list) => list.length)) / GROUP),
    );
    for (let n = 0; n < places; n++) {
      const place = placeOfTask(box.size, n);
      const at = TASK_WORDS * (c * places + n);
      tasks[at + TASK.groups / 4] = lengths[place];
      tasks[at + TASK.place / 4] = place;
      tasks[at + TASK.first / 4] = groups;
      groups += lengths[place];
    }
  }
  const bytes = new Uint8Array(Math.max(1, groups) * groupBytes);
  for (const [c, lists] of byChannel.entries()) {
    for (let n = 0; n < places; n++) {
      const [length, place, first] = tasks.subarray(TASK_WORDS * (c * places + n));
      for (let k = 0; k < length; k++) {
        const group = new DataView(bytes.buffer, (first + k) * groupBytes, groupBytes);
        for (let quadrant = 0; quadrant < 4; quadrant++) {
          const list = lists[4 * place + quadrant].slice(k * GROUP, (k + 1) * GROUP);
          writeGroup(group, plan, box, { channel: c, place, quadrant, list });
        }
      }
    }
  }
  return { tasks, groups: bytes, groupBytes };
}

function halvesTogether(plan: GridPlan): Uint16Array {
  const rounded = roundTaps(plan);
  const halves = new Uint16Array(rounded.length);
  for (let at = 0; at < rounded.length; at++) halves[at] = halfBits(rounded[at]);
  return halves;
}

/** [nearest, rest] of every weight, scaled. */
function splitTaps(taps: Float64Array): readonly [Uint16Array, Uint16Array] {
  const halves = [new Uint16Array(taps.length), new Uint16Array(taps.length)] as const;
  for (let at = 0; at < taps.length; at++) {
    const [nearest, rest] = splitHalf(TAP_SCALE * taps[at]);
    halves[0][at] = nearest;
    halves[1][at] = rest;
  }
  return halves;
}

/** Tasks of a channel: pairs of rows times blocks of 8 cells of a quadrant. */
export const tasksOf = (boxSize: number): number => (boxSize / 4) * (boxSize / 16);

/** Tasks are ordered by block of 8 rows, block of cells, pair of rows; places by pair of rows, block of cells. */
function placeOfTask(boxSize: number, task: number): number {
  const cellBlocks = boxSize / 16;
  const [pair, cells, rowBlock] = [
    task % 4,
    Math.floor(task / 4) % cellBlocks,
    Math.floor(task / 4 / cellBlocks),
  ];
  return (4 * rowBlock + pair) * cellBlocks + cells;
}

/** The position of a place's quadrant: its two rows, and its first cell and the direction in which |u| grows. */
function cornerOf(
  box: GridBox,
  place: number,
  quadrant: number,
): { rows: readonly [number, number]; column: number; step: 1 | -1 } {
  const half = box.size / 2;
  const cellBlocks = box.size / 16;
  const cells = place % cellBlocks;
  const v = 2 * Math.floor(place / cellBlocks);
  const isDown = quadrant >= 2;
  const isLeft = quadrant % 2 === 1;
  return {
    rows: isDown ? [half - 1 - v, half - 2 - v] : [half + v, half + v + 1],
    column: isLeft ? half - 1 - 8 * cells : half + 8 * cells,
    step: isLeft ? -1 : 1,
  };
}

/** lists[4 · place + quadrant] of one channel. */
function stationLists(plan: RoundedPlan, box: GridBox, channel: number): number[][] {
  const half = box.size / 2;
  const cellBlocks = box.size / 16;
  const lists = Array.from({ length: 4 * tasksOf(box.size) }, (): number[] => []);
  const { kernelSize, stations, corners } = plan;
  for (let s = 0; s < stations; s++) {
    const row = corners[2 * (channel * stations + s)] - box.firstRow;
    const column = corners[2 * (channel * stations + s) + 1] - box.firstColumn;
    for (let r = row; r < row + kernelSize; r++) {
      const v = r >= half ? r - half : half - 1 - r;
      for (let k = column; k < column + kernelSize; k++) {
        const u = k >= half ? k - half : half - 1 - k;
        const quadrant = (r >= half ? 0 : 2) + (k >= half ? 0 : 1);
        const place = Math.floor(v / 2) * cellBlocks + Math.floor(u / 8);
        const list = lists[4 * place + quadrant];
        if (list.at(-1) !== s) list.push(s);
      }
    }
  }
  return lists.map(spreadOverBanks);
}

/**
 * Eight gathered rows are read at once, without conflict when their stations differ mod 8: stations are dealt out that
 * way, the fullest residues first.
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
  readonly place: number;
  readonly quadrant: number;
  readonly list: readonly number[];
}

/**
 * Weights as the B operand of m16n8k16: lane = cell · 4 + (station mod 8)/2 holds, for (re, im), two registers of two
 * halves: register station/8, half station mod 2. Places without a station hold zeros and some station that exists.
 */
function writeGroup(
  to: DataView,
  plan: RoundedPlan,
  box: GridBox,
  { channel, place, quadrant, list }: Group,
): void {
  const { kernelSize: size, stations, corners, halves } = plan;
  const stationsAt = halves.length * WEIGHT_BYTES;
  const corner = cornerOf(box, place, quadrant);
  for (let n = 0; n < GROUP; n++) {
    const s = n < list.length ? list[n] : n % Math.min(8, stations);
    to.setUint16(stationsAt + 2 * (4 * n + quadrant), s, true);
    if (n >= list.length) continue;
    const at = channel * stations + s;
    for (let which = 0; which < 2; which++) {
      const row = corner.rows[which] - (corners[2 * at] - box.firstRow);
      for (let cell = 0; cell < 8; cell++) {
        const column = corner.column + corner.step * cell - (corners[2 * at + 1] - box.firstColumn);
        if (row < 0 || row >= size || column < 0 || column >= size) continue;
        const tap = 2 * (at * size * size + row * size + column);
        const lane = cell * 4 + Math.floor((n % 8) / 2);
        const byte = (which * 4 + quadrant) * 512 + lane * 16 + Math.floor(n / 8) * 4 + (n % 2) * 2;
        for (const [n, taps] of halves.entries()) {
          to.setUint16(n * WEIGHT_BYTES + byte, taps[tap], true);
          to.setUint16(n * WEIGHT_BYTES + byte + 8, taps[tap + 1], true);
        }
      }
    }
  }
}
