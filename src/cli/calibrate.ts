/** corella calibrate: visibilities and a model of the sky to gains. */
import type { Command } from 'commander';
import { runVisibilities, type WrittenGains } from '../visibilities/index.js';
import { addExamples } from './options/command.js';
import { CHANNELS_FLAG, notOfVisibilities, ofVisibilities } from './options/of-visibilities.js';
import { addShorthand, filledFrom, runOfVisibilities, type ShorthandOptions } from './options/shorthand.js';
import { reportSkyModels } from './options/sky-options.js';
import { lackingIn, madeFacts, madeLines, sourceFacts, sourceLines } from './report/from-visibilities.js';
import { PartlyDone } from './report/outcome.js';

export function registerCalibrate(program: Command): void {
  const command = program.command('calibrate').argument('<visibilities>', 'in any format we read');
  const flags = addShorthand(command, {
    parts: ['products.gains', 'flags', 'source', 'observation', 'machine'],
    ...ofVisibilities,
    renamed: {
      'products.gains.gains': { otherwise: 'gains.json' },
      'products.gains.channels': { flag: CHANNELS_FLAG },
      'source.integration': {
        flag: '--integration <number>',
        help: 'use only the integration of this number, from 0; or sum: as many from the first as the turning sky allows, at most 30 s',
      },
    },
    without: [...notOfVisibilities],
  });
  command.action(async (visibilities: string, options: ShorthandOptions) => {
    const observation = filledFrom(flags, { visibilities }, { gains: 'gains.json' });
    const [{ sources }] = observation.products as readonly { readonly sources?: string }[];
    if (sources !== undefined && options.plan !== true) await reportSkyModels(sources, options);
    let lacking: readonly string[] = [];
    await runOfVisibilities(observation, options, {
      flags,
      run: runVisibilities,
      tell: (outcome) => {
        const [made] = outcome.products;
        const { seconds } = made.facts as WrittenGains;
        lacking = lackingIn(outcome);
        return {
          facts: {
            path: made.paths[0],
            paths: made.paths,
            ...madeFacts(made),
            ...sourceFacts(outcome),
            seconds,
          },
          lines: [...madeLines(made, outcome), ...sourceLines(outcome)],
        };
      },
    });
    if (lacking.length > 0) throw new PartlyDone(flags.inFlags(lacking.join('\n')));
  });
  addExamples(command, [
    ['calibrate visibilities.uvfits', 'with every bright source that was up'],
    [
      'calibrate visibilities.uvfits --sources CygA,CasA --min-baseline 5wl',
      'two sources, no baselines shorter than five wavelengths',
    ],
    [
      'calibrate noon.uvfits --sources Sun --diffuse galaxy --element mwa-dipole',
      'the Sun and a smooth Galaxy behind it',
    ],
    ['calibrate noon.uvfits --sources Sun --reference stand21 -o sun.json', 'in daylight, on the Sun alone'],
    ['calibrate field.uvfits --sources field-sources.txt', "a sky model's file: WSClean, BBS or CSV"],
    ['calibrate long.uvh5 --every 10s', 'gains that follow the observation'],
    [
      'calibrate visibilities.uvh5 --sources CygA --over delay --delays-out cables.json',
      'cable lengths, for correlate --delays cables.json',
    ],
    [
      'calibrate visibilities.uvfits --sources TauA --polarise TauA:0:0.02:0',
      'a polarised source gives X and Y one phase: U and V are calibrated too',
    ],
    [
      'calibrate second.uvfits --cross-hand first.json',
      'the phase between X and Y as an earlier observation had it',
    ],
    [
      'calibrate long.uvh5 --flag stand17:Y,channels=150.2MHz..150.4MHz --flag-interference',
      'without a dead dipole and a transmitter, and without other interference; --flags-out writes what was flagged',
    ],
    [
      'calibrate field.uvfits --sources field-sources.txt --polarisation full',
      'leakage between X and Y too; three polarised sources in the model hold I, Q, U and V',
    ],
    ['calibrate visibilities.uvfits --iterations 300 --json', 'a fixed amount of work, numbers for machines'],
    ['calibrate visibilities.uvfits --every 10s --plan', 'the same as an observation, for corella run'],
  ]);
}
