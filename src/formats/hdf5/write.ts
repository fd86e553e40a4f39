/**
 * An HDF5 file that grows row by row and is complete after every commit. Data that a reader can reach is never
 * overwritten: new data is appended first, then the index that points to it, and last the 96-byte superblock switches
 * from the old tree to the new one. A crash in between leaves the file of the previous commit.
 */
import { refuse } from '../../core/errors.js';
import type { OutputFile } from '../io/output.js';
import {
  CHUNK_NODE_ENTRIES,
  chunkNode,
  datasetHeader,
  groupBytes,
  SUPERBLOCK_BYTES,
  superblock,
  type ChunkEntry,
  type GroupAddresses,
  type Named,
} from './structures.js';
import { typeSizeBytes, type Hdf5Type } from './types.js';

/** A value that may change at every commit (the number of rows). */
export interface Changing {
  readonly kind: 'changing';
  readonly type: Hdf5Type;
  bytes(): Uint8Array;
}
export interface Fixed {
  readonly kind: 'fixed';
  readonly type: Hdf5Type;
  /** Empty for a scalar. */
  readonly dims: readonly number[];
  readonly bytes: Uint8Array;
}
export interface Growing {
  readonly kind: 'growing';
  readonly type: Hdf5Type;
  /** Dimensions after the first. */
  readonly rowDims: readonly number[];
  readonly chunkRows: number;
}
export interface GroupPlan {
  readonly kind: 'group';
  readonly items: Readonly<Record<string, ItemPlan>>;
}
export type ItemPlan = Changing | Fixed | Growing | GroupPlan;

interface Hdf5Writer {
  /** Adds rows to a growing dataset, given its path; part of the file only after `commit`. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** Rows per chunk of a growing dataset. */
  chunkRowsOf(path: string): number;
  commit(): Promise<void>;
}

/** Larger data goes outside the object header. */
const MOST_COMPACT_BYTES = 1024;

interface Chunks {
  readonly plan: Growing;
  readonly chunkBytes: number;
  /** In whole chunks, and in the unfinished one. */
  rows: number;
  tail: Uint8Array;
  tailBytes: number;
  /** levels[0] are chunks, levels[k] full nodes of level k − 1; each list is shorter than a node. */
  readonly levels: ChunkEntry[][];
}

/** The file operations that it needs. */
export type GrowingFile = Pick<OutputFile, 'path' | 'sizeBytes' | 'write' | 'writeAt'>;

