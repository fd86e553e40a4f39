/**
 * Reads FITS images, ours and others': axes by their CTYPE in any order, any reference pixel and data type. What pictures
 * and positions here cannot follow is refused: other projections than SIN, axes that are turned, frames that are not
 * J2000.
 */
import { stat } from 'node:fs/promises';
import { refuse } from '../../core/errors.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { SkyPosition } from '../../sky/frame.js';
import { headOf, withInput } from '../io/input.js';
import { FITS_BLOCK_BYTES, readUnit, type FitsHeader } from './fits.js';

export interface ReadFitsImage {
  /** Along each side, even: the file's, or more where it is odd or not square, NaN where it has none. */
  readonly pixels: number;
  /** The file's own. */
  readonly size: { readonly columns: number; readonly rows: number };
  /** Along the frequency axis. */
  readonly channels: number;
  /** Along the time axis of a series, which takes the place of channels. */
  readonly times?: number;
  /** Stokes parameters. */
  readonly planes: number;
  /** FITS codes of the planes; undefined where the file does not state them. */
  readonly stokes?: readonly number[];
  /** The middle of the channels. */
  readonly frequencyHz?: number;
  readonly pixelSize: number;
  /** The projection's own centre. */
  readonly centre: SkyPosition;
  /** Its place in our planes, in columns from the west and rows from the south: (n/2, n/2) in our images. */
  readonly reference: { readonly column: number; readonly row: number };
  readonly unit: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** planes : [stokes][c][m][l], l rising: our order, not the file's. */
  readonly values: Float32Array;
}

interface Axis {
  readonly number: number;
  readonly type: string;
  readonly length: number;
  /** Values from one of its pixels to the next. */
  readonly stride: number;
}

interface SkyAxis extends Axis {
  readonly stepDeg: number;
  readonly valueDeg: number;
  /** The pixel of the value, from 1. */
  readonly reference: number;
}

const VIEWER = 'open it with a FITS viewer';
/** Frequencies, velocities, wavelengths; ours and others' times. */
const SPECTRAL = /^(?:FREQ|ENER|WAVN|VRAD|WAVE|VOPT|ZOPT|AWAV|VELO|BETA|FELO)/;
const TIMES = /^(?:UTC|TIME|TAI|MJD)/;

export const readFitsImage = (path: string): Promise<ReadFitsImage> =>
  withInput(path, async (file) => {
    const unit = await readUnit(file, 0);
    if (!unit) return refuse(path, 'the file is empty', 'write it again');
    const { header } = unit;
    const axes = axesOf(header);
    const [ra, dec] = [skyAxis(header, axes, 'RA--'), skyAxis(header, axes, 'DEC-')];
    refuseTurned(header, ra, dec);
    refuseOtherFrames(header);
    const stokes = axes.find(({ type }) => type === 'STOKES');
    const others = axes.filter((axis) => axis !== stokes && axis.number !== ra.number && axis.number !== dec.number); // prettier-ignore
    const long = others.filter(({ length }) => length > 1);
    const along = long.at(0) ?? others.find(({ type }) => type === 'FREQ');
    const stranger = long.find(({ type }, k) => k > 0 || !(SPECTRAL.test(type) || TIMES.test(type)));
    if (stranger)
      refuse(path, `its axis ${stranger.number}, '${stranger.type}', has ${stranger.length} values beside ${long.length > 1 ? 'another axis of several' : 'those of the sky'}`, 'take a cube of frequencies or times apart'); // prettier-ignore
    // Before memory is allocated: a damaged header may claim terabytes.
    const missingBytes = unit.dataStart + unit.dataBytes - file.sizeBytes;
    if (missingBytes > 0) refuse(path, `truncated: ${missingBytes} bytes are missing`, 'copy it again');
    const bytes = new Uint8Array(unit.dataBytes);
    await file.readExactly(bytes, unit.dataStart);
    if (file.sizeBytes % FITS_BLOCK_BYTES !== 0) refuse(path, 'its last block is cut short', 'copy it again');
    const valueAt = valuesOf(header, bytes);
    const [columns, rows] = [ra.length, dec.length];
    const pixels = 2 * Math.ceil(Math.max(columns, rows) / 2);
    const [planes, channels] = [stokes?.length ?? 1, along?.length ?? 1];
    const placeOf = ({ stepDeg, reference, length }: SkyAxis): number =>
      stepDeg > 0 ? reference - 1 : length - reference;
    const [right, up] = [ra, dec].map((axis) => shiftOf(axis.length, placeOf(axis), pixels));
    const values = new Float32Array(planes * channels * pixels * pixels).fill(Number.NaN);
    for (let plane = 0; plane < planes * channels; plane++) {
      const s = Math.floor(plane / channels) * (stokes?.stride ?? 0);
      const first = s + (plane % channels) * (along?.stride ?? 0);
      for (let row = 0; row < rows; row++) {
        const to = plane * pixels * pixels + ((dec.stepDeg > 0 ? row : rows - 1 - row) + up) * pixels + right;
        const from = first + row * dec.stride;
        for (let column = 0; column < columns; column++)
          values[to + (ra.stepDeg > 0 ? column : columns - 1 - column)] = valueAt(from + column * ra.stride);
      }
    }
    const isTime = along !== undefined && TIMES.test(along.type);
    return {
      pixels,
      size: { columns, rows },
      channels,
      ...(isTime && { times: channels }),
      planes,
      ...(stokes && { stokes: Array.from({ length: planes }, (_, k) => valueOn(header, stokes, k)) }),
      ...(along?.type === 'FREQ' && {
        frequencyHz: valueOn(header, along, (channels - 1) / 2) * hertz(header, along),
      }),
      pixelSize: Math.abs(dec.stepDeg) / DEGREES_PER_RADIAN,
      centre: { raDeg: ra.valueDeg, decDeg: dec.valueDeg },
      reference: { column: placeOf(ra) + right, row: placeOf(dec) + up },
      unit: header.text('BUNIT', ''),
      details: Object.fromEntries(header.values),
      values,
    };
  });

