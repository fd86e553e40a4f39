/** Inputs and stations to leave out, by number or by the station's name; of visibilities also channels, times and pairs. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { inputsNamed, rulesNamed, type FlagContext, type FlagRule } from '../../stages/index.js';
import type { Telescope } from '../../telescope/telescope.js';

/** Given again it is a longer list. An empty word keeps 7 of `--flag channels=3 --flag 7` from being a channel's. */
const together = (text: string, before: string | undefined): string =>
  before === undefined ? text : `${before},,${text}`;

/** For whatever ends in visibilities. */
export const addFlagRulesOption = (command: Command): Command =>
  command.option(
    '--flag <list>',
    'flag inputs by number (12, 30-33), stations by name (stand17), one polarisation of one (stand17:Y), pairs ' +
      '(stand1&stand17), channels=10-20+30 or channels=151MHz..152MHz, times=FROM..TO; may be repeated',
    together,
  );

export interface FlagOptions {
  readonly flag?: string;
}

/** flags : [a], 1 where an input is to be left out. */
export function parseFlags(
  text: string | undefined,
  inputs: number,
  polarisations: 1 | 2,
  telescope?: Pick<Telescope, 'stations'>,
  option = '--flag',
): Uint8Array {
  const words = (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const flags = inputsNamed(words, inputs, polarisations, telescope?.stations, option);
  refuseAll(text, flags, option);
  return flags;
}

function refuseAll(text: string | undefined, flags: Uint8Array, option: string): void {
  if (text !== undefined && flags.every((flag) => flag === 1))
    refuse(option, `'${text.replaceAll(',,', ',')}' leaves out every input`, 'keep some');
}

/** Everything that --flag may say of visibilities. */
export function parseFlagRules(text: string | undefined, context: FlagContext): readonly FlagRule[] {
  if (text === undefined) return [];
  const rules = rulesNamed(text, context, '--flag');
  for (const { inputs } of rules) if (inputs) refuseAll(text, inputs, '--flag');
  return rules;
}