export async function createHdf5(output: GrowingFile, root: GroupPlan): Promise<Hdf5Writer> {
  await output.write(new Uint8Array(SUPERBLOCK_BYTES));
  const growing = new Map<string, Chunks>();
  const settled = new Map<ItemPlan, { header: number; group?: GroupAddresses }>();

  /** Appends at a multiple of eight and returns the address. */
  const put = async (bytes: Uint8Array): Promise<number> => {
    const padding = (8 - (output.sizeBytes % 8)) % 8;
    if (padding > 0) await output.write(new Uint8Array(padding));
    const address = output.sizeBytes;
    await output.write(bytes);
    return address;
  };

  /** Adds an entry; a full level becomes a permanent node, and an entry of the level above. */
  const keep = async (chunks: Chunks, level: number, entry: ChunkEntry): Promise<void> => {
    const entries = (chunks.levels[level] ??= []);
    entries.push(entry);
    if (entries.length < CHUNK_NODE_ENTRIES) return;
    const address = await put(nodeOf(chunks, level, entries));
    const { row } = entries[0];
    chunks.levels[level] = [];
    await keep(chunks, level + 1, { row, address });
  };
  const nodeOf = (
    { plan, chunkBytes, rows }: Chunks,
    level: number,
    entries: readonly ChunkEntry[],
  ): Uint8Array => {
    // A node ends where its chunks end, full or not.
    const endRow = Math.ceil(rows / plan.chunkRows) * plan.chunkRows;
    return chunkNode(entries, { level, rank: plan.rowDims.length + 1, chunkBytes, endRow });
  };

  /** The current index: unfinished nodes are rewritten from the bottom up. */
  const indexOf = async (chunks: Chunks): Promise<number | undefined> => {
    // A partial chunk is written with zeros after its rows, and again when it is full.
    let below: ChunkEntry | undefined;
    if (chunks.tailBytes > 0) {
      chunks.tail.fill(0, chunks.tailBytes);
      const row = Math.floor(chunks.rows / chunks.plan.chunkRows) * chunks.plan.chunkRows;
      below = { row, address: await put(chunks.tail) };
    }
    for (let level = 0; level < chunks.levels.length; level++) {
      const entries = [...chunks.levels[level], ...(below ? [below] : [])];
      const isTop = level === chunks.levels.length - 1;
      // A single finished node at the top is the root.
      if (isTop && level > 0 && entries.length === 1) return entries[0].address;
      if (entries.length === 0) continue;
      below = { row: entries[0].row, address: await put(nodeOf(chunks, level, entries)) };
    }
    return below?.address;
  };

  const settle = async (
    path: string,
    item: ItemPlan,
  ): Promise<{ header: number; group?: GroupAddresses }> => {
    const before = settled.get(item);
    if (before) return before;
    switch (item.kind) {
      case 'fixed': {
        const compact = item.bytes.length <= MOST_COMPACT_BYTES;
        const storage = compact
          ? ({ kind: 'compact', bytes: item.bytes } as const)
          : ({ kind: 'contiguous', address: await put(item.bytes), sizeBytes: item.bytes.length } as const);
        const place = {
          header: await put(datasetHeader(item.type, { dims: item.dims, growth: 'fixed' }, storage)),
        };
        settled.set(item, place);
        return place;
      }
      case 'changing': {
        const storage = { kind: 'compact', bytes: item.bytes() } as const;
        return { header: await put(datasetHeader(item.type, { dims: [], growth: 'fixed' }, storage)) };
      }
      case 'growing': {
        const chunks = planned(path);
        const storage = {
          kind: 'chunked',
          tree: await indexOf(chunks),
          chunk: [item.chunkRows, ...item.rowDims],
        } as const;
        const space = { dims: [chunks.rows, ...item.rowDims], growth: 'growing' } as const;
        return { header: await put(datasetHeader(item.type, space, storage)) };
      }
      case 'group': {
        const names: Named[] = [];
        for (const [name, child] of Object.entries(item.items)) {
          names.push({ name, ...(await settle(`${path}/${name}`, child)) });
        }
        const { bytes, group } = groupBytes(names, Math.ceil(output.sizeBytes / 8) * 8);
        await put(bytes);
        const place = { header: group.header, group };
        if (isSettled(item)) settled.set(item, place);
        return place;
      }
    }
  };

  const isSettled = (item: ItemPlan): boolean =>
    item.kind === 'group' ? Object.values(item.items).every(isSettled) : item.kind === 'fixed';
  const plan = (path: string, item: ItemPlan): void => {
    if (item.kind === 'group') {
      for (const [name, child] of Object.entries(item.items)) plan(`${path}/${name}`, child);
    } else if (item.kind === 'growing') {
      const chunkBytes = typeSizeBytes(item.type) * item.rowDims.reduce((x, y) => x * y, item.chunkRows);
      if (chunkBytes >= 2 ** 32)
        refuse(output.path, `a chunk of ${path} has ${chunkBytes} bytes`, 'HDF5 holds less than 4 GiB');
      growing.set(path, {
        plan: item,
        chunkBytes,
        rows: 0,
        tail: new Uint8Array(0),
        tailBytes: 0,
        levels: [[]],
      });
    }
  };
  plan('', root);

  const planned = (path: string): Chunks => {
    const chunks = growing.get(path);
    if (!chunks) throw new Error(`${path} was not planned`);
    return chunks;
  };

  return {
    chunkRowsOf: (path) => planned(path).plan.chunkRows,
    append: async (path, bytes) => {
      const chunks = planned(path);
      const { chunkBytes } = chunks;
      const { chunkRows } = chunks.plan;
      const rowBytes = chunkBytes / chunkRows;
      if (bytes.length % rowBytes !== 0) throw new Error(`${path}: ${bytes.length} bytes are not whole rows`);
      for (let at = 0; at < bytes.length;) {
        if (chunks.tailBytes === 0 && bytes.length - at >= chunkBytes) {
          const address = await put(bytes.subarray(at, at + chunkBytes));
          const row = chunks.rows;
          chunks.rows += chunkRows;
          at += chunkBytes;
          await keep(chunks, 0, { row, address });
          continue;
        }
        if (chunks.tail.length === 0) chunks.tail = new Uint8Array(chunkBytes);
        const some = Math.min(chunkBytes - chunks.tailBytes, bytes.length - at);
        chunks.tail.set(bytes.subarray(at, at + some), chunks.tailBytes);
        chunks.tailBytes += some;
        chunks.rows += some / rowBytes;
        at += some;
        if (chunks.tailBytes < chunkBytes) continue;
        const address = await put(chunks.tail);
        chunks.tailBytes = 0;
        await keep(chunks, 0, { row: chunks.rows - chunkRows, address });
      }
    },
    commit: async () => {
      const { group } = await settle('', root);
      if (!group) throw new Error('the root is a group');
      await output.writeAt(0, superblock(group, output.sizeBytes));
    },
  };
}
