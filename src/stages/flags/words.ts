/** Parses what users write for channels, times, inputs and pairs: for options and for files of flags alike. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { parseInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { storedProducts } from '../../formats/index.js';
import type { FlagRule } from './rules.js';

/** The data that the words refer to. */
export interface FlagContext {
  readonly stations: readonly { readonly name: string }[];
  readonly polarisations: 1 | 2;
  readonly frequenciesHz: Float64Array;
  /** Linear by default. */
  readonly feeds?: 'linear' | 'circular';
}

/** A rule as text. */
export interface FlagWords {
  readonly inputs?: readonly string[] | undefined;
  readonly channels?: string | undefined;
  readonly times?: string | undefined;
  readonly baselines?: readonly string[] | undefined;
  readonly products?: readonly string[] | undefined;
}

const feedNumbers: Readonly<Partial<Record<string, 0 | 1>>> = { X: 0, Y: 1, R: 0, L: 1 };

/** flags : [a], 1 where an input is named: 12, 30-33, stand17, stand17:Y. */
export function inputsNamed(
  words: readonly string[],
  inputs: number,
  polarisations: 1 | 2,
  stations: FlagContext['stations'] | undefined,
  where: string,
): Uint8Array {
  const flags = new Uint8Array(inputs);
  for (const word of words) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(word);
    if (range) {
      const first = Number(range[1]);
      const last = Number(range.at(2) ?? first);
      refuseName(word, first, polarisations, stations, where);
      if (last < first || last >= inputs) refuse(where, `${word} is outside inputs 0 to ${inputs - 1}`);
      flags.fill(1, first, last + 1);
      continue;
    }
    // Names may contain colons, like VLA:N12.
    const colon = placesOf(word, stations).length > 0 ? -1 : word.lastIndexOf(':');
    const [name, letter] = colon < 0 ? [word] : [word.slice(0, colon), word.slice(colon + 1)];
    const [station = -1, ...namesakes] = placesOf(name, stations);
    if (station < 0)
      refuse(
        where,
        `'${name}' is no station here`,
        `give an input's number or a station's name${some(stations)}`,
      );
    if (namesakes.length > 0)
      refuse(where, `'${name}' is the name of ${1 + namesakes.length} stations`, 'give inputs by number');
    // As inputName writes them: a file's two feeds are the first and the second.
    const p = letter === undefined ? undefined : feedNumbers[letter.toUpperCase()];
    if (letter !== undefined && (p === undefined || p >= polarisations))
      refuse(where, `'${word}' names no polarisation`, 'write NAME:X or NAME:Y, of circular feeds R or L');
    if (p === undefined) flags.fill(1, station * polarisations, (station + 1) * polarisations);
    else flags[station * polarisations + p] = 1;
  }
  return flags;
}

const placesOf = (name: string, stations: FlagContext['stations'] = []): number[] =>
  [...stations.keys()].filter((s) => stations[s].name === name);

/** A few of the known names, for error messages. */
const some = (stations: FlagContext['stations'] = []): string =>
  stations.length === 0
    ? ''
    : `: ${stations
        .slice(0, 6)
        .map(({ name }) => name)
        .join(', ')}${stations.length > 6 ? ' …' : ''}`;

/** Foreign files may name stations by numbers: then 12 is an input, and a station of other inputs. */
function refuseName(
  word: string,
  input: number,
  polarisations: 1 | 2,
  stations: FlagContext['stations'] | undefined,
  where: string,
): void {
  const [station = -1] = placesOf(word, stations);
  if (station < 0 || (polarisations === 1 && station === input)) return;
  const each = polarisations === 1 ? `${word}:X` : `${word}:X,${word}:Y`;
  refuse(
    where,
    `'${word}' is an input's number and a station's name`,
    `write ${word}-${word} for the input, ${each} for the station`,
  );
}

const perHz: Readonly<Record<string, number>> = { hz: 1, khz: 1e3, mhz: 1e6, ghz: 1e9 };
const hertz = (text: string): number => {
  const match = /^(\d+\.?\d*(?:e[+-]?\d+)?)\s*(hz|khz|mhz|ghz)$/i.exec(text.trim());
  return match ? Number(match[1]) * perHz[match[2].toLowerCase()] : Number.NaN;
};

