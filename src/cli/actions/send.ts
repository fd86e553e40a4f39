/** What corella send does, loaded when it runs. */
import { isIPv4 } from 'node:net';
import type { Command } from 'commander';
import { openBackend } from '../../backend/select.js';
import type { SpectraType } from '../../core/axes.js';
import { Closers } from '../../core/closing.js';
import { InterruptedError, stoppable } from '../../core/ending.js';
import { refuse } from '../../core/errors.js';
import { numberOf, rational } from '../../core/clock/rational.js';
import { instantOfTick } from '../../core/clock/tick-clock.js';
import { formatInstant, instant, type Instant } from '../../core/instant.js';
import type { Source, VoltageSource } from '../../core/sources.js';
import { formatSeconds } from '../../core/units.js';
import { openFile, checkOutputs, recordingPaths } from '../../formats/index.js';
import type { Endpoint } from '../../packets/addresses.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import {
  isPacketFormatName,
  packetFormatNamed,
  packetFormats,
  type PacketFormatName,
} from '../../packets/registry.js';
import { planChannels } from '../../stages/index.js';
import {
  channelisedSource,
  openTruth,
  toCapture,
  toSocket,
  type Destination,
  isFaultless,
  sendPacked,
  type PackedSent,
  sendPackets,
  type Sent,
  widenedSource,
  firstTickOf,
  streamFor,
  type FirstTick,
} from '../../send/index.js';
import { canPace, openNativeSender, openPacedSender, planListening } from '../../receive/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnknown } from '../open.js';
import { channelOptionNames, channelSettings } from '../options/channel-options.js';
import { refuseGiven, threadsOf } from '../options/command.js';
import { faultSettings } from '../send/fault-options.js';
import { simulatedSource } from '../send/simulation.js';
import { faultsToCome, isCapture, refuseSenders, refuseSending } from '../send/refusals.js';
import { serve } from '../send/kraken.js';
import { isServed, type ServedFormat } from '../send/served.js';
import { listenSettings } from '../../live/index.js';
import { openTerminal } from '../report/terminal.js';
import type { Options } from '../options/own.js';
import type { sendOptions, SendOptions } from '../send.js';

function packetFormatOf(name: string | undefined): PacketFormatName {
  const names = Object.keys(packetFormats).join(', ');
  if (name === undefined) refuse('--format', 'is missing', `choose ${names}`);
  return isPacketFormatName(name)
    ? name
    : refuse('--format', `'${name}' is not a packet format`, `choose ${names}`);
}

export async function run(
  path: string | undefined,
  asked: Options<typeof sendOptions>,
  command: Command,
): Promise<void> {
  const terminal = openTerminal(asked);
  if (isServed(asked.format)) {
    refuseNothing(path, asked);
    await runServer(asked.format, path, asked, command);
    return;
  }
  const options: SendOptions = { ...asked, format: packetFormatOf(asked.format) };
  refuseNothing(path, options);
  refuseSending(options, command);
  const toFile = isCapture(options.to);
  if (!toFile) whereTo(options);
  const outputs = [
    ...(toFile ? [options.to] : []),
    ...(options.truth === undefined ? [] : recordingPaths(options.truth)),
  ];
  await checkOutputs({ ...options, paths: outputs, ...(path !== undefined && { from: path }) });
  const closers = new Closers();
  const stop = stoppable('send');
  try {
    const opened = await openSource(path, options, closers);
    opened.assumed?.forEach((text) => {
      terminal.say(text);
    });
    if (opened.source.kind === 'spectra' || wantedSpectra(options.format) === undefined)
      refuseGiven(
        command,
        channelOptionNames,
        opened.source.kind === 'spectra'
          ? `is for voltages, and ${opened.path} is channelised already`
          : `is for channels, and ${options.format} packets hold voltages`,
      );
    const source = await asWanted(opened, options, closers);
    const plan = streamFor(options.format, source);
    refuseSenders(options, plan);
    // A sky of the current time starts at the next whole second after the first packets are ready.
    const isNow =
      options.restamp === true || (options.simulate === true && options.time === undefined && !toFile);
    let known: { readonly first: FirstTick; readonly start: Instant } | undefined;
    const begin = (): NonNullable<typeof known> => {
      if (known) return known;
      const start = isNow ? instant(Math.ceil(Date.now() / 1000)) : source.start;
      const tick = options.startTick === undefined ? undefined : BigInt(options.startTick);
      known = { start, first: firstTickOf(plan, start, tick) };
      terminal.say(firstLine(plan, known.first));
      return known;
    };
    const stage = terminal.stage('send');
    const sending: Sending = {
      first: () => begin().first,
      waitS: () => (isNow && !toFile ? begin().start.unixSeconds - Date.now() / 1000 : 0),
      options,
      opened,
      closers,
      stop: stop.signal,
      onProgress: stage.update,
    };
    const isFast = !toFile && options.truth === undefined && isFaultless(faultSettings(options)) && canPace();
    if (!isFast)
      refuseGiven(
        command,
        ['sockets'],
        'is for unchanged packets: faults, --truth and machines without the native library send one by one',
      );
    const sent = await (isFast ? sendFast : sendOneByOne)(source, plan, sending);
    const seconds = stage.done();
    const { first } = begin();
    terminal.result(
      {
        to: options.to,
        format: plan.format,
        epoch: formatInstant(first.epoch, 9),
        shiftedS: first.roundedS,
        ...sent,
        wallS: seconds,
      },
      [...sentLines(options.to, sent, seconds), ...faultsToCome(options, sent.seconds)],
    );
  } finally {
    await closers.close();
    stop.release();
  }
}

