/** Writes to disk, all or nothing; or, where finished items are of use, as far as it went. */
import { InterruptedError, stoppable } from '../core/ending.js';
import { CorellaError } from '../core/errors.js';
import type { OnProgress } from '../core/progress.js';
import { errorCode } from '../formats/index.js';
import type { Emit } from './stage.js';

export interface Writer<Item> {
  append(item: Item): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** Opens a writer, lets `fill` append to it and finishes it; on any failure no file is left. */
export async function written<Item, Result>(
  create: () => Promise<Writer<Item>>,
  fill: (append: Emit<Item>) => Promise<Result>,
): Promise<Result> {
  const writer = await create();
  try {
    const result = await fill((item) => writer.append(item));
    await writer.finish();
    return result;
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

export interface Copied {
  /** Per input, including missing ones. */
  readonly samples: number;
  /** Over all inputs, and channels of spectra. */
  readonly missingSamples: number;
}

/** The recording that is written, its length, and who shows its progress. */
interface Copying {
  readonly path: string;
  readonly of: number;
  readonly onProgress?: OnProgress;
}

/** Writes all blocks of a recording; after a signal no file is left, and the error says so. */
export async function writtenBlocks<Block extends { readonly samples: number; release?(): void }>(
  create: () => Promise<Writer<Block>>,
  blocks: AsyncIterable<Block>,
  missingIn: (block: Block) => number,
  { path, of, onProgress }: Copying,
): Promise<Copied> {
  const stop = stoppable(path);
  try {
    return await written(create, async (append) => {
      let samples = 0;
      let missingSamples = 0;
      for await (const block of blocks) {
        stop.signal.throwIfAborted();
        await append(block);
        samples += block.samples;
        missingSamples += missingIn(block);
        block.release?.();
        onProgress?.({ done: samples, of, unit: 'samples' });
      }
      return { samples, missingSamples };
    });
  } catch (error) {
    throw error instanceof InterruptedError
      ? new InterruptedError(error.signal, path, `${error.what}; nothing was written`)
      : error;
  } finally {
    stop.release();
  }
}

/** A writer whose items are of use one by one. */
interface KeepingWriter<Item> extends Writer<Item> {
  /** Ends early: the file holds the finished items; returns how many. */
  keep(): Promise<number>;
}

const DISK_ENDS = ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'];

/** After a signal or on a full disk, what is written is still good. */
export function endsEarly(error: unknown): boolean {
  if (error instanceof InterruptedError) return true;
  return error instanceof CorellaError && DISK_ENDS.includes(errorCode(error.cause));
}

interface Kept {
  readonly path: string;
  /** The name of the items, for messages: "integration". */
  readonly unit: string;
}

/**
 * As `written`; but on a signal (`stop` informs `fill`, which throws its reason) or a full disk the finished items are
 * kept as a whole file, and the error gives their number.
 */
export async function writtenAsFar<Item, Result>(
  { path, unit }: Kept,
  create: () => Promise<KeepingWriter<Item>>,
  fill: (append: Emit<Item>, stop: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = stoppable(path);
  try {
    const writer = await create();
    try {
      const result = await fill((item) => writer.append(item), stop.signal);
      await writer.finish();
      return result;
    } catch (error) {
      if (!endsEarly(error)) {
        await writer.abandon();
        throw error;
      }
      throw withKept(error as CorellaError, path, unit, await writer.keep());
    }
  } finally {
    stop.release();
  }
}

function withKept(error: CorellaError, path: string, unit: string, count: number): CorellaError {
  const kept =
    count === 0
      ? `no ${unit} was finished, and nothing was written`
      : `${path} is whole and holds the ${count === 1 ? `one ${unit} that was` : `${count} ${unit}s that were`} finished`;
  return error instanceof InterruptedError
    ? new InterruptedError(error.signal, path, `${error.what}; ${kept}`)
    : new CorellaError({ where: error.where, what: `${error.what}; ${kept}` }, { cause: error.cause });
}
