/** Options that several commands share: which telescope, which part of it, which sources, when. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { SkyFrame } from '../../sky/frame.js';
import { parseSource, sourceAt, type Source } from '../../sky/source.js';
import { isSkyModelPath, readSkyModel } from '../../sky/models/read.js';
import { findSources, sourceNames } from '../../sky/sources.js';
import { loadTelescope } from '../../telescope/load.js';
import { telescopeNames } from '../../telescope/registry.js';
import { selectStations } from '../../telescope/select.js';
import type { Telescope } from '../../telescope/telescope.js';
import { parseCount } from './command.js';

/** Summer's shortest night at the Sevilleta: Cyg A, Vir A and Cas A are all up. */
export const FIRST_LIGHT_TIME = '2026-06-21T04:00:00Z';

export interface TelescopeOptions {
  readonly telescope: string;
  readonly stations?: number;
}

export const telescopeWords = (): string =>
  `${telescopeNames().join(', ')}, or the path of a description (JSON), of positions in ITRF or longitude and latitude (CSV), or of an SSMIF`;

export function addTelescopeOptions(command: Command, defaultName: string): Command {
  return command
    .option('--telescope <name>', telescopeWords(), defaultName)
    .option('--stations <number>', 'only so many of its stations, spread evenly over the list', parseCount);
}

export async function chooseTelescope(options: TelescopeOptions): Promise<Telescope> {
  const whole = await loadTelescope(options.telescope);
  return options.stations === undefined ? whole : selectStations(whole, options.stations);
}

export const addSourceOption = (command: Command, meaning: string): Command =>
  command.option(
    '--sources <list>',
    `${meaning}: all, names (${sourceNames().join(', ')}), NAME:RA_DEG:DEC_DEG:FLUX_JY[:INDEX], ` +
      'NAME@ALT_DEG:AZ_DEG:FLUX_JY, or the file of a sky model (WSClean, BBS, CSV); separated by commas',
    'all',
  );

/** Where the sources are at a frame's moment: those given by altitude and azimuth stand there then. */
export type ChosenSources = (frame: SkyFrame) => readonly Source[];

/** Names and hand-made sources, checked at once: before the work, not after it. */
export function parseSources(text: string): ChosenSources {
  if (text.trim() === 'all') return () => findSources('all');
  const each = text.split(',').map((part): ((frame: SkyFrame) => Source | readonly Source[]) => {
    if (isSkyModelPath(part.trim())) {
      const model = readSkyModel(part.trim());
      return () => model;
    }
    const local = /^([^@:]+)@([^:]+):([^:]+):([^:]+)$/.exec(part.trim());
    if (local) {
      const [altDeg, azDeg, fluxJy] = local
        .slice(2)
        .map((field) => (field.trim() === '' ? Number.NaN : Number(field)));
      if (![altDeg, azDeg, fluxJy].every(Number.isFinite)) {
        refuse(
          '--sources',
          `'${part}' is not a source`,
          'write NAME@ALT_DEG:AZ_DEG:FLUX_JY, like spot@60:90:5000',
        );
      }
      return (frame) => sourceAt(frame, altDeg, azDeg, fluxJy, local[1]);
    }
    const source = part.includes(':') ? parseSource(part) : findSources([part.trim()])[0];
    return () => source;
  });
  return (frame) => each.flatMap((one) => one(frame));
}

export const chooseSources = (text: string, frame: SkyFrame): readonly Source[] => parseSources(text)(frame);
