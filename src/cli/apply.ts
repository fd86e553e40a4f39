/** corella apply: visibilities over gains, for other software to go on from. */
import type { Command } from 'commander';
import { addSeconds } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import { readGainFile, visibilityFormatFor } from '../formats/index.js';
import {
  applyGains,
  channelsWithoutGains,
  crossHandsKnown,
  fitsData,
  matchGains,
  written,
} from '../stages/index.js';
import { parseKnown } from './image-gains.js';
import { openVisibilities, telescopeFor } from './open.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { addOverwriteOption, checkOutputs, type OutputOptions } from './options/outputs.js';
import { addPartOptions, partOf, type PartOptions } from './options/part-options.js';
import { tellingFlags } from './report/flag-lines.js';
import { history } from './report/history.js';
import { openTerminal } from './report/terminal.js';

export function registerApply(program: Command): void {
  const command = program
    .command('apply')
    .argument('<visibilities>', 'in any format we read')
    .argument('<gains>', 'from corella calibrate, or CalH5 of others')
    .argument('<to>', 'what to write: .uvh5 or .uvfits')
    .option(
      '--cross-hand <known>',
      "known: those gains' X and Y share one phase, whatever their file says; else XY and YX are flagged",
      parseKnown,
    )
    .action(run);
  addPartOptions(command);
  addOpenOptions(command, 'visibilities');
  addOverwriteOption(command);
  addCommonOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['apply visibilities.uvfits gains.json calibrated.uvfits', 'for WSClean, casacore, AIPS'],
    ['apply visibilities.uvh5 gains.calh5 calibrated.uvh5', 'as pyuvdata.utils.uvcalibrate does'],
    [
      'apply night.uvh5 gains.json clean.uvfits --flag-interference --flags-out flags.json',
      'and interference flagged, in the file and in a file of flags',
    ],
  ]);
}

interface ApplyOptions extends CommonOptions, OpenFlags, OutputOptions, PartOptions {
  readonly crossHand?: 'known';
}

async function run(from: string, gainsPath: string, to: string, options: ApplyOptions): Promise<void> {
  const screen = openTerminal(options);
  const beside = options.flagsOut === undefined ? [] : [options.flagsOut];
  await checkOutputs({ ...options, paths: [to, ...beside], from });
  const gains = await readGainFile(gainsPath);
  const opened = await openVisibilities(from, await openOptions(options));
  try {
    const { file, told: toldOf, finish } = await partOf(opened, options);
    const terminal = tellingFlags(screen, toldOf, options);
    const stage = terminal.stage('apply');
    const telescope = await telescopeFor(file, options);
    const { frequenciesHz, polarisations, feeds, units } = file.header;
    const others = fitsData(gains, gainsPath, { telescope, frequenciesHz, ...(units && { units }) });
    const header = {
      ...file.header,
      units: 'Jy' as const,
      history: [...history({ from: file }), `gains ${gainsPath} applied`],
    };
    const told = { integrations: 0, flagged: 0, values: 0 };
    let [isKnown, empty] = [true, 0];
    await written(
      () => visibilityFormatFor(to).createVisibilities(to, header),
      async (append) => {
        for await (const integration of file.integrations('reused')) {
          const middle = addSeconds(integration.start, integration.durationS / 2);
          const calibrated = matchGains(gains, gainsPath, telescope, frequenciesHz, middle);
          if (options.crossHand === 'known') calibrated.crossHands.fill(1);
          isKnown &&= crossHandsKnown(calibrated);
          empty = Math.max(empty, channelsWithoutGains(calibrated, frequenciesHz.length).length);
          const applied = applyGains(integration, calibrated);
          await append(applied.integration);
          told.integrations++;
          told.flagged += applied.flagged;
          told.values += applied.values;
          stage.update({ done: told.integrations, of: file.integrationCount, unit: 'integrations' });
        }
      },
    );
    await finish();
    const seconds = stage.done();
    const crossHands = polarisations === 2 ? (isKnown ? 'known' : 'unknown') : undefined;
    const letters = feeds === 'circular' ? 'R and L' : 'X and Y';
    terminal.result(
      { from, gains: gainsPath, to, unit: 'Jy', ...told, ...(crossHands && { crossHands }), seconds },
      [
        `${to}: ${told.integrations} integration${told.integrations === 1 ? '' : 's'} in Jy, ${formatSeconds(seconds)}`,
        ...others,
        ...(told.flagged > 0
          ? [
              `${((100 * told.flagged) / told.values).toFixed(1)} % of the values are flagged for want of a gain`,
            ]
          : []),
        ...(empty > 0 ? [`${empty} of ${frequenciesHz.length} channels have no gains and are flagged`] : []),
        ...(crossHands === 'unknown'
          ? [
              gains.leakage
                ? 'the cross hands are flagged: the model of these gains leaves a rotation of Q, U and V open, so that I alone is right'
                : `the cross hands are flagged: these gains do not know the phase between ${letters} (calibrate --cross-hand)`,
            ]
          : []),
      ],
    );
  } finally {
    await opened.close();
  }
}
