/** Packets as the input of a live run: from a socket or a capture, in their own format. */
import { preparing } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { numberOf } from '../core/clock/rational.js';
import { formatInstant, parseInstant } from '../core/instant.js';
import { formatHz, formatSeconds } from '../core/units.js';
import { guessPlan, commonFormat } from '../packets/guess-plan.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { isPacketFormatName, packetFormatNamed } from '../packets/registry.js';
import {
  bandOf,
  captureDatagrams,
  openSurveySocket,
  planListening,
  leftOutFix,
  leftOutWords,
  receivePackets,
  type Band,
  type CaptureOrigin,
  type EpochSetting,
  type LeftOutFrames,
  type ListenSettings,
  type PacketOrigin,
  type ReceiveAccount,
  type ReceiveEvent,
  type SurveySocket,
} from '../receive/index.js';
import type { RefusedFrame } from '../packets/udp.js';
import type { SourcePart } from '../observation/index.js';
import type { InputSettings, OpenedInput, Say } from './opened-input.js';

/** "4015", "10.0.0.2:4015", "239.1.2.3:4015". */
export function listenSettings(
  text: string,
  options: Pick<SourcePart, 'interface'>,
  option = 'source.listen',
): ListenSettings {
  const parts = /^(?:(.+):)?(\d{1,5})$/.exec(text);
  if (!parts) refuse(option, `'${text}' is no port or address`, 'write it like 4015 or 239.1.2.3:4015');
  if (Number(parts[2]) < 1 || Number(parts[2]) > 65_535)
    refuse(option, `${parts[2]} is no port`, 'give a number from 1 to 65535');
  return {
    listen: { address: parts.at(1) ?? '0.0.0.0', port: Number(parts[2]) },
    interface: options.interface,
  };
}

/** For capturing the same packets. */
function listeningOf({ listen, interface: by }: ListenSettings): NonNullable<OpenedInput['listening']> {
  const { group, address, port } = planListening({ listen, interface: by });
  return { port, ...(group && { group: address }), interface: by };
}

/** Enough packets to find every sender. */
const SURVEYED = 4000;
const SURVEY_S = 5;

/** Counts frames of a capture that are not complete datagrams, and why the first is not. */
function tallyLeftOut(): {
  readonly counts: LeftOutFrames;
  readonly why: () => string;
  readonly add: (frame: RefusedFrame) => void;
} {
  const counts = { cut: 0, fragment: 0, other: 0 };
  let first: string | undefined;
  return {
    counts,
    why: () => first ?? '',
    add: ({ refused, why }) => {
      counts[refused]++;
      first ??= why;
    },
  };
}

/** The first packets of a capture. */
async function surveyCapture(origin: CaptureOrigin): Promise<Uint8Array[]> {
  const some: Uint8Array[] = [];
  const leftOut = tallyLeftOut();
  for await (const { payload } of captureDatagrams({ ...origin, onLeftOut: leftOut.add })) {
    some.push(payload.slice());
    if (some.length === SURVEYED) break;
  }
  if (some.length === 0) {
    const { counts, why } = leftOut;
    const found = leftOutWords(counts).join(', ');
    refuse(
      origin.capture,
      found === ''
        ? 'holds no UDP packets'
        : `holds no whole UDP packet: ${found}${counts.other > 0 ? ` (${why()})` : ''}`,
      leftOutFix(counts),
    );
  }
  return some;
}

/** The first packets of a socket; the ring then continues with it. */
async function surveyNetwork(
  { listen: { address, port } }: ListenSettings,
  socket: SurveySocket,
  forS: number,
  say: Say,
): Promise<Uint8Array[]> {
  for (let waitedS = 0; ; waitedS += SURVEY_S) {
    const seconds = Math.min(SURVEY_S, forS - waitedS);
    const some = await socket.survey({ datagrams: SURVEYED, seconds });
    if (some.length > 0) return some;
    if (waitedS + seconds >= forS)
      refuse(
        `${address}:${port}`,
        `no packets in ${formatSeconds(forS)}; nothing was written`,
        `see whether any reach this machine: tcpdump -n udp port ${port}; docs/operate.md says what may hold them up`,
      );
    say(`no packets at ${address}:${port} in ${seconds} s; still listening`);
  }
}

function planStream(
  datagrams: readonly Uint8Array[],
  origin: PacketOrigin,
  options: SourcePart,
  say: Say,
): StreamPlan {
  const { format: name, rate } = options;
  const where = 'capture' in origin ? origin.capture : `port ${origin.listen.port}`;
  const format =
    name === undefined
      ? (commonFormat(datagrams) ??
        refuse(where, 'its packets are of no format known here', 'name it with source.format'))
      : packetFormatNamed(name);
  const { plan, concluded, unknown } = guessPlan(
    format,
    datagrams,
    rate === undefined ? {} : { rateHz: rate },
  );
  if (concluded !== undefined) say(concluded);
  if (plan) return plan;
  return refuse(where, `its ${format.name} packets do not state ${unknown?.what ?? 'enough'}`, unknown?.fix);
}

/** "clock", a time, or "TIME,clock". */
export function parseEpoch(text: string, where = 'source.epoch'): EpochSetting {
  if (text.trim() === 'clock') return { from: 'clock' };
  // An operator's time is valid only until the clocks restart; the new time is not guessed unless asked for.
  const parts = /^(.*?)(,\s*clock)?$/.exec(text.trim());
  return {
    from: 'operator',
    at: parseInstant(parts?.[1] ?? text, where),
    afterRestart: parts?.[2] === undefined ? 'wait' : 'clock',
  };
}

