/**
 * Arrays whose axis order, slowest first, is part of their type. Letters as everywhere in the code base: s station, p
 * polarisation, a = s·P + p input, t time sample, c channel, b baseline, l m pixels. Only this file casts bare arrays;
 * all other code calls the checked constructors below.
 */
import { refuse } from './errors.js';

declare const order: unique symbol;
export type Ordered<Order extends string, Elements> = Elements & { readonly [order]: Order };

/** A voltage sample as recorded; complex ones are stored (re, im) interleaved. */
export type VoltageType = 'i8' | 'i16' | 'f32' | 'ci8' | 'ci16' | 'cf32';
export type VoltageElements = Int8Array | Int16Array | Float32Array;

/**
 * A channelised sample: `ci8` two int8 (re, im), each −127…127; `ci4` one byte, real part in the high
 * nibble, imaginary in the low, two's complement, each −7…7; `cf32` two float32.
 */
export type SpectraType = 'ci8' | 'ci4' | 'cf32';
export type SpectraElements = Int8Array | Uint8Array | Float32Array;

export type VoltagesAT = Ordered<'[a][t]', VoltageElements>;
export type SpectraCAT = Ordered<'[c][a][t]', SpectraElements>;
/** Complex float64 (re, im). From integer spectra every value is a whole number, exact below 2⁵³. */
export type VisibilitiesCBPP = Ordered<'[c][b][pi][pj]', Float64Array>;
/** Number of samples integrated into each baseline. */
export type CountsCB = Ordered<'[c][b]', Float64Array>;
/** Number of samples integrated into each product, where products of a pair differ; 0 if flagged or missing. */
export type CountsCBPP = Ordered<'[c][b][pi][pj] counts', Float64Array>;
/** One weight for each product, as in files: above 0 is good; below 0, or −0, is flagged. */
export type WeightsCBPP = Ordered<'[c][b][pi][pj] weights', Float64Array>;
/** Metres along u, v and w. */
export type UvwB = Ordered<'[b][u, v, w]', Float64Array>;
/** u, v and w in metres of each row; a row is one pair at one time. */
export type UvwR = Ordered<'[row][u, v, w]', Float64Array>;
/** Complex (re, im), fringes stopped at the phase centre. */
export type VisibilitiesRC = Ordered<'[row][c]', Float32Array | Float64Array>;
/** Weights at or below 0 are left out. */
export type WeightsRC = Ordered<'[row][c] weights', Float32Array>;
/** Integration time of each pair in seconds. */
export type DurationsB = Ordered<'[b] seconds', Float64Array>;
/** Complex float64 (re, im); x_a = g_a · sky. */
export type GainsCA = Ordered<'[c][a]', Float64Array>;
/** Complex float64 (re, im): what perfect antennas would measure; the parallel products XX (and YY) only. */
export type ModelCBP = Ordered<'[c][b][p]', Float64Array>;
/** Products XX, YY, Re XY, Im XY (XX alone with one polarisation); m grows north, l grows east. */
export type ImageCPML = Ordered<'[c][product][m][l]', Float64Array>;

/** Weight sum of each image plane: samples of its pairs, in both orders, as the image weights them. */
export type WeightsCP = Ordered<'[c][product] weights', Float64Array>;

/** One image, float64; m grows north, l grows east. */
export type PlaneML = Ordered<'[m][l]', Float64Array>;
/** Antenna kernels, complex float64 (re, im): a K × K patch of grid cells for each channel and station. */
export type TapsCSKK = Ordered<'[c][s][row][column]', Float64Array>;

/** Whether samples of a type have an imaginary part. */
export const isComplexVoltage = (type: VoltageType): boolean => type.startsWith('c');

const bytesPerVoltage = { i8: 1, i16: 2, f32: 4, ci8: 2, ci16: 4, cf32: 8 } satisfies Record<
  VoltageType,
  number
