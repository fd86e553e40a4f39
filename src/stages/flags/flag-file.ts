/**
 * Files of flags: what is flagged, in words, apart from the data.
 *
 *   { "channels": 16, "flags": [{ "times": "FROM..TO", "channels": "3-5", "inputs": ["stand17:Y"],
 *     "baselines": ["stand1&stand2"], "products": ["XX"], "why": "radar" }] }
 *
 * An entry flags the intersection of its keys; a key left out means any. `channels` beside the flags is how many the
 * data have,so that channel numbers are not applied to another file.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { issueWords } from '../../core/schema-words.js';
import { writeFileWhole, writtenProducts, type VisibilityHeader } from '../../formats/index.js';
import type { FlagRule } from './rules.js';
import { ruleOf, type FlagContext, type FlagWords } from './words.js';

const schema = z.strictObject({
  channels: z.number().int().positive().optional(),
  history: z.array(z.string()).optional(),
  flags: z.array(
    z.strictObject({
      inputs: z.array(z.string()).optional(),
      channels: z.string().optional(),
      times: z.string().optional(),
      baselines: z.array(z.string()).optional(),
      products: z.array(z.string()).optional(),
      why: z.string().optional(),
    }),
  ),
});

/** A file of flags as it was read: its rules depend on the data. */
export interface StoredFlags extends Readonly<z.output<typeof schema>> {
  readonly path: string;
}

export async function readStoredFlags(path: string): Promise<StoredFlags> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    refuse(path, 'cannot be read', 'give a file of flags, as flags.out writes them');
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    refuse(path, 'is no JSON', 'give a file of flags, as flags.out writes them');
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const which = issue.path.length === 0 ? 'its content' : issue.path.join('.');
    return refuse(
      path,
      `${which} ${issueWords(issue, json)}`,
      'write it as flags.out does (docs/interference.md)',
    );
  }
  return { path, ...parsed.data };
}

export function rulesOfFile(
  { path, channels, flags }: StoredFlags,
  context: FlagContext,
): readonly FlagRule[] {
  if (channels !== undefined && channels !== context.frequenciesHz.length)
    refuse(
      path,
      `is of ${channels} channels where the data have ${context.frequenciesHz.length}`,
      'flag by frequency, "channels": "151MHz..152MHz", and leave out how many there are',
    );
  return flags.map((words, k) => {
    const said = [words.inputs, words.channels, words.times, words.baselines, words.products];
    if (said.every((one) => one === undefined))
      refuse(`${path}, entry ${k}`, 'says nothing of what to flag', 'an empty entry would flag everything');
    return ruleOf(words, context, `${path}, entry ${k}`);
  });
}

/** What was flagged of one integration. */
export interface TimedMask {
  readonly start: Instant;
  readonly durationS: number;
  /** mask : [c][b][pi][pj] */
  readonly mask: Uint8Array;
}

type Entry = Omit<FlagWords, 'times'>;

/** Writes the masks, with consecutive identical entries in time as one. */
export async function writeFlagFile(
  path: string,
  masks: readonly TimedMask[],
  header: VisibilityHeader,
  history: readonly string[],
): Promise<void> {
  const flags: (Entry & { readonly times: string })[] = [];
  let open:
    | { readonly key: string; readonly entries: readonly Entry[]; readonly from: Instant; to: Instant }
    | undefined;
  const close = (): void => {
    if (!open) return;
    const times = `${formatInstant(open.from, 9)}..${formatInstant(open.to, 9)}`;
    for (const entry of open.entries) flags.push({ times, ...entry });
    open = undefined;
  };
  for (const { start, durationS, mask } of masks) {
    const entries = entriesOf(mask, header);
    const key = JSON.stringify(entries);
    const end = addSeconds(start, durationS);
    if (open?.key === key && Math.abs(secondsBetween(open.to, start)) < 1e-3 * durationS) open.to = end;
    else {
      close();
      if (entries.length > 0) open = { key, entries, from: start, to: end };
    }
  }
  close();
  const file = { channels: header.frequenciesHz.length, history, flags };
  await writeFileWhole(path, new TextEncoder().encode(`${JSON.stringify(file, undefined, 1)}\n`));
}

/** Pairs with the same channels and products form one entry. */
function entriesOf(mask: Uint8Array, header: VisibilityHeader): Entry[] {
  const { polarisations: p, telescope, frequenciesHz } = header;
  const { stations } = telescope;
  const baselines = baselineCount(stations.length);
  const products = writtenProducts(header);
  const groups = new Map<
    string,
    { readonly channels: string; readonly labels: string[]; readonly pairs: string[] }
  >();
  for (let i = 0; i < stations.length; i++)
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      const byChannels = new Map<string, string[]>();
      for (const { p1, p2, label } of products) {
        const [pi, pj] = i === j ? [p1, p2] : [p2, p1];
        const channels = rangesOf(
          Array.from(frequenciesHz.keys()).filter((c) => mask[((c * baselines + b) * p + pi) * p + pj] === 1),
        );
        if (channels !== '') byChannels.set(channels, [...(byChannels.get(channels) ?? []), label]);
      }
      for (const [channels, labels] of byChannels) {
        const key = `${channels}|${labels.join()}`;
        const group = groups.get(key) ?? { channels, labels, pairs: [] };
        group.pairs.push(`${stations[j].name}&${stations[i].name}`);
        groups.set(key, group);
      }
    }
  return [...groups.values()].map(({ channels, labels, pairs }) => ({
    channels,
    ...(labels.length < products.length && { products: labels }),
    ...(pairs.length < baselines && { baselines: pairs }),
  }));
}

/** "3-5,9" */
function rangesOf(places: readonly number[]): string {
  const parts: string[] = [];
  for (let n = 0; n < places.length; n++) {
    const first = places[n];
    while (places[n + 1] === places[n] + 1) n++;
    parts.push(first === places[n] ? `${first}` : `${first}-${places[n]}`);
  }
  return parts.join(',');
}
