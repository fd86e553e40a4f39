/** Which of a file's integrations: an option that calibrate and image share, and what they say of the choice. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { formatSeconds } from '../../core/units.js';
import type { ChosenIntegration, IntegrationChoice } from '../../stages/index.js';
import { parseWhole } from './command.js';

export interface IntegrationOptions {
  readonly integration: IntegrationChoice;
}

export const addIntegrationOption = (command: Command, sum: 'all' | 'short' = 'short'): Command =>
  command.option(
    '--integration <number>',
    `which one of the file, from 0; or sum: ${sum === 'all' ? 'all of them' : 'as many from the first as the turning sky allows, at most 30 s'}`,
    parseIntegration,
    'sum',
  );

function parseIntegration(text: string): IntegrationChoice {
  if (text === 'sum') return text;
  if (!/^\d+$/.test(text))
    refuse(
      '--integration',
      `'${text}' is no integration`,
      'give its number, from 0, or sum for as many as may be added',
    );
  return parseWhole(text);
}

/** What a sum left out is told, never lost silently. */
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
      'a longer sum would smear the turning sky; --integration chooses',
  ];
}
