/** Refuses contradictory or ineffective options of send before anything is sent. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { planListening } from '../../receive/index.js';
import { listenSettings } from '../../live/index.js';
import { refuseGiven } from '../options/command.js';
import type { FaultOptions } from './fault-options.js';
import type { SimulationOptions } from './simulation-fields.js';

export const isCapture = (to: string): boolean => /\.pcap$/i.test(to);

const ofSimulation = [
  'telescope',
  'stations',
  'sources',
  'time',
  'frequency',
  'rate',
  'type',
  'duration',
  'noise',
  'perfect',
] as const satisfies readonly (keyof SimulationOptions)[];

interface Given extends FaultOptions {
  readonly to: string;
  readonly speed: number;
  readonly interface?: string;
  readonly simulate?: true;
  readonly loop?: true;
  readonly for?: number;
  readonly restamp?: true;
  readonly time?: string;
  readonly truth?: string;
}

export function refuseSending(options: Given, command: Command): void {
  const { to } = options;
  if (options.simulate !== true)
    refuseGiven(command, ofSimulation, 'is for --simulate, and a recording is sent');
  else if (options.restamp === true && options.time !== undefined)
    refuse('--restamp', 'would give the sky of --time the time of now', 'give one of them');
  if (/\.pcapng$/i.test(to)) refuse('--to', `'${to}': captures are written as pcap`, 'end the name in .pcap');
  if (isCapture(to)) {
    const idle = ['interface', 'sockets', ...(options.speed === Infinity ? [] : ['speed'])];
    // A capture is always written at full speed.
    refuseGiven(command, idle, 'is for a socket, and packets go to a capture');
    if (options.loop === true && options.for === undefined)
      refuse('--loop', 'into a capture would never end', 'say how much of it with --for');
  } else if (options.interface !== undefined) {
    if (!planListening(listenSettings(to.replace(/^localhost:/, '127.0.0.1:'), options, '--to')).group)
      refuse('--interface', `is by which packets to a group leave, and ${to} is none`, 'leave it out');
  }
  for (const { fromS, toS } of options.loseSource)
    if (toS <= fromS) refuse('--lose-source', `${fromS} s to ${toS} s is no while`, 'write it like 3@5s-8s');
}

/** Called once the senders are known. */
export function refuseSenders({ loseSource }: FaultOptions, { sources }: StreamPlan): void {
  for (const { source } of loseSource)
    if (source >= sources.length)
      refuse(
        '--lose-source',
        `there is no sender ${source}`,
        sources.length === 1 ? 'there is one, 0' : `there are 0 to ${sources.length - 1}`,
      );
}

/** Requested faults that lie after the end of the data. */
export const faultsToCome = ({ restart, jump, loseSource }: FaultOptions, seconds: number): string[] =>
  [
    ...(restart === undefined ? [] : [['--restart', restart] as const]),
    ...(jump ? [['--jump', jump.atS] as const] : []),
    ...loseSource.map(({ fromS }) => ['--lose-source', fromS] as const),
  ].flatMap(([option, atS]) =>
    atS < seconds ? [] : [`${option} did not happen: the data ended before ${atS} s`],
  );
