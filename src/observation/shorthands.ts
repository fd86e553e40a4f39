/** Flags for several fields at once: --flag, --times and --direct of commands. */
import { refuse } from '../core/errors.js';
import type { Shorthand } from './flags.js';

/** --flag: inputs, stations, pairs, channels=…, times=… and sources@radius in one list. */
export const flagRules: Shorthand = {
  flag: '--flag <list>',
  group: 'Flags',
  fields: ['flags.inputs', 'flags.channels', 'flags.times', 'flags.baselines', 'flags.sky'],
  help:
    'flag inputs (12, 30-33), stations (stand17) or one polarisation of one (stand17:Y); pairs (stand1&stand17), ' +
    'channels=10-20+30 or channels=151MHz..152MHz, times=FROM..TO; the sky round sources (Sun@2deg, satellites:NAME@RADIUS); may be repeated',
  fill: (text) => {
    const rules: Record<'inputs' | 'channels' | 'times' | 'baselines' | 'sky', string[]> = {
      inputs: [],
      channels: [],
      times: [],
      baselines: [],
      sky: [],
    };
    let before = '';
    for (const word of String(text)
      .split(',')
      .map((one) => one.trim())) {
      const [, kind, value] = (/^(channel|time)s?=(.*)$/.exec(word) ?? []) as (string | undefined)[];
      // channels=3,7 would flag channel 3 and input 7.
      if (/^channels?=/.test(before) && kind === undefined && /^\d+(-\d+)?$|\.\./.test(word))
        refuse(
          '--flag',
          `'${word}' after ${before} would be an input`,
          `write ${before}+${word} for channels; give inputs first, or in a --flag of their own`,
        );
      before = word;
      if (kind === 'channel') rules.channels.push(...(value ?? '').split('+').map((one) => one.trim()));
      else if (kind === 'time') rules.times.push(value ?? '');
      else if (word.includes('@')) rules.sky.push(word);
      else if (word.includes('&')) rules.baselines.push(word);
      else if (word !== '') rules.inputs.push(word);
    }
    return Object.fromEntries(
      Object.entries(rules)
        .filter(([, words]) => words.length > 0)
        .map(([key, words]) => [`flags.${key}`, words]),
    );
  },
};

/** --times: the part of a recording that is used. */
export const timesFlag: Shorthand = {
  flag: '--times <from..to>',
  group: 'Source',
  fields: ['source.from', 'source.to'],
  help: 'use only data between two times; like 2026-06-21T04:00:00Z..; either end may be left out',
  fill: (text) => {
    const ends = String(text)
      .split('..')
      .map((end) => end.trim());
    if (ends.length !== 2 || ends.every((end) => end === ''))
      refuse('--times', `'${String(text)}' is not a time range`, 'write FROM..TO; either may be left out');
    const [from, to] = ends;
    return { ...(from !== '' && { 'source.from': from }), ...(to !== '' && { 'source.to': to }) };
  },
};

/** --direct: direct images of the spectra, without correlation. */
export const directFlag: Shorthand = {
  flag: '--direct',
  group: 'Images',
  fields: ['products.images.method'],
  help: 'image without correlating (EPIC)',
  fill: () => ({ 'products.images.method': 'direct' }),
};

/** --cross-hand-known: from gains that were solved before. */
export const crossHandFlag: Shorthand = {
  flag: '--cross-hand-known',
  group: 'Gains',
  fields: ['gains.cross-hand'],
  help: 'X and Y of these gains have one phase reference; whatever their file states',
  fill: () => ({ 'gains.cross-hand': 'known' }),
};
