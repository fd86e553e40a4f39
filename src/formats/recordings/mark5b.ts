/**
 * Mark 5B: frames of 16 header and 10000 payload bytes. The header holds the frame's number in its second and a decimal
 * time stamp (day modulo 1000, second of the day, tenths of milliseconds); the user must give the number of channels
 * and bits, and the thousand days of the date.
 */
import { refuse, wholeNumber } from '../../core/errors.js';
import { formatHz, SECONDS_PER_DAY } from '../../core/units.js';
import { addSeconds, instant, modifiedJulianDays, secondsBetween, type Instant } from '../../core/instant.js';
import { sendersSideBySide } from '../../core/presence/presence.js';
import { leapSecondFollows } from '../../core/leap-seconds.js';
import { isSampleBits, packedType } from '../../core/vdif-header.js';
import { planUnpacker, samplesIn } from './decode.js';
import type { Format, OpenOptions, VoltageRecording } from '../format.js';
import {
  emptyTally,
  isSync,
  largestTogether,
  nextSync,
  plausibleSamples,
  readFrames,
  smallestTogether,
  walkFrames,
  type FrameParser,
} from './frames.js';
import { openOn, type InputFile } from '../io/input.js';
import { unixFromMjd } from '../../core/clock/epochs.js';
import { framedVoltages, polarisationsFor } from './recording.js';
import { unknownFactsOf } from '../unknown-facts.js';

const SYNC = 0xabad_deed;
const SYNC_BYTES = [0xed, 0xde, 0xad, 0xab] as const;
const HEADER_BYTES = 16;
const FRAME_BYTES = 10_016;
const PAYLOAD_BYTES = FRAME_BYTES - HEADER_BYTES;

interface Header {
  readonly frame: number;
  /** MJD modulo 1000. */
  readonly day: number;
  readonly second: number;
  /** Truncated, not rounded, to 0.1 ms. */
  readonly fraction: number;
}

/** Four bits per decimal digit; NaN if a digit is above nine. */
function decimal(bits: number, digits: number): number {
  let value = 0;
  for (let k = digits - 1; k >= 0; k--) {
    const digit = (bits >>> (4 * k)) & 0xf;
    value = digit > 9 ? Number.NaN : value * 10 + digit;
  }
  return value;
}

function parseHeader(view: DataView, at: number): Header | undefined {
  if (view.getUint32(at, true) !== SYNC) return undefined;
  const time = view.getUint32(at + 8, true);
  const header = {
    frame: view.getUint32(at + 4, true) & 0x7fff,
    day: decimal(time >>> 20, 3),
    second: decimal(time & 0xf_ffff, 5),
    fraction: decimal(view.getUint32(at + 12, true) >>> 16, 4) / 1e4,
  };
  // Second 86 400 is a leap second.
  const good = header.day >= 0 && header.second <= SECONDS_PER_DAY && header.fraction < 1;
  return good ? header : undefined;
}

/** Recorders run at 2ⁿ Mbit/s, which is 12.5·2ⁿ frames per second; the header counts to 32767. */
const STANDARD_RATES = Array.from({ length: 12 }, (_, n) => 12.5 * 2 ** n);

/** Frames per second consistent with the headers: each time stamp fixes number/rate to 0.1 ms. */
function framesPerSecond(
  path: string,
  headers: readonly Header[],
  samples: number,
  options: OpenOptions,
): number {
  const agrees = (rate: number): boolean => {
    const agreeing = headers.filter(
      ({ frame, fraction }) => Math.floor((frame / rate) * 1e4 + 1e-6) === Math.round(fraction * 1e4),
    );
    return agreeing.length > headers.length / 2;
  };
  if (options.sampleRateHz !== undefined) {
    const frames = options.sampleRateHz / samples;
    if (!(frames >= 1) || !Number.isInteger(frames * 2)) {
      refuse(
        path,
        `${options.sampleRateHz} samples a second make ${frames} frames a second`,
        'give the sample rate of each channel with source.rate',
      );
    }
    // Some recorders omit the fractions: then nothing contradicts it.
    if (!agrees(frames) && headers.some(({ fraction }) => fraction !== 0)) {
      refuse(
        path,
        `its time stamps do not fit ${formatHz(options.sampleRateHz)}`,
        'leave out source.rate, or give the sample rate of each channel',
      );
    }
    return frames;
  }
  const fits = STANDARD_RATES.filter((rate) => agrees(rate) && headers.some(({ frame }) => frame > 0));
  if (fits.length !== 1) {
    refuse(
      path,
      'its time stamps do not settle the sample rate',
      'give the sample rate of each channel with source.rate',
    );
  }
  return fits[0];
}

