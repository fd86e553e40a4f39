/** Where the samples of a night come from: pipes and sockets of plain samples, recordings, packets. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Closable } from '../../core/closing.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { numberOf } from '../../core/clock/rational.js';
import { parseInstant, type Instant } from '../../core/instant.js';
import { sampleRateOf, type Source } from '../../core/sources.js';
import { formatHz, formatSeconds } from '../../core/units.js';
import {
  describeSigmf,
  openFile,
  openSampleStream,
  streamOf,
  tcpStream,
  type ByteStream,
  type StreamDescription,
  type StreamType,
} from '../../formats/index.js';
import { guessPlan, usualFormat } from '../../packets/guess-plan.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { isPacketFormatName, packetFormatNamed } from '../../packets/registry.js';
import type { LiveInput } from '../../pipeline/live/night.js';
import {
  bandOf,
  captureDatagrams,
  planListening,
  receivePackets,
  surveySocket,
  type Band,
  type EpochSetting,
  type ListenSettings,
  type PacketOrigin,
  type ReadyToListen,
  type ReceiveAccount,
} from '../../receive/index.js';
import { loadTelescope } from '../../telescope/load.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnknown } from '../open.js';

export interface InputOptions {
  readonly from?: string;
  readonly listen?: string;
  readonly interface?: string;
  readonly format?: string;
  readonly epoch?: string;
  readonly meta?: string;
  readonly sampleType?: StreamType;
  readonly inputs?: number;
  readonly polarisations?: number;
  readonly rate?: number;
  readonly frequency?: number;
  readonly start?: string;
  readonly telescope?: string;
  /** Nothing is waited for longer. */
  readonly for?: number;
  /** Of a block of packets. */
  readonly blockS?: number;
}

export interface OpenedInput extends LiveInput, Closable {
  readonly description: string;
  readonly telescope?: Telescope;
  /** Real time: what is late is old. */
  readonly isLive: boolean;
  /** The account of every packet, where there are packets. */
  packets?(): ReceiveAccount;
  /** Where packets wait. */
  readonly ring?: { readonly blocks: number; readonly samplesPerBlock: number };
  /** When a tick was, of senders whose clocks were set anew while nobody knew; from which on it holds. */
  readonly tellEpoch?: (tick: bigint, time: Instant) => { readonly at: Instant; readonly tick: bigint };
  /** Where packets come from a network. */
  readonly listening?: { readonly port: number; readonly group?: string; readonly interface?: string };
}

export type Say = (line: string) => void;
/** What takes long is done before a socket is opened. */
export type BeforeListening = (ready: ReadyToListen, telescope: Telescope | undefined) => Promise<void>;

export async function openLiveInput(
  origins: readonly string[],
  options: InputOptions,
  say: Say,
  beforeListening?: BeforeListening,
): Promise<OpenedInput> {
  const { from, listen } = options;
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
  if (from !== undefined) return openPackets({ capture: from }, options, say);
  if (listen !== undefined)
    return openPackets(listenSettings(listen, options), options, say, beforeListening);
  const isStream = origins.map((origin) => origin === '-' || origin.startsWith('tcp://'));
  const isPipe = await Promise.all(origins.map(async (origin, n) => isStream[n] || (await isFifo(origin))));
  if (isPipe.every(Boolean)) return openStreams(origins, options, say);
  if (origins.length > 1) refuse('live', 'several recordings', 'give one, or several streams');
  if (/\.pcap(?:ng)?$/i.test(origins[0]))
    refuse(origins[0], 'is a capture of packets', `name it with --from ${origins[0]}`);
  return openRecording(origins[0], options);
}

const isFifo = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFIFO() === true;

/** One session. */
const single =
  (source: Source): LiveInput['sessions'] =>
  () => [source];

