/** corella live tart:URL: polls a TART's API, and images and writes its data. */
import { runTart, type TartOutcome } from '../../live/index.js';
import { skyModelsOf, type Observation } from '../../observation/index.js';
import { formatSeconds } from '../../core/units.js';
import { version } from '../../core/program/version.js';
import type { CommonOptions } from '../options/command.js';
import { reportSkyModels } from '../options/sky-options.js';
import { openTerminal } from '../report/terminal.js';

export async function runTartObservation(
  observation: Observation,
  options: CommonOptions & { readonly onStop?: AbortSignal },
): Promise<void> {
  const terminal = openTerminal(options);
  for (const model of skyModelsOf(observation)) await reportSkyModels(model, options);
  const stage = terminal.stage('live');
  let done = 0;
  const outcome = await runTart(observation, {
    version: version(),
    onEvent: (event) => {
      if (event.kind === 'note') terminal.say(event.text);
      if (event.kind === 'integration') stage.update({ done: ++done, unit: 'integrations' });
    },
    onFile: ({ kind, path, why }) => {
      if (why !== undefined) terminal.say(`${path}: ${kind}: ${why}`);
    },
  });
  const seconds = stage.done();
  terminal.result({ ...outcome, seconds }, linesOf(outcome));
}

const linesOf = (outcome: TartOutcome): string[] => [
  `${outcome.description}: ${outcome.integrations} integrations in ${outcome.polls} polls, ${outcome.images} images, ${outcome.pictures} drawn`,
  ...(outcome.repeated > 0 ? [`${outcome.repeated} polls brought the integration before: counted once`] : []),
  ...(outcome.failedPolls > 0 ? [`${outcome.failedPolls} polls without an answer`] : []),
  ...(outcome.late > 0 ? [`${outcome.late} integrations older than one before: not used`] : []),
  outcome.shortestStepS === undefined
    ? 'gaps are unknown: there is one integration or none'
    : `${outcome.gaps} gaps, ${outcome.missingIntegrations} integrations missing, by the shortest step of ${formatSeconds(outcome.shortestStepS)}`,
  ...(outcome.files.length > 0 ? [`files: ${outcome.files.join(', ')}`] : []),
];
