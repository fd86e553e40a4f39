/** Which part of a file of visibilities, flagged and averaged how: options of convert. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { parseInstant } from '../../core/instant.js';
import { storedProducts, type VisibilityFile } from '../../formats/index.js';
import type { Rework } from '../../pipeline/visibilities/rework.js';
import { parseCount } from './command.js';
import { addFlagOption, parseFlags, type FlagOptions } from './flags.js';
import { duration } from './quantity.js';

export interface ReworkFlags extends FlagOptions {
  readonly times?: string;
  readonly channels?: string;
  readonly antennas?: string;
  readonly baselines?: string;
  readonly products?: string;
  readonly unflag?: true;
  readonly averageTime?: number;
  readonly averageChannels?: number;
}

export const reworkOptionNames = [
  ...(['times', 'channels', 'antennas', 'baselines', 'products', 'flag', 'unflag'] as const),
  ...(['averageTime', 'averageChannels'] as const),
] satisfies readonly (keyof ReworkFlags)[];

export function addReworkOptions(command: Command): Command {
  command
    .optionsGroup('Of visibilities, a part or an average:')
    .option(
      '--times <from..to>',
      'integrations whose middle lies between: 2026-06-21T04:00:00Z..; either may be left out',
    )
    .option('--channels <list>', 'by number from 0: 10-20,30')
    .option('--antennas <list>', 'by name: pairs of these alone')
    .option('--baselines <list>', 'pairs by name: stand1&stand17,stand2&stand2')
    .option('--products <list>', 'like XX,YY')
    .option('--unflag', 'what was flagged but is there counts again')
    .option(
      '--average-time <s>',
      'means over so many seconds, fringes stopped at the phase centre',
      duration('--average-time'),
    )
    .option('--average-channels <number>', 'means over so many channels side by side', parseCount);
  return addFlagOption(command);
}

const isAsked = (options: ReworkFlags): boolean =>
  reworkOptionNames.some((name) => options[name] !== undefined);

export function reworkOf(file: VisibilityFile, options: ReworkFlags): Rework | undefined {
  if (!isAsked(options)) return undefined;
  const { header } = file;
  const { stations } = header.telescope;
  const inputs = stations.length * header.polarisations;
  const [from, to] = timesOf(options.times);
  return {
    ...(from !== undefined && { from: parseInstant(from, '--times') }),
    ...(to !== undefined && { to: parseInstant(to, '--times') }),
    ...(options.channels !== undefined && {
      channels: ranges(options.channels, header.frequenciesHz.length),
    }),
    ...(options.antennas !== undefined && {
      stations: words(options.antennas)
        .map((name) => stationNamed(file, '--antennas', name))
        .sort((x, y) => x - y),
    }),
    ...(options.baselines !== undefined && {
      pairs: words(options.baselines).map((pair) => {
        const names = pair.split('&');
        if (names.length !== 2) refuse('--baselines', `'${pair}' is no pair`, 'write NAME&NAME');
        return [
          stationNamed(file, '--baselines', names[0]),
          stationNamed(file, '--baselines', names[1]),
        ] as const;
      }),
    }),
    ...(options.products !== undefined && { products: words(options.products).map(codeNamed) }),
    ...(options.flag !== undefined && {
      flags: parseFlags(options.flag, inputs, header.polarisations, header.telescope),
    }),
    ...(options.unflag === true && { unflag: true }),
    ...(options.averageTime !== undefined && { averageS: options.averageTime }),
    ...(options.averageChannels !== undefined && { averageChannels: options.averageChannels }),
  };
}

const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

function timesOf(text: string | undefined): readonly [string | undefined, string | undefined] {
  if (text === undefined) return [undefined, undefined];
  const parts = text.split('..');
  if (parts.length !== 2 || parts.every((part) => part.trim() === ''))
    refuse(
      '--times',
      `'${text}' is no span`,
      'write FROM..TO, like 2026-06-21T04:00:00Z..2026-06-21T05:00:00Z',
    );
  const [from, to] = parts.map((part) => (part.trim() === '' ? undefined : part.trim()));
  return [from, to];
}

function ranges(text: string, count: number): number[] {
  const chosen = new Set<number>();
  for (const word of words(text)) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(word);
    const first = Number(range?.[1]);
    const last = Number(range?.at(2) ?? first);
    if (!range || last < first || last >= count)
      refuse(
        '--channels',
        `'${word}' is outside channels 0 to ${count - 1}`,
        'write numbers and ranges: 10-20,30',
      );
    for (let c = first; c <= last; c++) chosen.add(c);
  }
  return [...chosen].sort((x, y) => x - y);
}

function stationNamed({ telescope }: VisibilityFile, option: string, name: string): number {
  const at = telescope.stations.findIndex((one) => one.name === name);
  if (at < 0)
    refuse(
      option,
      `'${name}' is no antenna here`,
      `choose among ${telescope.stations
        .slice(0, 8)
        .map((one) => one.name)
        .join(', ')} …`,
    );
  return at;
}

function codeNamed(label: string): number {
  const found = Object.entries(storedProducts).find(([, product]) => product?.label === label.toUpperCase());
  return found
    ? Number(found[0])
    : refuse('--products', `'${label}' is no product`, 'write XX, YY, XY, YX or RR, LL, RL, LR');
}