>;
const bytesPerSpectra = { ci8: 2, ci4: 1, cf32: 8 } satisfies Record<SpectraType, number>;
/** Bytes of one sample. */
export const voltageSizeBytes = (type: VoltageType): number => bytesPerVoltage[type];
/** Bytes of one complex value. */
export const spectraSizeBytes = (type: SpectraType): number => bytesPerSpectra[type];
/** Array elements per sample: 2 if re and im are separate elements. */
export const elementsPerVoltage = (type: VoltageType): 1 | 2 => (isComplexVoltage(type) ? 2 : 1);
/** Array elements of one complex value. */
export const elementsPerSpectra = (type: SpectraType): 1 | 2 => (type === 'ci4' ? 1 : 2);

type Elements = VoltageElements | SpectraElements;
const arrays: Readonly<
  Record<
    VoltageType | SpectraType,
    {
      readonly BYTES_PER_ELEMENT: number;
      new (memory: ArrayBufferLike, at: number, length: number): Elements;
    }
  >
> = {
  i8: Int8Array,
  ci8: Int8Array,
  i16: Int16Array,
  ci16: Int16Array,
  f32: Float32Array,
  cf32: Float32Array,
  ci4: Uint8Array,
};
type Memory = 'own' | 'shared' | ((sizeBytes: number) => Uint8Array<ArrayBuffer>);

function allocate(type: VoltageType | SpectraType, length: number, memory: Memory): Elements {
  const sizeBytes = length * arrays[type].BYTES_PER_ELEMENT;
  if (typeof memory === 'function') {
    const { buffer, byteOffset } = memory(sizeBytes);
    return new arrays[type](buffer, byteOffset, length);
  }
  return new arrays[type](
    memory === 'own' ? new ArrayBuffer(sizeBytes) : new SharedArrayBuffer(sizeBytes),
    0,
    length,
  );
}

/** `memory`: whether the memory is shared with other threads, or the allocator to use. */
export const allocateVoltages = (
  type: VoltageType,
  inputs: number,
  samples: number,
  memory: Memory = 'own',
): VoltagesAT => allocate(type, inputs * samples * elementsPerVoltage(type), memory) as VoltagesAT;

/** Zeroed memory for this many spectra, or the allocator's. */
export const allocateSpectra = (
  type: SpectraType,
  channels: number,
  inputs: number,
  samples: number,
  memory: Memory = 'own',
): SpectraCAT => allocate(type, channels * inputs * samples * elementsPerSpectra(type), memory) as SpectraCAT;

function checked<Order extends string, Elements extends { length: number }>(
  name: Order,
  elements: Elements,
  length: number,
): Ordered<Order, Elements> {
  if (elements.length !== length) {
    refuse(`array ${name}`, `holds ${elements.length} elements where its axes make ${length}`);
  }
  return elements as Ordered<Order, Elements>;
}

/** Takes an array for voltages [a][t]; another length is refused. */
export const voltagesAT = (
  elements: VoltageElements,
  type: VoltageType,
  inputs: number,
  samples: number,
): VoltagesAT => checked('[a][t]', elements, inputs * samples * elementsPerVoltage(type));
/** Takes an array for spectra [c][a][t]; another length is refused. */
export const spectraCAT = (
  elements: SpectraElements,
  type: SpectraType,
  channels: number,
  inputs: number,
  samples: number,
): SpectraCAT => checked('[c][a][t]', elements, channels * inputs * samples * elementsPerSpectra(type));
/** Takes an array for visibilities [c][b][pi][pj], complex; another length is refused. */
export const visibilitiesCBPP = (
  elements: Float64Array,
  channels: number,
  baselines: number,
  polarisations: number,
): VisibilitiesCBPP => checked('[c][b][pi][pj]', elements, channels * baselines * polarisations ** 2 * 2);
/** Takes an array for counts of samples [c][b]; another length is refused. */
export const countsCB = (elements: Float64Array, channels: number, baselines: number): CountsCB =>
  checked('[c][b]', elements, channels * baselines);
