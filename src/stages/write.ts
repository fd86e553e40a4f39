/** Onto disk, whole or not at all; or, where what was finished is of use, as far as it went. */
import { InterruptedError, stoppable } from '../core/ending.js';
import { CorellaError } from '../core/errors.js';
import { errorCode } from '../formats/index.js';
import type { Emit } from './stage.js';

export interface Writer<Item> {
  append(item: Item): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** Opens a writer, lets `fill` append to it and finishes it; where anything fails, nothing is left behind. */
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

/** A writer whose items are of use one by one. */
interface KeepingWriter<Item> extends Writer<Item> {
  /** Ends early: what was finished is the file; how many items that are. */
  keep(): Promise<number>;
}

const DISK_ENDS = ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'];

/** A signal or the disk's end: neither makes what is written worse. */
export function endsEarly(error: unknown): boolean {
  if (error instanceof InterruptedError) return true;
  return error instanceof CorellaError && DISK_ENDS.includes(errorCode(error.cause));
}

interface Kept {
  readonly path: string;
  /** What is counted, for the sentence: "integration". */
  readonly unit: string;
}

/**
 * As `written`; but a signal (`stop` tells `fill`, which throws its reason) or a full disk leave the items that were
 * finished as a whole file, and the error says how many they are.
 */
export async function writtenAsFar<Item, Result>(
  { path, unit }: Kept,
  create: () => Promise<KeepingWriter<Item>>,
  fill: (append: Emit<Item>, stop: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = stoppable(path);
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
    throw told(error as CorellaError, path, unit, await writer.keep());
  } finally {
    stop.release();
  }
}

function told(error: CorellaError, path: string, unit: string, count: number): CorellaError {
  const kept =
    count === 0
      ? `no ${unit} was finished, and nothing was written`
      : `${path} is whole and holds the ${count === 1 ? `one ${unit} that was` : `${count} ${unit}s that were`} finished`;
  return error instanceof InterruptedError
    ? new InterruptedError(error.signal, path, `${error.what}; ${kept}`)
    : new CorellaError({ where: error.where, what: `${error.what}; ${kept}` }, { cause: error.cause });
}
