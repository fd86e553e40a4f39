/**
 * VDIF frames of channelised voltages (1.1.1): one thread per polarisation, all channels in a frame, complex samples in
 * offset binary. A second begins with frame 0, so a partial first or last frame includes samples that were not
 * received.
 */
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import { vdifEpochAt, vdifEpochUnixSeconds } from '../../core/clock/epochs.js';
import { openOutput } from '../io/output.js';

export interface VdifHeader {
  readonly channels: number;
  readonly threads: number;
  readonly bits: 8 | 16;
  /** Per channel; a whole number. */
  readonly sampleRateHz: number;
  /** Time of the first sample, rounded to a whole sample within its second. */
  readonly start: Instant;
  /** Two letters. */
  readonly station?: string;
}

export interface VdifWriter {
  /** Stored minus true time of the first sample: samples are counted from whole seconds. */
  readonly shiftS: number;
  readonly samplesPerFrame: number;
  /** samples : [t][thread][c] complex, integers in the range of the bits. */
  append(samples: Int8Array | Int16Array): Promise<void>;
  finish(): Promise<void>;
  keep(): Promise<number>;
  abandon(): Promise<void>;
}

const HEADER_BYTES = 32;
const MOST_FRAME_BYTES = 2 ** 16;

/** Samples of a frame of about 64 KiB: a whole number of frames per second, whole words of 8 bytes. */
export function samplesPerFrameOf(path: string, { channels, bits, sampleRateHz }: VdifHeader): number {
  if (!Number.isInteger(Math.log2(channels)))
    refuse(path, `VDIF holds a power of two channels, not ${channels}`, 'make such a number of channels');
  if (!Number.isInteger(sampleRateHz) || sampleRateHz < 1)
    refuse(
      path,
      `VDIF counts samples from each whole second, and there are ${sampleRateHz} spectra in one`,
      'make channels of a whole number of hertz',
    );
  const sampleBytes = (2 * channels * bits) / 8;
  const most = Math.max(1, Math.floor((MOST_FRAME_BYTES - HEADER_BYTES) / sampleBytes));
  for (let samples = Math.min(most, sampleRateHz); samples >= 1; samples--)
    if (sampleRateHz % samples === 0 && (samples * sampleBytes) % 8 === 0 && sampleRateHz / samples < 2 ** 24)
      return samples;
  return refuse(
    path,
    `no frames of ${channels} channels fit a second of ${sampleRateHz} samples`,
    'make more channels',
  );
}

export async function createVdif(path: string, header: VdifHeader): Promise<VdifWriter> {
  const { channels, threads, bits, sampleRateHz, start, station = 'BM' } = header;
  const samplesPerFrame = samplesPerFrameOf(path, header);
  const epoch = vdifEpochAt(start.unixSeconds) % 64;
  const elapsedS = secondsBetween({ unixSeconds: vdifEpochUnixSeconds(epoch), fraction: 0 }, start);
  /** Since the epoch. */
  const firstSecond = Math.floor(elapsedS + 0.5 / sampleRateHz);
  const withinS = secondsBetween(
    addSeconds({ unixSeconds: vdifEpochUnixSeconds(epoch), fraction: 0 }, firstSecond),
    start,
  );
  const first = Math.max(0, Math.round(withinS * sampleRateHz));
  const file = await openOutput(path);
  const partBytes = bits / 8;
  const rowBytes = 2 * channels * partBytes;
  const frameBytes = HEADER_BYTES + samplesPerFrame * rowBytes;
  const middle = 2 ** (bits - 1);
  const frames = Array.from({ length: threads }, () => new Uint8Array(frameBytes));
  /** Counted from the first whole second; the current frame begins at a multiple of its samples. */
  let [at, written, filled] = [first, 0, 0];
  const clear = (): void => {
    for (const frame of frames) {
      const view = new DataView(frame.buffer, HEADER_BYTES);
      for (let n = 0; n < samplesPerFrame * 2 * channels; n++)
        if (bits === 8) view.setUint8(n, middle);
        else view.setUint16(2 * n, middle, true);
    }
    filled = 0;
  };
  clear();
  const writeFrames = async (): Promise<void> => {
    const number = Math.floor((at - 1) / samplesPerFrame);
    const perSecond = sampleRateHz / samplesPerFrame;
    for (const [thread, frame] of frames.entries()) {
      const view = new DataView(frame.buffer);
      view.setUint32(0, firstSecond + Math.floor(number / perSecond), true);
      view.setUint32(4, epoch * 2 ** 24 + (number % perSecond), true);
      // Version 1.
      view.setUint32(8, 2 ** 29 + Math.log2(channels) * 2 ** 24 + frameBytes / 8, true);
      const word = station.charCodeAt(0) * 256 + station.charCodeAt(1);
      view.setUint32(12, 2 ** 31 + (bits - 1) * 2 ** 26 + thread * 2 ** 16 + word, true);
      await file.write(frame);
    }
    if (written === 0) file.worthKeeping();
    written += filled;
    clear();
  };
  const finish = async (): Promise<void> => {
    if (filled > 0) await writeFrames();
    await file.finish();
  };
  return {
    shiftS: first / sampleRateHz - withinS,
    samplesPerFrame,
    append: async (samples) => {
      const row = threads * channels * 2;
      for (let t = 0; t * row < samples.length; t++) {
        const place = (at % samplesPerFrame) * 2 * channels;
        for (let thread = 0; thread < threads; thread++) {
          const view = new DataView(frames[thread].buffer, HEADER_BYTES);
          for (let n = 0; n < 2 * channels; n++) {
            const value = samples[t * row + thread * 2 * channels + n] + middle;
            if (bits === 8) view.setUint8(place + n, value);
            else view.setUint16(2 * (place + n), value, true);
          }
        }
        at++;
        filled++;
        if (at % samplesPerFrame === 0) await writeFrames();
      }
    },
    finish,
    keep: async () => {
      if (written + filled === 0) await file.abandon();
      else await finish();
      return written;
    },
    abandon: () => file.abandon(),
  };
}
