/**
 * PSRDADA: a text header of HDR_SIZE bytes, "KEY value" a line, then samples to the end of the file. One
 * channel is voltages, [t][pol]; several are spectra, [t][c][pol], or, as MeerKAT writes them, heaps of 256
 * samples each [c][pol][t].
 */
import {
  voltageSizeBytes,
  type SpectraElements,
  type VoltageElements,
  type VoltageType,
} from '../core/axes.js';
import { refuse, wholeNumber } from '../core/errors.js';
import { addSamples, instant, parseInstant, type Instant } from '../core/instant.js';
import { channelFrequencies, copyComplex } from './channelised.js';
import type { Format, FrameTally, OpenedFile, OpenOptions } from './format.js';
import { emptyTally } from './frames.js';
import type { InputFile } from './input.js';
import { bytesOf, turn, type SampleBytes } from './interleave.js';
import { unixFromMjd } from './leap-seconds.js';
import {
  openOn,
  polarisationsFor,
  segmentedSpectra,
  segmentedVoltages,
  type Segment,
  type Target,
} from './recording.js';

const DEFAULT_HEADER_BYTES = 4096;
const MOST_HEADER_BYTES = 1 << 20;
const MEERKAT_HEAP_SAMPLES = 256;

type Keys = ReadonlyMap<string, string>;

function parseKeys(bytes: Uint8Array): Keys {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').split('\0')[0];
  const keys = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^([A-Z][A-Z0-9_]*)\s+(\S.*?)\s*$/.exec(line.split('#')[0]);
    if (match) keys.set(match[1], match[2]);
  }
  return keys;
}

function numberOf(path: string, keys: Keys, key: string, otherwise?: number): number {
  const text = keys.get(key);
  const value = text === undefined ? otherwise : Number(text);
  if (value === undefined || !Number.isFinite(value)) {
    refuse(
      path,
      text === undefined ? `its header lacks ${key}` : `its header says ${key} ${text}`,
      'the header is damaged, or of another kind of file',
    );
  }
  return value;
}

async function readKeys(file: InputFile): Promise<{ keys: Keys; headerBytes: number }> {
  const { path } = file;
  const front = new Uint8Array(Math.min(DEFAULT_HEADER_BYTES, file.sizeBytes));
  await file.readExactly(front, 0);
  const told = parseKeys(front);
  const headerBytes = wholeNumber(
    path,
    'HDR_SIZE',
    numberOf(path, told, 'HDR_SIZE', DEFAULT_HEADER_BYTES),
    64,
    MOST_HEADER_BYTES,
  );
  if (headerBytes >= file.sizeBytes)
    refuse(path, 'ends within its header', 'it was cut short: copy it again');
  const whole = new Uint8Array(headerBytes);
  await file.readExactly(whole, 0);
  return { keys: parseKeys(whole), headerBytes };
}

/** UTC_START to the second; else MJD_START, of which a double keeps only microseconds. */
function observationStart(path: string, keys: Keys): Instant {
  const utc = keys.get('UTC_START');
  if (utc !== undefined) {
    const match = /^(\d{4}-\d{2}-\d{2})[-T ](\d{2}:\d{2}:\d{2})(\.\d+)?$/.exec(utc);
    if (!match) refuse(path, `its header says UTC_START ${utc}`, 'write it like 2013-07-02-01:37:40');
    const picoseconds = numberOf(path, keys, 'PICOSECONDS', 0);
    const start = parseInstant(`${match[1]}T${match[2]}${match.at(3) ?? ''}`, path);
    return instant(start.unixSeconds, start.fraction + picoseconds * 1e-12);
  }
  const mjd = /^(\d+)(\.\d*)?$/.exec(keys.get('MJD_START') ?? '');
  if (!mjd)
    refuse(path, 'its header has neither UTC_START nor MJD_START', 'it is damaged, or not a recording');
  return instant(unixFromMjd(Number(mjd[1])), Number(`0${mjd.at(2) ?? ''}`) * 86_400);
}

