/** Known formats that we do not read: such a file is refused by its format's name, with a way to convert it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { refuse } from '../core/errors.js';
import { cannotRead } from './io/input.js';
import type { Hdf5Look } from './hdf5/look.js';

interface Foreign {
  readonly what: string;
  readonly fix: string;
  /** `text` is the head as Latin-1 text. */
  recognise(head: Uint8Array, text: string, path: string): boolean;
}

const isFits = (text: string): boolean => text.startsWith('SIMPLE  =');

const foreigners: readonly Foreign[] = [
  {
    what: 'is PSRFITS, which is not read here',
    fix: 'give the voltages it was made from',
    recognise: (_head, text) => isFits(text) && /FITSTYPE= *'PSRFITS/.test(text),
  },
  {
    what: 'is FITS, but holds neither UVFITS, FITS-IDI nor MWA visibilities',
    fix: 'images and tables are for FITS viewers; give the visibilities',
    recognise: (_head, text) => isFits(text),
  },
  {
    what: 'is a SIGPROC filterbank: detected power, whose phases are gone',
    fix: 'give the voltages it was made from',
    recognise: (_head, text) => text.slice(0, 32).includes('HEADER_START'),
  },
  {
    what: 'holds samples of a GMRT (GSB) recording, by the .timestamp file beside it',
    fix: 'name that file: it leads to the samples',
    recognise: (_head, _text, path) => {
      const stem = path.replace(/(\.Pol-?[LR][12]?)?\.[^./]+$/i, '');
      return stem !== path && existsSync(`${stem}.timestamp`);
    },
  },
  {
    what: 'is a capture of packets',
    fix: 'corella inspect says what is in it',
    // pcap in both byte orders, with microseconds or nanoseconds; pcapng.
    recognise: (head) =>
      ['a1b2c3d4', 'd4c3b2a1', 'a1b23c4d', '4d3cb2a1', '0a0d0d0a'].includes(
        Buffer.from(head.subarray(0, 4)).toString('hex'),
      ),
  },
  {
    what: 'is by its name a LOFAR crosslet or array statistics file (XST, ACC), which is not read here',
    fix: 'write it as UVFITS or UVH5 (lofarimaging reads it; pyuvdata writes)',
    recognise: (_head, _text, path) => /(?:_xst|_acc|^xst)[^/]*\.dat$/i.test(basename(path)),
  },
  {
    what: 'is an archive (tar)',
    fix: 'unpack it first (tar xf), and name what is in it',
    recognise: (_head, text) => text.slice(257, 262) === 'ustar',
  },
  {
    what: 'is compressed (gzip)',
    fix: 'unpack it first',
    recognise: (head) => head[0] === 0x1f && head[1] === 0x8b,
  },
];

interface ForeignFolder {
  readonly what: string;
  readonly fix: string;
  /** The folder contains all of these. */
  readonly parts: readonly string[];
}

const folders: readonly ForeignFolder[] = [
  {
    what: 'is a MIRIAD data set, which is not read here',
    fix: 'write it as UVFITS (MIRIAD: fits op=uvout) or UVH5 (pyuvdata)',
    parts: ['visdata', 'vartable', 'header'],
  },
  {
    what: 'is a MIR data set of the SMA, which is not read here',
    fix: 'write it as UVH5 or UVFITS (pyuvdata: read, write_uvh5)',
    parts: ['in_read', 'bl_read', 'sch_read'],
  },
];

/** Refuses a folder that is a known data set of another kind; otherwise returns. */
export function refuseForeignFolder(path: string): void {
  let names: readonly string[] = [];
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) names = readdirSync(path);
  } catch (error) {
    cannotRead(path, error);
  }
  const found = folders.find(({ parts }) => parts.every((part) => names.includes(part)));
  if (found) refuse(path, found.what, found.fix);
}

/** A sync word of Mark 4: 32 ones on each of 16, 32 or 64 tracks, side by side. */
const MARK4_SYNC_BYTES = [64, 128, 256];

/** `start` is the first 128 KiB of an otherwise unrecognised file. */
export function refuseMark4(path: string, start: Uint8Array): void {
  for (let at = 0; at < start.length; at++) {
    if (start[at] !== 0xff) continue;
    const from = at;
    while (start[at] === 0xff) at++;
    if (from > 0 && at < start.length && MARK4_SYNC_BYTES.includes(at - from))
      refuse(
        path,
        `looks like Mark 4, by the sync word at byte ${from}, which is not read here`,
        'convert it to VDIF (mark5access: m5copy; jive5ab)',
      );
  }
}

/** Refuses a file of a known foreign format; otherwise returns. */
export function refuseForeign(path: string, head: Uint8Array, names: Hdf5Look | undefined): void {
  if (names === 'damaged')
    refuse(path, 'is HDF5 that cannot be read', 'it is damaged or cut short: copy it again');
  // LOFAR2.0 stations: one group per time, XST_2024-01-01T00:00:00.000_SB100.
  if (names && [...names].some((name) => name.startsWith('XST_')))
    refuse(
      path,
      'holds crosslet statistics of a LOFAR station (XST), which are not read here',
      'write them as UVFITS or UVH5 (lofarstationtools; pyuvdata writes)',
    );
  if (names)
    refuse(
      path,
      "is HDF5, but neither UVH5 nor an SKA-Low station's dump",
      'see what is in it with h5dump -n',
    );
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  const found = foreigners.find((one) => one.recognise(head, text, path));
  if (found) refuse(path, found.what, found.fix);
}
