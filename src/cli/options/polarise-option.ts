/** --polarise: Stokes fractions of sources that are simulated. */
import type { Command, Option } from 'commander';
import { optionWith } from './command.js';

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
export const repeated = (flags: string, description: string): Option =>
  optionWith(flags, `${description}; may be repeated`, collect, { value: [], words: 'none' });

export const addPolariseOption = (command: Command): Command =>
  command.addOption(repeated('--polarise <NAME:Q:U:V>', 'Stokes fractions of a source, −1 to 1'));