interface Shape {
  readonly bits: 8 | 16 | 32;
  readonly parts: 1 | 2;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  readonly sampleBytes: number;
}

function shapeOf(path: string, keys: Keys): Shape {
  const bits = numberOf(path, keys, 'NBIT');
  if (bits !== 8 && bits !== 16 && bits !== 32)
    refuse(path, `holds samples of ${bits} bits`, 'DADA of 8, 16 or 32 bits is read: convert it first');
  const parts = numberOf(path, keys, 'NDIM', 1);
  if (parts !== 1 && parts !== 2) refuse(path, `NDIM is ${parts}`, 'voltages have 1 (real) or 2 (complex)');
  const polarisations = numberOf(path, keys, 'NPOL', 1);
  if (polarisations !== 1 && polarisations !== 2)
    refuse(path, `NPOL is ${polarisations}`, 'recordings of voltages have 1 or 2');
  const channels = wholeNumber(path, 'NCHAN', numberOf(path, keys, 'NCHAN', 1), 1, 2 ** 20);
  return { bits, parts, polarisations, channels, sampleBytes: (bits / 8) * parts * polarisations * channels };
}

const voltageTypes = {
  8: { 1: 'i8', 2: 'ci8' },
  16: { 1: 'i16', 2: 'ci16' },
  32: { 1: 'f32', 2: 'cf32' },
} as const satisfies Record<8 | 16 | 32, Record<1 | 2, VoltageType>>;

/**
 * Turns a band that falls in frequency round: complex samples become their conjugates, and of real ones every second
 * changes sign, which mirrors the band about its middle. The lowest integer has no opposite: it becomes the highest,
 * and is counted.
 */
function invertBand(
  { elements, stride, at, count }: Target<VoltageElements>,
  row: number,
  of: { readonly parts: 1 | 2; readonly from: number; readonly tally: FrameTally },
): void {
  const lowest = elements instanceof Int8Array ? -128 : elements instanceof Int16Array ? -32_768 : undefined;
  const first = (row * stride + at) * of.parts;
  const start = of.parts === 2 ? 1 : (of.from + 1) % 2;
  for (let k = start; k < count * of.parts; k += 2) {
    const value = elements[first + k];
    if (value === lowest) of.tally.saturated++;
    elements[first + k] = value === lowest ? -(value + 1) : 0 - value;
  }
}

const wholeIfNear = (value: number): number =>
  Math.abs(value - Math.round(value)) <= 1e-9 * value ? Math.round(value) : value;

