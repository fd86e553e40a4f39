/** corella image: pictures of the sky, from visibilities or directly from voltages. */
import { Command } from 'commander';
import { directFlag, type Shorthand } from '../observation/index.js';
import { runVisibilities } from '../visibilities/index.js';
import { registerDirect } from './image/direct.js';
import { addExamples, refuseGiven } from './options/command.js';
import { CHANNELS_FLAG, notOfVisibilities, ofVisibilities } from './options/of-visibilities.js';
import {
  addForeign,
  addShorthand,
  filledFrom,
  runOfVisibilities,
  type ShorthandOptions,
} from './options/shorthand.js';
import { reportSkyModels } from './options/sky-options.js';
import { madeFacts, madeLines, sourceFacts, sourceLines } from './report/from-visibilities.js';

/** With --direct the image is of a recording, and its options are others; those of either are refused by name by the other. */
export function registerImage(program: Command): void {
  const [direct, visibilities] = [registerDirect(new Command(), []), registerVisibilities(new Command(), [])];
  if (process.argv.includes('--direct')) registerDirect(program, visibilities.options);
  else registerVisibilities(program, direct.options);
}

const alias = (flag: string, field: string): Shorthand => ({
  ...{ flag, help: '', group: 'Images', hidden: true, fields: [] },
  fill: (value) => ({ [field]: value }),
});

/** Other spellings; --gain is CLEAN's here, and the channeliser's with --direct. */
const aliases = [
  alias('--weight <name>', 'products.images.weights'),
  alias('--per-channel', 'products.images.cube'),
  {
    ...alias('--gain <part>', ''),
    fill: (part: string | boolean) => ({ 'products.images.loop-gain': Number(part) }),
  },
];

interface ImageOptions extends ShorthandOptions {
  readonly every?: string;
  readonly sources?: string;
}

function registerVisibilities(program: Command, foreign: Command['options']): Command {
  const command = program
    .command('image')
    .argument('<file>', 'visibilities; or with --direct, a recording of voltages or of channelised data');
  const flags = addShorthand(command, {
    parts: ['products.images', 'gains', 'flags', 'source', 'observation', 'machine'],
    source: 'visibilities',
    renamed: {
      'products.images.images': {
        help: 'the FITS file to write; the PNG goes beside it',
        otherwise: 'image.fits, or series.fits with --every',
      },
      'products.images.every': {
        help: 'a series, an image this often, like 40ms or 10s: a FITS cube in time and a film (animated PNG)',
        otherwise: 'one image of everything',
      },
      'products.images.pixels': { otherwise: 'what the array needs' },
      'products.images.field': {
        help: 'width of the field, in degrees or with a unit',
        otherwise: 'the whole sky, or of dishes what they see and the data allow',
      },
      'products.images.channels': { flag: CHANNELS_FLAG },
      'source.integration': {
        flag: '--integration <number>',
        help: 'which one of the file, from 0; or sum: all of them',
      },
    },
    without: [
      ...notOfVisibilities,
      ...['products.images.kernel', 'gains.min-baseline', 'gains.element', 'gains.diffuse'],
    ],
    also: [
      ...(ofVisibilities.also ?? []),
      ...aliases,
      {
        ...directFlag,
        help: 'image the voltages themselves, without making visibilities (image --direct --help)',
      },
    ],
  });
  const refused = addForeign(command, foreign);
  command.action(async (visibilities: string, options: ImageOptions) => {
    refuseGiven(command, refused, 'is for voltages, with --direct alone');
    if (options.sources !== undefined) await reportSkyModels(options.sources, options);
    const images = options.every === undefined ? 'image.fits' : 'series.fits';
    await runOfVisibilities(filledFrom(flags, { visibilities }, { images }), options, {
      flags,
      run: runVisibilities,
      tell: (outcome) => {
        const [made] = outcome.products;
        return {
          facts: { ...madeFacts(made), ...sourceFacts(outcome) },
          lines: [...madeLines(made, outcome), ...sourceLines(outcome)],
        };
      },
    });
  });
  return addExamples(command, [
    ['image visibilities.uvfits --gains gains.json', 'image.fits and image.png, the whole sky'],
    [
      'image visibilities.uvfits --gains gains.json --centre "Cyg A" --field 20 --weights briggs:0',
      'a field of 20° round Cyg A, all integrations with their fringes stopped',
    ],
    [
      'image visibilities.uvfits --gains gains.json --centre "19h59m28.4s +40d44m02s" --cell 2arcmin --pixels 512 --clean',
      'CLEANed: restored image, and beside it dirty, model, residual and beam',
    ],
    [
      'image --direct voltages.sigmf-meta --gains gains.json',
      'direct.fits and direct.png, no visibilities in between',
    ],
    ['image visibilities.uvfits -o raw.fits', 'uncalibrated'],
    [
      'image night.uvh5 --gains gains.json --channels 8-23 --flag stand17 --flag-interference',
      'sixteen channels, without a station and without interference',
    ],
    ['image visibilities.uvfits --field 20 --plan', 'the same as an observation, for corella run'],
  ]);
}
