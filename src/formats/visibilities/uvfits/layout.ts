/**
 * The layout in a UVFITS file's primary header: the position of each parameter, channel and product of a group.
 * FITS-IDI describes its matrix of visibilities in the same way.
 */
import { refuse } from '../../../core/errors.js';
import type { SkyPosition } from '../../../sky/frame.js';
import type { FitsHeader, FitsUnit } from '../../fits/fits.js';
import { polarisationsOf, refuseTwice, storedProducts, type StoredProduct } from '../../io/gather.js';
import { stepsOf, type Band } from './bands.js';

export interface Parameter {
  readonly name: string;
  readonly scale: number;
  readonly zero: number;
  /** Element of the group. */
  readonly index: number;
}

interface FileChannel {
  readonly frequencyHz: number;
  /** Elements from the start of the group's data. */
  readonly offset: number;
  /** Elements from the start of its weights. */
  readonly weightOffset: number;
}

interface FileProduct extends StoredProduct {
  readonly offset: number;
  readonly weightOffset: number;
}

export interface MatrixLayout {
  readonly elements: number;
  readonly weighted: boolean;
  /** Elements from re to im, and from re to the weight. */
  readonly partStride: number;
  /** Ascending in frequency, whatever the file's order. */
  readonly channels: readonly FileChannel[];
  readonly channelWidthHz: number;
  /** Where header and frequency table differ. */
  readonly assumed?: readonly string[];
  readonly products: readonly FileProduct[];
  readonly polarisations: 1 | 2;
  /** From the RA and DEC axes. */
  readonly centre: { readonly raDeg: number | undefined; readonly decDeg: number | undefined };
}

export interface UvfitsLayout extends Omit<MatrixLayout, 'elements' | 'centre'> {
  readonly groupCount: number;
  readonly groupElements: number;
  readonly dataStart: number;
  /** Bytes per number, if not four. */
  readonly elementBytes?: 4 | 8;
  readonly parameters: readonly Parameter[];
  /** Start of the group's data and of the first weight, in elements. */
  readonly dataOffset: number;
  readonly weightStart: number;
  readonly phaseCentre: SkyPosition;
}

interface Axis {
  readonly name: string;
  readonly length: number;
  readonly stride: number;
  /** Value at a 0-based index. */
  at(place: number): number;
  readonly step: number;
  /** At the index `reference`, which counts from 1. */
  readonly value: number;
  readonly reference: number;
}

/** `bands`: the IFs of the FQ table. */
export function planUvfits(unit: FitsUnit, bands: readonly Band[] | undefined): UvfitsLayout {
  const { header } = unit;
  const { where } = header;
  if (!header.has('GROUPS') || !header.logical('GROUPS') || header.real('NAXIS1') !== 0) {
    refuse(where, 'holds no random groups, so no UVFITS visibilities', 'check where it came from');
  }
  const bitpix = header.real('BITPIX');
  if (bitpix !== -32 && bitpix !== -64) {
    refuse(
      where,
      `stores its visibilities with BITPIX ${bitpix}`,
      'export it with BITPIX -32 or -64 (float)',
    );
  }
  const [scale, zero] = [header.real('BSCALE', 1), header.real('BZERO', 0)];
  if (scale !== 1 || zero !== 0)
    refuse(where, `scales its values by BSCALE ${scale} and BZERO ${zero}`, 'export them as they are');
  const { elements, centre, ...matrix } = planMatrix(header, 'NAXIS', bands);
  const dataOffset = header.whole('PCOUNT', 1, 1000);
  return {
    ...matrix,
    elementBytes: bitpix === -64 ? 8 : 4,
    groupCount: header.whole('GCOUNT', 0, 2 ** 40),
    groupElements: dataOffset + elements,
    dataStart: unit.dataStart,
    parameters: readParameters(header, dataOffset),
    dataOffset,
    weightStart: dataOffset + 2 * matrix.partStride,
    phaseCentre: {
      raDeg: centre.raDeg ?? header.real('OBSRA'),
      decDeg: centre.decDeg ?? header.real('OBSDEC'),
    },
  };
}

/** Random groups give the axis lengths from NAXIS2 on, FITS-IDI tables from MAXIS1 on. */
export function planMatrix(
  header: FitsHeader,
  lengths: 'NAXIS' | 'MAXIS',
  bands: readonly Band[] | undefined,
): MatrixLayout {
  const { where } = header;
  const axes = readAxes(header, lengths);
  const complex = axes.find((axis) => axis.name === 'COMPLEX') ?? refuse(where, 'has no COMPLEX axis');
  if (complex.length !== 2 && complex.length !== 3) {
    refuse(where, `its COMPLEX axis has length ${complex.length}`, 'it must be 2, or 3 with weights');
  }
  const known = ['COMPLEX', 'STOKES', 'FREQ', 'IF', 'BAND', 'RA', 'DEC'];
  const odd = axes.find((axis) => axis.length !== 1 && !known.includes(axis.name));
  if (odd)
    refuse(where, `its axis ${odd.name} has length ${odd.length}`, 'export it with that axis of length 1');
  const products = readProducts(axes, where);
  return {
    elements: axes.reduce((product, axis) => product * axis.length, 1),
    weighted: complex.length === 3,
    partStride: complex.stride,
    ...readChannels(header, axes, bands),
    products,
    polarisations: polarisationsOf(products),
    centre: {
      raDeg: axes.find((axis) => axis.name === 'RA')?.at(0),
      decDeg: axes.find((axis) => axis.name === 'DEC')?.at(0),
    },
  };
}

