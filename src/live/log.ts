/**
 * The log of a run: each change, the spectrum from which it applies, when it was made and by which user. One JSON
 * object per line, next to the products. The same data with the log give the same products.
 */
import { appendFile, writeFile } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import { z } from 'zod';
import { refuse } from '../core/errors.js';
import { formatInstant } from '../core/instant.js';
import { readText } from '../formats/index.js';
import type { Calibrated, CalibratedAt } from '../stages/index.js';
import type { Change, LoggedChange, MadeChange } from './steering.js';

const LOG_VERSION = 1;

const change = z.union([
  z.strictObject({
    flags: z.strictObject({ inputs: z.array(z.int().nonnegative()), flag: z.boolean() }),
  }),
  z.strictObject({ integrationS: z.number().positive() }),
  z.strictObject({ recording: z.boolean() }),
  z.strictObject({
    gains: z.strictObject({ file: z.string().optional(), solved: z.literal(true).optional() }),
  }),
  z.strictObject({
    beams: z.union([
      z.strictObject({ product: z.int().nonnegative(), towards: z.array(z.string()) }),
      z.strictObject({ product: z.int().nonnegative(), add: z.array(z.string()) }),
      z.strictObject({ product: z.int().nonnegative(), stop: z.array(z.string()) }),
    ]),
  }),
]);

/** When the line was written, UTC; named `utc` in logs of the previous version. */
const written = { at: z.string().optional(), utc: z.string().optional() };

const line = z.strictObject({
  id: z.int(),
  epoch: z.int().nonnegative(),
  fromSpectrum: z.int().nonnegative(),
  /** In data time. */
  from: z.string(),
  ...written,
  who: z.string(),
  authenticated: z.boolean(),
  change,
});
const cancelled = z.strictObject({
  cancels: z.int(),
  ...written,
  who: z.string(),
  authenticated: z.boolean(),
});
const head = z.strictObject({
  corella: z.string(),
  log: z.literal(LOG_VERSION),
  at: z.string().optional(),
  started: z.string().optional(),
});

/** The log entry of a change; gains by the name of their file. */
const plainChange = (made: Change): object =>
  'gains' in made ? { gains: { file: made.gains.file, solved: made.gains.solved } } : made;

/** The log's path, next to the product with this path. */
export const logPathFor = (product: string): string => {
  const { dir, name } = parse(product);
  return join(dir, `${name}.changes.jsonl`);
};

export class ChangeLog {
  private written: Promise<void>;

  private constructor(
    readonly path: string,
    text: string,
    private readonly onFault: (line: string) => void,
  ) {
    this.written = writeFile(path, text);
  }

  static open(path: string, version: string, onFault: (line: string) => void): ChangeLog {
    const first = { corella: version, log: LOG_VERSION, at: new Date().toISOString() };
    return new ChangeLog(path, `${JSON.stringify(first)}\n`, onFault);
  }

  readonly add = ({ id, from, change: made, by }: MadeChange, what: 'made' | 'cancelled'): void => {
    const now = { at: new Date().toISOString(), ...by };
    const entry =
      what === 'cancelled'
        ? { cancels: id, ...now }
        : {
            id,
            epoch: from.epoch,
            fromSpectrum: from.spectrum,
            from: formatInstant(from.at, 6),
            ...now,
            change: plainChange(made),
          };
    // Sequentially, so that lines stay in order.
    this.written = this.written
      .then(() => appendFile(this.path, `${JSON.stringify(entry)}\n`))
      .catch((error: unknown) => {
        this.onFault(`${this.path} cannot be written: ${error instanceof Error ? error.message : ''}`);
      });
  };

  close(): Promise<void> {
    return this.written;
  }
}

type LoadGains = (file: string) => Promise<Calibrated | CalibratedAt>;

/** The changes of a log that took effect. `loadGains` reads a gain file. */
export async function readLog(path: string, loadGains: LoadGains): Promise<readonly LoggedChange[]> {
  const made = new Map<number, z.infer<typeof line>>();
  const lines = (await readText(path)).split('\n').filter((text) => text.trim() !== '');
  for (const [k, text] of lines.entries()) {
    const value = parsed(text, `${basename(path)}:${k + 1}`);
    if (k === 0) checked(head, value, path, k);
    else if (Object.hasOwn(value as object, 'cancels'))
      made.delete(checked(cancelled, value, path, k).cancels);
    else {
      const entry = checked(line, value, path, k);
      made.set(entry.id, entry);
    }
  }
  const changes: LoggedChange[] = [];
  for (const { epoch, fromSpectrum: spectrum, change: one } of made.values())
    changes.push({ epoch, spectrum, change: await withGains(one, path, loadGains) });
  return changes;
}

async function withGains(one: z.infer<typeof change>, path: string, loadGains: LoadGains): Promise<Change> {
  if (!('gains' in one)) return one;
  const { file, solved } = one.gains;
  if (solved)
    refuse(
      path,
      'gains were solved in that run, and the log does not hold them',
      'give gains.solve, or leave the log out',
    );
  return { gains: { file, calibrated: file === undefined ? undefined : await loadGains(file) } };
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(where, 'is not JSON', 'give the log that was written beside the products');
  }
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: string,
  k: number,
): z.output<Schema> {
  const result = schema.safeParse(value);
  return result.success
    ? result.data
    : refuse(
        `${basename(path)}:${k + 1}`,
        'is not a line of a log',
        'give the log that was written beside the products',
      );
}
