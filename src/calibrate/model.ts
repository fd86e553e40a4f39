/** The visibilities that perfect antennas measure for a few points in the sky. */
import { baselineCount, modelCBP, type ModelCBP } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';

/** Of the element towards a source. */
export interface BeamVoltages {
  /** x : [c] */
  readonly x: Float64Array;
  /** y : [c] */
  readonly y: Float64Array;
  /** xIm, yIm : [c], where the element has phases of its own; only for `stationBeams`. */
  readonly xIm?: Float64Array;
  readonly yIm?: Float64Array;
}

export interface ModelComponent {
  /** Unit vector towards the source: x east, y north, z up. */
  readonly directionEnu: Vector3;
  /** fluxJy : [c], Stokes I. */
  readonly fluxJy: Float64Array;
  /** The element's voltage beam towards the source; its square multiplies the flux. Default 1. */
  readonly beam?: number | BeamVoltages;
  /** stationBeams : [s], where beams of stations differ; instead of `beam`. */
  readonly stationBeams?: readonly BeamVoltages[];
  /** Stokes Q over I, −1…1: XX = I − Q, YY = I + Q. Default 0, unpolarised. */
  readonly fractionQ?: number;
  /** Stokes U and V over I: XY = U − iV. Default 0; only the cross hands depend on them. */
  readonly fractionU?: number;
  readonly fractionV?: number;
  /** A point by default. */
  readonly gaussian?: GaussianAxes;
}

/** A Gaussian's axes across the line of sight, as long as its full widths at half maximum in radians. */
export interface GaussianAxes {
  readonly majorEnu: Vector3;
  readonly minorEnu: Vector3;
}

export interface ModelOptions {
  /** Positions of the stations: x east, y north, z up. */
  readonly stationsM: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  readonly polarisations: 1 | 2;
  readonly components: readonly ModelComponent[];
}

/** M_ij = Σ_q beam_qi conj(beam_qj) flux_q e^(+2πi f (r_i − r_j)·ŝ_q / c), one value for XX and one for YY. */
export function modelVisibilities(options: ModelOptions): ModelCBP {
  const { stationsM, frequenciesHz, polarisations, components } = options;
  const stations = stationsM.length;
  const baselines = baselineCount(stations);
  const channels = frequenciesHz.length;
  const model = modelCBP(
    new Float64Array(2 * channels * baselines * polarisations),
    channels,
    baselines,
    polarisations,
  );
  for (const [q, component] of components.entries()) checkComponent(component, q, channels, stations);
  // e^(+2πi f r·ŝ/c) of each station: a baseline's phase is one station's less the other's
  const phasors = new Float64Array(2 * stations);
  const jy = new Float64Array(polarisations);
  const own = Float64Array.of(1, 0);
  for (let c = 0; c < channels; c++) {
    for (const component of components) {
      fillPhasors(phasors, stationsM, component.directionEnu, frequenciesHz[c]);
      own.set([1, 0]);
      for (let p = 0; p < polarisations; p++) jy[p] = fluxInPolarisation(component, c, p);
      // Pairs in the order of their baselines.
      let at = 2 * c * baselines * polarisations;
      const seen = attenuationOf(component, stationsM, frequenciesHz[c]);
      for (let i = 0; i < 2 * stations; i += 2) {
        for (let j = 0; j <= i; j += 2) {
          const part = seen(i / 2, j / 2);
          const re = part * (phasors[i] * phasors[j] + phasors[i + 1] * phasors[j + 1]);
          const im = part * (phasors[i + 1] * phasors[j] - phasors[i] * phasors[j + 1]);
          for (let p = 0; p < polarisations; p++) {
            if (component.stationBeams) pairResponse(own, component, c, [i / 2, p], [j / 2, p]);
            model[at++] += jy[p] * (own[0] * re - own[1] * im);
            model[at++] += jy[p] * (own[0] * im + own[1] * re);
          }
        }
      }
    }
  }
  return model;
}

