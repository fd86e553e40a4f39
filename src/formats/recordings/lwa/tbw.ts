/**
 * LWA1's transient buffer, TBW: 61 ms of every stand at the full 196 MHz, real samples of both polarisations in each
 * frame, 12 bits or 4. The file holds one stand (or two) after the other, so frames of one time are gigabytes apart:
 * all positions are found first (8 bytes of memory per frame), and blocks are gathered from there.
 */
import { recurring } from '../../../core/recurring.js';
import { refuse } from '../../../core/errors.js';
import { highNibble, lowNibble } from '../../../core/nibbles.js';
import { sendersSideBySide } from '../../../core/presence/presence.js';
import type { OpenOptions, VoltageRecording } from '../../format.js';
import type { InputFile } from '../../io/input.js';
import { emptyTally, plausibleSamples, walkFrames, type Frame } from '../frames.js';
import { framedVoltages, polarisationsFor } from '../recording.js';
import { CLOCK_HZ, headerBytes, instantOfTag, lwaReading, type LwaShape } from './frame.js';
import { tagSpan } from './times.js';

/** Samples per frame and polarisation: with 12 bits and with 4. */
const SAMPLES = { 12: 400, 4: 1200 } as const;
type TbwBits = keyof typeof SAMPLES;

const bitsOf = (view: DataView, at: number): TbwBits => ((view.getUint8(at + 12) >>> 6) & 1 ? 4 : 12);
const standOf = (view: DataView, at: number): number => view.getUint16(at + 12) & 0x3ff;
const tagOf = (view: DataView, at: number): bigint => view.getBigUint64(at + 16);

/** Both polarisations of `count` samples, starting at sample `from`. */
function unpackInto(
  payload: Uint8Array,
  bits: TbwBits,
  { from, count }: { readonly from: number; readonly count: number },
  into: { readonly elements: Record<number, number>; readonly x: number; readonly y: number },
): void {
  const { elements, x, y } = into;
  for (let t = 0; t < count; t++) {
    if (bits === 4) {
      const byte = payload[from + t];
      elements[x + t] = highNibble(byte);
      elements[y + t] = lowNibble(byte);
      continue;
    }
    const at = 3 * (from + t);
    // Twelve bits each, sign first: shifted up to bit 31 and back.
    elements[x + t] = ((payload[at] << 24) | ((payload[at + 1] & 0xf0) << 16)) >> 20;
    elements[y + t] = ((payload[at + 1] << 28) | (payload[at + 2] << 20)) >> 20;
  }
}

/** Positions of a stand's frames in the file, in time order. */
interface StandFrames {
  readonly firstSamples: Float64Array;
  readonly offsets: Float64Array;
}

/** Recorders write them in order; a joined file may not be. */
function sortByTime({ firstSamples, offsets }: StandFrames): void {
  if (firstSamples.every((time, k) => k === 0 || time >= firstSamples[k - 1])) return;
  const order = Array.from(firstSamples.keys()).sort((a, b) => firstSamples[a] - firstSamples[b]);
  const [times, places] = [firstSamples.slice(), offsets.slice()];
  order.forEach((from, k) => {
    firstSamples[k] = times[from];
    offsets[k] = places[from];
  });
}

const MOST_AT_ONCE_BYTES = 4 * 2 ** 20;

/** Parts of the file with the frames needed now: neighbours are read together. */
async function* gathered(
  file: InputFile,
  frameBytes: number,
  stand: StandFrames,
  range: { readonly first: number; readonly end: number },
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly frame: number }> {
  let k = range.first;
  while (k < range.end) {
    const from = stand.offsets[k];
    let last = k;
    while (
      last + 1 < range.end &&
      stand.offsets[last + 1] > stand.offsets[last] &&
      // Two stands may alternate; larger distances are not worth reading through.
      stand.offsets[last + 1] - stand.offsets[last] <= 4 * frameBytes &&
      stand.offsets[last + 1] + frameBytes - from <= MOST_AT_ONCE_BYTES
    )
      last++;
    const bytes = new Uint8Array(stand.offsets[last] + frameBytes - from);
    await file.readExactly(bytes, from);
    for (; k <= last; k++) {
      const at = stand.offsets[k] - from;
      yield { bytes: bytes.subarray(at + headerBytes.tbw, at + frameBytes), frame: k };
    }
  }
}

