/** Report of inspect for a packet capture. */
import { stat } from 'node:fs/promises';
import { numberOf } from '../../core/clock/rational.js';
import { formatInstant, instant, type Instant } from '../../core/instant.js';
import { formatBytes, formatHz, formatSeconds, percent } from '../../core/units.js';
import { formats, openInput, type InputFile } from '../../formats/index.js';
import type { SourcePart } from '../../observation/index.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { isCapture } from '../../packets/pcap.js';
import { isPacketFormatName, packetFormatNamed } from '../../packets/registry.js';
import { leftOutWords } from '../../receive/index.js';
import { lookAtCapture, tickSpan, type CaptureLook, type StreamLook } from '../capture.js';
import type { SenderTally } from '../stream-account.js';
import type { Inspected, Report, ReportOptions } from './report.js';
import { line } from './text.js';

/** Bytes read of a large capture, unless all is requested. */
const FIRST_BYTES = 2 ** 28;
const CHUNK_BYTES = 2 ** 20;
const SHOWN = 8;

/** Undefined if the file is no capture. */
export async function inspectedCapture(path: string, source: SourcePart): Promise<Inspected | undefined> {
  // A file format given by name reads anything (plain binary); unreadable files are refused elsewhere.
  const { format = '' } = source;
  const asFile = formats.some(({ name }) => name === format) && !isPacketFormatName(format);
  if (asFile || !(await stat(path).catch(() => undefined))?.isFile()) return undefined;
  const file = await openInput(path);
  const head = new Uint8Array(Math.min(4, file.sizeBytes));
  await file.readExactly(head, 0);
  if (!isCapture(head)) {
    await file.close();
    return undefined;
  }
  return {
    holds: 'packets',
    report: (options) => captureReport(path, file, source, options),
    close: () => file.close(),
  };
}

async function captureReport(
  path: string,
  file: InputFile,
  { format, rate }: SourcePart,
  { whole = false, onProgress }: ReportOptions,
): Promise<Report> {
  const end = whole ? file.sizeBytes : Math.min(file.sizeBytes, FIRST_BYTES);
  const all = await lookAtCapture(path, chunksOf(file, end), {
    format: format === undefined ? undefined : packetFormatNamed(format),
    hints: rate === undefined ? undefined : { rateHz: rate },
    onProgress: (done) => onProgress?.({ done, of: end, unit: 'bytes' }),
  });
  const extent = end === file.sizeBytes ? 'whole' : 'first';
  const { ended, ...others } = all;
  // If only a part is read, it ends inside a record, which is no error.
  const look = ended && (extent === 'whole' || ended.cause === 'damaged') ? all : others;
  return { json: captureJson(path, look, extent), lines: captureLines(path, look, extent), pictures: {} };
}

async function* chunksOf(file: InputFile, end: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < end; at += CHUNK_BYTES) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, end - at));
    await file.readExactly(chunk, at);
    yield chunk;
  }
}

const instantOfNs = (unixNs: bigint): Instant =>
  instant(Number(unixNs / 1_000_000_000n), Number(unixNs % 1_000_000_000n) / 1e9);
const utcOf = (unixNs: bigint): string => formatInstant(instantOfNs(unixNs), 9);
const secondsOf = ({ firstNs, lastNs }: { readonly firstNs: bigint; readonly lastNs: bigint }): number =>
  Number(lastNs - firstNs) / 1e9;
const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
const some = (words: readonly string[]): string =>
  `${words.slice(0, SHOWN).join(', ')}${words.length > SHOWN ? ` and ${words.length - SHOWN} more` : ''}`;
/** A damaged clock may be outside the calendar. */
const calendar = (moment: Instant): string =>
  Math.abs(moment.unixSeconds) < 8e12 ? formatInstant(moment, 9) : `${moment.unixSeconds} s from 1970`;

