/** corella fold: a filterbank at the period of a pulsar. */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatSeconds } from '../core/units.js';
import { renderPng } from '../draw/index.js';
import { openFilterbank, readText, writeFileWhole } from '../formats/index.js';
import { foldFilterbank, parseParameters, foldPicture } from '../pulsar/index.js';
import { addCommonOptions, addExamples, parseWhole, type CommonOptions } from './options/command.js';
import { addOverwriteOption, checkOutputs, checkPngName, type OutputOptions } from './options/outputs.js';
import { duration, plainNumber } from './options/quantity.js';
import { openTerminal } from './report/terminal.js';

interface FoldFlags extends CommonOptions, OutputOptions {
  readonly period?: number;
  readonly dm?: number;
  readonly parameters?: string;
  readonly bins: number;
  readonly subIntegrations: number;
  readonly subBands: number;
  readonly picture?: string;
}

export function registerFold(program: Command): void {
  const command = program
    .command('fold')
    .argument('<filterbank>', 'a beam, .fil')
    .option('--period <time>', 'of the pulsar as the telescope sees it, like 714.5ms', duration('--period'))
    .option('--dm <number>', 'dispersion measure in pc/cm³', plainNumber('--dm'))
    .option(
      '--parameters <path>',
      'F0 (or P0), F1, DM and PEPOCH from a file instead; no barycentre, no orbits',
    )
    .option('--bins <number>', 'of the profile', parseWhole, 64)
    .option('--sub-integrations <number>', 'in time', parseWhole, 32)
    .option('--sub-bands <number>', 'in frequency', parseWhole, 16)
    .option('--picture <path>', 'draw profile, sub-integrations and sub-bands as PNG')
    .action(run);
  addOverwriteOption(command);
  addCommonOptions(command);
  addExamples(command, [
    ['fold psr.fil --period 714.5ms --dm 26.8 --picture psr.png', 'the profile of B0329+54'],
    ['fold psr.fil --parameters psr.par --json', 'the numbers, for machines'],
  ]);
}

async function run(path: string, flags: FoldFlags): Promise<void> {
  if (flags.picture !== undefined) {
    checkPngName('--picture', flags.picture);
    await checkOutputs({ ...flags, paths: [flags.picture], from: path });
  }
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
  const dm = flags.dm ?? own?.dm ?? refuse('--dm', 'is missing', 'give it; 0 where nothing is dispersed');
  const file = await openFilterbank(path);
  try {
    const { bins, subIntegrations, subBands } = flags;
    const folded = await foldFilterbank(file, {
      ...{ frequencyHz, frequencyRateHzS: own?.frequencyRateHzS, epoch: own?.epoch, dm, bins },
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
        ...{ path, periodS: 1 / frequencyHz, dm, turns: durationS * frequencyHz, snr, phase, width },
        ...{
          profile: Array.from(profile),
          overTime: Array.from(overTime),
          overFrequency: Array.from(overFrequency),
        },
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
