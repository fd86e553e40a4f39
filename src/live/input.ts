/** Inputs of a live run: pipes and sockets of plain samples, recordings, packets. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CorellaError, refuse } from '../core/errors.js';
import { formatInstant, parseInstant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { formatHz, formatSeconds } from '../core/units.js';
import {
  describeSigmf,
  openSampleStream,
  rtlTcpStream,
  streamOf,
  tcpStream,
  zmqStream,
  type ByteStream,
  type StreamDescription,
  type StreamEvent,
} from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { afterSeconds } from './long-timer.js';
import { openRecording, type SourcePart } from '../observation/index.js';
import type { InputSettings, LiveInput, OpenedInput } from './opened-input.js';
import { openKraken } from './kraken.js';
import { listenSettings, openPackets } from './packets.js';
import { parseStreamAddress } from './stream-address.js';

export async function openLiveInput(settings: InputSettings): Promise<OpenedInput> {
  const { source } = settings.observation;
  if (source.capture !== undefined) return openPackets({ capture: source.capture }, settings);
  if (source.listen !== undefined) return openPackets(listenSettings(source.listen, source), settings);
  if (source.stream !== undefined) return openStreamsNamed([source.stream].flat(), settings);
  return openRecorded(settings);
}

/** A receiver with its own protocol, or plain samples. */
function openStreamsNamed(
  origins: readonly string[],
  settings: InputSettings,
): Promise<OpenedInput> | OpenedInput {
  const { 'noise-gains': noiseGains } = settings.observation.source;
  const addresses = origins.map(parseStreamAddress);
  const receiver = addresses.find((one) => one?.scheme.startsWith('kraken'));
  if (!receiver) {
    if (noiseGains !== undefined)
      refuse('source.noise-gains', 'is for receivers with a noise source (kraken:HOST)', 'leave it out');
    return openStreams(origins, settings);
  }
  if (origins.length > 1)
    refuse(
      'source.stream',
      'a KrakenSDR and others side by side',
      'their samples have no common clock: give one',
    );
  const { host, port, scheme } = receiver;
  return openKraken({ host, port, version: scheme === 'kraken' ? 1 : 2 }, settings);
}

/** A named pipe is a stream. */
export const isFifo = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFIFO() === true;

/** One stream epoch. */
const single =
  (source: Source): LiveInput['sessions'] =>
  () => [source];

async function openRecorded({ observation, say }: InputSettings): Promise<OpenedInput> {
  const { opened, recording, telescope, paths } = await openRecording(observation, { ofSky: true });
  recording.assumed?.forEach(say);
  return {
    description: recording.path,
    telescope,
    paths,
    isLive: false,
    sessions: single(recording),
    // A recording is read as fast as it is processed: it ends soon enough by itself.
    stop: () => undefined,
    close: () => opened.close(),
  };
}

function openByteStream(origin: string, description: StreamDescription): ByteStream {
  if (origin === '-') return streamOf('standard input', process.stdin);
  const address = parseStreamAddress(origin);
  if (address?.scheme === 'rtl_tcp') return rtlTcpStream(address.host, address.port, description);
  if (address?.scheme === 'zmq') return zmqStream(address.host, address.port);
  if (address) return tcpStream(address.host, address.port);
  return streamOf(origin, createReadStream(origin, { highWaterMark: 2 ** 18 }));
}

/** As for files: refuses options that contradict the description. */
function refuseOtherMeta(options: SourcePart, described: Awaited<ReturnType<typeof describeSigmf>>): void {
  const { meta = '', inputs, polarisations, rate, frequency } = options;
  const pairs = [
    ['source.sample-type', options['sample-type'], described.type],
    ['source.inputs', inputs, described.inputs],
    ['source.polarisations', polarisations, described.polarisations],
    ['source.rate', rate, described.sampleRateHz],
    ['source.frequency', frequency, described.centreFrequencyHz],
  ] as const;
  for (const [option, said, own] of pairs)
    if (said !== undefined && own !== undefined && said !== own)
      refuse(option, `is ${said}, where ${meta} says ${own}`, 'leave one of them out');
}

