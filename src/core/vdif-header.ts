/** VDIF's frame header (1.1.1): eight little-endian words, four in the legacy form. */

import type { VoltageType } from './axes.js';

export interface VdifHeader {
  /** The recorder's flag for invalid samples. */
  readonly marked: 'valid' | 'invalid';
  readonly legacy: boolean;
  /** Since the reference epoch. */
  readonly seconds: number;
  /** Half-years since 2000. */
  readonly epoch: number;
  /** Within the second. */
  readonly frame: number;
  readonly version: number;
  /** The exponent of two. */
  readonly log2Channels: number;
  readonly frameBytes: number;
  readonly parts: 1 | 2;
  readonly bits: number;
  readonly thread: number;
  readonly station: number;
  /** The two unused bits, and words 4 to 7 if present. */
  readonly unassigned: number;
  readonly extension: readonly number[];
}

export const vdifHeaderBytes = ({ legacy }: Pick<VdifHeader, 'legacy'>): number => (legacy ? 16 : 32);

/** A legacy header has four words; of a damaged frame, or one that is cut, the extension may lack. */
export function readVdifHeader(view: DataView, at = 0): VdifHeader {
  const word = (k: number): number => view.getUint32(at + 4 * k, true);
  const [w0, w1, w2, w3] = [word(0), word(1), word(2), word(3)];
  const legacy = ((w0 >>> 30) & 1) === 1;
  return {
    marked: w0 >>> 31 === 1 ? 'invalid' : 'valid',
    legacy,
    seconds: w0 & 0x3fff_ffff,
    epoch: (w1 >>> 24) & 0x3f,
    frame: w1 & 0xff_ffff,
    version: w2 >>> 29,
    log2Channels: (w2 >>> 24) & 0x1f,
    frameBytes: (w2 & 0xff_ffff) * 8,
    parts: w3 >>> 31 === 1 ? 2 : 1,
    bits: ((w3 >>> 26) & 0x1f) + 1,
    thread: (w3 >>> 16) & 0x3ff,
    station: w3 & 0xffff,
    unassigned: w1 >>> 30,
    extension: legacy || at + 32 > view.byteLength ? [] : [word(4), word(5), word(6), word(7)],
  };
}

/** Samples per second of one channel, if extension 1, 3 or 4 gives the bandwidth; real samples have twice that rate. */
export function namedRateHz({
  extension,
  parts,
}: Pick<VdifHeader, 'extension' | 'parts'>): number | undefined {
  if (extension.length === 0 || ![1, 3, 4].includes(extension[0] >>> 24)) return undefined;
  const bandwidthHz = (extension[0] & 0x7f_ffff) * ((extension[0] >>> 23) & 1 ? 1e6 : 1e3);
  return bandwidthHz === 0 ? undefined : bandwidthHz * (3 - parts);
}

/** Two letters if they are letters, as most recorders write; otherwise the number. */
export function stationName(station: number): string | number {
  const letters = String.fromCharCode(station >>> 8, station & 0xff);
  return /^[0-9A-Za-z]{2}$/.test(letters) ? letters : station;
}

export type SampleBits = 1 | 2 | 4 | 8 | 16;
export const isSampleBits = (bits: number): bits is SampleBits => [1, 2, 4, 8, 16].includes(bits);

/** The type that packed samples become. */
export function packedType(bits: SampleBits, parts: 1 | 2): VoltageType {
  const real = ({ 1: 'f32', 2: 'f32', 4: 'i8', 8: 'i8', 16: 'i16' } as const)[bits];
  return parts === 2 ? `c${real}` : real;
}