/** Where fewer pixels are among ours: the reference in the middle if it is in the image, else the image itself. */
function shiftOf(length: number, reference: number, pixels: number): number {
  const free = pixels - length;
  if (reference < 0 || reference > length - 1) return Math.floor(free / 2);
  return Math.min(free, Math.max(0, Math.round(pixels / 2 - reference)));
}

/** Keywords are padded, and some programs write them in lower case. */
const wordsOf = (header: FitsHeader, keyword: string): string => {
  const value = header.values.get(keyword);
  return typeof value === 'string' ? value.trim().toUpperCase() : '';
};

function axesOf(header: FitsHeader): Axis[] {
  let stride = 1;
  return Array.from({ length: header.whole('NAXIS', 0, 99) }, (_, k) => {
    const length = header.whole(`NAXIS${k + 1}`, 0, 2 ** 40);
    const axis = { number: k + 1, type: wordsOf(header, `CTYPE${k + 1}`), length, stride };
    stride *= length;
    return axis;
  });
}

/** The value of an axis at a pixel from 0. */
const valueOn = (header: FitsHeader, { number }: Axis, pixel: number): number =>
  header.real(`CRVAL${number}`, 1) +
  (pixel + 1 - header.real(`CRPIX${number}`, 1)) * header.real(`CDELT${number}`, header.real(`CD${number}_${number}`, 1)); // prettier-ignore

const hertz = (header: FitsHeader, { number }: Axis): number =>
  ({ KHZ: 1e3, MHZ: 1e6, GHZ: 1e9 })[wordsOf(header, `CUNIT${number}`)] ?? 1;

/** An axis of the sky, in degrees; with the scale of a CD or PC matrix where there is one. */
function skyAxis(header: FitsHeader, axes: readonly Axis[], name: 'RA--' | 'DEC-'): SkyAxis {
  const { where } = header;
  const axis = axes.find(({ type }) => type.startsWith(name));
  if (!axis) {
    const types = axes.map(({ type }) => type).filter((type) => type !== '');
    return refuse(
      where,
      types.length === 0
        ? 'its axes are not those of the sky: it has no CTYPE'
        : `its axes are not right ascension and declination, but ${types.join(', ')}`,
      VIEWER,
    );
  }
  const { number, type } = axis;
  const projection = type.slice(5);
  if (projection !== 'SIN') refuse(where, `its projection is ${projection === '' ? 'unknown' : projection}, and not SIN`, VIEWER); // prettier-ignore
  const unit = wordsOf(header, `CUNIT${number}`);
  if (unit !== '' && !unit.startsWith('DEG')) refuse(where, `its CUNIT${number} is ${unit}`, 'write degrees');
  const valueDeg = header.real(`CRVAL${number}`);
  const key = `${number}_${number}`;
  const scale = header.real(`PC${key}`, 1);
  const stepDeg = header.has(`CD${key}`) ? header.real(`CD${key}`) : scale * header.real(`CDELT${number}`);
  if (name === 'RA--' && !(Math.abs(valueDeg) <= 360))
    refuse(where, `its CRVAL${number} is a right ascension of ${valueDeg}°`, 'correct it');
  if (name === 'DEC-' && !(Math.abs(valueDeg) <= 90))
    refuse(where, `its CRVAL${number} is a declination of ${valueDeg}°`, 'correct it');
  if (!(Math.abs(stepDeg) > 0 && Math.abs(stepDeg) < 180))
    refuse(where, `its CDELT${number} is ${stepDeg}°`, 'correct it');
  if (!(axis.length >= 1 && axis.length <= 2 ** 16))
    refuse(where, `its axis ${number} has ${axis.length} pixels`, VIEWER);
  return { ...axis, valueDeg, stepDeg, reference: header.real(`CRPIX${number}`) };
}

