/** corella send --format kraken: serves data like a KrakenSDR. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { Source } from '../../core/sources.js';
import { formatSeconds } from '../../core/units.js';
import { listenSettings } from '../../live/index.js';
import { now, serveKraken } from '../../send/index.js';
import { refuseGiven } from '../options/command.js';
import { served, type ServedFormat } from './served.js';
import type { Terminal } from '../report/terminal.js';

export interface ServeOptions {
  readonly to: string;
  readonly speed: number;
  readonly loop?: true;
  readonly for?: number;
  readonly restamp?: true;
  readonly lose: number;
  readonly corrupt: number;
  readonly seed: number;
}

const forPackets = [
  'sockets',
  'interface',
  'truth',
  'startTick',
  'duplicate',
  'reorder',
  'late',
  'loseSource',
  'restart',
  'jump',
] as const;

export async function serve(
  format: ServedFormat,
  source: Source,
  {
    options,
    command,
    terminal,
    stop,
  }: {
    readonly options: ServeOptions;
    readonly command: Command;
    readonly terminal: Terminal;
    readonly stop: AbortSignal;
  },
): Promise<void> {
  refuseGiven(command, [...forPackets], `is for packets, and ${format} is a stream`);
  if (source.kind !== 'voltages') refuse('send', 'holds channelised data', 'a KrakenSDR has voltages');
  const { listen } = listenSettings(options.to.replace(/^localhost:/, '127.0.0.1:'), {}, '--to');
  const stage = terminal.stage('send');
  const sent = await serveKraken({
    source,
    version: served[format],
    address: listen.address,
    port: listen.port,
    stop,
    speed: options.speed,
    loop: options.loop === true,
    limitS: options.for ?? Infinity,
    lose: options.lose,
    corrupt: options.corrupt,
    seed: options.seed,
    start: options.restamp === true ? now() : undefined,
    onListening: (port) => {
      terminal.say(
        `listening at ${listen.address}:${port}: corella live ${format}:${listen.address}:${port}`,
      );
    },
    onProgress: (done) => {
      stage.update({ done, unit: 'frames' });
    },
  });
  const wallS = stage.done();
  terminal.result({ to: options.to, format, ...sent, wallS }, [
    `${sent.frames} frames sent, ${formatSeconds(sent.seconds)} of data; ${sent.skippedFrames} skipped, ${sent.damagedFrames} with a damaged header`,
    ...(sent.leftOverSamples > 0
      ? [`${sent.leftOverSamples} samples at the end of the recording do not fill a frame and were not sent`]
      : []),
  ]);
}
