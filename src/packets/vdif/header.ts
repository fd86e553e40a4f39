/** VDIF's frame header: eight little-endian words, four in the legacy form. */
import { viewOf } from '../bytes.js';
import { invalid, type ParsedPacket, type RefusedPacket } from '../packet-format.js';

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

export function parseVdif(datagram: Uint8Array): ParsedPacket<VdifHeader> | RefusedPacket {
  if (datagram.length < 16) return invalid(`${datagram.length} bytes are too few for VDIF`);
  const view = viewOf(datagram);
  const [w0, w1, w2, w3] = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  const legacy = ((w0 >>> 30) & 1) === 1;
  const headerBytes = legacy ? 16 : 32;
  const frameBytes = (w2 & 0xff_ffff) * 8;
  if (frameBytes !== datagram.length || frameBytes <= headerBytes) {
    return invalid(`${datagram.length} bytes where the header says ${frameBytes}`);
  }
  const header: VdifHeader = {
    marked: w0 >>> 31 === 1 ? 'invalid' : 'valid',
    legacy,
    seconds: w0 & 0x3fff_ffff,
    epoch: (w1 >>> 24) & 0x3f,
    frame: w1 & 0xff_ffff,
    version: w2 >>> 29,
    log2Channels: (w2 >>> 24) & 0x1f,
    frameBytes,
    parts: w3 >>> 31 === 1 ? 2 : 1,
    bits: ((w3 >>> 26) & 0x1f) + 1,
    thread: (w3 >>> 16) & 0x3ff,
    station: w3 & 0xffff,
    unassigned: w1 >>> 30,
    extension: legacy ? [] : [16, 20, 24, 28].map((at) => view.getUint32(at, true)),
  };
  return { header, payload: datagram.subarray(headerBytes) };
}

export function writeVdif(header: VdifHeader, payload: Uint8Array): Uint8Array {
  const start = vdifHeaderBytes(header);
  const frame = new Uint8Array(start + payload.length);
  const view = new DataView(frame.buffer);
  const words = [
    (header.marked === 'invalid' ? 2 ** 31 : 0) + (header.legacy ? 2 ** 30 : 0) + header.seconds,
    header.unassigned * 2 ** 30 + header.epoch * 2 ** 24 + header.frame,
    header.version * 2 ** 29 + header.log2Channels * 2 ** 24 + header.frameBytes / 8,
    (header.parts === 2 ? 2 ** 31 : 0) +
      (header.bits - 1) * 2 ** 26 +
      header.thread * 2 ** 16 +
      header.station,
    ...header.extension,
  ];
  words.forEach((word, k) => {
    view.setUint32(4 * k, word, true);
  });
  frame.set(payload, start);
  return frame;
}

/** Samples per second of one channel, if extension 1, 3 or 4 gives the bandwidth; real samples have twice that rate. */
export function namedRateHz({ extension, parts }: VdifHeader): number | undefined {
  if (extension.length === 0 || ![1, 3, 4].includes(extension[0] >>> 24)) return undefined;
  const bandwidthHz = (extension[0] & 0x7f_ffff) * ((extension[0] >>> 23) & 1 ? 1e6 : 1e3);
  return bandwidthHz === 0 ? undefined : bandwidthHz * (3 - parts);
}

/** Two letters if they are letters, as most recorders write; otherwise the number. */
export function stationName(station: number): string {
  const letters = String.fromCharCode(station >>> 8, station & 0xff);
  return /^[0-9A-Za-z]{2}$/.test(letters) ? letters : String(station);
}
