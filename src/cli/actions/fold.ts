/** What corella fold does, loaded when it runs. */
import { refuse } from '../../core/errors.js';
import { formatSeconds } from '../../core/units.js';
import { renderPng } from '../../draw/index.js';
import { openFilterbank, readText, writeFileWhole, checkOutputs } from '../../formats/index.js';
import { foldFilterbank, parseParameters, foldPicture } from '../../pulsar/index.js';
import { openTerminal } from '../report/terminal.js';
import type { FoldFlags } from '../fold.js';

export async function run(path: string, flags: FoldFlags): Promise<void> {
  if (flags.picture !== undefined) await checkOutputs({ ...flags, paths: [flags.picture], from: path });
  const own =
    flags.parameters === undefined
      ? undefined
      : parseParameters(await readText(flags.parameters), flags.parameters);
  if (own && flags.period !== undefined) refuse('--period', 'is in --parameters', 'leave one of them out');
  const frequencyHz =
    own?.frequencyHz ??
    (flags.period === undefined
      ? refuse('--period', 'is missing', 'give it, or --parameters')
      : 1 / flags.period);
  const dm = flags.dm ?? own?.dm ?? refuse('--dm', 'is missing', 'give the dispersion measure, or 0');
  const file = await openFilterbank(path);
  try {
    const { bins, subIntegrations, subBands } = flags;
    const folded = await foldFilterbank(file, {
      frequencyHz,
      frequencyRateHzS: own?.frequencyRateHzS,
      epoch: own?.epoch,
      dm,
      bins,
      subIntegrations: Math.max(1, Math.min(subIntegrations, file.values)),
      subBands: Math.max(1, Math.min(subBands, file.header.channels)),
    });
    const durationS = file.values * file.header.valueS;
    if (flags.picture !== undefined)
      await writeFileWhole(
        flags.picture,
        await renderPng(foldPicture(folded, file.header, durationS, path), { width: 900 }),
      );
    const { snr, phase, width, profile, overTime, overFrequency } = folded;
    openTerminal(flags).result(
      {
        path,
        periodS: 1 / frequencyHz,
        dm,
        turns: durationS * frequencyHz,
        snr,
        phase,
        width,
        profile: Array.from(profile),
        overTime: Array.from(overTime),
        overFrequency: Array.from(overFrequency),
      },
      [
        `${path}: ${Math.floor(durationS * frequencyHz)} turns of ${formatSeconds(1 / frequencyHz)} at DM ${dm}, as the telescope's clock has them`,
        `signal-to-noise ratio ${snr.toFixed(1)}, at phase ${phase.toFixed(3)}, ${(100 * width).toFixed(1)} % of a turn wide`,
        ...(flags.picture === undefined ? [] : [`drawn in ${flags.picture}`]),
      ],
    );
  } finally {
    await file.close();
  }
}
