/** What gains are solved by beside sources, of a file and of a running night: the diffuse sky, beams, which baselines. */
import type { Command } from 'commander';
import {
  baselineLength,
  diffuseSky,
  solvingModel,
  type BaselineLength,
  type SolvingModel,
} from '../../stages/index.js';
export type { BaselineLength } from '../../stages/index.js';
import type { DiffuseSky } from '../../sky/diffuse/diffuse.js';
import type { Telescope } from '../../telescope/telescope.js';
import { addElementOption, modelElementOf } from './element-option.js';

export interface ModelOptions {
  readonly minBaseline?: BaselineLength;
  readonly element?: string;
  readonly diffuse?: DiffuseSky;
}

export const addModelOptions = (command: Command): Command =>
  addElementOption(
    command.option(
      '--min-baseline <length>',
      'leave shorter baselines out, in metres or wavelengths (12m, 5wl): they see a diffuse sky that a model of points ' +
        'lacks (default: 2wl for 32 stations or more that see all the sky, where that leaves most baselines; else none)',
      parseBaseline,
    ),
  ).option(
    '--diffuse <sky>',
    'a diffuse sky behind the sources: galaxy, a smooth one by formula, or the CSV of a map (temperature_k with ra_deg, ' +
      'dec_deg or l_deg, b_deg; at 408 MHz unless frequency_hz says)',
    parseDiffuse,
  );

export const parseDiffuse = (text: string): DiffuseSky => diffuseSky(text, '--diffuse');
export const parseBaseline = (text: string): BaselineLength => baselineLength(text, '--min-baseline');

/** The same for all who solve; 0 m keeps all baselines. */
export async function modelOf(
  { diffuse, minBaseline, ...options }: ModelOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
): Promise<SolvingModel> {
  const element = await modelElementOf(options, telescope);
  return solvingModel({ element, diffuse, minBaseline }, telescope, frequenciesHz);
}