/** Channels by number, 10-20,30 (+ for the comma), or by frequency: those whose middle is in 151MHz..152MHz. Rising. */
export function channelsNamed(text: string, frequenciesHz: Float64Array, where: string): number[] {
  const chosen = new Set<number>();
  const fix = 'write numbers and ranges from 0, 10-20,30, or frequencies, 151MHz..152MHz';
  for (const word of text
    .split(/[,+]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')) {
    const span = word.split('..');
    if (span.length === 2) {
      const [low, high] = span.map(hertz);
      if (!(low <= high)) refuse(where, `'${word}' is no span of frequencies`, fix);
      const inside = Array.from(frequenciesHz.keys()).filter(
        (c) => frequenciesHz[c] >= low && frequenciesHz[c] <= high,
      );
      if (inside.length === 0)
        refuse(
          where,
          `no channel is in ${word}`,
          `they go from ${frequenciesHz[0] / 1e6} to ${frequenciesHz[frequenciesHz.length - 1] / 1e6} MHz`,
        );
      for (const c of inside) chosen.add(c);
      continue;
    }
    const range = /^(\d+)(?:-(\d+))?$/.exec(word);
    const first = Number(range?.[1]);
    const last = Number(range?.at(2) ?? first);
    if (!range || last < first || last >= frequenciesHz.length)
      refuse(where, `'${word}' is outside channels 0 to ${frequenciesHz.length - 1}`, fix);
    for (let c = first; c <= last; c++) chosen.add(c);
  }
  if (chosen.size === 0) refuse(where, `'${text}' names no channel`, fix);
  return [...chosen].sort((x, y) => x - y);
}

/** FROM..TO, either of which may be left out. */
function timesNamed(text: string, where: string): { readonly from?: Instant; readonly to?: Instant } {
  const parts = text.split('..').map((part) => part.trim());
  if (parts.length !== 2 || parts.every((part) => part === ''))
    refuse(
      where,
      `'${text}' is no span`,
      'write FROM..TO, like 2026-06-21T04:00:00Z..2026-06-21T05:00:00Z; either may be left out',
    );
  const [from, to] = parts.map((part) => (part === '' ? undefined : parseInstant(part, where)));
  if (from && to && !(secondsBetween(from, to) > 0))
    refuse(where, `'${text}' ends before it begins`, 'write the earlier time first');
  return { ...(from && { from }), ...(to && { to }) };
}

/** NAME&NAME, as station numbers. */
export function pairNamed(
  text: string,
  stations: FlagContext['stations'],
  where: string,
): readonly [number, number] {
  const names = text.split('&');
  if (names.length !== 2) refuse(where, `'${text}' is no pair`, 'write NAME&NAME');
  const [one, two] = names.map((name) => stationNamed(name.trim(), stations, where));
  return [one, two];
}

/** The number of a station. */
export function stationNamed(name: string, stations: FlagContext['stations'], where: string): number {
  const [at = -1, ...namesakes] = placesOf(name, stations);
  if (namesakes.length > 0)
    refuse(where, `'${name}' is the name of ${1 + namesakes.length} antennas`, 'no name distinguishes them');
  if (at >= 0) return at;
  return refuse(where, `'${name}' is no antenna here`, `give an antenna's name${some(stations)}`);
}

function productNamed(
  label: string,
  feeds: FlagContext['feeds'],
  where: string,
): { readonly p1: 0 | 1; readonly p2: 0 | 1 } {
  if ((feeds === 'circular' ? /[XY]/i : /[RL]/i).test(label))
    refuse(where, `'${label}' is no product of ${feeds ?? 'linear'} feeds`, 'name those of the file');
  const found = Object.values(storedProducts).find((product) => product?.label === label.toUpperCase());
  return found ?? refuse(where, `'${label}' is no product`, 'write XX, YY, XY, YX or RR, LL, RL, LR');
}

/** Parses a rule. */
export function ruleOf(words: FlagWords, context: FlagContext, where: string): FlagRule {
  const { stations, polarisations, frequenciesHz, feeds } = context;
  const pairs = words.baselines?.map((pair) => pairNamed(pair, stations, where));
  return {
    inputs:
      words.inputs &&
      inputsNamed(words.inputs, stations.length * polarisations, polarisations, stations, where),
    ...(words.channels !== undefined && {
      channels: marked(channelsNamed(words.channels, frequenciesHz, where), frequenciesHz.length),
    }),
    ...(words.times !== undefined && timesNamed(words.times, where)),
    ...(pairs && {
      pairs: marked(
        pairs.map(([x, y]) => baselineIndex(Math.max(x, y), Math.min(x, y))),
        baselineCount(stations.length),
      ),
    }),
    ...(words.products && { products: words.products.map((label) => productNamed(label, feeds, where)) }),
  };
}

function marked(places: readonly number[], length: number): Uint8Array {
  const marks = new Uint8Array(length);
  for (const place of places) marks[place] = 1;
  return marks;
}