function epochSetting(text: string | undefined, plan: StreamPlan): EpochSetting {
  if (text !== undefined) return parseEpoch(text);
  return { from: packetFormatNamed(plan.format).epoch.from === 'packet' ? 'packet' : 'clock' };
}

/** As for files: refuses options that contradict the packets. */
function refuseOtherBand(plan: StreamPlan, frequencyHz: number): void {
  const own = bandOf(plan);
  if (!own) return;
  const [middleHz, withinHz] =
    'frequenciesHz' in own
      ? [(own.frequenciesHz[0] + own.frequenciesHz[plan.channels - 1]) / 2, own.channelWidthHz]
      : [own.centreFrequencyHz, 1];
  if (Math.abs(middleHz - frequencyHz) > withinHz)
    refuse(
      'source.frequency',
      `is ${formatHz(frequencyHz)}, where the ${plan.format} packets say that their band is around ${formatHz(middleHz)}`,
      'leave it out',
    );
}

/** If packets do not number their channels: contiguous around the centre, each as wide as the spectrum rate. */
function bandFor(plan: StreamPlan, frequencyHz: number | undefined): Band | undefined {
  if (frequencyHz === undefined) return undefined;
  refuseOtherBand(plan, frequencyHz);
  if (plan.holds === 'voltages') return { centreFrequencyHz: frequencyHz };
  const { tickRateHz, samplesPerSlot, ticksPerSlot, channels } = plan;
  if (!tickRateHz) refuse(plan.format, 'the packets do not carry their rate', 'give it with source.rate');
  const channelWidthHz = (numberOf(tickRateHz) * samplesPerSlot) / ticksPerSlot;
  return {
    channelWidthHz,
    frequenciesHz: Float64Array.from(
      { length: channels },
      (_, c) => frequencyHz + (c - (channels - 1) / 2) * channelWidthHz,
    ),
  };
}

function eventLine({ kind, session, startTick, start }: ReceiveEvent): string {
  const fix =
    "start again with the new source.epoch, or use the wall clock's time with source.epoch TIME,clock";
  switch (kind) {
    case 'session':
      return `the senders' clocks were reset: stream epoch ${session}`;
    case 'untimed':
      return `stream epoch ${session} is left out: its time is unknown after a restart; ${fix}`;
    case 'undated':
      return `stream epoch ${session} is left out: with this source.epoch its tick ${startTick} is in no calendar; ${fix}`;
    case 'far': {
      const time = start ?? refuse('source', 'no start');
      return `warning: the first packets are of ${formatInstant(time, 0)}, over a day from this machine's clock: a recording that is replayed, or a wrong clock`;
    }
  }
}

/** Packets that a run did not receive at its beginning. */
export const surveyedLine = ({ packets, seconds }: NonNullable<ReceiveAccount['surveyed']>): string =>
  `${packets} packets in ${formatSeconds(seconds)} before the run began: read to find their format, or received during preparation; they are not in the data`;

export const openPackets = (
  origin: PacketOrigin,
  { observation: { source: options }, telescope, forS, blockS, say, beforeListening }: InputSettings,
): Promise<OpenedInput> =>
  preparing(async (closers) => {
    if (options.format !== undefined && !isPacketFormatName(options.format))
      packetFormatNamed(options.format);
    const socket = 'capture' in origin ? undefined : closers.keep(await openSurveySocket(origin));
    const datagrams =
      'capture' in origin || !socket
        ? await surveyCapture(origin as CaptureOrigin)
        : await surveyNetwork(origin, socket, forS ?? Infinity, say);
    const plan = planStream(datagrams, origin, options, say);
    const epoch = epochSetting(options.epoch, plan);
    if (options.epoch === undefined && epoch.from === 'clock')
      say(
        `${plan.format} packets do not state when they began: the clock of this machine is used; source.epoch gives it exactly`,
      );
    const polarisations = options.polarisations ?? telescope?.polarisations;
    const band = bandFor(plan, options.frequency);
    const listening = 'capture' in origin ? undefined : { listening: listeningOf(origin) };
    let endsEarly: ReceiveAccount['endsEarly'];
    const leftOut = tallyLeftOut();
    const reception = await receivePackets({
      stream: plan,
      from: {
        ...origin,
        socket,
        ...('capture' in origin && { onEarlyEnd: (end) => (endsEarly = end), onLeftOut: leftOut.add }),
      },
      epoch,
      band,
      ...(polarisations === 1 || polarisations === 2 ? { polarisations } : {}),
      ...(blockS === undefined ? {} : { ring: { blockS } }),
      ...(beforeListening && { beforeListening: (ready) => beforeListening(ready, telescope) }),
      onEvent: (event) => {
        say(eventLine(event));
      },
    });
    const { surveyed } = reception.account();
    if (surveyed) say(surveyedLine(surveyed));
    return {
      description: `${plan.format}, ${plan.sources.length} sender${plan.sources.length === 1 ? '' : 's'}, ${plan.inputs} inputs; ${reception.description}`,
      telescope,
      isLive: !('capture' in origin),
      sessions: () => reception.sessions(),
      stop: () => {
        reception.stop();
      },
      isBehind: () => reception.isBehind(),
      packets: () => ({
        ...reception.account(),
        ...(endsEarly && { endsEarly }),
        ...(leftOut.why() !== '' && { leftOut: leftOut.counts }),
      }),
      setEpoch: (tick, time) => reception.setEpoch(tick, time),
      ...listening,
      ring: {
        blocks: reception.plan.blocks,
        samplesPerBlock: reception.plan.slotsPerBlock * plan.samplesPerSlot,
      },
      close: () => reception.close(),
    };
  });
