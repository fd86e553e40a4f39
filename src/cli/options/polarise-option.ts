/** --polarise: Stokes fractions of sources, for whoever draws or models them. */
import type { Command, Option } from 'commander';
import { refuse } from '../../core/errors.js';
import { checkedStokes, type Source } from '../../sky/source.js';
import { optionWith } from './command.js';
import { plainNumber } from './quantity.js';

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
export const repeated = (flags: string, description: string): Option =>
  optionWith(flags, `${description}; may be repeated`, collect, { value: [], words: 'none' });

export const addPolariseOption = (command: Command): Command =>
  command.addOption(repeated('--polarise <NAME:Q:U:V>', 'Stokes fractions of a source, −1 to 1'));

/** The same sources, with the Stokes fractions that the user gave some of them. */
export function polarise(sources: readonly Source[], wishes: readonly string[]): readonly Source[] {
  return wishes.reduce<readonly Source[]>((all, wish) => {
    const [name, ...numbers] = wish.split(':');
    if (numbers.length !== 3)
      refuse('--polarise', `'${wish}' is not understood`, 'write NAME:Q:U:V, like CygA:0.1:0:0');
    const [q, u, v] = numbers.map(plainNumber('--polarise'));
    const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, '');
    if (!all.some((source) => plain(source.name) === plain(name))) {
      refuse(
        '--polarise',
        `'${name}' is not among the sources`,
        `name one of ${all.map((source) => source.name).join(', ')}`,
      );
    }
    return all.map((source) =>
      plain(source.name) === plain(name)
        ? { ...source, stokes: checkedStokes(`source ${source.name}`, { q, u, v }) }
        : source,
    );
  }, sources);
}
