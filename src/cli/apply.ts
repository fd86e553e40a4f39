/** corella apply: applies gains to visibilities, for use in other software. */
import type { Command } from 'commander';
import { CHANNELS_FLAG, notOfVisibilities, notWritten, ofVisibilities } from './options/of-visibilities.js';
import { addShorthand, filledFrom, runOfVisibilities, type ShorthandOptions } from './options/shorthand.js';
import { addHelp } from './startup/help.js';
import { crossHandFlag } from '../observation/index.js';

export function registerApply(program: Command): void {
  const command = program
    .command('apply')
    .argument('<visibilities>', 'in any format we read')
    .argument('<gains>', 'from corella calibrate, or CalH5 of others')
    .argument('<to>', 'what to write: .uvh5 or .uvfits');
  const flags = addShorthand(command, {
    parts: ['products.visibilities', 'gains', 'flags', 'source', 'observation'],
    source: 'visibilities',
    also: [...(ofVisibilities.also ?? []), crossHandFlag],
    renamed: { 'products.visibilities.channels': { flag: CHANNELS_FLAG } },
    without: [
      ...notOfVisibilities.filter((name) => !name.startsWith('machine')),
      ...notWritten,
      'products.visibilities.visibilities',
      'gains.file',
      'gains.min-baseline',
      'gains.element',
      'gains.diffuse',
    ],
  });
  command.action(async (visibilities: string, file: string, to: string, options: ShorthandOptions) => {
    const { runVisibilities, reportOfOne } = await import('../visibilities/index.js');
    await runOfVisibilities(
      filledFrom(flags, { visibilities }, { visibilities: to, calibrated: true }, { gains: { file } }),
      options,
      {
        run: runVisibilities,
        report: (outcome) => {
          const { facts, lines } = reportOfOne(outcome);
          return { facts: { from: visibilities, gains: file, to, ...facts }, lines };
        },
      },
    );
  });
  addHelp(command, {
    common: [
      '--average-time',
      '--average-channels',
      '--keep-channels',
      '--antennas',
      '--flag',
      '--flag-interference',
      '--overwrite',
      '--plan',
    ],
    examples: [
      ['apply visibilities.uvfits gains.json calibrated.uvfits', 'for WSClean, casacore, AIPS'],
      ['apply visibilities.uvh5 gains.calh5 calibrated.uvh5', 'as pyuvdata.utils.uvcalibrate does'],
      [
        'apply night.uvh5 gains.json clean.uvfits --flag-interference --flags-out flags.json',
        'and interference flagged, in the file and in a file of flags',
      ],
      [
        'apply visibilities.uvfits gains.json mean.uvfits --average-time 10',
        'averaged once it is calibrated',
      ],
    ],
  });
}
