/**
 * The data recorder's spectrometer (DR): power of a beam's two tunings, summed over a number of transforms. A frame is
 * a header of 76 bytes, little-endian, and float32 [tuning][channel][product], channels ascending. The recorder summed
 * its own products: XX and YY, or Stokes I = XX + YY, Q = XX − YY, U = 2 Re(XY*), V = 2 Im(XY*), from which XX, XY and
 * YY follow. A beam is one station; its autocorrelations are treated as visibilities.
 */
import type { Integration } from '../../../core/blocks.js';
import { refuse } from '../../../core/errors.js';
import { skyFrame } from '../../../sky/frame.js';
import { unplaced } from '../../../telescope/unplaced.js';
import type { Telescope } from '../../../telescope/telescope.js';
import type { FrameTally, OpenOptions, VisibilityFile } from '../../format.js';
import type { InputFile } from '../../io/input.js';
import { emptyTally, plausibleSamples } from '../frames.js';
import { CLOCK_HZ, emptyIntegration, instantOfTag, tuningHz } from './frame.js';

const MAGIC_FRONT = 0xc0dec0de;
const MAGIC_BACK = 0xed0ced0c;
export const DR_HEADER_BYTES = 76;
const POLARISATIONS = 2;
const TUNINGS = 2;

export const isDrSpectrum = (head: Uint8Array): boolean => {
  if (head.length < DR_HEADER_BYTES) return false;
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  return view.getUint32(0, true) === MAGIC_FRONT && view.getUint32(72, true) === MAGIC_BACK;
};

interface DrHeader {
  /** Corrected for the delay of the digital filters. */
  readonly tag: bigint;
  readonly decimation: number;
  readonly words: readonly [number, number];
  /** Number of transforms summed: X and Y of the first tuning, then of the second. */
  readonly fills: readonly number[];
  readonly errors: readonly number[];
  readonly beam: number;
  readonly products: number;
  readonly version: number;
  readonly flags: number;
  readonly channels: number;
  readonly transforms: number;
}

function drHeader(view: DataView): DrHeader {
  const four = (at: number): number[] => [0, 4, 8, 12].map((step) => view.getUint32(at + step, true));
  return {
    tag: view.getBigUint64(4, true) - BigInt(view.getUint16(12, true)),
    decimation: view.getUint16(14, true),
    words: [view.getUint32(16, true), view.getUint32(20, true)],
    fills: four(24),
    errors: [40, 41, 42, 43].map((at) => view.getUint8(at)),
    beam: view.getUint8(44),
    products: view.getUint8(45),
    version: view.getUint8(46),
    flags: view.getUint8(47),
    channels: view.getUint32(48, true),
    transforms: view.getUint32(52, true),
  };
}

/** How one channel's numbers become sums of XX, XY (real and imaginary) and YY. */
interface Reading {
  readonly names: string;
  /** If not all four. */
  readonly codes?: readonly number[];
  readonly values: number;
  read(of: (place: number) => number): readonly [xx: number, re: number, im: number, yy: number];
}
const readings: Readonly<Record<number, Reading>> = {
  0x09: { names: 'XX, YY', codes: [-5, -6], values: 2, read: (of) => [of(0), 0, 0, of(1)] },
  0x0f: {
    names: 'XX, XY, YY',
    values: 4,
    read: (of) => [of(0), of(1), of(2), of(3)],
  },
  0xf0: {
    names: 'I, Q, U, V',
    values: 4,
    read: (of) => [(of(0) + of(1)) / 2, of(2) / 2, of(3) / 2, (of(0) - of(1)) / 2],
  },
};

function readingOf(path: string, { products, flags }: DrHeader): Reading {
  const reading = (flags & 1) === 0 ? readings[products] : undefined;
  if (reading) return reading;
  const names = ['XX', 'Re XY', 'Im XY', 'YY', 'I', 'Q', 'U', 'V'].filter((_, bit) => (products >>> bit) & 1);
  return refuse(
    path,
    (flags & 1) === 1
      ? 'holds time series of XY*, which are not read here'
      : `holds ${names.join(', ') || 'no products'} of X and Y`,
    `read are ${Object.values(readings)
      .map((one) => one.names)
      .join('; ')}, from which X and Y can be separated`,
  );
}

/** The beam is at its station's position; without a station it has none. */
function beamTelescope(beam: number, station: Telescope | undefined): Telescope {
  const stations = [{ name: `beam${beam}`, eastM: 0, northM: 0, upM: 0 }];
  return station ? { ...station, stations } : { ...unplaced(1, POLARISATIONS), stations };
}

