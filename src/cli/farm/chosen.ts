/** Flags of what was correlated, and which channels are kept: chosen when the file is written, of whole integrations. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { refuse } from '../../core/errors.js';
import type { Product } from '../../farm/index.js';
import type { VisibilityHeader } from '../../formats/index.js';
import { flagging } from '../../pipeline/stages/flag-rules.js';
import { correlatePart, type CorrelatePartOptions } from '../options/correlate-part.js';

type Chosen = NonNullable<Extract<Product, { kind: 'correlation' }>['chosen']>;

const sumOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path).catch(() => refuse(path, 'cannot be read', 'put it back')))
    .digest('hex');

/** As the plan carries it; nothing where nothing is chosen. */
export async function chosenOf(
  { flag, flags, keepChannels }: CorrelatePartOptions,
  frequenciesHz: Float64Array,
): Promise<{ readonly chosen?: Chosen }> {
  if (flag === undefined && flags === undefined && keepChannels === undefined) return {};
  return {
    chosen: {
      madeHz: Array.from(frequenciesHz),
      ...(flag === undefined ? {} : { flag }),
      ...(keepChannels === undefined ? {} : { keepChannels }),
      ...(flags === undefined ? {} : { flags: { path: resolve(flags), sha256: await sumOf(flags) } }),
    },
  };
}

/** What becomes of each integration before it is written. */
export async function throughChosen(
  header: VisibilityHeader,
  { madeHz, flag, flags, keepChannels }: Chosen,
): Promise<ReturnType<typeof flagging>> {
  if (flags && (await sumOf(flags.path)) !== flags.sha256)
    refuse(flags.path, 'is not the file of flags that was submitted', 'put that back, or submit again');
  const part = await correlatePart(
    { ...header, frequenciesHz: Float64Array.from(madeHz) },
    {
      ...(flag === undefined ? {} : { flag }),
      ...(keepChannels === undefined ? {} : { keepChannels }),
      ...(flags && { flags: flags.path }),
    },
  );
  return flagging(part.flags);
}
