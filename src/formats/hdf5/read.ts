/**
 * Reads HDF5 through libhdf5 (compiled to WebAssembly), with our own error messages: missing or damaged items are
 * refused by name, numbers come as float64, and large datasets are read by rows. Without its throwing error handler the
 * library returns uninitialised memory when a filter is missing; the handler is always on.
 */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as H5wasm from 'h5wasm/node';
import type { Dataset, Group, Metadata } from 'h5wasm/node';
import { closes, type Closable } from '../../core/closing.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { nowReading } from '../io/being-read.js';
import { openInput } from '../io/input.js';

interface Library {
  readonly classes: typeof H5wasm;
  readonly module: Awaited<typeof H5wasm.ready>;
}

let prepared: Promise<Library> | undefined;
let lives = 0;
/** Files that the library may still hold open, by device and inode: an internal error leaks handles. */
let held = new Set<string>();

/**
 * The library with throwing errors and the common compressors (LZF among them). Certain damaged files make it abort,
 * and it then refuses every call: `forsake` gives the next file a fresh instance. The memory of the old one, some 20 MB
 * per damaged file, is not freed.
 */
function library(): Promise<Library> {
  prepared ??= prepare();
  return prepared;
}

function forsake(): void {
  prepared = undefined;
  held = new Set();
}

async function prepare(): Promise<Library> {
  const url = new URL(import.meta.resolve('h5wasm/node'));
  // A unique URL loads a separate instance.
  url.search = `life=${lives++}`;
  const classes = (await import(url.href)) as typeof H5wasm;
  const module = await classes.ready;
  (module as typeof module & { activate_throwing_error_handler(): void }).activate_throwing_error_handler();
  const plugins = dirname(fileURLToPath(import.meta.resolve('h5wasm-plugins/package.json')));
  module.insert_plugin_search_path(join(plugins, 'plugins'), 0);
  return { classes, module };
}

/** A larger item is not a header item, or is damaged. */
const MOST_BYTES = 2 ** 29;
/** Chunks allowed for any dataset; beyond that each needs this many bytes of the file, at least for its address. */
const [FREE_CHUNKS, BYTES_PER_CHUNK] = [4096, 8];

export interface Hdf5Dataset {
  readonly shape: readonly number[];
  /** 2 if each value is (re, im), else 1. */
  readonly parts: 1 | 2;
  readonly integer: boolean;
  readonly storage: string;
  /** Rows [from, from + count) of the slowest axis, with all other axes, as float64. */
  rows(from: number, count: number): Float64Array;
  /** A range on every axis; as many numbers as the shape has axes. */
  box(offset: readonly number[], count: readonly number[]): Float64Array;
}

export interface Hdf5File extends Closable {
  readonly path: string;
  has(item: string): boolean;
  keys(group: string): string[];
  number(item: string): number;
  numbers(item: string): Float64Array;
  /** Without padding zeros. */
  text(item: string): string;
  /** One number, boolean or text; undefined otherwise. */
  scalar(item: string): number | string | boolean | undefined;
  texts(item: string): string[];
  /** A number or text attached to an item. */
  attribute(item: string, name: string): number | string | undefined;
  dataset(item: string): Hdf5Dataset;
}

const HDF5_SIGNATURE = Uint8Array.from([0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]);
export const isHdf5 = (head: Uint8Array): boolean => HDF5_SIGNATURE.every((byte, k) => head[k] === byte);

/** Whether a file's head is HDF5 and contains these names: most writers put the root's names there. */
export const namesInHead = (head: Uint8Array, ...names: readonly string[]): boolean => {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  return isHdf5(head) && names.every((name) => text.includes(`${name}\0`));
};

/** Errors reported by libhdf5 leave it usable; anything else is an abort or a trap. */
const isOrdinary = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('HDF5-DIAG');

