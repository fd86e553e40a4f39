/** Onto disk, whole or not at all. */
import type { Emit } from './stages/stage.js';

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
