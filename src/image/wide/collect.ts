/**
 * Where not all planes are in memory, every block of rows passes through all of them, transforms included. So blocks
 * are joined first, as many as memory allows, and pass as one.
 */
import { uvwR, visibilitiesRC, weightsRC } from '../../core/axes.js';
import type { WidePlan } from './plan.js';
import type { WideRows } from './rows.js';

/** Visibilities that pass together: some 400 MB of them in float32. */
const TOGETHER = 2 ** 25;

interface Collector {
  add(rows: WideRows): Promise<void>;
  /** Passes on the rest. */
  flush(): Promise<void>;
}

/** `pass` is given blocks of one set of channels, copied: the caller may reuse the arrays. */
export function collectRows(pass: (rows: WideRows) => Promise<void>, together = TOGETHER): Collector {
  let waiting: WideRows[] = [];
  let visibilities = 0;
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const rows = joinRows(waiting);
    waiting = [];
    visibilities = 0;
    await pass(rows);
  };
  return {
    add: async (rows) => {
      if (waiting.length > 0 && !areAlike(waiting[0], rows)) await flush();
      waiting.push(copyRows(rows));
      visibilities += rows.weights.length;
      if (visibilities >= together) await flush();
    },
    flush,
  };
}

const copyRows = (rows: WideRows): WideRows => joinRows([rows]);

/** Of the same channels, and both with visibilities of one type, or both without. */
function areAlike(a: WideRows, b: WideRows): boolean {
  return (
    a.frequenciesHz.length === b.frequenciesHz.length &&
    a.frequenciesHz.every((frequencyHz, c) => frequencyHz === b.frequenciesHz[c]) &&
    a.visibilities?.constructor === b.visibilities?.constructor
  );
}

/** Blocks of rows as one. */
export function joinRows(blocks: readonly WideRows[]): WideRows {
  const [{ frequenciesHz, visibilities }] = blocks;
  const rows = blocks.reduce((sum, { uvwM }) => sum + uvwM.length / 3, 0);
  const channels = frequenciesHz.length;
  const uvwM = new Float64Array(3 * rows);
  const weights = new Float32Array(rows * channels);
  const length = 2 * rows * channels;
  const values = !visibilities
    ? undefined
    : visibilities instanceof Float32Array
      ? new Float32Array(length)
      : new Float64Array(length);
  const groups = blocks[0].groups && new Uint32Array(rows);
  let row = 0;
  for (const block of blocks) {
    if (block.groups) groups?.set(block.groups, row);
    uvwM.set(block.uvwM, 3 * row);
    weights.set(block.weights, row * channels);
    if (values && block.visibilities) values.set(block.visibilities, 2 * row * channels);
    row += block.uvwM.length / 3;
  }
  return {
    uvwM: uvwR(uvwM, rows),
    frequenciesHz: frequenciesHz.slice(),
    visibilities: values && visibilitiesRC(values, rows, channels),
    weights: weightsRC(weights, rows, channels),
    groups,
  };
}

/** Blocks unchanged, or joined where a plan does not hold all its planes. */
export async function* joinedBlocks(
  blocks: Iterable<WideRows> | AsyncIterable<WideRows>,
  { planesHeld, w }: Pick<WidePlan, 'planesHeld' | 'w'>,
  together = TOGETHER,
): AsyncIterable<WideRows> {
  if (planesHeld === w.planes) {
    yield* blocks;
    return;
  }
  const ready: WideRows[] = [];
  const collector = collectRows((rows) => {
    ready.push(rows);
    return Promise.resolve();
  }, together);
  for await (const rows of blocks) {
    await collector.add(rows);
    yield* ready.splice(0);
  }
  await collector.flush();
  yield* ready;
}