function refuseNothing(path: string | undefined, { simulate }: Options<typeof sendOptions>): void {
  if ((path === undefined) === (simulate !== true))
    refuse(
      'send',
      path === undefined ? 'nothing to send' : 'both a recording and --simulate',
      'give one of them',
    );
}

async function runServer(
  format: ServedFormat,
  path: string | undefined,
  options: Options<typeof sendOptions>,
  command: Command,
): Promise<void> {
  const terminal = openTerminal(options);
  refuseGiven(command, channelOptionNames, `is for channels, and ${format} holds voltages`);
  if (isCapture(options.to))
    refuse('--to', `'${options.to}' is a capture of packets`, 'write it like 127.0.0.1:5000');
  refuseSending(options, command);
  const closers = new Closers();
  const stop = stoppable('send');
  try {
    const { source, assumed } = await openSource(path, options, closers);
    assumed?.forEach((text) => {
      terminal.say(text);
    });
    await serve(format, source, { options, command, terminal, stop: stop.signal });
  } finally {
    await closers.close();
    stop.release();
  }
}

interface OpenedSource {
  readonly source: Source;
  readonly telescope?: Telescope;
  readonly assumed?: readonly string[];
  readonly path: string;
}

async function openSource(
  path: string | undefined,
  options: Options<typeof sendOptions>,
  closers: Closers,
): Promise<OpenedSource> {
  if (path === undefined) {
    const { source, telescope } = await simulatedSource(options);
    return { source, telescope, path: 'the simulated sky' };
  }
  const file = closers.keep(await openFile(path));
  if (file.kind === 'visibilities')
    refuse(path, 'holds visibilities', 'packets hold voltages or channelised data');
  refuseUnknown(file);
  const { telescope, assumed } = file;
  return { source: file, path, telescope, assumed };
}

/** The sample type of channelised voltages; undefined if packets hold voltages. */
function wantedSpectra(name: PacketFormatName): SpectraType | undefined {
  const { sends } = packetFormatNamed(name);
  return 'spectra' in sends ? sends.spectra[0] : undefined;
}

/** Channelises voltages if the format needs spectra. */
async function asWanted(opened: OpenedSource, options: SendOptions, closers: Closers): Promise<Source> {
  const { source, telescope, path } = opened;
  const { sends, name } = packetFormatNamed(options.format);
  if (
    'voltages' in sends &&
    sends.keptInI16 !== undefined &&
    source.kind === 'voltages' &&
    /^i(8|16)$/.test(source.type)
  )
    return widenedSource(source, name, sends.keptInI16);
  const type = wantedSpectra(options.format);
  if (type === undefined || source.kind === 'spectra') return source;
  const voltages: VoltageSource = source;
  const backend = closers.keep(await openBackend(options.backend, threadsOf(options)));
  const settings = await channelSettings(options, { ...voltages, path, telescope }, type);
  return channelisedSource(voltages, planChannels(voltages, { ...settings, blockS: 0.1 }), backend);
}

interface Sending {
  readonly first: () => FirstTick;
  /** Seconds until the first packet is sent. */
  readonly waitS: () => number;
  readonly options: SendOptions;
  readonly opened: OpenedSource;
  readonly closers: Closers;
  readonly stop: AbortSignal;
  readonly onProgress: (progress: { readonly done: number; readonly unit: string }) => void;
}

/** With native threads, if single packets are not modified. */
function sendFast(source: Source, plan: StreamPlan, sending: Sending): Promise<PackedSent> {
  const { first, waitS, options, closers, stop, onProgress } = sending;
  const { listen, interfaceAddress } = whereTo(options);
  const slotS = slotSecondsOf(plan);
  const by = { to: listen, interface: interfaceAddress };
  const besides = closers.keep(openNativeSender(by));
  return sendPacked({
    source,
    plan,
    first,
    beginNs: () => process.hrtime.bigint() + BigInt(Math.round(1e9 * (waitS() + slotS / options.speed))),
    speed: options.speed,
    loop: options.loop === true,
    limitS: options.for ?? Infinity,
    isStopped: () => stop.aborted,
    open: ({ session }) =>
      closers.keep(
        openPacedSender({
          ...by,
          plan,
          packetRate: (options.speed * plan.sources.length * plan.fragments) / slotS,
          session,
          sockets: options.sockets,
        }),
      ),
    describe: (descriptor) => besides.send(descriptor, descriptor.length),
    onProgress: (done) => {
      onProgress({ done, unit: 'packets' });
    },
  });
}

