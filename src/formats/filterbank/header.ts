/** The header of a SIGPROC filterbank: keywords by name, little-endian numbers, no sample count to update. */
import { refuse } from '../../core/errors.js';
import { fromJulianDate, julianDate, type Instant } from '../../core/instant.js';
import type { SkyPosition } from '../../sky/frame.js';
import type { Site } from '../../telescope/telescope.js';

export type FilterbankBits = 1 | 2 | 4 | 8 | 16 | 32;

/** Values are [t][if][c]; channels start at fch1, each foff further. */
export interface FilterbankHeader {
  readonly sourceName?: string;
  /** The recording that the values were made from. */
  readonly rawDataFile?: string;
  /** Centre of the first channel. */
  readonly firstChannelHz: number;
  /** To the next channel; negative for falling frequencies, as readers expect. */
  readonly channelStepHz: number;
  readonly channels: number;
  /** Planes per channel: I; XX, YY; I, Q, U, V. */
  readonly planes: number;
  /** 32: floats; fewer: unsigned, lowest bits first. */
  readonly bits: FilterbankBits;
  /** Start of the first value, at the telescope. */
  readonly start: Instant;
  readonly valueS: number;
  readonly position?: SkyPosition;
  readonly azimuthDeg?: number;
  readonly zenithAngleDeg?: number;
  /** PSRFITS: where the beam points at a later time; without it the beam is fixed to the ground. */
  readonly pointingAt?: (
    moment: Instant,
  ) => Pick<FilterbankHeader, 'position' | 'azimuthDeg' | 'zenithAngleDeg'>;
  /** PSRFITS only. */
  readonly telescope?: { readonly name: string; readonly site: Site };
  /** From 1. */
  readonly beam?: number;
  readonly beams?: number;
  /** By default 0. */
  readonly telescopeId?: number;
  readonly machineId?: number;
}

const texts = ['source_name', 'rawdatafile', 'ephem_type'] as const;
const wholes = [
  ...(['machine_id', 'telescope_id', 'data_type', 'nchans', 'nbits', 'nifs', 'nbeams', 'ibeam'] as const),
  ...(['barycentric', 'pulsarcentric', 'nsamples', 'nbins', 'npuls', 'scan_number', 'signed'] as const),
] as const;
const reals = [
  ...(['fch1', 'foff', 'tstart', 'tsamp', 'src_raj', 'src_dej', 'az_start', 'za_start'] as const),
  ...(['refdm', 'period', 'fchannel'] as const),
] as const;
type Value = string | number;

const encoder = new TextEncoder();

function word(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  const made = new Uint8Array(4 + bytes.length);
  new DataView(made.buffer).setInt32(0, bytes.length, true);
  made.set(bytes, 4);
  return made;
}

function number(kind: 'whole' | 'real', value: number): Uint8Array {
  const made = new Uint8Array(kind === 'whole' ? 4 : 8);
  const view = new DataView(made.buffer);
  if (kind === 'whole') view.setInt32(0, value, true);
  else view.setFloat64(0, value, true);
  return made;
}

/** 12h34m56.7891s as 123456.7891, degrees likewise with sign; first rounded to 0.1 ms and 1 mas, to avoid 60 s. */
export function sexagesimal(value: number, perSecond: number): number {
  const units = Math.round(Math.abs(value) * 3600 * perSecond);
  const seconds = (units % (60 * perSecond)) / perSecond;
  const minutes = Math.floor(units / (60 * perSecond)) % 60;
  const whole = Math.floor(units / (3600 * perSecond));
  return Math.sign(value) * (whole * 10_000 + minutes * 100 + seconds);
}

export const fromSexagesimal = (value: number): number => {
  const size = Math.abs(value);
  const whole = Math.floor(size / 10_000);
  const minutes = Math.floor((size - whole * 10_000) / 100);
  return Math.sign(value) * (whole + minutes / 60 + (size - whole * 10_000 - minutes * 100) / 3600);
};

/** Modified Julian Date: whole days and a fraction in one double, accurate to 0.7 µs. */
function daysOf(moment: Instant): number {
  const { midnightJd, dayFraction } = julianDate(moment);
  return midnightJd - 2_400_000.5 + dayFraction;
}

const ascii = (text: string): string => text.replaceAll(/[^ -~]/g, '?').slice(0, 79);

