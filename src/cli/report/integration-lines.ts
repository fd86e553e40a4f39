/** Which of a file's integrations were used. */
import { formatSeconds } from '../../core/units.js';
import type { ChosenIntegration, IntegrationChoice } from '../../stages/index.js';

/** What a sum left out is reported. */
export function choiceLines(
  { integration, first, used, inFile }: ChosenIntegration,
  choice: IntegrationChoice,
): string[] {
  if (used === inFile) return [];
  const lasted = formatSeconds(integration.durationS);
  if (choice !== 'sum') return [`integration ${first} of 0 to ${inFile - 1}, ${lasted}`];
  const empty =
    first === 0
      ? []
      : [
          `the first ${first === 1 ? '' : `${first} `}of ${inFile} integrations ${first === 1 ? 'has' : 'have'} no data`,
        ];
  if (first + used === inFile) return empty;
  return [
    ...empty,
    `the ${first === 0 ? 'first' : 'next'} ${used === 1 ? '' : `${used} `}of ${inFile} integrations, ${lasted}: ` +
      'a longer sum would smear the turning sky; source.integration chooses',
  ];
}
