/** corella image --direct: images of voltages or spectra, one or a series, without visibilities. */
import type { Command, Option } from 'commander';
import { crossHandFlag, directFlag, flagRules, timesFlag } from '../../observation/index.js';
import { refuseGiven } from '../options/command.js';
import { namedAfter } from '../options/outputs.js';
import {
  addForeign,
  addShorthand,
  notOfRecordings,
  observationOf,
  ofRecordings,
  runShorthand,
  type ShorthandOptions,
} from '../options/shorthand.js';
import { addHelp } from '../startup/help.js';

/** `foreign`: options of images from visibilities, refused by name. */
export function registerDirect(program: Command, foreign: readonly Option[]): Command {
  const command = program
    .command('image')
    .argument('<recording>', 'voltages or channelised data in any format we read');
  const flags = addShorthand(command, {
    parts: ['products.images', 'gains', 'source', 'observation', 'front', 'flags', 'machine'],
    renamed: {
      'products.images.images': {
        otherwise: 'RECORDING.fits, or RECORDING-series.fits with --every',
      },
      'products.images.every': { otherwise: 'one image of everything' },
      'products.images.pixels': { otherwise: 'what the array needs' },
      'products.images.autos': { otherwise: 'kept' },
      ...ofRecordings,
    },
    without: [
      ...notOfRecordings.filter((name) => name !== 'source.duration'),
      'products.images.weights',
      'machine.cards',
      'gains.min-baseline',
      'gains.element',
      'gains.diffuse',
    ],
    also: [directFlag, crossHandFlag, flagRules, timesFlag],
  });
  const names = addForeign(command, foreign);
  command.action(async (recording: string, options: ShorthandOptions & { readonly every?: string }) => {
    refuseGiven(command, names, 'is for visibilities, not for --direct');
    const out = namedAfter(recording, options.every === undefined ? '.fits' : '-series.fits');
    const { frontFacts, frontLines, productFacts, productLines } = await import('../../observation/index.js');
    await runShorthand(observationOf(flags, 'images', { recording, out }), options, {
      command: 'image',
      report: (outcome, seconds) => {
        const [made] = outcome.products;
        return {
          facts: { ...productFacts(made, outcome), ...frontFacts(outcome), seconds },
          lines: [...productLines(made, outcome, seconds), ...frontLines(outcome)],
        };
      },
    });
  });
  return addHelp(command, {
    common: [
      '--out',
      '--gains',
      '--every',
      '--field',
      '--pixels',
      '--no-autos',
      '--channels',
      '--track',
      '--flag',
      '--backend',
      '--overwrite',
      '--plan',
    ],
    examples: [
      [
        'image --direct voltages.sigmf-meta --gains gains.json',
        'voltages.fits and voltages.png, no visibilities in between',
      ],
      [
        'image --direct voltages.sigmf-meta --no-autos',
        'the same without the noise power of the receivers in every pixel',
      ],
      [
        'image --direct voltages.sigmf-meta --gains gains.json --beam-corrected --element "s0=mwa-dipole,*=cosine:0.8"',
        'stations that differ, each with a gridding kernel of its own',
      ],
      [
        'image --direct voltages.sigmf-meta --track CygA --channels 16',
        'wide channels, which would lose a source far off the zenith, follow it',
      ],
      [
        'image --direct voltages.sigmf-meta --every 40ms',
        'voltages-series.fits, a cube in time, and an animation',
      ],
      [
        'image --direct voltages.sigmf-meta --every 40ms --plan',
        'the same as an observation, for corella run',
      ],
    ],
  });
}
