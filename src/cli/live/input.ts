/** Where the samples of a night come from: pipes and sockets of plain samples, recordings, packets. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CorellaError, refuse } from '../../core/errors.js';
import { parseInstant } from '../../core/instant.js';
import type { Source } from '../../core/sources.js';
import { formatHz, formatSeconds } from '../../core/units.js';
import {
  describeSigmf,
  openFile,
  openSampleStream,
  streamOf,
  tcpStream,
  type ByteStream,
  type StreamDescription,
} from '../../formats/index.js';
import type { LiveInput } from '../../pipeline/live/night.js';
import { loadTelescope } from '../../telescope/load.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnknown } from '../open.js';
import { afterSeconds } from './long-timer.js';
import type { BeforeListening, InputOptions, OpenedInput, Say } from './opened-input.js';
import { listenSettings, openPackets } from './packets.js';

export type { BeforeListening, InputOptions, OpenedInput, Say } from './opened-input.js';

/** Samples come one way. */
export function refuseWays(origins: readonly string[], { from, listen }: InputOptions): void {
  const ways = [origins.length > 0, from !== undefined, listen !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    refuse(
      'live',
      ways === 0
        ? 'nothing says where the samples come from'
        : 'several things say where the samples come from',
      'give -, tcp://host:port or a recording; or --from capture.pcap; or --listen port',
    );
  }
}

export async function openLiveInput(
  origins: readonly string[],
  options: InputOptions,
  say: Say,
  beforeListening?: BeforeListening,
): Promise<OpenedInput> {
  refuseWays(origins, options);
  const { from, listen } = options;
  if (from !== undefined) return openPackets({ capture: from }, options, say);
  if (listen !== undefined)
    return openPackets(listenSettings(listen, options), options, say, beforeListening);
  const isStream = origins.map((origin) => origin === '-' || origin.startsWith('tcp://'));
  const isPipe = await Promise.all(origins.map(async (origin, n) => isStream[n] || (await isFifo(origin))));
  if (isPipe.every(Boolean)) return openStreams(origins, options, say);
  if (origins.length > 1) refuse('live', 'several recordings', 'give one, or several streams');
  if (/\.pcap(?:ng)?$/i.test(origins[0]))
    refuse(origins[0], 'is a capture of packets', `name it with --from ${origins[0]}`);
  return openRecording(origins[0], options, say);
}

const isFifo = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFIFO() === true;

/** One session. */
const single =
  (source: Source): LiveInput['sessions'] =>
  () => [source];

async function openRecording(path: string, options: InputOptions, say: Say): Promise<OpenedInput> {
  for (const name of ['meta', 'sampleType', 'inputs', 'polarisations'] as const)
    if (options[name] !== undefined)
      refuse(
        `--${name === 'sampleType' ? 'sample-type' : name}`,
        `is for streams, and ${path} is a recording, which says it itself`,
        'leave it out',
      );
  const telescope = options.telescope === undefined ? undefined : await loadTelescope(options.telescope);
  const recording = await openFile(path, {
    ...(telescope && { telescope }),
    ...(options.rate === undefined ? {} : { sampleRateHz: options.rate }),
    ...(options.frequency === undefined ? {} : { centreFrequencyHz: options.frequency }),
    ...(options.start === undefined ? {} : { start: parseInstant(options.start, '--start') }),
  });
  if (recording.kind === 'visibilities')
    refuse(path, 'holds visibilities', 'give voltages or channelised data');
  refuseUnknown(recording);
  recording.assumed?.forEach(say);
  // As elsewhere: what the user names comes first, and must fit.
  const own = telescope ?? recording.telescope;
  return {
    description: path,
    ...(own && { telescope: own }),
    isLive: false,
    sessions: single(recording),
    // A recording is read as fast as it is worked through: the night's own end is soon enough.
    stop: () => undefined,
    close: () => recording.close(),
  };
}

function openByteStream(origin: string): ByteStream {
  if (origin === '-') return streamOf('standard input', process.stdin);
  const tcp = /^tcp:\/\/(.+):(\d+)\/?$/.exec(origin);
  if (tcp) return tcpStream(tcp[1].replace(/^\[|\]$/g, ''), Number(tcp[2]));
  if (origin.startsWith('tcp://'))
    refuse(origin, 'names no host and port', 'write it like tcp://localhost:1234');
  return streamOf(origin, createReadStream(origin, { highWaterMark: 2 ** 18 }));
}