async function openRecording(file: InputFile, options: OpenOptions): Promise<OpenedFile> {
  const { path } = file;
  const { keys, headerBytes } = await readKeys(file);
  const shape = shapeOf(path, keys);
  const { polarisations, channels, sampleBytes, parts, bits } = shape;
  const tsampUs = numberOf(path, keys, 'TSAMP');
  if (!(tsampUs > 0)) refuse(path, `a sample lasts ${tsampUs} µs (TSAMP)`, 'the header is damaged');
  const rateHz = wholeIfNear(1e6 / tsampUs);
  const offsetBytes = numberOf(path, keys, 'OBS_OFFSET', 0);
  const start = addSamples(observationStart(path, keys), Math.floor(offsetBytes / sampleBytes), rateHz);
  const heaped = channels > 1 && /meerkat/i.test(keys.get('INSTRUMENT') ?? keys.get('TELESCOPE') ?? '');
  const unit = heaped ? MEERKAT_HEAP_SAMPLES : 1;
  const payloadBytes = file.sizeBytes - headerBytes;
  const samples = Math.floor(payloadBytes / (sampleBytes * unit)) * unit;
  if (samples === 0) refuse(path, 'holds no whole sample', 'it was cut short: copy it again');
  const spareBytes = payloadBytes - samples * sampleBytes;
  const segments: Segment[] = [{ firstSample: 0, samples, offsetBytes: headerBytes }];
  const tally = emptyTally();
  const centreFrequencyHz = options.centreFrequencyHz ?? numberOf(path, keys, 'FREQ') * 1e6;
  const facts = {
    path,
    format: 'dada',
    ...(options.telescope && { telescope: options.telescope }),
    details: {
      header: Object.fromEntries(keys),
      headerBytes,
    },
    inputs: polarisations,
    polarisations: polarisationsFor(path, polarisations, polarisations, options),
    samples,
    start,
  };
  let scratch = new Uint8Array(0);
  const load = async (position: number, bytes: number): Promise<Uint8Array> => {
    if (scratch.length < bytes) scratch = new Uint8Array(bytes);
    const run = scratch.subarray(0, bytes);
    await file.readExactly(run, position);
    return run;
  };

  if (channels === 1) {
    const type = voltageTypes[bits][parts];
    const read = async (_: Segment, from: number, target: Target<VoltageElements>): Promise<void> => {
      const run = await load(headerBytes + from * sampleBytes, target.count * sampleBytes);
      turn(
        { bytes: run, first: 0, stride: polarisations },
        { bytes: bytesOf(target.elements), first: target.at, stride: target.stride },
        { rows: target.count, columns: polarisations, sampleBytes: voltageSizeBytes(type) as SampleBytes },
      );
      if (numberOf(path, keys, 'BW', 1) < 0)
        for (let p = 0; p < polarisations; p++) invertBand(target, p, { parts, from, tally });
    };
    return segmentedVoltages(
      { ...facts, type, sampleRateHz: rateHz, centreFrequencyHz },
      { file, segments, spareBytes, tally, read },
    );
  }

  if (bits !== 8 || parts !== 2)
    refuse(
      path,
      `${channels} channels of ${bits} bits, NDIM ${parts}`,
      'channelised DADA is read as 8-bit complex',
    );
  const bandwidthHz = numberOf(path, keys, 'BW') * 1e6;
  const sideband = bandwidthHz < 0 ? 'lower' : 'upper';
  const band = channelFrequencies(path, { centreFrequencyHz, bandwidthHz, channels });
  /** Samples t0… of one unit (a heap, or any run of [t][c][pol]) from bytes that start at `base`. */
  const copyUnit = (
    run: Uint8Array,
    skip: number,
    count: number,
    target: Target<SpectraElements>,
    done: number,
  ): void => {
    for (let k = 0; k < channels; k++) {
      const c = sideband === 'lower' ? channels - 1 - k : k;
      for (let p = 0; p < polarisations; p++) {
        const inside = k * polarisations + p;
        copyComplex(
          {
            from: run,
            fromIndex: heaped ? (inside * unit + skip) * 2 : inside * 2,
            step: heaped ? 2 : sampleBytes,
            count,
            to: target.elements as Int8Array,
            toIndex: ((c * polarisations + p) * target.stride + target.at + done) * 2,
          },
          { bits: 8, sideband, tally },
        );
      }
    }
  };
  const read = async (_: Segment, from: number, target: Target<SpectraElements>): Promise<void> => {
    if (!heaped) {
      copyUnit(
        await load(headerBytes + from * sampleBytes, target.count * sampleBytes),
        0,
        target.count,
        target,
        0,
      );
      return;
    }
    for (let done = 0; done < target.count;) {
      const heap = Math.floor((from + done) / unit);
      const skip = from + done - heap * unit;
      const count = Math.min(unit - skip, target.count - done);
      copyUnit(
        await load(headerBytes + heap * unit * sampleBytes, unit * sampleBytes),
        skip,
        count,
        target,
        done,
      );
      done += count;
    }
  };
  return segmentedSpectra(
    { ...facts, type: 'ci8', channels, spectrumRateHz: rateHz, ...band },
    { file, segments, spareBytes, tally, read },
  );
}

export const dada: Format = {
  name: 'dada',
  title: 'PSRDADA',
  extensions: ['.dada'],
  recognise: (_path, head) => {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    return /^HEADER\s+DADA/m.test(text) || /^HDR_SIZE\s+\d+/m.test(text);
  },
  open: (path, options) => openOn(path, (file) => openRecording(file, options ?? {})),
};
