/**
 * PSRDADA: a text header of HDR_SIZE bytes, one "KEY value" per line, then samples to the end of the file. One channel
 * is voltages, [t][pol]; several are spectra, [t][c][pol], or, from MeerKAT's beamformer (INSTRUMENT MKBF), heaps of
 * 256 samples each [pol][c][t].
 */
import {
  voltageSizeBytes,
  type SpectraElements,
  type VoltageElements,
  type VoltageType,
} from '../../core/axes.js';
import { refuse, wholeNumber } from '../../core/errors.js';
import { addSamples } from '../../core/instant.js';
import { channelFrequencies, copyComplex, numberOf, refuseOtherRate, wholeIfNear } from './channelised.js';
import { observationStart, promiseOf, readKeys, type Keys } from './dada-header.js';
import type { Format, OpenedFile, OpenOptions } from '../format.js';
import { emptyTally } from './frames.js';
import { invertBand } from './sideband.js';
import { openOn, type InputFile } from '../io/input.js';
import type { SampleBytes } from '../io/interleave.js';
import {
  interleavedReader,
  polarisationsFor,
  segmentedSpectra,
  segmentedVoltages,
  type Segment,
  type Target,
} from './recording.js';

const MEERKAT_HEAP_SAMPLES = 256;

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
 * Several channels are [t][c][pol] unless the header differs. An unknown order is refused, because it would be
 * scrambled without a warning.
 */
function isHeaped(path: string, keys: Keys, channels: number): boolean {
  if (channels === 1) return false;
  const instrument = keys.get('INSTRUMENT') ?? '';
  if (instrument.toUpperCase() === 'MKBF') return true;
  const order = keys.get('ORDER')?.toUpperCase();
  if (
    order === 'TFP' ||
    (order === undefined && !/meerkat/i.test(`${instrument} ${keys.get('TELESCOPE') ?? ''}`))
  )
    return false;
  return refuse(
    path,
    order === undefined
      ? `is of MeerKAT, and its INSTRUMENT '${instrument}' does not state the order of its ${channels} channels`
      : `keeps its ${channels} channels in the order ${order}`,
    'read are heaps of the beamformer (INSTRUMENT MKBF in the header) and time, frequency, polarisation (ORDER TFP)',
  );
}

async function openRecording(file: InputFile, options: OpenOptions): Promise<OpenedFile> {
  const { path } = file;
  const { keys, headerBytes } = await readKeys(file);
  const shape = shapeOf(path, keys);
  const { polarisations, channels, sampleBytes, parts, bits } = shape;
  const tsampUs = numberOf(path, keys, 'TSAMP');
  if (!(tsampUs > 0)) refuse(path, `a sample lasts ${tsampUs} µs (TSAMP)`, 'the header is damaged');
  const rateHz = wholeIfNear(1e6 / tsampUs);
  // Real samples have twice the rate of the bandwidth.
  if (keys.has('BW'))
    refuseOtherRate(
      path,
      { rateHz: parts === 2 ? rateHz : rateHz / 2, clock: 'TSAMP' },
      {
        widthHz: (Math.abs(numberOf(path, keys, 'BW')) * 1e6) / channels,
        band: channels === 1 ? 'BW' : 'BW over NCHAN',
      },
    );
  const offsetBytes = numberOf(path, keys, 'OBS_OFFSET', 0);
  const start = addSamples(observationStart(path, keys), Math.floor(offsetBytes / sampleBytes), rateHz);
  const heaped = isHeaped(path, keys, channels);
  const unit = heaped ? MEERKAT_HEAP_SAMPLES : 1;
  const payloadBytes = file.sizeBytes - headerBytes;
  const heldSamples = Math.floor(payloadBytes / (sampleBytes * unit)) * unit;
  if (heldSamples === 0)
    refuse(
      path,
      heaped ? `holds no whole heap of ${unit} samples` : 'holds no whole sample',
      'it was cut short: copy it again',
    );
  const spareBytes = payloadBytes - heldSamples * sampleBytes;
  // The samples of a truncated heap were taken: they count as missing.
  const samples = heldSamples + (heaped && spareBytes > 0 ? unit : 0);
  const segments: Segment[] = [{ firstSample: 0, samples: heldSamples, offsetBytes: headerBytes }];
  const promise = promiseOf(keys, payloadBytes);
  const missingSamples = promise ? Math.floor(promise.promisedBytes / sampleBytes) - samples : 0;
  const tally = emptyTally();
  const centreFrequencyHz =
    keys.has('FREQ') || options.centreFrequencyHz === undefined
      ? numberOf(path, keys, 'FREQ') * 1e6
      : options.centreFrequencyHz;
  const facts = {
    path,
    format: 'dada',
    telescope: options.telescope,
    details: {
      header: Object.fromEntries(keys),
      headerBytes,
    },
    ...(promise &&
      missingSamples > 0 && { endsEarly: { ...promise, heldBytes: payloadBytes, missingSamples } }),
    inputs: polarisations,
    polarisations: polarisationsFor(path, polarisations, polarisations, options),
    samples,
    start,
  };
  if (channels === 1) {
    const type = voltageTypes[bits][parts];
    const readUpright = interleavedReader(file, {
      streams: polarisations,
      sampleBytes: voltageSizeBytes(type) as SampleBytes,
    });
    const read = async (segment: Segment, from: number, target: Target<VoltageElements>): Promise<void> => {
      await readUpright(segment, from, target);
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
  const read = async (_: Segment, from: number, target: Target<SpectraElements>): Promise<void> => {
    for (let done = 0; done < target.count;) {
      // A heap, or any run of [t][c][pol].
      const first = heaped ? Math.floor((from + done) / unit) * unit : from;
      const length = heaped ? unit : target.count;
      const skip = from + done - first;
      const count = Math.min(length - skip, target.count - done);
      const run = new Uint8Array(length * sampleBytes);
      await file.readExactly(run, headerBytes + first * sampleBytes);
      for (let k = 0; k < channels; k++) {
        const c = sideband === 'lower' ? channels - 1 - k : k;
        for (let p = 0; p < polarisations; p++) {
          const inside = heaped ? p * channels + k : k * polarisations + p;
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
  kinds: [{ title: 'PSRDADA', holds: 'recordings', reads: ['centreFrequencyHz', 'polarisations'] }],
  recognise: (_path, head) => {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    return /^HEADER\s+DADA/m.test(text) || /^HDR_SIZE\s+\d+/m.test(text);
  },
  open: (path, options) => openOn(path, (file) => openRecording(file, options ?? {})),
};
