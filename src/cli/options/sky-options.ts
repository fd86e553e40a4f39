/** Telescopes and sources named by options. */
import type { SkyFrame } from '../../sky/frame.js';
import { parseSources, type ChosenSources } from '../../sky/chosen-sources.js';
import type { Source } from '../../sky/source.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import type { Telescope } from '../../telescope/telescope.js';
import { message } from '../../messages/index.js';
import { note, openTerminal } from '../report/terminal.js';
import type { CommonOptions } from './command.js';

export interface TelescopeOptions {
  readonly telescope: string;
  readonly stations?: number;
}

export async function chooseTelescope(options: TelescopeOptions): Promise<Telescope> {
  const whole = await loadTelescope(options.telescope);
  return options.stations === undefined ? whole : selectStations(whole, options.stations);
}

/** Progress is shown only for models longer than this. */
const LONG_COMPONENTS = 20_000;

/** Reads the sky model files in a list of sources, with progress, and reports what was left out of them. */
export async function reportSkyModels(sources: string, options: CommonOptions): Promise<void> {
  const { prepareSkyModels } = await import('../../formats/index.js');
  const terminal = openTerminal(options);
  let stage: ReturnType<typeof terminal.stage> | undefined;
  const notes = await prepareSkyModels(sources, (progress) => {
    if (progress.done >= LONG_COMPONENTS) (stage ??= terminal.stage('sky model')).update(progress);
  });
  stage?.done();
  for (const what of notes) note(message('sky.model-partly-read', { what }));
}

export { parseSources, type ChosenSources };

export const chooseSources = (text: string, frame: SkyFrame): readonly Source[] => parseSources(text)(frame);
