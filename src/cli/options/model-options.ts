/** What gains are solved by beside sources, of a file and of a running night: the diffuse sky, beams, which baselines. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { stationPositions } from '../../pipeline/geometry.js';
import { shortestBaselineM } from '../../pipeline/gains/shortest.js';
import type { CalibrateSettings } from '../../pipeline/stages/calibrate.js';
import type { DiffuseSky } from '../../sky/diffuse/diffuse.js';
import { galaxy } from '../../sky/diffuse/galaxy.js';
import { readDiffuseMap } from '../../sky/diffuse/map.js';
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

export function parseDiffuse(text: string): DiffuseSky {
  if (text === galaxy.name) return galaxy;
  if (/\.csv$/i.test(text)) return readDiffuseMap(text);
  return refuse('--diffuse', `'${text}' is no diffuse sky`, "give galaxy, or the path of a map's CSV");
}

/** Of the band's middle, where it is in wavelengths. */
export interface BaselineLength {
  readonly value: number;
  readonly unit: 'm' | 'wl';
}

export function parseBaseline(text: string): BaselineLength {
  const match = /^((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(m|wl|λ)?$/i.exec(text.trim());
  if (!match)
    refuse('--min-baseline', `'${text}' is not understood`, 'write metres or wavelengths, like 12m or 5wl');
  const unit = (match.at(2) ?? 'm').toLowerCase() === 'm' ? 'm' : 'wl';
  return { value: Number(match[1]), unit };
}

/** The same for all who solve; 0 m keeps all baselines. */
export async function modelOf(
  options: ModelOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
): Promise<
  Pick<CalibrateSettings, 'element' | 'diffuse'> & Required<Pick<CalibrateSettings, 'minimumBaselineM'>>
> {
  const { diffuse, minBaseline } = options;
  const element = await modelElementOf(options, telescope);
  const sees = telescope.beamExponent > 0 && element === undefined ? 'all the sky' : 'a part';
  return {
    minimumBaselineM: shortestBaselineM(minBaseline, stationPositions(telescope), frequenciesHz, sees),
    ...(element && { element }),
    ...(diffuse && { diffuse }),
  };
}