/** Takes an array for counts of samples [c][b][pi][pj]; another length is refused. */
export const countsCBPP = (
  elements: Float64Array,
  channels: number,
  baselines: number,
  polarisations: number,
): CountsCBPP => checked('[c][b][pi][pj] counts', elements, channels * baselines * polarisations ** 2);
/** Takes an array for weights [c][b][pi][pj]; another length is refused. */
export const weightsCBPP = (
  elements: Float64Array,
  channels: number,
  baselines: number,
  polarisations: number,
): WeightsCBPP => checked('[c][b][pi][pj] weights', elements, channels * baselines * polarisations ** 2);
/** Takes an array for u, v, w of each baseline; another length is refused. */
export const uvwB = (elements: Float64Array, baselines: number): UvwB =>
  checked('[b][u, v, w]', elements, baselines * 3);
/** Takes an array for u, v, w of each row; another length is refused. */
export const uvwR = (elements: Float64Array, rows: number): UvwR =>
  checked('[row][u, v, w]', elements, rows * 3);
/** Takes an array for visibilities [row][c], complex; another length is refused. */
export const visibilitiesRC = (
  elements: Float32Array | Float64Array,
  rows: number,
  channels: number,
): VisibilitiesRC => checked('[row][c]', elements, rows * channels * 2);
/** Takes an array for weights [row][c]; another length is refused. */
export const weightsRC = (elements: Float32Array, rows: number, channels: number): WeightsRC =>
  checked('[row][c] weights', elements, rows * channels);
/** Takes an array for seconds of each baseline; another length is refused. */
export const durationsB = (elements: Float64Array, baselines: number): DurationsB =>
  checked('[b] seconds', elements, baselines);
/** Takes an array for gains [c][a], complex; another length is refused. */
export const gainsCA = (elements: Float64Array, channels: number, inputs: number): GainsCA =>
  checked('[c][a]', elements, channels * inputs * 2);
/** Takes an array for model visibilities [c][b][p], complex; another length is refused. */
export const modelCBP = (
  elements: Float64Array,
  channels: number,
  baselines: number,
  polarisations: number,
): ModelCBP => checked('[c][b][p]', elements, channels * baselines * polarisations * 2);
/** Takes an array for an image [c][product][m][l]; another length is refused. */
export const imageCPML = (
  elements: Float64Array,
  channels: number,
  products: number,
  pixels: number,
): ImageCPML => checked('[c][product][m][l]', elements, channels * products * pixels ** 2);

/** Takes an array for weights of an image's planes [c][product]; another length is refused. */
export const weightsCP = (elements: Float64Array, channels: number, products: number): WeightsCP =>
  checked('[c][product] weights', elements, channels * products);
/** Takes an array for one plane [m][l]; another length is refused. */
export const planeML = (elements: Float64Array, pixels: number): PlaneML =>
  checked('[m][l]', elements, pixels ** 2);
/** Takes an array for gridding kernels [c][s][K][K], complex; another length is refused. */
export const tapsCSKK = (
  elements: Float64Array,
  channels: number,
  stations: number,
  size: number,
): TapsCSKK => checked('[c][s][row][column]', elements, channels * stations * size ** 2 * 2);

/** Baselines run b = i(i+1)/2 + j with i ≥ j: the lower triangle, autocorrelations included. */
export const baselineCount = (stations: number): number => (stations * (stations + 1)) / 2;
/** Index of the pair i ≥ j among the baselines. */
export const baselineIndex = (i: number, j: number): number => (i * (i + 1)) / 2 + j;

/** Image products for one or two polarisations. */
export const productNames = (polarisations: 1 | 2): readonly string[] =>
  polarisations === 1 ? ['XX'] : ['XX', 'YY', 'Re XY', 'Im XY'];