export async function openDrSpectra(file: InputFile, options: OpenOptions): Promise<VisibilityFile> {
  const { path } = file;
  const headOf = async (at: number): Promise<DrHeader | undefined> => {
    const bytes = new Uint8Array(DR_HEADER_BYTES);
    await file.readExactly(bytes, at);
    return isDrSpectrum(bytes) ? drHeader(new DataView(bytes.buffer)) : undefined;
  };
  if (file.sizeBytes < DR_HEADER_BYTES)
    refuse(path, 'is too short for one spectrum', 'it was cut short: copy it again');
  const first = (await headOf(0)) ?? refuse(path, 'has no header of the spectrometer', 'it is damaged');
  const { channels, decimation, transforms, beam } = first;
  const reading = readingOf(path, first);
  const frameBytes = DR_HEADER_BYTES + 4 * TUNINGS * reading.values * channels;
  if (channels < 2 || decimation < 1 || transforms < 1 || !Number.isSafeInteger(frameBytes))
    refuse(
      path,
      `says ${channels} channels of ${transforms} transforms, decimated by ${decimation}`,
      'it is damaged',
    );
  const frames = Math.floor(file.sizeBytes / frameBytes);
  if (frames === 0)
    refuse(
      path,
      `holds ${file.sizeBytes} bytes where a spectrum of ${channels} channels has ${frameBytes}`,
      'it was cut short or its header is damaged: copy it again',
    );
  const tuning = options.tuning ?? 1;
  const word = first.words[tuning - 1];
  const centreHz =
    (word === 0 ? options.centreFrequencyHz : tuningHz(word)) ??
    refuse(path, `its tuning ${tuning} was not tuned`, "give the band's middle with source.frequency");
  const sampleRateHz = CLOCK_HZ / decimation;
  const channelWidthHz = sampleRateHz / channels;
  const ticks = channels * transforms * decimation;
  const durationS = ticks / CLOCK_HZ;
  const placeOf = (header: DrHeader): number => Number(header.tag - first.tag) / ticks;
  const sameKind = (header: DrHeader): boolean =>
    header.channels === channels &&
    header.decimation === decimation &&
    header.transforms === transforms &&
    header.products === first.products &&
    header.beam === beam &&
    header.words[tuning - 1] === word;
  const last = await headOf((frames - 1) * frameBytes);
  const lastPlace = last && sameKind(last) ? placeOf(last) : frames - 1;
  // Spectra are consecutive, except for whole integrations that the recorder lost.
  const integrationCount = plausibleSamples(
    path,
    Number.isInteger(lastPlace) && lastPlace >= 0 ? lastPlace + 1 : frames,
    frames,
  );
  const tally: FrameTally = emptyTally();
  const telescope = beamTelescope(beam, options.telescope);
  const start = instantOfTag(first.tag);

  const empty = (when: number): Integration =>
    emptyIntegration({ start: instantOfTag(first.tag + BigInt(when * ticks)), durationS }, channels, 1);

  /** The mean power of a transform's channel, as a sum over transforms; a recorder error gives nothing. */
  function fill(into: Integration, header: DrHeader, view: DataView): boolean {
    const own = 2 * (tuning - 1);
    const [fillX, fillY] = header.fills.slice(own, own + 2);
    const both = Math.min(fillX, fillY);
    if (both === 0 || header.errors.slice(own, own + 2).some((error) => error !== 0)) return false;
    const plane = (tuning - 1) * channels * reading.values;
    const sums = channels;
    for (let c = 0; c < channels; c++) {
      const [xx, re, im, yy] = reading.read((place) =>
        view.getFloat32(DR_HEADER_BYTES + 4 * (plane + c * reading.values + place), true),
      );
      if (![xx, re, im, yy].every(Number.isFinite)) return false;
      // Each product was summed over its own transforms; the count covers those of both.
      const [ofX, ofY] = first.products < 0x10 ? [both / fillX, both / fillY] : [1, 1];
      const at = 8 * c;
      into.visibilities[at] = (xx / sums) * ofX;
      into.visibilities[at + 2] = re / sums;
      into.visibilities[at + 3] = im / sums;
      into.visibilities[at + 4] = re / sums;
      into.visibilities[at + 5] = 0 - im / sums;
      into.visibilities[at + 6] = (yy / sums) * ofY;
      into.counts[c] = both;
    }
    return true;
  }

  async function* integrations(): AsyncGenerator<Integration> {
    Object.assign(tally, emptyTally());
    tally.spareBytes = file.sizeBytes - frames * frameBytes;
    const bytes = new Uint8Array(frameBytes);
    const view = new DataView(bytes.buffer);
    let next = 0;
    for (let k = 0; k < frames; k++) {
      await file.readExactly(bytes, k * frameBytes);
      const header = isDrSpectrum(bytes) ? drHeader(view) : undefined;
      const place = header && sameKind(header) ? placeOf(header) : Number.NaN;
      if (header === undefined || !Number.isInteger(place)) tally.invalid++;
      else if (place < next) tally.late++;
      else if (place >= integrationCount) tally.outside++;
      else {
        for (; next < place; next++) yield empty(next);
        const made = empty(next++);
        if (fill(made, header, view)) tally.frames++;
        else {
          made.visibilities.fill(0);
          made.counts.fill(0);
          tally.invalid++;
        }
        yield made;
      }
    }
    for (; next < integrationCount; next++) yield empty(next);
  }

  return {
    kind: 'visibilities',
    path,
    format: 'lwa',
    telescope,
    details: {
      mode: 'DR spectrometer',
      version: first.version,
      beam,
      tuning,
      tunedHz: first.words.map(tuningHz),
      held: reading.names,
      frames,
      frameBytes,
      transforms,
      firstTimeTag: String(first.tag),
      tally,
    },
    header: {
      telescope,
      polarisations: POLARISATIONS,
      ...(reading.codes && { products: reading.codes }),
      frequenciesHz: Float64Array.from(
        { length: channels },
        (_, c) => centreHz + (c - Math.floor(channels / 2)) * channelWidthHz,
      ),
      channelWidthHz,
      phaseCentre: skyFrame(telescope.site, start).zenith,
      object: 'zenith',
      history: ["read from the LWA data recorder's spectrometer"],
    },
    ...(options.telescope
      ? {}
      : { assumed: ['the position of the station is unknown: give telescope: NAME, like lwa1 or lwasv'] }),
    integrationCount,
    integrations,
    close: () => file.close(),
  };
}
