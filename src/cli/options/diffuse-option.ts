/** --diffuse: what shines everywhere, in a model. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { DiffuseSky } from '../../sky/diffuse/diffuse.js';
import { galaxy } from '../../sky/diffuse/galaxy.js';
import { readDiffuseMap } from '../../sky/diffuse/map.js';

export const addDiffuseOption = (command: Command): Command =>
  command.option(
    '--diffuse <sky>',
    'a diffuse sky behind the sources: galaxy, a smooth one by formula, or the CSV of a map (temperature_k with ra_deg, ' +
      'dec_deg or l_deg, b_deg; at 408 MHz unless frequency_hz says)',
    parseDiffuse,
  );

export function parseDiffuse(text: string): DiffuseSky {
  if (text === galaxy.name) return galaxy;
  if (/\.csv$/i.test(text)) return readDiffuseMap(text);
  return refuse('--diffuse', `'${text}' is no diffuse sky`, "give galaxy, or the path of a map's CSV");
}
