/** Which part of a file of visibilities, flagged and averaged how: options of convert. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { storedProducts, type VisibilityFile } from '../../formats/index.js';
import type { Rework } from '../../visibilities/index.js';
import { asOne, parseCount } from './command.js';
import { channelsNamed, pairNamed, stationNamed, timesNamed } from '../../stages/index.js';
import { addFlaggingOptions, flaggingOptionNames, type FlaggingOptions } from './part-options.js';
import { duration } from './quantity.js';

export interface ReworkFlags extends FlaggingOptions {
  readonly times?: string;
  readonly channels?: string;
  readonly antennas?: string;
  readonly baselines?: string;
  readonly products?: string;
  readonly unflag?: true;
  readonly averageTime?: number;
  readonly averageChannels?: number;
}

const reworkOptionNames = [
  ...(['times', 'channels', 'antennas', 'baselines', 'products', 'unflag'] as const),
  ...(['averageTime', 'averageChannels'] as const),
] satisfies readonly (keyof ReworkFlags)[];
/** With flags: for refusals where there are no visibilities. */
export const visibilityOptionNames = [...reworkOptionNames, ...flaggingOptionNames] as const;

export function addReworkOptions(command: Command): Command {
  command
    .optionsGroup('Of visibilities, a part or an average:')
    .option(
      '--times <from..to>',
      'integrations whose middle lies between: 2026-06-21T04:00:00Z..; either may be left out',
      asOne,
    )
    .option('--channels <list>', 'by number from 0, 10-20,30, or by frequency, 151MHz..152MHz', asOne)
    .option('--antennas <list>', 'by name: pairs of these alone', asOne)
    .option('--baselines <list>', 'pairs by name: stand1&stand17,stand2&stand2', asOne)
    .option('--products <list>', 'like XX,YY', asOne)
    .option('--unflag', 'what was flagged but is there counts again')
    .option(
      '--average-time <s>',
      'means over so many seconds, fringes stopped at the phase centre',
      duration('--average-time'),
    )
    .option('--average-channels <number>', 'means over so many channels side by side', parseCount);
  return addFlaggingOptions(command);
}

/** Flags aside, which are taken out and put in before. */
const isAsked = (options: ReworkFlags): boolean =>
  reworkOptionNames.some((name) => name !== 'unflag' && options[name] !== undefined);

export function reworkOf(file: VisibilityFile, options: ReworkFlags): Rework | undefined {
  if (!isAsked(options)) return undefined;
  const { header } = file;
  const { stations } = header.telescope;
  return {
    ...(options.times !== undefined && timesNamed(options.times, '--times')),
    ...(options.channels !== undefined && {
      channels: channelsNamed(options.channels, header.frequenciesHz, '--channels'),
    }),
    ...(options.antennas !== undefined && {
      stations: words(options.antennas)
        .map((name) => stationNamed(name, stations, '--antennas'))
        .sort((x, y) => x - y),
    }),
    ...(options.baselines !== undefined && {
      pairs: words(options.baselines).map((pair) => pairNamed(pair, stations, '--baselines')),
    }),
    ...(options.products !== undefined && { products: words(options.products).map(codeNamed) }),
    ...(options.averageTime !== undefined && { averageS: options.averageTime }),
    ...(options.averageChannels !== undefined && { averageChannels: options.averageChannels }),
  };
}

const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

function codeNamed(label: string): number {
  const found = Object.entries(storedProducts).find(([, product]) => product?.label === label.toUpperCase());
  return found
    ? Number(found[0])
    : refuse('--products', `'${label}' is no product`, 'write XX, YY, XY, YX or RR, LL, RL, LR');
}
