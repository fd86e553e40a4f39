/** corella image: images of the sky, from visibilities or directly from voltages. */
import { Command } from 'commander';
import { crossHandFlag, directFlag } from '../observation/index.js';
import { registerDirect } from './image/direct.js';
import { refuseGiven } from './options/command.js';
import { CHANNELS_FLAG, notOfVisibilities, ofVisibilities } from './options/of-visibilities.js';
import { namedAfter } from './options/outputs.js';
import {
  addForeign,
  addShorthand,
  filledFrom,
  runOfVisibilities,
  type ShorthandOptions,
} from './options/shorthand.js';
import { addHelp } from './startup/help.js';

/** With --direct the image is of a recording, with a different set of options; each set refuses the other's by name. */
export function registerImage(program: Command): void {
  const [direct, visibilities] = [registerDirect(new Command(), []), registerVisibilities(new Command(), [])];
  if (process.argv.includes('--direct')) registerDirect(program, visibilities.options);
  else registerVisibilities(program, direct.options);
}

interface ImageOptions extends ShorthandOptions {
  readonly every?: string;
  readonly sources?: string;
}

function registerVisibilities(program: Command, foreign: Command['options']): Command {
  const command = program.command('image').argument('<file>', 'visibilities; with --direct, a recording');
  const flags = addShorthand(command, {
    parts: ['products.images', 'gains', 'flags', 'source', 'observation', 'machine'],
    source: 'visibilities',
    renamed: {
      'products.images.images': {
        otherwise: 'FILE.fits, or FILE-series.fits with --every',
      },
      'products.images.every': {
        otherwise: 'one image of everything',
      },
      'products.images.pixels': { otherwise: 'what the array needs' },
      'products.images.field': {
        otherwise: 'the whole sky, or what dishes see',
      },
      'products.images.channels': { flag: CHANNELS_FLAG },
    },
    without: [
      ...notOfVisibilities,
      'products.images.kernel',
      'gains.min-baseline',
      'gains.element',
      'gains.diffuse',
    ],
    also: [...(ofVisibilities.also ?? []), crossHandFlag, directFlag],
  });
  const refused = addForeign(command, foreign);
  command.action(async (visibilities: string, options: ImageOptions) => {
    refuseGiven(command, refused, 'is for voltages, with --direct alone');
    if (options.sources !== undefined) {
      const { reportSkyModels } = await import('./options/sky-options.js');
      await reportSkyModels(options.sources, options);
    }
    const images = namedAfter(visibilities, options.every === undefined ? '.fits' : '-series.fits');
    const { runVisibilities, reportOfOne } = await import('../visibilities/index.js');
    await runOfVisibilities(filledFrom(flags, { visibilities }, { images }), options, {
      run: runVisibilities,
      report: reportOfOne,
    });
  });
  return addHelp(command, {
    common: [
      '--out',
      '--gains',
      '--centre',
      '--field',
      '--weights',
      '--clean',
      '--every',
      '--flag',
      '--direct',
      '--overwrite',
      '--plan',
    ],
    examples: [
      [
        'image visibilities.uvfits --gains gains.json',
        'visibilities.fits and visibilities.png, the whole sky',
      ],
      [
        'image visibilities.uvfits --gains gains.json --centre "Cyg A" --field 20 --weights briggs:0',
        'a field of 20° around Cyg A, all integrations with their fringes stopped',
      ],
      [
        'image visibilities.uvfits --gains gains.json --centre "19h59m28.4s +40d44m02s" --cell 2arcmin --pixels 512 --clean',
        'CLEANed: restored image, and beside it dirty, model, residual and beam',
      ],
      [
        'image --direct voltages.sigmf-meta --gains gains.json',
        'voltages.fits and voltages.png, no visibilities in between',
      ],
      ['image visibilities.uvfits -o raw.fits', 'uncalibrated'],
      [
        'image night.uvh5 --gains gains.json --keep-channels 8-23 --flag stand17 --flag-interference',
        'sixteen channels, without a station and without interference',
      ],
      ['image visibilities.uvfits --field 20 --plan', 'the same as an observation, for corella run'],
    ],
  });
}
