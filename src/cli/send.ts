/** corella send: sends a recording or a simulated sky as packets, to a socket or a capture, with faults on request. */
import type { Command } from 'commander';
import { packetFormats, type PacketFormatName } from '../packets/registry.js';
import { channelFields } from './options/channel-options.js';
import { useEop } from './options/eop-option.js';
import { faultFields } from './send/fault-options.js';
import { simulationFields } from './send/simulation-fields.js';
import { served } from './send/served.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, outputPath, requiredField, whole, withForm, words } from '../fields/index.js';
import { formatHelp, observation, source as sourceFields } from '../observation/index.js';
import { addFields, type Options } from './options/own.js';
import { computing, given, overwrite, seed, skyFiles } from './options/shared.js';
import { prepareSources } from './options/prepare-sources.js';
import { whenRun } from './options/command.js';

const changes = 'never';
export const sendOptions = z.strictObject({
  simulate: field(given, {
    flag: '--simulate',
    changes,
    help: 'send a simulated sky instead of a recording',
  }),
  format: field(z.enum([...Object.keys(packetFormats), ...Object.keys(served)]), {
    flag: '--format <name>',
    changes,
    otherwise: 'none',
    help: formatHelp,
  }),
  to: requiredField(words('an address and a port, or the path of a capture'), {
    flag: '--to <where>',
    changes,
    help: 'where to: 127.0.0.1:4015, a multicast group like 239.1.2.3:4015, or a capture.pcap',
  }),
  interface: variant(sourceFields.shape.interface, { group: 'Options' }),
  sockets: field(whole, {
    flag: '--sockets <number>',
    changes,
    range: { least: 1 },
    otherwise: 'as many as the rate needs',
    help: 'threads that send',
  }),
  speed: field(
    withForm(
      z
        .union([z.number(), z.literal('max')])
        .transform((speed) => (speed === 'max' ? Infinity : speed))
        .refine((speed) => speed > 0, 'is not a speed'),
      { words: 'a number above 0, or max' },
    ),
    { flag: '--speed <factor>', changes, default: 1, help: 'seconds of data per second, or max' },
  ),
  for: variant(observation.shape.for, { otherwise: 'all of the data', group: 'Options' }),
  loop: field(given, {
    flag: '--loop',
    changes,
    help: 'repeat a recording when it ends; its clock continues',
  }),
  restamp: field(given, {
    flag: '--restamp',
    changes,
    otherwise: 'with its own time',
    help: 'send the recording as if it were made now',
  }),
  startTick: field(whole, {
    flag: '--start-tick <number>',
    changes,
    range: { least: 0 },
    otherwise: 'since the last second',
    help: "the senders' clock at the first sample",
  }),
  truth: field(outputPath, {
    flag: '--truth <recording>',
    changes,
    help: 'also write what arrives as a recording, gaps marked',
  }),
  ...faultFields,
  ...simulationFields,
  seed,
  ...channelFields,
  overwrite,
  ...computing,
  ...skyFiles,
});
export type SendOptions = Options<typeof sendOptions> & { readonly format: PacketFormatName };

export function registerSend(program: Command): void {
  const command = program
    .command('send')
    .argument('[recording]', 'voltages or channelised data; or --simulate');
  useEop(prepareSources(addFields(command, sendOptions))).action(
    whenRun(async () => (await import('./actions/send.js')).run),
  );
  addHelp(command, {
    common: [
      '--format',
      '--to',
      '--simulate',
      '--telescope',
      '--stations',
      '--for',
      '--loop',
      '--speed',
      '--lose',
      '--channels',
      '--overwrite',
    ],
    examples: [
      [
        'send --simulate --stations 16 --format chips --to 127.0.0.1:4015 --for 60s',
        'a small LWA-SV, in real time',
      ],
      [
        'send channels.sigmf-meta --format snap2 --to capture.pcap --lose 2% --duplicate 1% --reorder 1% --corrupt 0.5% --truth arrived',
        'a capture with every fault, and what arrives of it',
      ],
      [
        'send channels.sigmf-meta --format chips --to 239.1.2.3:4015 --loop --speed 1',
        'over and over, to a group',
      ],
    ],
  });
}