/** As of files: what is said against a description is refused. */
function refuseOtherMeta(options: InputOptions, described: Awaited<ReturnType<typeof describeSigmf>>): void {
  const { meta = '', sampleType, inputs, polarisations, rate, frequency } = options;
  const pairs = [
    ['--sample-type', sampleType, described.type],
    ['--inputs', inputs, described.inputs],
    ['--polarisations', polarisations, described.polarisations],
    ['--rate', rate, described.sampleRateHz],
    ['--frequency', frequency, described.centreFrequencyHz],
  ] as const;
  for (const [option, said, own] of pairs)
    if (said !== undefined && own !== undefined && said !== own)
      refuse(option, `is ${said}, where ${meta} says ${own}`, 'leave one of them out');
}

async function openStreams(
  origins: readonly string[],
  options: InputOptions,
  say: Say,
): Promise<OpenedInput> {
  const described = options.meta === undefined ? undefined : await describeSigmf(options.meta);
  const telescope =
    options.telescope === undefined ? described?.telescope : await loadTelescope(options.telescope);
  const told = <Value>(value: Value | undefined, what: string, fix: string): Value =>
    value ?? refuse(origins[0], `a stream does not say ${what}`, `${fix}, or describe it with --meta`);
  const inputs =
    options.inputs ??
    described?.inputs ??
    (telescope && (telescope.stations.length * telescope.polarisations) / origins.length);
  if (described) refuseOtherMeta(options, described);
  const start = options.start === undefined ? undefined : parseInstant(options.start, '--start');
  const polarisations = options.polarisations ?? described?.polarisations ?? telescope?.polarisations ?? 1;
  if (polarisations !== 1 && polarisations !== 2)
    refuse('--polarisations', `is ${polarisations}`, 'give 1 or 2');
  const description: StreamDescription = {
    type: told(options.sampleType ?? described?.type, 'what its samples are', 'say --sample-type, like cu8'),
    inputs: told(inputs, 'how many inputs it holds', 'say --inputs'),
    polarisations,
    sampleRateHz: told(options.rate ?? described?.sampleRateHz, 'its sample rate', 'say --rate'),
    centreFrequencyHz: told(
      options.frequency ?? described?.centreFrequencyHz,
      'its frequency',
      'say --frequency',
    ),
    ...(start && { start }),
  };
  // Two readers of one pipe share its bytes between them as it happens.
  if (new Set(origins).size < origins.length)
    refuse(
      'live',
      'one stream is named twice',
      'name each once; --inputs says how many are interleaved in it',
    );
  const streams = origins.map(openByteStream);
  say(`waiting for samples from ${streams.map(({ name }) => name).join(' and ')}`);
  const { for: forS } = options;
  let isOver = false;
  const callOff =
    forS !== undefined && start === undefined
      ? afterSeconds(forS, () => {
          isOver = true;
          for (const stream of streams) void stream.close();
        })
      : undefined;
  const source = await openSampleStream(streams, description, ({ kind, stream, seconds }) => {
    if (kind === 'silent') say(`${stream}: nothing comes; waiting`);
    else if (kind === 'again')
      say(`${stream}: samples again after ${formatSeconds(seconds)}, which are missing`);
    else say(`${stream}: at its end`);
  })
    .catch((error: unknown) => {
      if (!isOver || forS === undefined) throw error;
      return refuse(
        origins.join(' and '),
        `no sample came in ${formatSeconds(forS)}`,
        'check what sends them',
      );
    })
    .finally(() => {
      callOff?.();
    });
  return {
    description: `${streams.map(({ name }) => name).join(' and ')}, ${description.type} at ${formatHz(description.sampleRateHz)}`,
    ...(telescope && { telescope }),
    isLive: start === undefined,
    sessions: single(source),
    stop: () => {
      source.stop();
    },
    close: () => source.close(),
  };
}

/** What says where the stations stand, and fits the inputs. */
export function telescopeOf(
  source: Pick<Source, 'inputs' | 'polarisations'>,
  telescope: Telescope | undefined,
  description: string,
): Telescope {
  if (!telescope)
    throw new CorellaError({
      where: description,
      what: 'does not say where its stations stand',
      fix: 'name its telescope, or a JSON description of it, with --telescope',
    });
  const { inputs, polarisations } = source;
  if (inputs !== telescope.stations.length * polarisations || polarisations !== telescope.polarisations)
    refuse(
      description,
      `has ${inputs} inputs, ${inputs / polarisations} × ${polarisations}, where ${telescope.name} has ${telescope.stations.length} stations × ${telescope.polarisations}`,
      'name the telescope that it is of with --telescope, and --stations where it is a part',
    );
  return telescope;
}