/** Packet by packet: into captures, with faults, with the truth written beside them. */
async function sendOneByOne(source: Source, plan: StreamPlan, sending: Sending): Promise<Sent> {
  const { first, waitS, options, opened, stop, onProgress } = sending;
  const { to, speed } = options;
  const destination: Destination = isCapture(to)
    ? await toCapture(to, BigInt(Math.round(firstStart(plan, first()).unixSeconds)) * 1_000_000_000n)
    : await toSocket({
        ...socketOf(whereTo(options)),
        speed,
        beginMs: () => performance.now() + 1000 * waitS(),
      });
  const truth =
    options.truth === undefined
      ? undefined
      : await openTruth(options.truth, source, {
          telescope: opened.telescope,
          path: opened.path,
          start: firstStart(plan, first()),
          history: [`corella ${process.argv.slice(2).join(' ')}`],
        });
  const limitS = options.for ?? Infinity;
  let sentPackets = 0;
  try {
    const sent = await sendPackets({
      source,
      plan,
      first,
      faults: faultSettings(options),
      put: (packet) => {
        sentPackets++;
        return destination.put(packet);
      },
      ...(truth && { truth: (block) => truth.append(block) }),
      ...(options.loop === true && { loop: true }),
      until: (sinceS) => {
        onProgress({ done: sentPackets, unit: 'packets' });
        return sinceS >= limitS - 1e-9 || stop.aborted;
      },
    });
    await destination.finish();
    await truth?.finish();
    return sent;
  } catch (error) {
    if (!(error instanceof InterruptedError)) await destination.abandon();
    await truth?.abandon();
    throw error;
  }
}

function whereTo(options: SendOptions): { readonly listen: Endpoint; readonly interfaceAddress?: string } {
  const settings = listenSettings(options.to.replace(/^localhost:/, '127.0.0.1:'), options, '--to');
  if (!isIPv4(settings.listen.address))
    refuse(
      '--to',
      `'${settings.listen.address}' is no IPv4 address`,
      'write it like 127.0.0.1:4015 or 239.1.2.3:4015',
    );
  if (options.interface === undefined) return { listen: settings.listen };
  return { listen: settings.listen, interfaceAddress: planListening(settings).interfaceAddress };
}
const socketOf = ({
  listen,
  interfaceAddress,
}: ReturnType<typeof whereTo>): { readonly to: Endpoint; readonly interfaceAddress?: string } => ({
  to: listen,
  interfaceAddress,
});

const slotSecondsOf = ({ tickRateHz, ticksPerSlot }: StreamPlan): number =>
  tickRateHz ? ticksPerSlot / numberOf(tickRateHz) : 0;

/** The time that the receiver will derive for the first sample. */
const firstStart = ({ tickRateHz }: StreamPlan, { epoch, tick }: FirstTick): Instant =>
  instantOfTick({ epoch, tickRateHz: tickRateHz ?? rational(1n) }, tick);

const firstLine = (plan: StreamPlan, { tick, epoch, roundedS }: FirstTick): string =>
  `${plan.format}: ${plan.sources.length} sender${plan.sources.length === 1 ? '' : 's'}, packets of ${plan.cellBytes} bytes; ` +
  `tick 0 is ${formatInstant(epoch, 6)}, the first is ${tick}` +
  (Math.abs(roundedS) > 1e-9 ? `; times are ${formatSeconds(Math.abs(roundedS))} off, to lie on ticks` : '');

const REPORTED_BEHIND_S = 0.1;

function sentLines(to: string, sent: Sent | PackedSent, seconds: number): string[] {
  const { sent: packets, lost, duplicated, reordered, late, corrupted, leftSamples } = sent;
  const faults = Object.entries({ lost, duplicated, reordered, late, corrupted })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  return [
    `${to}: ${packets} packets, ${formatSeconds(sent.seconds)} of data in ${formatSeconds(seconds)}${faults.length > 0 ? `; ${faults.join(', ')}` : ''}`,
    ...('behindS' in sent && sent.behindS > REPORTED_BEHIND_S
      ? [`it fell ${formatSeconds(sent.behindS)} behind its pace: this machine sends no faster`]
      : []),
    ...(leftSamples > 0 ? [`${leftSamples} samples at the end fill no packet, and were not sent`] : []),
  ];
}
