/** corella search: single dispersed pulses in a filterbank. */
import type { Command } from 'commander';
import { formatSeconds } from '../core/units.js';
import { renderPng } from '../draw/index.js';
import { openFilterbank, writeFileWhole } from '../formats/index.js';
import { searchPicture, searchFilterbank } from '../pulsar/index.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { addOverwriteOption, checkOutputs, checkPngName, type OutputOptions } from './options/outputs.js';
import { duration, plainNumber } from './options/quantity.js';
import { openTerminal } from './report/terminal.js';

interface SearchFlags extends CommonOptions, OutputOptions {
  readonly lowDm: number;
  readonly highDm: number;
  readonly dmStep?: number;
  readonly widest?: number;
  readonly snr: number;
  readonly out?: string;
  readonly picture?: string;
}

const SHOWN = 10;

export function registerSearch(program: Command): void {
  const command = program
    .command('search')
    .argument('<filterbank>', 'a beam, .fil')
    .option('--low-dm <number>', 'lowest dispersion measure in pc/cm³', plainNumber('--low-dm'), 0)
    .option('--high-dm <number>', 'highest', plainNumber('--high-dm'), 100)
    .option(
      '--dm-step <number>',
      'between them (default: one value of delay across the band)',
      plainNumber('--dm-step'),
    )
    .option('--widest <time>', 'longest pulse (default: 100ms)', duration('--widest'))
    .option('--snr <number>', 'candidates from this signal-to-noise ratio on', plainNumber('--snr'), 7)
    .option('-o, --out <path>', 'candidates as CSV')
    .option('--picture <path>', 'draw candidates over time and DM as PNG')
    .action(run);
  addOverwriteOption(command);
  addCommonOptions(command);
  addExamples(command, [
    ['search psr.fil --high-dm 500 -o candidates.csv --picture candidates.png', 'pulses up to DM 500'],
  ]);
}

async function run(path: string, flags: SearchFlags): Promise<void> {
  const { out, picture, lowDm, highDm, dmStep, widest: widestS, snr } = flags;
  if (picture !== undefined) checkPngName('--picture', picture);
  const paths = [out, picture].filter((one) => one !== undefined);
  if (paths.length > 0) await checkOutputs({ ...flags, paths, from: path });
  const file = await openFilterbank(path);
  try {
    const found = await searchFilterbank(file, { lowDm, highDm, dmStep, widestS, snr });
    const { candidates, dms } = found;
    const rows = candidates.map(({ timeS, dm, widthS, snr: own }) =>
      [timeS.toFixed(6), dm.toFixed(3), widthS.toFixed(6), own.toFixed(2)].join(','),
    );
    if (out !== undefined) await writeFileWhole(out, ['time_s,dm,width_s,snr', ...rows, ''].join('\n'));
    if (picture !== undefined)
      await writeFileWhole(picture, await renderPng(searchPicture(found, path), { width: 900 }));
    openTerminal(flags).result(
      { path, trials: dms.length, lowDm: dms[0], highDm: dms[dms.length - 1], candidates },
      [
        `${path}: ${candidates.length} candidate${candidates.length === 1 ? '' : 's'} of signal-to-noise ratio ${snr} or more, at ${dms.length} DMs`,
        ...candidates
          .slice(0, SHOWN)
          .map(
            (one) =>
              `  ${one.snr.toFixed(1)} at DM ${one.dm.toFixed(1)}, ${one.timeS.toFixed(4)} s, ${formatSeconds(one.widthS)} wide`,
          ),
        ...(candidates.length > SHOWN ? [`  and ${candidates.length - SHOWN} more`] : []),
        ...paths.map((one) => `written: ${one}`),
      ],
    );
  } finally {
    await file.close();
  }
}