/** One line of libhdf5's error stack: the innermost, where the error began. */
function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const innermost = [...text.matchAll(/^ *#\d+: .*?\(\): (.+)$/gm)].at(-1)?.[1];
  return (innermost ?? text.split('\n')[0]).slice(0, 160);
}

export async function openHdf5(path: string): Promise<Hdf5File> {
  // Our own message for a missing or unreadable file, before the library is called.
  await (await openInput(path)).close();
  const { dev, ino, size } = await stat(path, { bigint: true });
  const identity = `${dev} ${ino}`;
  // The library identifies an open file by these, and would return the content from the time of the failure.
  if (held.has(identity)) forsake();
  const { module, classes } = await library();
  const guarded = <Result>(what: string, act: () => Result): Result => {
    try {
      return act();
    } catch (error) {
      if (error instanceof CorellaError) throw error;
      if (isOrdinary(error)) held.add(identity);
      else forsake();
      throw new CorellaError(
        { where: path, what: `${what} (${reason(error)})`, fix: 'it is damaged or cut short: copy it again' },
        { cause: error },
      );
    }
  };
  const file = guarded('cannot be opened as HDF5', () => new classes.File(path, 'r'));
  const readToTheEnd = nowReading({ dev, ino });
  let isClosed = false;
  const walk = (item: string): unknown => {
    let here: Group = file;
    const names = item.split('/');
    for (const [k, name] of names.entries()) {
      if (!here.keys().includes(name)) return null;
      const next = here.get(name);
      if (k === names.length - 1) return next;
      if (!(next instanceof classes.Group)) return null;
      here = next;
    }
    return null;
  };
  const find = (item: string): unknown => guarded(`${item} cannot be found`, () => walk(item));
  const datasetAt = (item: string): Dataset => {
    const found = find(item);
    if (!(found instanceof classes.Dataset))
      refuse(path, `has no ${item}`, 'it is damaged, or of another kind');
    return found;
  };

  /** The numbers of a range of a dataset. */
  const numbersOf = (
    item: string,
    metadata: Metadata,
    box: { offset: number[]; count: number[] } | null,
  ): Float64Array => {
    const elements = (box?.count ?? metadata.shape ?? []).reduce((product, length) => product * length, 1);
    const sizeBytes = elements * metadata.size;
    if (!(sizeBytes <= MOST_BYTES))
      refuse(path, `${item} asks for ${sizeBytes} bytes at once`, 'it is damaged');
    const pieces = (metadata.chunks ?? []).reduce(
      (product, length, axis) => product * Math.ceil((box?.count ?? metadata.shape ?? [])[axis] / length + 1),
      1,
    );
    if (!(pieces <= FREE_CHUNKS + Number(size) / BYTES_PER_CHUNK))
      refuse(path, `${item} would lie in ${pieces} pieces, which ${size} bytes cannot hold`, 'it is damaged');
    const pointer = module._malloc(Math.max(1, sizeBytes));
    try {
      module.HEAPU8.fill(0, pointer, pointer + sizeBytes);
      const status = module.get_dataset_data(
        file.file_id,
        `/${item}`,
        box ? box.count.map(BigInt) : null,
        box ? box.offset.map(BigInt) : null,
        box ? box.count.map(() => 1n) : null,
        BigInt(pointer),
      );
      if (status < 0) refuse(path, `${item} cannot be read`, 'it is damaged or cut short: copy it again');
      return toNumbers(path, item, metadata, module.HEAPU8.subarray(pointer, pointer + sizeBytes));
    } finally {
      module._free(pointer);
    }
  };
  const wholeNumbers = (item: string): Float64Array =>
    guarded(`${item} cannot be read`, () => {
      const { metadata } = datasetAt(item);
      return numbersOf(item, metadata, null);
    });
  const textsOf = (item: string): string[] =>
    guarded(`${item} cannot be read`, () => {
      const { value } = datasetAt(item);
      const list = Array.isArray(value) ? value : [value];
      return list.map((one) => {
        if (typeof one !== 'string')
          refuse(path, `${item} holds no text`, 'it is damaged, or of another kind');
        return one;
      });
    });
  return {
    path,
    has: (item) => find(item) !== null,
    keys: (group) => {
      const found = group === '' ? file : find(group);
      return guarded(`${group} cannot be listed`, () => (found instanceof classes.Group ? found.keys() : []));
    },
    number: (item) => {
      const values = wholeNumbers(item);
      if (values.length !== 1)
        refuse(path, `${item} holds ${values.length} values, not one`, 'it is damaged');
      return values[0];
    },
    numbers: wholeNumbers,
    text: (item) => textsOf(item).join('\n').replace(/\0+$/, ''),
    scalar: (item) =>
      guarded(`${item} cannot be read`, () => {
        const found = find(item);
        if (!(found instanceof classes.Dataset) || found.metadata.shape === null) return undefined;
        if (found.metadata.shape.some((length) => length !== 1)) return undefined;
        const { value } = found;
        const one: unknown =
          Array.isArray(value) || ArrayBuffer.isView(value) ? (value as unknown[])[0] : value;
        if (typeof one === 'bigint') return Number(one);
        // Booleans are stored as an enumeration of bytes.
        if (typeof one === 'number' && found.metadata.type === ENUMERATION && found.metadata.size === 1)
          return one !== 0;
        return typeof one === 'number' || typeof one === 'string' || typeof one === 'boolean'
          ? one
          : undefined;
      }),
    texts: textsOf,
    attribute: (item, name) =>
      guarded(`the attribute ${name} of ${item} cannot be read`, () => {
        const found = item === '' ? file : find(item);
        if (!(found instanceof classes.Group || found instanceof classes.Dataset)) return undefined;
        if (!(name in found.attrs)) return undefined;
        const { value } = found.attrs[name];
        if (typeof value === 'bigint') return Number(value);
        return typeof value === 'number' || typeof value === 'string' ? value : undefined;
      }),
    dataset: (item) => {
      const metadata = guarded(`${item} cannot be read`, () => datasetAt(item).metadata);
      const { shape } = metadata;
      if (shape === null) refuse(path, `${item} is empty`, 'it is damaged');
      const { parts, integer, storage } = elementOf(path, item, metadata);
      const box = (offset: readonly number[], count: readonly number[]): Float64Array =>
        guarded(`${item} cannot be read`, () =>
          numbersOf(item, metadata, { offset: [...offset], count: [...count] }),
        );
      return {
        shape,
        parts,
        integer,
        storage,
        rows: (from, count) => box([from, ...shape.slice(1).map(() => 0)], [count, ...shape.slice(1)]),
        box,
      };
    },
    close: closes(() => {
      if (isClosed) return;
      isClosed = true;
      readToTheEnd();
      guarded('cannot be closed', () => file.close());
    }),
  };
}

interface Element {
  readonly parts: 1 | 2;
  readonly integer: boolean;
  readonly storage: string;
  readonly array: (typeof arrays)[keyof typeof arrays];
}

/** The library converts big-endian numbers on reading. */
const arrays = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

const INTEGER = 0;
const FLOAT = 1;
const COMPOUND = 6;
const ENUMERATION = 8;

function elementOf(path: string, item: string, metadata: Metadata): Element {
  const members = metadata.compound_type?.members;
  if (metadata.type === COMPOUND && members?.length === 2) {
    const [r, i] = members;
    if (
      r.type === i.type &&
      r.size === i.size &&
      r.offset === 0 &&
      i.offset === r.size &&
      metadata.size === 2 * r.size
    ) {
      return { ...elementOf(path, item, { ...r, shape: null }), parts: 2 };
    }
  }
  const { size, signed, type } = metadata;
  const whole = type === INTEGER || type === ENUMERATION;
  const name = `${whole ? (signed ? 'int' : 'uint') : 'float'}${8 * size}`;
  const array =
    whole || type === FLOAT ? (arrays as Partial<Record<string, Element['array']>>)[name] : undefined;
  if (!array)
    refuse(
      path,
      `${item} holds values of a kind that is not read (HDF5 class ${type}, ${size} bytes)`,
      'export it as numbers',
    );
  return { parts: 1, integer: whole, storage: name, array };
}

/** `bytes` are the library's own memory, which lies at multiples of eight. */
function toNumbers(path: string, item: string, metadata: Metadata, bytes: Uint8Array): Float64Array {
  const { array } = elementOf(path, item, metadata);
  const own = new array(
    bytes.buffer as ArrayBuffer,
    bytes.byteOffset,
    bytes.length / array.BYTES_PER_ELEMENT,
  );
  return own instanceof BigInt64Array || own instanceof BigUint64Array
    ? Float64Array.from(own, Number)
    : new Float64Array(own);
}
