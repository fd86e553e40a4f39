/** corella channelise: the F-engine alone, or its filter response. */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { front, timesFlag, type Flags, type FlagSettings } from '../observation/index.js';
import { namedAfter } from './options/outputs.js';
import {
  addShorthand,
  notOfRecordings,
  ofRecordings,
  observationOf,
  runShorthand,
  type ShorthandOptions,
} from './options/shorthand.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field } from '../fields/index.js';
import { addFields } from './options/own.js';
import { given } from './options/shared.js';

const settings: FlagSettings = {
  parts: ['products.spectra', 'source', 'observation', 'front', 'flags', 'machine'],
  renamed: {
    'products.spectra.spectra': { otherwise: 'RECORDING-channels.sigmf-meta; response.png with --response' },
    ...ofRecordings,
  },
  without: [
    ...notOfRecordings,
    'eop',
    'front.delays.track',
    'front.delays.fixed',
    'flags.file',
    'machine.cards',
  ],
  also: [timesFlag],
};

interface ChanneliseCommandOptions extends ShorthandOptions {
  readonly response?: true;
}

const responseOptions = z.strictObject({
  response: field(given, {
    flag: '--response',
    changes: 'never',
    group: 'Channels',
    help: "show the response of the filter; no recording: its scalloping and leakage beside a plain DFT's, as numbers and a picture",
  }),
});

export function registerChannelise(program: Command): void {
  const command = program.command('channelise').argument('[recording]', 'voltages in any format we read');
  addFields(command, responseOptions);
  const flags = addShorthand(command, settings);
  command.action(async (recording: string | undefined, options: ChanneliseCommandOptions) => {
    if (options.response === true) return respond(flags, recording, options);
    if (recording === undefined)
      refuse('channelise', 'no recording was named', 'name one, or ask for --response');
    const out = namedAfter(recording, '-channels.sigmf-meta');
    const observation = observationOf(flags, 'spectra', { recording, out });
    const { frontFacts, frontLines, productFacts, productLines } = await import('../observation/index.js');
    return runShorthand(observation, options, {
      command: 'channelise',
      report: (outcome, seconds) => {
        const [made] = outcome.products;
        return {
          facts: { path: made.paths[1], ...productFacts(made, outcome), ...frontFacts(outcome), seconds },
          lines: [...productLines(made, outcome, seconds), ...frontLines(outcome)],
        };
      },
    });
  });
  addHelp(command, {
    common: [
      '--out',
      '--channels',
      '--fine-channels',
      '--filter',
      '--taps',
      '--bits',
      '--response',
      '--telescope',
      '--backend',
      '--overwrite',
      '--plan',
    ],
    examples: [
      ['channelise voltages.sigmf-meta --channels 64 -o channels.sigmf-meta', '64 channels, 8 bits'],
      ['channelise channels.sigmf-meta --fine-channels 32 -o fine.sigmf-meta', 'channels made finer'],
      ['channelise voltages.sigmf-meta --bits 4 --equaliser measured', 'a gain for each input and channel'],
      ['channelise voltages.sigmf-meta --channels 64 --plan', 'the same as an observation, for corella run'],
      ['channelise --response --channels 1024 --taps 8', 'response.png, and the loss at a channel’s edge'],
      [
        'channelise --response --filter flat',
        'the same of a filter by name: usual, even, flat, sharp or dft',
      ],
      ['channelise --response --taps 16 --window kaiser:9 --json', 'the curves as numbers'],
    ],
  });
}

/** Fields that the response depends on. */
const ofResponse = ['channels', 'filter', 'taps', 'window', 'passband', 'coefficients', 'float-taps'];

/** Refuses all other given options. */
async function respond(
  flags: Flags,
  recording: string | undefined,
  options: ChanneliseCommandOptions,
): Promise<void> {
  if (recording !== undefined)
    refuse('--response', `needs no recording, such as ${recording}`, 'leave one of them out');
  const { observation, products } = flags.given();
  const { overwrite, ...parts } = observation;
  for (const [part, fields] of Object.entries(parts))
    for (const name of Object.keys(fields as object))
      if (part !== 'front' || !ofResponse.includes(name)) {
        const field = `${part}.${name}`;
        refuse(flags.flagOf(field) ?? field, 'does not change the response', 'leave it out');
      }
  const { showResponse } = await import('./channelise/response.js');
  await showResponse(front.parse(parts.front ?? {}), {
    json: options.json,
    quiet: options.quiet,
    overwrite: overwrite === true,
    out: products.spectra?.spectra as string | undefined,
  });
}
