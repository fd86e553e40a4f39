/** corella search: searches a filterbank for single dispersed pulses. */
import type { Command } from 'commander';
import { formatSeconds } from '../core/units.js';
import { renderPng } from '../draw/index.js';
import { openFilterbank, writeFileWhole } from '../formats/index.js';
import { searchPicture, searchFilterbank } from '../pulsar/index.js';
import { checkOutputs } from './options/outputs.js';
import { openTerminal } from './report/terminal.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { again, field, real, timeS } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, out, overwrite, picture } from './options/shared.js';

const changes = 'never';
const searchOptions = z.strictObject({
  lowDm: field(real, {
    flag: '--low-dm <number>',
    changes,
    default: 0,
    help: 'lowest dispersion measure in pc/cm³',
  }),
  highDm: field(real, {
    flag: '--high-dm <number>',
    changes,
    default: 100,
    help: 'highest dispersion measure',
  }),
  dmStep: field(real, {
    flag: '--dm-step <number>',
    changes,
    otherwise: 'one value of delay across the band',
    help: 'step between dispersion measures',
  }),
  widest: field(timeS, {
    flag: '--widest <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    otherwise: '100ms',
    help: 'longest pulse',
  }),
  snr: field(real, {
    flag: '--snr <number>',
    changes,
    default: 7,
    help: 'candidates from this signal-to-noise ratio on',
  }),
  out: again(out, { otherwise: 'none; candidates as CSV' }),
  picture,
  overwrite,
  ...common,
});
type SearchFlags = Options<typeof searchOptions>;

const SHOWN = 10;

export function registerSearch(program: Command): void {
  const command = program.command('search').argument('<filterbank>', 'a beam, .fil or .sf');
  addFields(command, searchOptions).action(run);
  addHelp(command, {
    examples: [
      ['search psr.fil', 'pulses up to DM 100, listed'],
      ['search psr.fil --high-dm 500 -o candidates.csv --picture candidates.png', 'pulses up to DM 500'],
      ['search psr.fil --low-dm 20 --high-dm 30 --snr 6', 'weaker pulses near a known DM'],
    ],
  });
}

async function run(path: string, flags: SearchFlags): Promise<void> {
  const { out: csv, picture: png, lowDm, highDm, dmStep, widest: widestS, snr } = flags;
  const paths = [csv, png].filter((one) => one !== undefined);
  if (paths.length > 0) await checkOutputs({ ...flags, paths, from: path });
  const file = await openFilterbank(path);
  try {
    const found = await searchFilterbank(file, { lowDm, highDm, dmStep, widestS, snr });
    const { candidates, dms } = found;
    const rows = candidates.map(({ timeS, dm, widthS, snr: own }) =>
      [timeS.toFixed(6), dm.toFixed(3), widthS.toFixed(6), own.toFixed(2)].join(','),
    );
    if (csv !== undefined) await writeFileWhole(csv, ['time_s,dm,width_s,snr', ...rows, ''].join('\n'));
    if (png !== undefined)
      await writeFileWhole(png, await renderPng(searchPicture(found, path), { width: 900 }));
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