function captureLines(path: string, look: CaptureLook, extent: 'whole' | 'first'): string[] {
  const faults = leftOutWords(look.frameFaults);
  return [
    line('file', path),
    line('format', `${look.kind}, a capture of packets`),
    line(
      'read',
      extent === 'whole'
        ? 'the whole capture'
        : `the first ${formatBytes(look.bytesRead)} (--whole reads all)`,
    ),
    line('frames', look.frames === 0 ? 'none' : `${look.frames} in ${formatSeconds(secondsOf(look))}`),
    ...(look.frames === 0 ? [] : [line('captured', `${utcOf(look.firstNs)} to ${utcOf(look.lastNs)}`)]),
    ...(faults.length > 0 ? [line('left out', faults.join(', '))] : []),
    ...(look.ended ? [line('ends early', `at byte ${look.ended.atByte}: ${look.ended.why}`)] : []),
    ...look.streams.flatMap((stream) => ['', ...streamLines(stream)]),
  ];
}

function streamLines(stream: StreamLook): string[] {
  const seconds = secondsOf(stream);
  const rate =
    seconds > 0 ? `, ${formatHz((stream.payloadBytes * 8) / seconds, 4).replace('Hz', 'b/s')}` : '';
  const { format, plan } = stream;
  return [
    line('stream', `${format?.name ?? 'in no packet format known here'}, to ${stream.destination}`),
    ...(format ? [line('what', format.title)] : []),
    line('from', some(stream.senders)),
    line('datagrams', `${stream.datagrams}, ${formatBytes(stream.payloadBytes)}${rate}`),
    ...(format ? [] : [line('first bytes', Buffer.from(stream.firstBytes).toString('hex'))]),
    ...(stream.unknown ? [line('not known', `${stream.unknown.what}; ${stream.unknown.fix}`)] : []),
    ...(plan ? planLines(stream, plan) : []),
  ];
}

function planLines(stream: StreamLook, plan: StreamPlan): string[] {
  const { tallies, format } = stream;
  const nameOf = (source: number): string => format?.senderName(source) ?? String(source);
  const { cell, tickRateHz } = plan;
  const perSecond = tickRateHz && numberOf(tickRateHz) / plan.ticksPerSlot;
  const bits = cell.parts === 2 ? `${cell.bits} + ${cell.bits} bits` : `${cell.bits} bits`;
  const sizes = [
    ...(plan.holds === 'spectra' ? [counted(cell.sizes.c, 'channel')] : []),
    counted(cell.sizes.t, 'sample'),
    counted(cell.sizes.a, 'input'),
  ];
  const ticks = tallies.length === 0 ? undefined : tickSpan(tallies);
  const total = (count: (sender: SenderTally) => number): number =>
    tallies.reduce((sum, sender) => sum + count(sender), 0);
  const lost = total((sender) => sender.lost);
  const expected = total((sender) => sender.packets - sender.duplicates - sender.strays + sender.lost);
  const worst = tallies
    .filter((sender) => sender.lost > 0)
    .map((sender) => `${sender.lost} of ${nameOf(sender.source)}`);
  const refused = Object.entries(stream.refused).filter(([, count]) => count > 0);
  return [
    line(
      'holds',
      `${plan.holds} of ${plan.inputs} inputs${plan.holds === 'spectra' ? `, ${plan.channels} channels` : ''}`,
    ),
    line('senders', `${plan.sources.length}: ${some(plan.sources.map(nameOf))}`),
    line(
      'packets',
      `${sizes.join(' × ')} of ${bits}` +
        (plan.fragments > 1 ? `, ${plan.fragments} side by side in frequency` : '') +
        (perSecond === undefined
          ? ''
          : `, ${Number((perSecond * plan.fragments).toPrecision(6))} a second and sender`),
    ),
    ...(stream.concluded === undefined ? [] : [line('concluded', stream.concluded)]),
    ...(ticks === undefined
      ? []
      : [
          line(
            'ticks',
            `${ticks.first} to ${ticks.last} in steps of ${plan.ticksPerSlot}` +
              (tickRateHz ? `, ${formatHz(numberOf(tickRateHz))}` : ', of unknown rate (give source.rate)'),
          ),
        ]),
    line('time', timeText(stream)),
    line(
      'lost',
      lost === 0 ? 'none' : `${lost} of ${expected} packets, ${percent(lost / expected)}: ${some(worst)}`,
    ),
    line('duplicates', String(total((sender) => sender.duplicates))),
    line('reordered', String(total((sender) => sender.reordered))),
    ...(total((sender) => sender.strays) === 0
      ? []
      : [line('stray', `${total((sender) => sender.strays)} whose time no other packet agrees with`)]),
    ...(total((sender) => sender.restarts) === 0
      ? []
      : [
          line(
            'restarts',
            some(
              tallies
                .filter((sender) => sender.restarts > 0)
                .map((sender) => `${sender.restarts} of ${nameOf(sender.source)}`),
            ),
          ),
        ]),
    ...(stream.control === 0 ? [] : [line('control', `${stream.control} (descriptors, start and stop)`)]),
    line(
      'refused',
      refused.length === 0 ? 'none' : refused.map(([reason, count]) => `${count} ${reason}`).join(', '),
    ),
    ...stream.whys.map((why) => line('', why)),
  ];
}

