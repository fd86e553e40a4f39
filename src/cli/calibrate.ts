/** corella calibrate: gains from visibilities and a sky model. */
import { Command } from 'commander';
import { z } from 'zod';
import { gnss, registerGnss } from './calibrate/gnss.js';
import type { WrittenGains } from '../visibilities/index.js';
import { CHANNELS_FLAG, notOfVisibilities, ofVisibilities } from './options/of-visibilities.js';
import { namedAfter } from './options/outputs.js';
import { refuseGiven } from './options/command.js';
import { addFields } from './options/own.js';
import {
  addForeign,
  addShorthand,
  filledFrom,
  runOfVisibilities,
  type ShorthandOptions,
} from './options/shorthand.js';
import { addHelp } from './startup/help.js';

/** With --gnss, gains come from a recording of navigation satellites, with a different set of options. */
export function registerCalibrate(program: Command): void {
  const [gnss, visibilities] = [registerGnss(new Command(), []), registerVisibilities(new Command(), [])];
  if (process.argv.includes('--gnss')) registerGnss(program, visibilities.options);
  else registerVisibilities(program, gnss.options);
}

function registerVisibilities(program: Command, foreign: Command['options']): Command {
  const command = program.command('calibrate').argument('<file>', 'visibilities; with --gnss, a recording');
  const flags = addShorthand(command, {
    parts: ['products.gains', 'flags', 'source', 'observation', 'machine'],
    ...ofVisibilities,
    renamed: {
      'products.gains.gains': { otherwise: 'VISIBILITIES-gains.json' },
      'products.gains.channels': { flag: CHANNELS_FLAG },
    },
    without: [...notOfVisibilities],
  });
  addFields(command, z.strictObject({ gnss }));
  const refused = addForeign(command, foreign);
  command.action(async (visibilities: string, options: ShorthandOptions) => {
    refuseGiven(command, refused, 'is for recordings, with --gnss alone');
    const observation = filledFrom(
      flags,
      { visibilities },
      { gains: namedAfter(visibilities, '-gains.json') },
    );
    const [{ sources }] = observation.products as readonly { readonly sources?: string }[];
    if (sources !== undefined && options.plan !== true) {
      const { reportSkyModels } = await import('./options/sky-options.js');
      await reportSkyModels(sources, options);
    }
    const { runVisibilities, lackingIn, madeFacts, madeLines, sourceFacts, sourceLines } =
      await import('../visibilities/index.js');
    await runOfVisibilities(observation, options, {
      run: runVisibilities,
      report: (outcome) => {
        const [made] = outcome.products;
        const { seconds } = made.facts as WrittenGains;
        return {
          facts: {
            path: made.paths[0],
            paths: made.paths,
            ...madeFacts(made),
            ...sourceFacts(outcome),
            seconds,
          },
          lines: [...madeLines(made, outcome), ...sourceLines(outcome)],
          lacking: lackingIn(outcome),
        };
      },
    });
  });
  return addHelp(command, {
    common: [
      '--out',
      '--sources',
      '--min-baseline',
      '--solve-every',
      '--reference',
      '--flag',
      '--flag-interference',
      '--keep-channels',
      '--telescope',
      '--overwrite',
      '--plan',
    ],
    examples: [
      ['calibrate visibilities.uvfits', 'with every bright source that was up'],
      [
        'calibrate visibilities.uvfits --sources CygA,CasA --min-baseline 5wl',
        'two sources, no baselines shorter than five wavelengths',
      ],
      [
        'calibrate noon.uvfits --sources Sun --diffuse galaxy --element mwa-dipole',
        'the Sun and a smooth Galaxy behind it',
      ],
      [
        'calibrate noon.uvfits --sources Sun --reference stand21 -o sun.json',
        'in daylight, on the Sun alone',
      ],
      ['calibrate field.uvfits --sources field-sources.txt', "a sky model's file: WSClean, BBS or CSV"],
      ['calibrate long.uvh5 --solve-every 10s', 'gains that follow the observation'],
      ['calibrate raw.hdf --gnss', 'a recording around GPS L1, by the codes of its satellites'],
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
      [
        'calibrate visibilities.uvfits --iterations 300 --json',
        'a fixed amount of work, numbers for machines',
      ],
      [
        'calibrate visibilities.uvfits --solve-every 10s --plan',
        'the same as an observation, for corella run',
      ],
    ],
  });
}
