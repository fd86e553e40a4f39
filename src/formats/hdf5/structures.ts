/**
 * HDF5's classic on-disk structures (superblock 0, version 1 object headers, symbol-table groups, version 1 B-trees),
 * each a pure function from addresses to bytes. Every HDF5 library since 1998 reads them.
 */
import { ByteWriter } from './bytes.js';
import { describeType, typeSizeBytes, type Hdf5Type } from './types.js';

export const SUPERBLOCK_BYTES = 96;
/** Half the entries of a symbol node; one node holds all names of our largest group. */
const GROUP_LEAF_K = 32;
const GROUP_INTERNAL_K = 16;
/** Fixed by superblock 0: a chunk index node has up to 64 entries. */
const CHUNK_K = 32;
export const CHUNK_NODE_ENTRIES = 2 * CHUNK_K;
const MOST_NAMES = 2 * GROUP_LEAF_K;

export interface GroupAddresses {
  readonly header: number;
  readonly tree: number;
  readonly heap: number;
}

export function superblock(root: GroupAddresses, endOfFile: number): Uint8Array {
  return new ByteWriter()
    .u8(0x89)
    .ascii('HDF\r\n')
    .u8(0x1a, 0x0a)
    .u8(0, 0, 0, 0, 0, 8, 8, 0)
    .u16(GROUP_LEAF_K, GROUP_INTERNAL_K)
    .u32(0)
    .u64(0)
    .nowhere()
    .u64(endOfFile)
    .nowhere()
    .u64(0, root.header)
    .u32(1, 0)
    .u64(root.tree, root.heap)
    .done();
}

interface Message {
  readonly kind: number;
  readonly body: Uint8Array;
}

function objectHeader(messages: readonly Message[]): Uint8Array {
  const bodies = new ByteWriter();
  for (const { kind, body } of messages) {
    const sizeBytes = Math.ceil(body.length / 8) * 8;
    bodies.u16(kind, sizeBytes).u32(0).bytes(body).pad8();
  }
  return new ByteWriter().u8(1, 0).u16(messages.length).u32(1, bodies.length, 0).bytes(bodies.done()).done();
}

const groupHeader = (tree: number, heap: number): Uint8Array =>
  objectHeader([{ kind: 0x11, body: new ByteWriter().u64(tree, heap).done() }]);

interface Space {
  readonly dims: readonly number[];
  /** Whether the first dimension may grow. */
  readonly growth: 'fixed' | 'growing';
}

function dataspace({ dims, growth }: Space): Message {
  const writer = new ByteWriter()
    .u8(1, dims.length, growth === 'growing' ? 1 : 0, 0)
    .u32(0)
    .u64(...dims);
  if (growth === 'growing') writer.nowhere().u64(...dims.slice(1));
  return { kind: 1, body: writer.done() };
}

/** When space is allocated (1 early, 2 late, 3 incrementally); no fill value is defined. */
const fillValue = (allotted: 1 | 2 | 3): Message => ({
  kind: 5,
  body: new ByteWriter().u8(2, allotted, 2, 0).done(),
});

type Storage =
  | { readonly kind: 'compact'; readonly bytes: Uint8Array }
  | { readonly kind: 'contiguous'; readonly address: number; readonly sizeBytes: number }
  | { readonly kind: 'chunked'; readonly tree: number | undefined; readonly chunk: readonly number[] };

function layout(storage: Storage, type: Hdf5Type): Message[] {
  switch (storage.kind) {
    case 'compact':
      return [
        fillValue(1),
        { kind: 8, body: new ByteWriter().u8(3, 0).u16(storage.bytes.length).bytes(storage.bytes).done() },
      ];
    case 'contiguous':
      return [
        fillValue(2),
        { kind: 8, body: new ByteWriter().u8(3, 1).u64(storage.address, storage.sizeBytes).done() },
      ];
    case 'chunked': {
      const writer = new ByteWriter().u8(3, 2, storage.chunk.length + 1);
      if (storage.tree === undefined) writer.nowhere();
      else writer.u64(storage.tree);
      return [fillValue(3), { kind: 8, body: writer.u32(...storage.chunk, typeSizeBytes(type)).done() }];
    }
  }
}

export const datasetHeader = (type: Hdf5Type, space: Space, storage: Storage): Uint8Array =>
  objectHeader([dataspace(space), { kind: 3, body: describeType(type) }, ...layout(storage, type)]);

export interface Named {
  readonly name: string;
  readonly header: number;
  /** For groups, whose tree and heap addresses are cached beside the name. */
  readonly group?: GroupAddresses;
}

/** Heap, symbol node, tree and header of a group, from `address` on. */
export function groupBytes(
  entries: readonly Named[],
  address: number,
): { bytes: Uint8Array; group: GroupAddresses } {
  if (entries.length > MOST_NAMES)
    throw new Error(`${entries.length} names in one group: at most ${MOST_NAMES}`);
  const sorted = [...entries].sort((x, y) => (x.name < y.name ? -1 : 1));
  const names = new ByteWriter().u64(0);
  const offsets = sorted.map(({ name }) => {
    const offset = names.length;
    names.ascii(name).u8(0).pad8();
    return offset;
  });
  const writer = new ByteWriter();
  const heap = address;
  // Free list 1: none.
  writer
    .ascii('HEAP')
    .u32(0)
    .u64(names.length, 1, heap + 32)
    .bytes(names.done());

  const node = address + writer.length;
  writer.ascii('SNOD').u8(1, 0).u16(sorted.length);
  sorted.forEach(({ header, group }, k) => {
    writer.u64(offsets[k], header).u32(group ? 1 : 0, 0);
    writer.u64(group?.tree ?? 0, group?.heap ?? 0);
  });
  writer.padTo(node - address + 8 + MOST_NAMES * 40);

  const tree = address + writer.length;
  writer
    .ascii('TREE')
    .u8(0, 0)
    .u16(sorted.length === 0 ? 0 : 1)
    .nowhere(2);
  writer.u64(0, node, offsets.at(-1) ?? 0);
  writer.padTo(tree - address + 24 + (4 * GROUP_INTERNAL_K + 1) * 8);

  const header = address + writer.length;
  writer.bytes(groupHeader(tree, heap));
  return { bytes: writer.pad8().done(), group: { header, tree, heap } };
}

export interface ChunkEntry {
  /** First row of the chunk, or of the first chunk under a node. */
  readonly row: number;
  readonly address: number;
}

/** A node of the index over consecutive chunks along the rows. */
export function chunkNode(
  entries: readonly ChunkEntry[],
  node: {
    readonly level: number;
    readonly rank: number;
    readonly chunkBytes: number;
    readonly endRow: number;
  },
): Uint8Array {
  const writer = new ByteWriter().ascii('TREE').u8(1, node.level).u16(entries.length).nowhere(2);
  const key = (sizeBytes: number, row: number): void => {
    writer.u32(sizeBytes, 0).u64(row, ...new Array<number>(node.rank).fill(0));
  };
  for (const { row, address } of entries) {
    key(node.chunkBytes, row);
    writer.u64(address);
  }
  key(0, node.endRow);
  const keyBytes = 8 + 8 * (node.rank + 1);
  return writer.padTo(24 + CHUNK_NODE_ENTRIES * (keyBytes + 8) + keyBytes).done();
}
