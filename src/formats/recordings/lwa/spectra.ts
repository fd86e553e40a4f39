/**
 * LWA frequency-domain recordings, TBF and TBX: a frame is one spectrum of a few adjacent channels for every stand,
 * [channel][stand][pol], 4+4 bits with the real part high: the same as our ci4.
 */
import { recurring } from '../../../core/recurring.js';
import { refuse } from '../../../core/errors.js';
import type { OpenOptions, SpectraRecording } from '../../format.js';
import { emptyTally, plausibleSamples, readFrames } from '../frames.js';
import type { InputFile } from '../../io/input.js';
import { framedSpectra, polarisationsFor } from '../recording.js';
import { CLOCK_HZ, headerBytes, instantOfTag, lwaReading, headersAtEnds, type LwaShape } from './frame.js';
import { tagSpan } from './times.js';

const TBF_CHANNELS = 12;
/** LWA-SV first had 25 kHz channels; today's stations transform 8192 clock samples. */
const TICKS_25_KHZ = 7840n;
const TICKS_8192 = 8192n;

/** −8 is not allowed in our spectra: it becomes −7. */
const safeNibbles = Uint8Array.from({ length: 256 }, (_, byte) => {
  const high = byte >>> 4 === 8 ? 9 : byte >>> 4;
  const low = (byte & 15) === 8 ? 9 : byte & 15;
  return (high << 4) | low;
});
const saturatedIn = Uint8Array.from(
  { length: 256 },
  (_, byte) => Number(byte >>> 4 === 8) + Number((byte & 15) === 8),
);

/** The digitisers' band ends at half their clock rate. */
function refuseBeyondBand(
  path: string,
  groups: readonly number[],
  perFrame: number,
  channelWidthHz: number,
): void {
  const beyond = groups.find((first) => (first + perFrame) * channelWidthHz > CLOCK_HZ / 2);
  if (beyond !== undefined)
    refuse(
      path,
      `its channel ${beyond} is beyond the digitisers' band, which ends at ${CLOCK_HZ / 2e6} MHz`,
      'it is damaged: copy it again',
    );
}

export async function openSpectra(
  file: InputFile,
  shape: LwaShape & { readonly kind: 'tbf' | 'tbx' },
  options: OpenOptions,
): Promise<SpectraRecording> {
  const { path } = file;
  const { kind, frameBytes } = shape;
  const firstOf = (view: DataView, at: number): number =>
    kind === 'tbf' ? view.getUint16(at + 12) : view.getUint32(at + 12);
  const tagOf = (view: DataView, at: number): bigint => view.getBigUint64(at + (kind === 'tbf' ? 16 : 20));
  const seen = await headersAtEnds(file, shape, (view, at) => ({
    tag: tagOf(view, at),
    first: firstOf(view, at),
    perFrame: kind === 'tbf' ? TBF_CHANNELS : view.getUint16(at + 18),
  }));
  const tags = seen.map(({ tag }) => tag);
  const perFrame = recurring(seen.map((one) => one.perFrame))[0];
  const inputs = (frameBytes - headerBytes[kind]) / perFrame;
  if (perFrame < 1 || !Number.isInteger(inputs / 2)) {
    refuse(
      path,
      `frames of ${frameBytes} bytes do not hold whole stands in ${perFrame} channels`,
      'it is damaged',
    );
  }
  const groups = recurring(seen.map(({ first }) => first)).filter(
    (first, k, all) => k === 0 || first >= all[k - 1] + perFrame,
  );
  const senderOf = new Map(groups.map((first, sender) => [first, sender]));
  const ticks =
    kind === 'tbf' &&
    shape.isNewer !== true &&
    tags.every((tag) => tag % TICKS_25_KHZ === tags[0] % TICKS_25_KHZ) &&
    tags[0] % TICKS_8192 !== 0n
      ? Number(TICKS_25_KHZ)
      : Number(TICKS_8192);
  const channelWidthHz = CLOCK_HZ / ticks;
  const span = tagSpan(tags, 4096 * ticks);
  const samples = plausibleSamples(
    path,
    Math.round(span.lastTicks / ticks) + 1,
    Math.ceil(file.sizeBytes / frameBytes),
  );
  refuseBeyondBand(path, groups, perFrame, channelWidthHz);
  const channels = groups.length * perFrame;
  const tally = emptyTally();
  const reading = lwaReading(file, shape, tally, (view, at, payload) => {
    const sender = senderOf.get(firstOf(view, at));
    const firstSample = Number(tagOf(view, at) - span.first) / ticks;
    const fits = kind === 'tbf' || view.getUint16(at + 18) === perFrame;
    if (sender === undefined || !fits || !Number.isInteger(firstSample)) return 'invalid';
    return { sender, firstSample, samples: 1, payload };
  });
  return framedSpectra(
    {
      path,
      format: 'lwa',
      telescope: options.telescope,
      details: {
        mode: kind.toUpperCase(),
        frames: Math.floor(file.sizeBytes / frameBytes),
        frameBytes,
        stands: inputs / 2,
        channelsPerFrame: perFrame,
        firstChannels: groups,
        firstTimeTag: String(span.first),
      },
      type: 'ci4',
      channels,
      inputs,
      polarisations: polarisationsFor(path, inputs, 2, options),
      samples,
      spectrumRateHz: channelWidthHz,
      frequenciesHz: Float64Array.from(
        { length: channels },
        (_, c) => (groups[Math.floor(c / perFrame)] + (c % perFrame)) * channelWidthHz,
      ),
      channelWidthHz,
      start: instantOfTag(span.first),
    },
    {
      file,
      tally,
      senders: groups.map((_, sender) => ({
        firstInput: 0,
        endInput: inputs,
        firstChannel: sender * perFrame,
        endChannel: (sender + 1) * perFrame,
      })),
      batches: () => readFrames(reading),
      unpack: (frame, _from, { elements, stride, at }) => {
        const rows = perFrame * inputs;
        for (let row = 0; row < rows; row++) {
          const byte = frame.payload[row];
          tally.saturated += saturatedIn[byte];
          elements[(frame.sender * rows + row) * stride + at] = safeNibbles[byte];
        }
      },
    },
  );
}