export async function openTbw(
  file: InputFile,
  shape: LwaShape,
  options: OpenOptions,
): Promise<VoltageRecording> {
  const { path } = file;
  const { frameBytes } = shape;
  const most = Math.ceil(file.sizeBytes / frameBytes);
  const seen = { stands: new Uint16Array(most), bits: new Uint8Array(most), offsets: new Float64Array(most) };
  const tags = new BigUint64Array(most);
  let frames = 0;
  const tally = emptyTally();
  // The reader yields views of its buffer; counting consumed bytes gives the buffer's position.
  let consumed = 0;
  const walk = lwaReading(file, shape, tally, (view, at) => {
    seen.stands[frames] = standOf(view, at);
    seen.bits[frames] = bitsOf(view, at);
    tags[frames] = tagOf(view, at);
    seen.offsets[frames++] = consumed;
    return undefined;
  });
  await walkFrames({
    ...walk,
    parse: (bytes, view, at) => {
      const step = walk.parse(bytes, view, at);
      consumed += step.consumed;
      return step;
    },
  });
  if (frames === 0) refuse(path, 'no whole TBW frame is in it', 'it is damaged or cut short');
  const bits = recurring(seen.bits.subarray(0, frames))[0] as TbwBits;
  const perFrame = SAMPLES[bits];
  const stands = recurring(seen.stands.subarray(0, frames));
  const span = tagSpan([...new Set(tags.subarray(0, frames))], 64 * perFrame);
  const samples = plausibleSamples(path, span.lastTicks + perFrame, frames * perFrame);
  const damaged = { invalid: tally.invalid, spareBytes: tally.spareBytes };

  const senderOf = new Map(stands.map((stand, sender) => [stand, sender]));
  const counts = new Uint32Array(stands.length);
  /** For each frame: the index of its stand, or none if its header matches no other. */
  const sendersSeen = Int32Array.from({ length: frames }, (_, k) => {
    const firstSample = Number(tags[k] - span.first);
    const sender = senderOf.get(seen.stands[k]);
    if (sender === undefined || seen.bits[k] !== bits || firstSample < 0 || firstSample >= samples) return -1;
    counts[sender]++;
    return sender;
  });
  const odd = frames - counts.reduce((sum, count) => sum + count, 0);
  const index = stands.map((_, sender): StandFrames => {
    const firstSamples = new Float64Array(counts[sender]);
    const offsets = new Float64Array(counts[sender]);
    return { firstSamples, offsets };
  });
  counts.fill(0);
  for (let k = 0; k < frames; k++) {
    const sender = sendersSeen[k];
    if (sender < 0) continue;
    index[sender].firstSamples[counts[sender]] = Number(tags[k] - span.first);
    index[sender].offsets[counts[sender]++] = seen.offsets[k];
  }
  index.forEach(sortByTime);

  const inputs = 2 * stands.length;
  /** All stands' frames in time order, one time range at a time. */
  async function* batches(): AsyncGenerator<Frame[]> {
    tally.invalid += damaged.invalid + odd;
    tally.spareBytes += damaged.spareBytes;
    const next = index.map(() => 0);
    const chunk = Math.max(perFrame, Math.floor(2 ** 22 / inputs / perFrame) * perFrame);
    for (let end = chunk; next.some((k, sender) => k < index[sender].offsets.length); end += chunk) {
      const batch: Frame[] = [];
      for (const [sender, stand] of index.entries()) {
        const first = next[sender];
        let to = first;
        while (to < stand.offsets.length && stand.firstSamples[to] < end) to++;
        for await (const { bytes, frame } of gathered(file, frameBytes, stand, { first, end: to }))
          batch.push({ sender, firstSample: stand.firstSamples[frame], samples: perFrame, payload: bytes });
        next[sender] = to;
      }
      batch.sort((a, b) => a.firstSample - b.firstSample);
      yield batch;
    }
  }
  return framedVoltages(
    {
      path,
      format: 'lwa',
      type: bits === 4 ? 'i8' : 'i16',
      telescope: options.telescope,
      details: { mode: 'TBW', frames, frameBytes, stands, firstTimeTag: String(span.first) },
      bits,
      inputs,
      polarisations: polarisationsFor(path, inputs, 2, options),
      samples,
      sampleRateHz: CLOCK_HZ,
      // Sampled at the sky frequencies, from 0 to 98 MHz.
      centreFrequencyHz: CLOCK_HZ / 4,
      start: instantOfTag(span.first),
    },
    {
      file,
      tally,
      senders: sendersSideBySide(stands.length, 2, 1),
      batches,
      unpack: (frame, from, { elements, stride, at, count }) => {
        const x = 2 * frame.sender * stride + at;
        unpackInto(frame.payload, bits, { from, count }, { elements, x, y: x + stride });
      },
    },
  );
}
