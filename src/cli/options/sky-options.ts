/** Options that several commands share: which telescope, which part of it, which sources, when. */
import type { Command } from 'commander';
import { prepareSkyModels } from '../../formats/index.js';
import type { SkyFrame } from '../../sky/frame.js';
import { parseSources, type ChosenSources } from '../../sky/chosen-sources.js';
import type { Source } from '../../sky/source.js';
import { sourceNames } from '../../sky/sources.js';
import { loadTelescope } from '../../telescope/load.js';
import { telescopeNames } from '../../telescope/registry.js';
import { selectStations } from '../../telescope/select.js';
import type { Telescope } from '../../telescope/telescope.js';
import { openTerminal } from '../report/terminal.js';
import { parseCount, type CommonOptions } from './command.js';

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
  command
    .option(
      '--sources <list>',
      `${meaning}: all, names (${sourceNames().join(', ')}), NAME:RA_DEG:DEC_DEG:FLUX_JY[:INDEX], ` +
        'NAME@ALT_DEG:AZ_DEG:FLUX_JY, or the file of a sky model (WSClean, BBS, hyperdrive, skyh5; CSV or FITS like GLEAM’s); ' +
        'separated by commas',
      'all',
    )
    .hook('preAction', async () => {
      const options = command.opts<CommonOptions & { sources: string }>();
      await reportSkyModels(options.sources, options);
    });

/** A stage is shown of long models alone. */
const LONG_COMPONENTS = 20_000;

/** Reads the files of sky models that a list of sources names, with progress, and reports what was left out of them. */
export async function reportSkyModels(sources: string, options: CommonOptions): Promise<void> {
  const terminal = openTerminal(options);
  let stage: ReturnType<typeof terminal.stage> | undefined;
  const notes = await prepareSkyModels(sources, (progress) => {
    if (progress.done >= LONG_COMPONENTS) (stage ??= terminal.stage('sky model')).update(progress);
  });
  stage?.done();
  for (const note of notes) process.stderr.write(`note: ${note}\n`);
}

export { parseSources, type ChosenSources };

export const chooseSources = (text: string, frame: SkyFrame): readonly Source[] => parseSources(text)(frame);