async function openFrames(file: InputFile, options: OpenOptions): Promise<VoltageRecording> {
  const { path } = file;
  if (options.inputs === undefined || options.near === undefined) {
    refuse(
      path,
      'Mark 5B states neither the number of channels nor the thousand days of its date',
      'give source.inputs, and source.near with any date close to the recording',
    );
  }
  const inputs = wholeNumber(path, 'the number of inputs', options.inputs, 1, 32);
  const bits = options.bits ?? 2;
  if (!isSampleBits(bits) || bits > 2) refuse(path, `${bits} bits a sample`, 'Mark 5B holds 1 or 2');
  const packing = { bits, code: 'sign-magnitude', inputs, parts: 1 } as const;
  const samples = samplesIn(path, PAYLOAD_BYTES, packing);
  const tally = emptyTally();

  /** Reads from sync word to sync word; bytes in between are spare. */
  const walk =
    (visit: (header: Header, payload: Uint8Array) => ReturnType<FrameParser>['frame']): FrameParser =>
    (bytes, view, at) => {
      const sync = nextSync(SYNC_BYTES, bytes, at);
      if (sync > at) {
        tally.spareBytes += sync - at;
        return { consumed: sync - at };
      }
      if (at + FRAME_BYTES > bytes.length) return { consumed: 0 };
      const header = parseHeader(view, at);
      if (!header) {
        tally.invalid++;
        // A damaged sync word was skipped above; a good one with a damaged time still has the frame's length.
        return { consumed: view.getUint32(at, true) === SYNC ? FRAME_BYTES : 1 };
      }
      const frame = visit(header, bytes.subarray(at + HEADER_BYTES, at + FRAME_BYTES));
      return frame ? { consumed: FRAME_BYTES, frame } : { consumed: FRAME_BYTES };
    };
  const bufferBytes = 4 * 2 ** 20;
  const headersIn = async (from: number, end: number): Promise<Header[]> => {
    const found: Header[] = [];
    const parse = walk((header) => {
      found.push(header);
      return undefined;
    });
    await walkFrames({ file, from, end, bufferBytes, tally: emptyTally(), parse });
    return found;
  };
  const early = await headersIn(0, Math.min(file.sizeBytes, bufferBytes));
  const late = await headersIn(Math.max(0, file.sizeBytes - bufferBytes), file.sizeBytes);
  if (early.length === 0) refuse(path, 'no Mark 5B frame is in it', 'it is damaged or in another format');
  const perSecond = framesPerSecond(path, early, samples, options);
  // Days count modulo 1000; the first header's day becomes 0, and a wrap 999 → 0 is followed.
  const baseDay = early[0].day;
  const firstDay = baseDay + 1000 * Math.round((modifiedJulianDays(options.near) - baseDay) / 1000);
  const midnight = (header: Header): Instant =>
    instant(unixFromMjd(firstDay + ((header.day - baseDay + 1500) % 1000) - 500));
  const origin = midnight(early[0]);
  const elapsed = (header: Header): number =>
    (secondsBetween(origin, midnight(header)) + header.second) * perSecond + header.frame;
  /** Frame numbers and seconds that exist in their second and day. */
  const possible = (header: Header): boolean =>
    header.frame < perSecond &&
    (header.second < SECONDS_PER_DAY ||
      leapSecondFollows(midnight(header).unixSeconds + SECONDS_PER_DAY - 1));
  const count = Math.floor(file.sizeBytes / FRAME_BYTES);
  const spread = 4 * Math.ceil(bufferBytes / FRAME_BYTES);
  const inRange = (headers: readonly Header[]): number[] => headers.filter(possible).map(elapsed);
  if (inRange(early).length === 0)
    refuse(path, `frame numbers pass ${perSecond}, the frames of a second`, 'give a higher source.rate');
  const startFrame = smallestTogether(inRange(early), spread);
  const endFrame = largestTogether([...inRange(late), startFrame], spread) + 1;
  const total = plausibleSamples(path, (endFrame - startFrame) * samples, Math.max(1, count) * samples);

  const startSecond = Math.floor(startFrame / perSecond);
  const parse = walk((header, payload) => {
    if (!possible(header)) {
      tally.invalid++;
      return undefined;
    }
    return { sender: 0, firstSample: (elapsed(header) - startFrame) * samples, samples, payload };
  });
  const unpack = planUnpacker(packing);
  const sampleRateHz = perSecond * samples;
  return framedVoltages(
    {
      path,
      format: 'mark5b',
      telescope: options.telescope,
      details: {
        frames: count,
        frameBytes: FRAME_BYTES,
        samplesPerFrame: samples,
        framesPerSecond: perSecond,
        bits,
        dayModulo1000: baseDay,
      },
      type: packedType(bits, 1),
      bits,
      ...unknownFactsOf({ frequency: options.centreFrequencyHz === undefined }),
      inputs,
      polarisations: polarisationsFor(path, inputs, 1, options),
      samples: total,
      sampleRateHz,
      centreFrequencyHz: options.centreFrequencyHz ?? sampleRateHz / 4,
      start: addSeconds(addSeconds(origin, startSecond), (startFrame - startSecond * perSecond) / perSecond),
    },
    {
      file,
      tally,
      senders: sendersSideBySide(1, inputs, 1),
      batches: () => readFrames({ file, from: 0, bufferBytes, tally, parse }),
      unpack: (frame, from, target) => {
        unpack(frame.payload, from, target, 0);
      },
    },
  );
}

export const mark5b: Format = {
  name: 'mark5b',
  title: 'Mark 5B',
  extensions: ['.m5b', '.mark5b'],
  kinds: [
    {
      title: 'Mark 5B',
      holds: 'recordings',
      reads: ['sampleRateHz', 'centreFrequencyHz', 'inputs', 'polarisations', 'bits', 'near', 'sideband'],
    },
  ],
  recognise: (_path, head) => isSync(SYNC_BYTES, head, 0),
  open: (path, options) => openOn(path, (file) => openFrames(file, options ?? {})),
};