export function checkComponent(
  { fluxJy, directionEnu, stationBeams }: ModelComponent,
  q: number,
  channels: number,
  stations: number,
): void {
  if (stationBeams && stationBeams.length !== stations)
    refuse(
      'calibrate model',
      `source ${q} has beams of ${stationBeams.length} stations for ${stations}`,
      'give one a station',
    );
  if (fluxJy.length !== channels) {
    refuse(
      'calibrate model',
      `source ${q} has ${fluxJy.length} fluxes for ${channels} channels`,
      'give one flux a channel',
    );
  }
  const size = Math.sqrt(dot(directionEnu, directionEnu));
  if (!(Math.abs(size - 1) < 1e-6)) {
    refuse(
      'calibrate model',
      `the direction of source ${q} has length ${size}`,
      'directions are unit vectors',
    );
  }
}

function fluxInPolarisation(component: ModelComponent, c: number, p: number): number {
  const { fluxJy, fractionQ = 0 } = component;
  const beam = voltageOf(component, c, p);
  return fluxJy[c] * beam * beam * (p === 0 ? 1 - fractionQ : 1 + fractionQ);
}

/**
 * The response of a baseline to a component: 1 for a point, and for a Gaussian of full width θ along a baseline of u
 * wavelengths e^(−π²θ²u²/(4 ln 2)), along both axes.
 */
export function attenuationOf(
  { gaussian }: Pick<ModelComponent, 'gaussian'>,
  stationsM: readonly Vector3[],
  frequencyHz: number,
): (i: number, j: number) => number {
  if (!gaussian) return () => 1;
  const scale = (Math.PI * frequencyHz) / SPEED_OF_LIGHT_M_PER_S / (2 * Math.sqrt(Math.LN2));
  const along = stationsM.map((place) => [
    scale * dot(place, gaussian.majorEnu),
    scale * dot(place, gaussian.minorEnu),
  ]);
  return (i, j) => Math.exp(-((along[i][0] - along[j][0]) ** 2) - (along[i][1] - along[j][1]) ** 2);
}

/** The element's voltage in a channel, of X (0) or Y (1), where all stations have the same; else 1. */
export function voltageOf(
  { beam = 1, stationBeams }: Pick<ModelComponent, 'beam' | 'stationBeams'>,
  c: number,
  p: number,
): number {
  if (stationBeams) return 1;
  return typeof beam === 'number' ? beam : (p === 0 ? beam.x : beam.y)[c];
}

/** An input: station and polarisation. */
type Input = readonly [station: number, polarisation: number];

/** The response of two inputs' elements to a component where stations differ, b_i·conj(b_j) as [re, im]; else 1. */
export function pairResponse(
  to: Float64Array,
  { stationBeams }: Pick<ModelComponent, 'stationBeams'>,
  c: number,
  [i, p]: Input,
  [j, q]: Input,
): void {
  to[0] = 1;
  to[1] = 0;
  if (!stationBeams) return;
  const [one, other] = [stationBeams[i], stationBeams[j]];
  const [re, otherRe] = [(p === 0 ? one.x : one.y)[c], (q === 0 ? other.x : other.y)[c]];
  const [im, otherIm] = [
    (p === 0 ? one.xIm : one.yIm)?.[c] ?? 0,
    (q === 0 ? other.xIm : other.yIm)?.[c] ?? 0,
  ];
  to[0] = re * otherRe + im * otherIm;
  to[1] = im * otherRe - re * otherIm;
}

/** The same for elements without phases. */
export function pairVoltage(
  { stationBeams }: Pick<ModelComponent, 'stationBeams'>,
  c: number,
  [i, p]: Input,
  [j, q]: Input,
): number {
  if (!stationBeams) return 1;
  const [one, other] = [stationBeams[i], stationBeams[j]];
  if (one.xIm ?? one.yIm ?? other.xIm ?? other.yIm)
    refuse(
      'calibrate model',
      'a beam has phases of its own',
      'matrices of 2 × 2 take beams without; leave out products.gains.polarisation: full, or give the beam as powers',
    );
  return (p === 0 ? one.x : one.y)[c] * (q === 0 ? other.x : other.y)[c];
}

export function fillPhasors(
  phasors: Float64Array,
  stationsM: readonly Vector3[],
  direction: Vector3,
  frequencyHz: number,
): void {
  for (const [s, position] of stationsM.entries()) {
    const angle = (2 * Math.PI * frequencyHz * dot(position, direction)) / SPEED_OF_LIGHT_M_PER_S;
    phasors[2 * s] = Math.cos(angle);
    phasors[2 * s + 1] = Math.sin(angle);
  }
}
