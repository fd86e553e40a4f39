/** corella view: shows existing files on the live page. */
import type { Command } from 'commander';
import { channelFields } from './options/channel-options.js';
import { useEop } from './options/eop-option.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, timeS } from '../fields/index.js';
import { pageFields, source } from '../observation/index.js';
import { addFields, type Options } from './options/own.js';
import * as shared from './options/shared.js';
import { whenRun } from './options/command.js';

const group = 'Of a capture, where its packets do not state it';
export const ofCaptures = {
  telescope: variant(shared.telescope, { group }),
  stations: variant(shared.stations, { group }),
  format: variant(source.shape.format, { group }),
  epoch: variant(source.shape.epoch, { group }),
  rate: variant(shared.rate, { group }),
  frequency: variant(shared.frequency, { group }),
  image: field(timeS, {
    flag: '--image <time>',
    group,
    changes: 'never',
    unit: 's',
    range: { above: 0 },
    default: 1,
    otherwise: '1s',
    help: 'an image this often, like 40ms or 10s; a series is a FITS cube in time and an animation (PNG)',
  }),
};
const viewOptions = z.strictObject({
  page: variant(shared.pageAddress, { otherwise: '127.0.0.1:8080, or a free port' }),
  tokenFile: pageFields.shape['token-file'],
  field: shared.fieldWidth,
  ...ofCaptures,
  ...channelFields,
  ...shared.computing,
  ...shared.skyFiles,
});
export type ViewOptions = Options<typeof viewOptions>;

export function registerView(program: Command): void {
  const command = program
    .command('view')
    .argument(
      '<file...>',
      'FITS images, visibilities (UVH5, UVFITS …), gains, a capture of packets (pcap); or a folder of them',
    );
  useEop(addFields(command, viewOptions)).action(
    whenRun(async () => (await import('./actions/view.js')).run),
  );
  addHelp(command, {
    common: ['--page', '--field', '--telescope', '--image', '--token-file', '--backend'],
    examples: [
      ['view first-light', 'what corella demo wrote: its sky, antennas, gains and images'],
      [
        'view first-light/visibilities.uvh5 first-light/gains.json',
        'a calibrated sky, its antennas and its gains',
      ],
      ['view hour.uvfits --field 30', 'of an array too wide for the whole sky'],
      ['view night-*.fits', 'images one after the other, by the slider'],
      ['view capture.pcap --telescope lwasv', 'packets of a capture, as a night'],
    ],
  });
}