function readAxes(header: FitsHeader, lengths: 'NAXIS' | 'MAXIS'): Axis[] {
  const axes: Axis[] = [];
  const first = lengths === 'NAXIS' ? 2 : 1;
  let stride = 1;
  for (let n = first; n <= header.whole(lengths, first, 999); n++) {
    const length = header.whole(`${lengths}${n}`, 1, 2 ** 31);
    const value = header.real(`CRVAL${n}`, 0);
    const step = header.real(`CDELT${n}`, 1);
    const reference = header.real(`CRPIX${n}`, 1);
    axes.push({
      name: header.text(`CTYPE${n}`, '').trim().toUpperCase().replace(/-.*$/, ''),
      length,
      stride,
      step,
      value,
      reference,
      at: (place) => value + (place + 1 - reference) * step,
    });
    stride *= length;
  }
  return axes;
}

function readParameters(header: FitsHeader, count: number): Parameter[] {
  return Array.from({ length: count }, (_, index) => ({
    name: header
      .text(`PTYPE${index + 1}`)
      .trim()
      .toUpperCase(),
    scale: header.real(`PSCAL${index + 1}`, 1),
    zero: header.real(`PZERO${index + 1}`, 0),
    index,
  }));
}

function readProducts(axes: readonly Axis[], where: string): FileProduct[] {
  const axis = axes.find(({ name }) => name === 'STOKES') ?? refuse(where, 'has no STOKES axis');
  const products = Array.from({ length: axis.length }, (_, k) => {
    const code = Math.round(axis.at(k));
    const product =
      storedProducts[code] ??
      refuse(
        where,
        `its STOKES axis has the code ${code}`,
        'only correlations are read: RR, LL, RL, LR (-1…-4) or XX, YY, XY, YX (-5…-8)',
      );
    return { ...product, offset: k * axis.stride, weightOffset: k * axis.stride };
  });
  const linear = products.filter(({ label }) => /[XY]/.test(label)).length;
  if (linear !== 0 && linear !== products.length) {
    refuse(where, 'mixes linear and circular polarisations', 'export them to separate files');
  }
  refuseTwice(where, products);
  return products;
}

function readChannels(
  header: FitsHeader,
  axes: readonly Axis[],
  tableBands: readonly Band[] | undefined,
): Pick<UvfitsLayout, 'channels' | 'channelWidthHz' | 'assumed'> {
  const frequency = axes.find(({ name }) => name === 'FREQ') ?? refuse(header.where, 'has no FREQ axis');
  const band = axes.find(({ name }) => name === 'IF' || name === 'BAND');
  const count = band?.length ?? 1;
  if (count > 1 && (tableBands === undefined || tableBands.length < count)) {
    refuse(
      header.where,
      `has ${count} IFs but no AIPS FQ table with their frequencies`,
      'export it with one',
    );
  }
  const { bands, assumed } = stepsOf(
    header.where,
    tableBands?.slice(0, count) ?? [{ offsetHz: 0 }],
    frequency,
  );
  const channels: FileChannel[] = [];
  bands.forEach(({ offsetHz, stepHz }, k) => {
    for (let c = 0; c < frequency.length; c++) {
      const offset = k * (band?.stride ?? 0) + c * frequency.stride;
      const frequencyHz = frequency.value + (c + 1 - frequency.reference) * stepHz + offsetHz;
      channels.push({ frequencyHz, offset, weightOffset: offset });
    }
  });
  const [{ stepHz }] = bands;
  if (frequency.length > 1 && stepHz === 0)
    refuse(
      header.where,
      'its FREQ axis has CDELT 0: all channels lie at one frequency',
      'correct its header',
    );
  const widthHz = header.real('CHWIDTH', Math.abs(stepHz));
  if (!(widthHz > 0))
    refuse(
      header.where,
      `its channels are ${widthHz} Hz wide (CHWIDTH, or CDELT of FREQ)`,
      'correct its header',
    );
  channels.sort((x, y) => x.frequencyHz - y.frequencyHz);
  const [{ frequencyHz: lowest }] = channels;
  if (!(lowest > 0)) refuse(header.where, `its first channel is at ${lowest} Hz`, 'correct its FREQ axis');
  return { channels, channelWidthHz: widthHz, assumed };
}
