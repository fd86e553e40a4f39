/** The integrations of a file that were used. */
import { formatSeconds } from '../../core/units.js';
import { message, type Line } from '../../messages/index.js';
import type { ChosenIntegration, IntegrationChoice } from '../../stages/index.js';

/** Reports what a sum left out. */
export function choiceLines(
  { integration: { durationS }, first, used, inFile }: ChosenIntegration,
  choice: IntegrationChoice,
  { other = 'source.integration selects others' }: { readonly other?: string } = {},
): Line[] {
  if (used === inFile) return [];
  if (choice !== 'sum') return [`integration ${first} of 0 to ${inFile - 1}, ${formatSeconds(durationS)}`];
  return [message('integrations.not-all-used', { first, used, inFile, durationS, other })];
}
