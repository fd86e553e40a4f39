/** One integration of a file, by number. */
import { chooseIntegration } from '../stages/index.js';
import type { VisibilityFile } from '../formats/index.js';
import type { Observation } from '../observation/index.js';

/** The file with only the chosen integration; the whole file if none is chosen. */
export function chosen(
  file: VisibilityFile,
  number: Observation['source']['integration'] = 'sum',
): VisibilityFile {
  if (number === 'sum') return file;
  return {
    ...file,
    durationsS: undefined,
    integrationCount: 1,
    integrations: async function* () {
      yield (await chooseIntegration(file, number)).integration;
    },
  };
}
