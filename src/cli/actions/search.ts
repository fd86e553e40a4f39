/** What corella search does, loaded when it runs. */
import { formatHz, formatSeconds } from '../../core/units.js';
import { renderPng } from '../../draw/index.js';
import { openFilterbank, writeFileWhole, checkOutputs } from '../../formats/index.js';
import { searchPicture, searchFilterbank } from '../../pulsar/index.js';
import { openTerminal } from '../report/terminal.js';
import type { SearchFlags } from '../search.js';

const SHOWN = 10;

export async function run(path: string, flags: SearchFlags): Promise<void> {
  const { out: csv, picture: png, lowDm, highDm, dmStep, widest: widestS, snr } = flags;
  const paths = [csv, png].filter((one) => one !== undefined);
  if (paths.length > 0) await checkOutputs({ ...flags, paths, from: path });
  const file = await openFilterbank(path);
  try {
    const found = await searchFilterbank(file, { lowDm, highDm, dmStep, widestS, snr });
    const { candidates, dms, timesAtHz } = found;
    const rows = candidates.map(({ timeS, dm, widthS, snr: own }) =>
      [timeS.toFixed(6), dm.toFixed(3), widthS.toFixed(6), own.toFixed(2)].join(','),
    );
    if (csv !== undefined) await writeFileWhole(csv, ['time_s,dm,width_s,snr', ...rows, ''].join('\n'));
    if (png !== undefined)
      await writeFileWhole(png, await renderPng(searchPicture(found, path), { width: 900 }));
    openTerminal(flags).result(
      { path, trials: dms.length, lowDm: dms[0], highDm: dms[dms.length - 1], timesAtHz, candidates },
      [
        `${path}: ${candidates.length} candidate${candidates.length === 1 ? '' : 's'} of signal-to-noise ratio ${snr} or more, at ${dms.length} DMs`,
        ...candidates
          .slice(0, SHOWN)
          .map(
            (one) =>
              `  ${one.snr.toFixed(1)} at DM ${one.dm.toFixed(1)}, ${one.timeS.toFixed(4)} s, ${formatSeconds(one.widthS)} wide`,
          ),
        ...(candidates.length > 0
          ? [`  times at ${formatHz(timesAtHz, 9)}, the centre of the highest channel`]
          : []),
        ...(candidates.length > SHOWN ? [`  and ${candidates.length - SHOWN} more`] : []),
        ...paths.map((one) => `written: ${one}`),
      ],
    );
  } finally {
    await file.close();
  }
}