function timeText({ start, end, epoch, format }: StreamLook): string {
  if (start && end) return `${calendar(start)} to ${calendar(end)}`;
  if (epoch) return `tick 0 is ${calendar(epoch)}; the rest is not known without the rate (give source.rate)`;
  return format?.epoch.from === 'unknown'
    ? `not in the packets: tick 0 is ${format.epoch.means}`
    : 'in the packets, but not the same in all of them';
}

/** Ticks as text: they may exceed the range of a JSON number. */
function captureJson(path: string, look: CaptureLook, extent: 'whole' | 'first'): object {
  const { kind, bytesRead, frames, frameFaults, ended } = look;
  return {
    path,
    format: kind,
    kind: 'packets',
    read: { extent, bytes: bytesRead },
    frames,
    ...(frames === 0
      ? {}
      : {
          capturedFromUtc: utcOf(look.firstNs),
          capturedToUtc: utcOf(look.lastNs),
          capturedS: secondsOf(look),
        }),
    leftOut: frameFaults,
    endsEarly: ended,
    streams: look.streams.map(streamJson),
  };
}

function streamJson(stream: StreamLook): object {
  const { format, plan, unknown, concluded, epoch, start, end } = stream;
  const seconds = secondsOf(stream);
  const sum = (count: (sender: SenderTally) => number): number =>
    stream.tallies.reduce((total, sender) => total + count(sender), 0);
  return {
    format: format?.name ?? null,
    destination: stream.destination,
    senders: stream.senders,
    datagrams: stream.datagrams,
    payloadBytes: stream.payloadBytes,
    ...(seconds > 0 ? { bitsPerSecond: (stream.payloadBytes * 8) / seconds } : {}),
    ...(format ? {} : { firstBytes: Buffer.from(stream.firstBytes).toString('hex') }),
    unknown: unknown?.what,
    fix: unknown?.fix,
    concluded,
    ...(plan && {
      plan: {
        holds: plan.holds,
        type: plan.type,
        inputs: plan.inputs,
        channels: plan.channels,
        sources: plan.sources,
        fragments: plan.fragments,
        cellBytes: plan.cellBytes,
        cell: plan.cell,
        ticksPerSlot: plan.ticksPerSlot,
        samplesPerSlot: plan.samplesPerSlot,
        wrapBits: plan.wrapBits,
        tickRateHz: plan.tickRateHz && numberOf(plan.tickRateHz),
        numbers: plan.numbers,
      },
      lost: sum((sender) => sender.lost),
      duplicates: sum((sender) => sender.duplicates),
      reordered: sum((sender) => sender.reordered),
      strays: sum((sender) => sender.strays),
      control: stream.control,
      refused: stream.refused,
      why: stream.whys,
      epochUtc: epoch && calendar(epoch),
      ...(start && end ? { startUtc: calendar(start), endUtc: calendar(end) } : {}),
      bySender: stream.tallies.map((sender) => ({
        sender: format?.senderName(sender.source),
        ...sender,
        firstTick: String(sender.firstTick),
        lastTick: String(sender.lastTick),
      })),
    }),
  };
}