async function openRecording(path: string, options: InputOptions): Promise<OpenedInput> {
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
  return {
    description: path,
    ...(recording.telescope && { telescope: recording.telescope }),
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
  const streams = origins.map(openByteStream);
  say(`waiting for samples from ${streams.map(({ name }) => name).join(' and ')}`);
  const source = await openSampleStream(streams, description, ({ kind, stream, seconds }) => {
    if (kind === 'silent') say(`${stream}: nothing comes; waiting`);
    else if (kind === 'again')
      say(`${stream}: samples again after ${formatSeconds(seconds)}, which are missing`);
    else say(`${stream}: at its end`);
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

/** "4015", "10.0.0.2:4015", "239.1.2.3:4015". */
export function listenSettings(
  text: string,
  options: Pick<InputOptions, 'interface'>,
  option = '--listen',
): ListenSettings {
  const parts = /^(?:(.+):)?(\d{1,5})$/.exec(text);
  if (!parts) refuse(option, `'${text}' is no port or address`, 'write it like 4015 or 239.1.2.3:4015');
  if (Number(parts[2]) < 1 || Number(parts[2]) > 65_535)
    refuse(option, `${parts[2]} is no port`, 'give a number from 1 to 65535');
  return {
    listen: { address: parts.at(1) ?? '0.0.0.0', port: Number(parts[2]) },
    ...(options.interface === undefined ? {} : { interface: options.interface }),
  };
}

/** For whoever captures what comes there. */
function listeningOf({ listen, interface: by }: ListenSettings): NonNullable<OpenedInput['listening']> {
  const { group, address, port } = planListening({ listen, ...(by === undefined ? {} : { interface: by }) });
  return { port, ...(group && { group: address }), ...(by === undefined ? {} : { interface: by }) };
}

/** Enough to hear of every sender. */
const SURVEYED = 4000;
const SURVEY_S = 5;

async function survey(origin: PacketOrigin, forS: number, say: Say): Promise<Uint8Array[]> {
  if ('capture' in origin) {
    const some: Uint8Array[] = [];
    for await (const { payload } of captureDatagrams(origin)) {
      some.push(payload.slice());
      if (some.length === SURVEYED) break;
    }
    return some;
  }
  for (let waitedS = 0; ; waitedS += SURVEY_S) {
    const seconds = Math.min(SURVEY_S, forS - waitedS);
    const some = await surveySocket(origin, { datagrams: SURVEYED, seconds });
    if (some.length > 0) return some;
    const { address, port } = origin.listen;
    if (waitedS + seconds >= forS)
      refuse(
        `${address}:${port}`,
        `no packet came in ${formatSeconds(forS)}, and nothing was written`,
        `see whether any reach this machine: tcpdump -n udp port ${port}; docs/operate.md says what may hold them up`,
      );
    say(`no packet came to ${address}:${port} in ${seconds} s; still listening`);
  }
}

async function planStream(origin: PacketOrigin, options: InputOptions, say: Say): Promise<StreamPlan> {
  const { format: name, rate } = options;
  if (name !== undefined && !isPacketFormatName(name)) packetFormatNamed(name);
  const datagrams = await survey(origin, options.for ?? Infinity, say);
  const where = 'capture' in origin ? origin.capture : `port ${origin.listen.port}`;
  const format =
    name === undefined
      ? (usualFormat(datagrams) ??
        refuse(where, 'its packets are of no format known here', 'name it with --format'))
      : packetFormatNamed(name);
  const { plan, concluded, unknown } = guessPlan(
    format,
    datagrams,
    rate === undefined ? {} : { rateHz: rate },
  );
  if (concluded !== undefined) say(concluded);
  if (plan) return plan;
  return refuse(where, `its ${format.name} packets do not tell ${unknown?.what ?? 'enough'}`, unknown?.fix);
}

/** "clock", a time, or "TIME,clock". */
export function parseEpoch(text: string): EpochSetting {
  if (text.trim() === 'clock') return { told: 'clock' };
  // What an operator said is true of the clocks as they run: a restart makes it untrue, and nobody guesses unasked.
  const parts = /^(.*?)(,\s*clock)?$/.exec(text.trim());
  return {
    told: 'operator',
    at: parseInstant(parts?.[1] ?? text, '--epoch'),
    afterRestart: parts?.[2] === undefined ? 'wait' : 'clock',
  };
}

function epochSetting(text: string | undefined, plan: StreamPlan, say: Say): EpochSetting {
  const tells = packetFormatNamed(plan.format).epoch.told === 'packet';
  if (text === undefined) return { told: tells ? 'packet' : 'clock' };
  if (tells) say(`${plan.format} packets tell their time themselves: --epoch ${text} is taken in its place`);
  return parseEpoch(text);
}

/** As of files: what is said against packets that know better is refused. */
function refuseOtherBand(plan: StreamPlan, frequencyHz: number): void {
  const own = bandOf(plan);
  if (!own) return;
  const [middleHz, withinHz] =
    'frequenciesHz' in own
      ? [(own.frequenciesHz[0] + own.frequenciesHz[plan.channels - 1]) / 2, own.channelWidthHz]
      : [own.centreFrequencyHz, 1];
  if (Math.abs(middleHz - frequencyHz) > withinHz)
    refuse(
      '--frequency',
      `is ${formatHz(frequencyHz)}, where the ${plan.format} packets say that their band is around ${formatHz(middleHz)}`,
      'leave it out',
    );
}

/** Where the packets number no channels: side by side around the middle, as wide as spectra are often. */
function bandFor(plan: StreamPlan, frequencyHz: number | undefined): Band | undefined {
  if (frequencyHz === undefined) return undefined;
  refuseOtherBand(plan, frequencyHz);
  if (plan.holds === 'voltages') return { centreFrequencyHz: frequencyHz };
  const { tickRateHz, samplesPerSlot, ticksPerSlot, channels } = plan;
  if (!tickRateHz) refuse(plan.format, 'the packets do not tell their rate', 'give it with --rate');
  const channelWidthHz = (numberOf(tickRateHz) * samplesPerSlot) / ticksPerSlot;
  return {
    channelWidthHz,
    frequenciesHz: Float64Array.from(
      { length: channels },
      (_, c) => frequencyHz + (c - (channels - 1) / 2) * channelWidthHz,
    ),
  };
}

async function openPackets(
  origin: PacketOrigin,
  options: InputOptions,
  say: Say,
  beforeListening?: BeforeListening,
): Promise<OpenedInput> {
  const plan = await planStream(origin, options, say);
  const epoch = epochSetting(options.epoch, plan, say);
  if (options.epoch === undefined && epoch.told === 'clock')
    say(`${plan.format} packets do not tell when they began: taken from the clock; --epoch says it better`);
  const telescope = options.telescope === undefined ? undefined : await loadTelescope(options.telescope);
  const polarisations = options.polarisations ?? telescope?.polarisations;
  const band = bandFor(plan, options.frequency);
  const listening = 'capture' in origin ? undefined : { listening: listeningOf(origin) };
  const reception = await receivePackets({
    stream: plan,
    from: origin,
    epoch,
    ...(band && { band }),
    ...(polarisations === 1 || polarisations === 2 ? { polarisations } : {}),
    ...(options.blockS === undefined ? {} : { ring: { blockS: options.blockS } }),
    ...(beforeListening && { beforeListening: (ready) => beforeListening(ready, telescope) }),
    onEvent: ({ kind, session }) => {
      say(
        kind === 'session'
          ? `the senders' clocks were set anew: session ${session}`
          : `session ${session} is left out: nobody knows its time after a restart; begin again with the new --epoch, or let --epoch TIME,clock take the wall clock's`,
      );
    },
  });
  return {
    description: `${plan.format}, ${plan.sources.length} sender${plan.sources.length === 1 ? '' : 's'}, ${plan.inputs} inputs; ${reception.description}`,
    ...(telescope && { telescope }),
    isLive: !('capture' in origin),
    sessions: () => reception.sessions(),
    stop: () => {
      reception.stop();
    },
    packets: () => reception.account(),
    tellEpoch: (tick, time) => reception.tellEpoch(tick, time),
    ...listening,
    ring: {
      blocks: reception.plan.blocks,
      samplesPerBlock: reception.plan.slotsPerBlock * plan.samplesPerSlot,
    },
    close: () => reception.close(),
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

export const rateText = (source: Source): string => formatHz(sampleRateOf(source));
