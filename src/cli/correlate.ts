/** corella correlate: visibilities from recorded voltages or channelised data. */
import type { Command } from 'commander';
import { flagRules, timesFlag } from '../observation/index.js';
import { namedAfter } from './options/outputs.js';
import {
  addShorthand,
  notOfRecordings,
  ofRecordings,
  observationOf,
  runShorthand,
  type ShorthandOptions,
} from './options/shorthand.js';
import { addHelp } from './startup/help.js';

export function registerCorrelate(program: Command): void {
  const command = program
    .command('correlate')
    .argument('<recording>', 'voltages or channelised data in any format we read');
  const flags = addShorthand(command, {
    parts: ['products.visibilities', 'source', 'observation', 'front', 'flags', 'machine'],
    renamed: {
      'products.visibilities.visibilities': { otherwise: 'RECORDING.uvfits' },
      'products.visibilities.integration': {
        otherwise: 'the longest that loses at most 1 % of the amplitude',
      },
      'products.visibilities.align': { otherwise: 'first-sample' },
      ...ofRecordings,
    },
    without: [...notOfRecordings, 'products.visibilities.file-every'],
    also: [flagRules, timesFlag],
  });
  command.action(async (recording: string, options: ShorthandOptions) => {
    const observation = observationOf(flags, 'visibilities', {
      recording,
      out: namedAfter(recording, '.uvfits'),
    });
    const { frontFacts, frontLines, productFacts, productLines } = await import('../observation/index.js');
    await runShorthand(observation, options, {
      command: 'correlate',
      report: (outcome, seconds) => {
        const [made] = outcome.products;
        return {
          facts: { path: made.paths[0], ...productFacts(made, outcome), ...frontFacts(outcome), seconds },
          lines: [...productLines(made, outcome, seconds), ...frontLines(outcome)],
        };
      },
    });
  });
  addHelp(command, {
    common: [
      '--out',
      '--integration',
      '--channels',
      '--telescope',
      '--track',
      '--flag',
      '--kurtosis',
      '--keep-channels',
      '--times',
      '--backend',
      '--overwrite',
      '--plan',
    ],
    examples: [
      ['correlate voltages.sigmf-meta -o visibilities.uvfits', 'channelise and correlate, one integration'],
      [
        'correlate voltages.sigmf-meta --channels 128 --taps 16 --integration 40ms',
        'finer channels, an integration every 40 ms',
      ],
      ['correlate voltages.sigmf-meta --flag stand17,stand41:Y', 'without a dead station and a dead dipole'],
      [
        'correlate voltages.sigmf-meta --channels 128 --keep-channels 8-119 --flag channels=40-42',
        'without the edges of the band, and a transmitter flagged',
      ],
      [
        'correlate voltages.sigmf-meta --integration 1s --align utc',
        'on whole seconds of UTC, whenever the recording began',
      ],
      [
        'correlate dishes.sigmf-meta --track CygA --integration 1s',
        'eight dishes over kilometres: delays and fringes follow the source',
      ],
      ['correlate voltages.sigmf-meta --delays cables.json', 'delays of cables of known lengths removed'],
      ['correlate voltages.sigmf-meta --kurtosis', 'without interference (docs/interference.md)'],
      ['correlate channels.sigmf-meta', 'data that are channelised already'],
      ['correlate channels.sigmf-meta --fine-channels 16', 'the same, each channel made into sixteen'],
      ['correlate voltages.sigmf-meta --bits 4 --equaliser measured', 'four bits of a band that slopes'],
      [
        'correlate voltages.sigmf-meta --backend cuda --cards 0,1',
        'half of the channels on each of two cards',
      ],
      [
        'correlate bench.vdif --rate 4MHz --frequency 1.4GHz --telescope none',
        'of a laboratory, or of one dish: the positions of the inputs are unknown',
      ],
      ['correlate voltages.sigmf-meta --values sums -o sums.uvh5', 'exact integers'],
      ['correlate voltages.sigmf-meta --kurtosis --plan', 'the same as an observation, for corella run'],
    ],
  });
}
