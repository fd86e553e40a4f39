/** corella fold: folds a filterbank at the period of a pulsar. */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatSeconds } from '../core/units.js';
import { renderPng } from '../draw/index.js';
import { openFilterbank, readText, writeFileWhole } from '../formats/index.js';
import { foldFilterbank, parseParameters, foldPicture } from '../pulsar/index.js';
import { checkOutputs } from './options/outputs.js';
import { openTerminal } from './report/terminal.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, inputPath, real, timeS, whole } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, overwrite, picture } from './options/shared.js';

const changes = 'never';
const count = { changes, range: { least: 1 } } as const;
const foldOptions = z.strictObject({
  period: field(timeS, {
    flag: '--period <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    help: 'period of the pulsar as the telescope sees it, like 714.5ms',
  }),
  dm: field(real, { flag: '--dm <number>', changes, help: 'dispersion measure in pc/cm³' }),
  parameters: field(inputPath, {
    flag: '--parameters <path>',
    changes,
    help: 'F0 (or P0), F1, DM and PEPOCH from a file instead; no barycentre, no orbits',
  }),
  bins: field(whole, { flag: '--bins <number>', ...count, default: 64, help: 'bins of the profile' }),
  subIntegrations: field(whole, {
    flag: '--sub-integrations <number>',
    ...count,
    default: 32,
    help: 'parts in time',
  }),
  subBands: field(whole, {
    flag: '--sub-bands <number>',
    ...count,
    default: 16,
    help: 'parts in frequency',
  }),
  picture,
  overwrite,
  ...common,
});
type FoldFlags = Options<typeof foldOptions>;

export function registerFold(program: Command): void {
  const command = program.command('fold').argument('<filterbank>', 'a beam, .fil or .sf');
  addFields(command, foldOptions).action(run);
  addHelp(command, {
    common: ['--period', '--dm', '--parameters', '--bins', '--picture', '--overwrite', '--json'],
    examples: [
      ['fold psr.fil --period 714.5ms --dm 26.8 --picture psr.png', 'the profile of B0329+54'],
      ['fold psr.fil --parameters psr.par --picture psr.png', 'period, DM and epoch from a file'],
      ['fold psr.fil --parameters psr.par --json', 'the numbers, for machines'],
    ],
  });
}

async function run(path: string, flags: FoldFlags): Promise<void> {
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
