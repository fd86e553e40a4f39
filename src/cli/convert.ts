/** corella convert: the same data in another format. */
import type { Command } from 'commander';
import { CHANNELS_FLAG, notOfVisibilities, notWritten, ofVisibilities } from './options/of-visibilities.js';
import { addShorthand, filledFrom, runOfVisibilities, type ShorthandOptions } from './options/shorthand.js';
import { addHelp } from './startup/help.js';

export function registerConvert(program: Command): void {
  const command = program
    .command('convert')
    .argument('<from>', "a file in any format we read, or several as one: 'a.vdif,b.vdif', 'night.*.raw'")
    .argument(
      '<to>',
      'what to write: visibilities .uvh5, .uvfits or .ms (through casacore); voltages and channelised data .sigmf-meta',
    );
  const flags = addShorthand(command, {
    parts: ['products.visibilities', 'flags', 'source', 'observation'],
    ...ofVisibilities,
    renamed: {
      'products.visibilities.channels': { flag: CHANNELS_FLAG },
      'products.visibilities.phase-centre': { otherwise: "the file's own" },
    },
    without: [
      ...notOfVisibilities.filter((name) => !name.startsWith('machine')),
      ...notWritten,
      'products.visibilities.visibilities',
    ],
  });
  command.action(async (from: string, to: string, options: ShorthandOptions) => {
    const { convertFile } = await import('../visibilities/index.js');
    const { reportOf } = await import('./actions/convert.js');
    await runOfVisibilities(filledFrom(flags, { visibilities: from }, { visibilities: to }), options, {
      run: convertFile,
      report: (converted) => {
        const { facts, lines } = reportOf(converted, to);
        return { facts: { from, to, ...facts }, lines };
      },
    });
  });
  addHelp(command, {
    common: [
      '--telescope',
      '--phase-centre',
      '--keep-channels',
      '--antennas',
      '--average-time',
      '--average-channels',
      '--times',
      '--flag',
      '--overwrite',
    ],
    examples: [
      ['convert visibilities.uvfits visibilities.uvh5', 'for pyuvdata'],
      [
        'convert eda2_correlation_burst.hdf5 burst.uvfits --telescope eda2',
        "a station's correlator dump, for casacore and WSClean",
      ],
      [
        'convert 1061315448.metafits observation.uvh5 --remove-cables',
        'all MWA correlator files beside a metafits, joined; cable delays removed',
      ],
      [
        'convert visibilities.uvh5 cyga.uvfits --phase-centre CygA',
        'fringes stopped at a source, by our own geometry',
      ],
      [
        'convert night.uvh5 part.uvfits --keep-channels 100-299 --antennas stand1,stand2,stand17 --average-time 10',
        'a part of it, averaged with fringes stopped',
      ],
      [
        'convert night.uvh5 flagged.uvh5 --flag-interference --flag times=2026-06-21T04:10:00Z..2026-06-21T04:11:00Z',
        'interference and a bad minute flagged; values and weights stay',
      ],
      [
        'convert recording.vdif recording.sigmf-meta --rate 32MHz',
        'VLBI frames to SigMF; missing frames stay missing',
      ],
      [
        "convert 'guppi_59332_80137.*.raw' whole.sigmf-meta",
        'files that follow each other are one recording, what is lost between them a gap; files of the same time are stations side by side',
      ],
    ],
  });
}