export function encodeHeader(header: FilterbankHeader): Uint8Array {
  const { position = { raDeg: 0, decDeg: 0 } } = header;
  const parts: Uint8Array[] = [word('HEADER_START')];
  const text = (name: (typeof texts)[number], value: string): unknown =>
    parts.push(word(name), word(ascii(value)));
  const whole = (name: (typeof wholes)[number], value: number): unknown =>
    parts.push(word(name), number('whole', value));
  const real = (name: (typeof reals)[number], value: number): unknown =>
    parts.push(word(name), number('real', value));
  whole('telescope_id', header.telescopeId ?? 0);
  whole('machine_id', header.machineId ?? 0);
  whole('data_type', 1);
  if (header.rawDataFile !== undefined) text('rawdatafile', header.rawDataFile);
  text('source_name', header.sourceName ?? 'unknown');
  whole('barycentric', 0);
  whole('pulsarcentric', 0);
  // If these are absent, readers use uninitialised memory.
  real('az_start', header.azimuthDeg ?? 0);
  real('za_start', header.zenithAngleDeg ?? 0);
  real('src_raj', sexagesimal((position.raDeg % 360) / 15, 1e4));
  real('src_dej', sexagesimal(position.decDeg, 1e3));
  real('tstart', daysOf(header.start));
  real('tsamp', header.valueS);
  whole('nbits', header.bits);
  real('fch1', header.firstChannelHz / 1e6);
  real('foff', header.channelStepHz / 1e6);
  whole('nchans', header.channels);
  whole('nifs', header.planes);
  whole('nbeams', header.beams ?? 1);
  whole('ibeam', header.beam ?? 1);
  parts.push(word('HEADER_END'));
  return Uint8Array.from(parts.flatMap((one) => Array.from(one)));
}

export interface DecodedHeader {
  readonly header: FilterbankHeader;
  readonly headerBytes: number;
  /** Every keyword, unchanged. */
  readonly keywords: Readonly<Record<string, Value>>;
  /** For 8 bits: whether the file marks them as signed. */
  readonly isSigned: boolean;
}

export const isFilterbank = (head: Uint8Array): boolean =>
  head.length > 16 && Buffer.from(head.subarray(0, 16)).equals(Buffer.from(word('HEADER_START')));

/** `head`: the file's first bytes, including the whole header. */
export function decodeHeader(path: string, head: Uint8Array): DecodedHeader {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  let at = 0;
  const needs = (bytes: number): void => {
    if (at + bytes > head.length) refuse(path, 'ends within its header', 'copy or record it again');
  };
  const nextWord = (): string => {
    needs(4);
    const length = view.getInt32(at, true);
    if (!(length >= 1 && length <= 255))
      refuse(path, `its header has a word of ${length} bytes at byte ${at}`, 'check where it came from');
    needs(4 + length);
    const text = Buffer.from(head.subarray(at + 4, at + 4 + length)).toString('latin1');
    at += 4 + length;
    return text;
  };
  if (!isFilterbank(head))
    refuse(path, 'is not a SIGPROC filterbank: it does not begin with HEADER_START', 'name a .fil');
  nextWord();
  const keywords: Record<string, Value> = {};
  const has = (names: readonly string[], name: string): boolean => names.includes(name);
  for (let name = nextWord(); name !== 'HEADER_END'; name = nextWord()) {
    if (has(texts, name)) keywords[name] = nextWord();
    else if (name === 'signed') {
      needs(1);
      keywords[name] = view.getInt8(at++);
    } else if (has(wholes, name)) {
      needs(4);
      keywords[name] = view.getInt32(at, true);
      at += 4;
    } else if (has(reals, name)) {
      needs(8);
      keywords[name] = view.getFloat64(at, true);
      at += 8;
    } else if (name !== 'FREQUENCY_START' && name !== 'FREQUENCY_END')
      refuse(
        path,
        `its header has a keyword '${name}', whose length is unknown`,
        'convert it with its own software',
      );
  }
  return { header: headerOf(path, keywords), headerBytes: at, keywords, isSigned: keywords.signed === 1 };
}

function headerOf(path: string, keywords: Readonly<Record<string, Value>>): FilterbankHeader {
  const real = (name: string): number | undefined =>
    typeof keywords[name] === 'number' ? keywords[name] : undefined;
  const needed = (name: string): number =>
    real(name) ?? refuse(path, `its header has no ${name}`, 'check where it came from');
  const text = (name: string): string | undefined =>
    typeof keywords[name] === 'string' ? keywords[name] : undefined;
  const bits = needed('nbits');
  if (![1, 2, 4, 8, 16, 32].includes(bits))
    refuse(path, `has values of ${bits} bits`, 'convert it to 8 or 32');
  const [channels, planes] = [needed('nchans'), real('nifs') ?? 1];
  if (!(channels >= 1 && channels <= 2 ** 24 && planes >= 1 && planes <= 16))
    refuse(path, `has ${channels} channels and ${planes} planes`, 'check where it came from');
  const days = needed('tstart');
  const [ra, dec] = [real('src_raj'), real('src_dej')];
  return {
    sourceName: text('source_name'),
    rawDataFile: text('rawdatafile'),
    firstChannelHz: needed('fch1') * 1e6,
    channelStepHz: needed('foff') * 1e6,
    channels,
    planes,
    bits: bits as FilterbankBits,
    start: fromJulianDate(Math.floor(days) + 2_400_000.5, days - Math.floor(days)),
    valueS: needed('tsamp'),
    position:
      ra === undefined || dec === undefined
        ? undefined
        : { raDeg: 15 * fromSexagesimal(ra), decDeg: fromSexagesimal(dec) },
    azimuthDeg: real('az_start'),
    zenithAngleDeg: real('za_start'),
    beam: real('ibeam'),
    beams: real('nbeams'),
    telescopeId: real('telescope_id'),
    machineId: real('machine_id'),
  };
}