async function openStreams(
  origins: readonly string[],
  { observation: { source: options }, telescope: named, forS, say }: InputSettings,
): Promise<OpenedInput> {
  const described = options.meta === undefined ? undefined : await describeSigmf(options.meta);
  // An RTL-SDR dongle has one input and unsigned bytes.
  const isRtl = origins.every((origin) => parseStreamAddress(origin)?.scheme === 'rtl_tcp');
  for (const [field, own] of [
    ['sample-type', 'cu8'],
    ['inputs', 1],
  ] as const)
    if (isRtl && options[field] !== undefined && options[field] !== own)
      refuse(`source.${field}`, `is ${options[field]}, and rtl_tcp sends ${own}`, 'leave it out');
  const telescope = named ?? described?.telescope;
  const required = <Value>(value: Value | undefined, what: string, fix: string): Value =>
    value ?? refuse(origins[0], `a stream does not say ${what}`, `${fix}, or describe it with source.meta`);
  const inputs =
    options.inputs ??
    (isRtl ? 1 : undefined) ??
    described?.inputs ??
    (telescope && (telescope.stations.length * telescope.polarisations) / origins.length);
  if (described) refuseOtherMeta(options, described);
  const start = options.start === undefined ? undefined : parseInstant(options.start, 'source.start');
  const polarisations = options.polarisations ?? described?.polarisations ?? telescope?.polarisations ?? 1;
  const description: StreamDescription = {
    type: required(
      options['sample-type'] ?? (isRtl ? 'cu8' : described?.type),
      'what its samples are',
      'give source.sample-type, like cu8',
    ),
    inputs: required(inputs, 'how many inputs it holds', 'give source.inputs'),
    polarisations,
    sampleRateHz: required(options.rate ?? described?.sampleRateHz, 'its sample rate', 'give source.rate'),
    centreFrequencyHz: required(
      options.frequency ?? described?.centreFrequencyHz,
      'its frequency',
      'give source.frequency',
    ),
    start,
  };
  // Two readers of one pipe would each receive an arbitrary part of its bytes.
  if (new Set(origins).size < origins.length)
    refuse(
      'source.stream',
      'one stream is named twice',
      'name each once; source.inputs is how many are interleaved in it',
    );
  const streams = origins.map((origin) => openByteStream(origin, description));
  const schemes = origins.map((origin) => parseStreamAddress(origin)?.scheme);
  if (schemes.includes('zmq'))
    say(
      'ZeroMQ messages carry no counter: those lost on the way cannot be seen, and samples are assumed to be contiguous',
    );
  if (origins.length > 1)
    say(
      'the streams are aligned by their first samples alone: delays and phases between them are unknown, and hold only while no sample is lost and all receivers have one clock',
    );
  say(`waiting for samples from ${streams.map(({ name }) => name).join(' and ')}`);
  let isOver = false;
  const callOff =
    forS !== undefined && start === undefined
      ? afterSeconds(forS, () => {
          isOver = true;
          for (const stream of streams) void stream.close();
        })
      : undefined;
  const source = await openSampleStream(streams, description, (event) => {
    const { kind, stream } = event;
    if (kind === 'silent') say(`${stream}: no data; waiting`);
    else if (kind === 'again')
      say(`${stream}: samples again after ${formatSeconds(event.seconds)}, which are missing`);
    else if (kind === 'pace') say(paceLine(event, description.sampleRateHz));
    else say(`${stream}: at its end`);
  })
    .catch((error: unknown) => {
      if (!isOver || forS === undefined) throw error;
      return refuse(origins.join(' and '), `no samples in ${formatSeconds(forS)}`, 'check what sends them');
    })
    .finally(() => {
      callOff?.();
    });
  if (start === undefined)
    say(
      `first sample at ${formatInstant(source.start, 3)}, when it came: it was sampled before, by ${formatSeconds(source.heldS)} or more that sender and network held`,
    );
  return {
    description: `${streams.map(({ name }) => name).join(' and ')}, ${description.type} at ${formatHz(description.sampleRateHz)}`,
    telescope,
    isLive: start === undefined,
    sessions: single(source),
    stop: () => {
      source.stop();
    },
    close: () => source.close(),
  };
}

/** Times and frequencies are those of the stated rate: a sender that has another is not followed. */
const paceLine = (
  { stream, rateHz, isAsStated, lateS }: Extract<StreamEvent, { readonly kind: 'pace' }>,
  statedHz: number,
): string =>
  `${stream}: samples come at ${formatHz(rateHz)}` +
  (isAsStated
    ? ' again, as stated'
    : `, where ${formatHz(statedHz)} is stated: the sender has another rate or loses samples, or they are not processed fast enough`) +
  `; times are ${formatSeconds(Math.abs(lateS))} too ${lateS > 0 ? 'early' : 'late'}`;

/** The telescope that gives the station positions and matches the inputs. */
export function telescopeOf(
  source: Pick<Source, 'inputs' | 'polarisations'>,
  telescope: Telescope | undefined,
  description: string,
): Telescope {
  if (!telescope)
    throw new CorellaError({
      where: description,
      what: 'does not state where its stations are',
      fix: 'give its telescope, or a JSON description of it',
    });
  const { inputs, polarisations } = source;
  if (inputs !== telescope.stations.length * polarisations || polarisations !== telescope.polarisations)
    refuse(
      description,
      `has ${inputs} inputs, ${inputs / polarisations} × ${polarisations}, where ${telescope.name} has ${telescope.stations.length} stations × ${telescope.polarisations}`,
      'give the telescope that it is of, and stations where it is a part',
    );
  return telescope;
}