/** Of a pixel over the whole image: smaller rotations and differences of scale are not seen. */
const SEEN = 0.01;

/** Pictures have north up and square pixels. */
function refuseTurned(header: FitsHeader, ra: SkyAxis, dec: SkyAxis): void {
  const { where } = header;
  const pixels = Math.max(ra.length, dec.length);
  const [a, b] = [ra.number, dec.number];
  const stepDeg = Math.abs(dec.stepDeg);
  const old = (i: number, j: number): string =>
    `PC${String(i).padStart(3, '0')}${String(j).padStart(3, '0')}`;
  /** Keywords, and what of them is a shift by one pixel along the other axis. */
  const turns: readonly (readonly [keyword: string, unit: number])[] = [
    ...[`CROTA${a}`, `CROTA${b}`].map((keyword) => [keyword, DEGREES_PER_RADIAN] as const),
    ...[`PC${a}_${b}`, `PC${b}_${a}`, old(a, b), old(b, a)].map((keyword) => [keyword, 1] as const),
    ...[`CD${a}_${b}`, `CD${b}_${a}`].map((keyword) => [keyword, stepDeg] as const),
  ];
  const turned =
    turns.find(([keyword, unit]) => Math.abs(header.real(keyword, 0) / unit) * pixels > SEEN)?.[0] ??
    [`PV${b}_1`, `PV${b}_2`].find((keyword) => header.real(keyword, 0) !== 0);
  if (turned !== undefined) refuse(where, `its axes are turned or slanted (${turned})`, VIEWER);
  // At the pole itself the standard's default is another.
  const lonpole = header.real('LONPOLE', dec.valueDeg >= 90 ? 0 : 180);
  if (lonpole !== 180) refuse(where, `its axes are turned (LONPOLE ${lonpole})`, VIEWER);
  if (Math.abs(Math.abs(ra.stepDeg) / stepDeg - 1) * pixels > SEEN)
    refuse(where, 'its pixels are not square', VIEWER);
}

/** Positions are ICRS here; FK5 of 2000 is that to 0.03″. By the standard, an equinox before 1984 alone is FK4. */
function refuseOtherFrames(header: FitsHeader): void {
  const stated = wordsOf(header, 'RADESYS') || wordsOf(header, 'RADECSYS');
  const equinox = ['EQUINOX', 'EPOCH'].map((keyword) => yearOf(header.values.get(keyword))).find((year) => year !== undefined); // prettier-ignore
  const frame = stated === '' ? (equinox === undefined ? 'ICRS' : equinox < 1984 ? 'FK4' : 'FK5') : stated;
  if (frame === 'ICRS' || (frame === 'FK5' && (equinox ?? 2000) === 2000)) return;
  refuse(
    header.where,
    `its positions are ${frame}${equinox === undefined ? '' : ` of equinox ${equinox}`}, which would be off on the axes of J2000`,
    'convert it to ICRS or FK5 of 2000, as with reproject or CASA imregrid',
  );
}

/** 1950 of "B1950". */
function yearOf(value: unknown): number | undefined {
  const year = typeof value === 'string' ? Number(value.trim().replace(/^[BJ]/i, '')) : value;
  return typeof year === 'number' && Number.isFinite(year) && value !== '' ? year : undefined;
}

/** Of each element, in physical units; NaN where there is none. */
function valuesOf(header: FitsHeader, bytes: Uint8Array): (at: number) => number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [scale, zero] = [header.real('BSCALE', 1), header.real('BZERO', 0)];
  const blank = header.values.get('BLANK');
  const physical = (value: number): number => (value === blank ? Number.NaN : scale * value + zero);
  switch (header.real('BITPIX')) {
    case 8:
      return (at) => physical(view.getUint8(at));
    case 16:
      return (at) => physical(view.getInt16(2 * at));
    case 32:
      return (at) => physical(view.getInt32(4 * at));
    case 64:
      return (at) => physical(Number(view.getBigInt64(8 * at)));
    case -32:
      return (at) => scale * view.getFloat32(4 * at) + zero;
    case -64:
      return (at) => scale * view.getFloat64(8 * at) + zero;
    default:
      return refuse(header.where, `card BITPIX = ${header.real('BITPIX')} is no FITS type`, 'copy it again');
  }
}

const SIGN = 'SIMPLE  =';

export async function holdsFitsImage(path: string): Promise<boolean> {
  // Other functions refuse what cannot be read.
  if (!(await stat(path).catch(() => undefined))?.isFile()) return false;
  return withInput(path, async (file) => {
    if (new TextDecoder('latin1').decode(await headOf(file, SIGN.length)) !== SIGN) return false;
    const header = (await readUnit(file, 0))?.header;
    if (!header || header.real('NAXIS', 0) < 2) return false;
    return header.real('NAXIS1', 0) > 0 && header.real('NAXIS2', 0) > 0;
  });
}
