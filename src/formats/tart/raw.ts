/**
 * TART's raw recordings: HDF5 with data [antenna][byte], eight real samples of one bit per byte, the first in the
 * highest bit, 1 for +1. Antenna positions come from the file, from a JSON file beside it, or from a telescope.
 */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { closeAll, type Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { OpenOptions, VoltageRecording } from '../format.js';
import type { Hdf5File } from '../hdf5/read.js';
import { openInput, readJson } from '../io/input.js';
import { emptyTally } from '../recordings/frames.js';
import { polarisationsFor, segmentedVoltages } from '../recordings/recording.js';
import {
  configOf,
  POSITIONS,
  positionsOf,
  type TartFacts,
  tartInstant,
  telescopeFrom,
} from './description.js';

const PER_BYTE = 8;
const DATA = 'data';
/** For the order of bits: enough for correlations to a hundredth. */
const LOOKED_BYTES = 4096;
const LEAST_BYTES = 512;
const LOOKED_ANTENNAS = 4;

export async function openTartRaw(
  file: Hdf5File,
  options: OpenOptions,
  closers: Closers,
): Promise<VoltageRecording> {
  const { path } = file;
  const facts = configOf(file);
  const data = file.dataset(DATA);
  const [antennas, bytes] = data.shape;
  if (data.shape.length !== 2 || data.storage !== 'uint8' || !(bytes > 0))
    refuse(
      path,
      `${DATA} is ${data.storage} [${data.shape.join('][')}], not bytes by antenna`,
      'it is damaged, or no raw recording of a TART',
    );
  if (antennas !== facts.antennas)
    refuse(path, `holds ${antennas} antennas where its telescope has ${facts.antennas}`, 'it is damaged');
  const looked = Math.min(bytes, LOOKED_BYTES);
  const rows = Array.from({ length: Math.min(antennas, LOOKED_ANTENNAS) }, (_, a) =>
    Uint8Array.from(data.box([a, 0], [1, looked])),
  );
  if (looked >= LEAST_BYTES && isLowestBitFirst(rows))
    refuse(
      path,
      'has the first sample of each byte in its lowest bit, where a TART has it in the highest',
      'reverse the bits of each byte: frequencies and the sky would be mirrored',
    );
  const found = options.telescope ? undefined : await positionsBeside(file, facts);
  const telescope = options.telescope ?? found?.telescope;
  const input = closers.keep(await openInput(path));
  return segmentedVoltages(
    {
      path,
      format: 'tart',
      telescope,
      details: {
        site: facts.title,
        antennas,
        bytesPerAntenna: bytes,
        oscillatorHz: facts.oscillatorHz,
        filterBandwidthHz: facts.bandwidthHz,
        positions: options.telescope ? 'the telescope named by the user' : (found?.from ?? 'unknown'),
      },
      ...(facts.assumed.length > 0 && { assumed: facts.assumed }),
      type: 'f32',
      bits: 1,
      inputs: antennas,
      polarisations: polarisationsFor(path, antennas, 1, { ...options, telescope }),
      samples: PER_BYTE * bytes,
      sampleRateHz: facts.sampleRateHz,
      // Real samples: the oscillator is the lower edge of the band, which is upright.
      centreFrequencyHz: facts.oscillatorHz + facts.sampleRateHz / 4,
      start: tartInstant(file.text('timestamp'), path),
    },
    {
      file: { ...input, close: closeAll(file, input) },
      segments: [{ firstSample: 0, samples: PER_BYTE * bytes, offsetBytes: 0 }],
      tally: emptyTally(),
      read: (_, from, { elements, stride, at, count }) => {
        const first = Math.floor(from / PER_BYTE);
        const wanted = Math.ceil((from + count) / PER_BYTE) - first;
        const packed = data.box([0, first], [antennas, wanted]);
        for (let a = 0; a < antennas; a++)
          for (let t = 0; t < count; t++) {
            const bit = from + t - PER_BYTE * first;
            const byte = packed[a * wanted + Math.floor(bit / PER_BYTE)];
            elements[a * stride + at + t] = ((byte >> (PER_BYTE - 1 - (bit % PER_BYTE))) & 1) === 1 ? 1 : -1;
          }
        return Promise.resolve();
      },
    },
  );
}

/** In the file, or in NAME-antenna_positions.json beside NAME-raw.hdf, NAME.hdf or any recording of the folder. */
async function positionsBeside(
  file: Hdf5File,
  facts: TartFacts,
): Promise<{ readonly telescope: Telescope; readonly from: string } | undefined> {
  const { path } = file;
  if (file.has(POSITIONS)) {
    const [count, axes] = file.dataset(POSITIONS).shape;
    const values = file.numbers(POSITIONS);
    if (axes !== 3) refuse(path, `${POSITIONS} has ${axes} numbers an antenna, not 3`, 'it is damaged');
    const rows = Array.from({ length: count }, (_, s) => [...values.subarray(3 * s, 3 * s + 3)]);
    return { telescope: telescopeFrom(path, facts, rows), from: 'the file' };
  }
  const stem = path.replace(/\.(?:hdf5?|h5)$/i, '');
  const candidates = [
    ...new Set([
      `${stem}-antenna_positions.json`,
      `${stem.replace(/[-_.]raw$/i, '')}-antenna_positions.json`,
    ]),
    join(dirname(path), 'antenna_positions.json'),
  ];
  for (const candidate of candidates) {
    const isThere = (await stat(candidate).catch(() => undefined))?.isFile() === true;
    if (!isThere) continue;
    const rows = positionsOf(candidate, await readJson(candidate));
    return { telescope: telescopeFrom(candidate, facts, rows), from: candidate };
  }
  return undefined;
}

const LAGS = [1, 2, 3, 4] as const;
/** Of correlation coefficients, squared and added over the lags: those of four antennas' noise are 0.001. */
const LEAST_DIFFERENCE = 0.02;
/** Turned round they must fit so much better. */
const BETTER = 4;

/**
 * Whether samples of one bit lie in their bytes in the order of time. A receiver's filter makes neighbouring samples
 * alike, within a byte as from one byte to the next. If the lowest bit is first, neighbours in time across a byte's end
 * are far apart as they are read, and only turned round they are alike everywhere. Noise without a filter shows nothing.
 *
 * rows : [antenna][byte]
 */
function isLowestBitFirst(rows: readonly Uint8Array[]): boolean {
  const asRead = difference(rows, (bit) => PER_BYTE - 1 - bit);
  const turned = difference(rows, (bit) => bit);
  return asRead > LEAST_DIFFERENCE && asRead > BETTER * turned;
}

/** Between the correlations of samples within bytes and across their ends; `shiftOf` is the place of a sample's bit. */
function difference(rows: readonly Uint8Array[], shiftOf: (bit: number) => number): number {
  return LAGS.reduce((sum, lag) => {
    const within = { alike: 0, count: 0 };
    const across = { alike: 0, count: 0 };
    for (const row of rows)
      for (let t = 0; t + lag < PER_BYTE * row.length; t++) {
        const first = (row[Math.floor(t / PER_BYTE)] >> shiftOf(t % PER_BYTE)) & 1;
        const second = (row[Math.floor((t + lag) / PER_BYTE)] >> shiftOf((t + lag) % PER_BYTE)) & 1;
        const one = (t % PER_BYTE) + lag < PER_BYTE ? within : across;
        one.count++;
        one.alike += first === second ? 1 : -1;
      }
    return sum + (within.alike / within.count - across.alike / across.count) ** 2;
  }, 0);
}
