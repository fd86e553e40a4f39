/** The plan of a beamformer, before any data: pure, and the same for every backend. */
import type { SpectraType } from '../core/axes.js';
import { checkBlock, type SpectraBlock } from '../core/blocks.js';
import { refuse, wholeNumber } from '../core/errors.js';

const MOST_STATIONS = 2 ** 14;
const MOST_CHANNELS = 2 ** 20;
const MOST_BEAMS = 2 ** 12;

/** A weight's parts: int8, −127…127, or float32. */
export type WeightType = 'ci8' | 'cf32';

export interface BeamOptions {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  readonly type: SpectraType;
  readonly beams: number;
  readonly weights: WeightType;
}

export interface BeamPlan extends BeamOptions {
  /** stations · polarisations */
  readonly inputs: number;
  /** Sums of integer spectra with integer weights are exact: at most 2·127²·stations, below 2³¹. */
  readonly sums: 'ci32' | 'cf32';
}

export function planBeams(options: BeamOptions): BeamPlan {
  const { polarisations, type, weights } = options;
  const stations = wholeNumber('beams', 'stations', options.stations, 1, MOST_STATIONS);
  const channels = wholeNumber('beams', 'channels', options.channels, 1, MOST_CHANNELS);
  const beams = wholeNumber('beams', 'the number of beams', options.beams, 1, MOST_BEAMS);
  return {
    stations,
    polarisations,
    channels,
    type,
    beams,
    weights,
    inputs: stations * polarisations,
    sums: type !== 'cf32' && weights === 'ci8' ? 'ci32' : 'cf32',
  };
}

/** weights : [c][b][a], complex. */
export const weightsLength = ({ channels, beams, inputs }: BeamPlan): number => 2 * channels * beams * inputs;

/** voltages : [c][b][p][t], complex. */
export const voltagesLength = ({ channels, beams, polarisations }: BeamPlan, samples: number): number =>
  2 * channels * beams * polarisations * samples;

export function checkVoltages(plan: BeamPlan, samples: number, into: Int32Array | Float32Array): void {
  const kind = plan.sums === 'ci32' ? Int32Array : Float32Array;
  if (!(into instanceof kind) || into.length !== voltagesLength(plan, samples))
    refuse('beams', `room for ${into.length} numbers`, `give [c][b][p][t] complex as ${kind.name}`);
}

export function checkWeights(plan: BeamPlan, weights: Int8Array | Float32Array): void {
  const isInteger = plan.weights === 'ci8';
  if (isInteger !== weights instanceof Int8Array || weights.length !== weightsLength(plan))
    refuse(
      'beams',
      `${weights.length} weights were given as ${weights.constructor.name}`,
      `give [c][b][a] complex, ${weightsLength(plan)} numbers as ${isInteger ? 'Int8Array' : 'Float32Array'}`,
    );
  let bad = 0;
  while (bad < weights.length && (isInteger ? weights[bad] !== -128 : Number.isFinite(weights[bad]))) bad++;
  if (bad < weights.length)
    refuse(
      'beams',
      `weight ${bad} is ${weights[bad]}`,
      isInteger ? 'keep to −127…127' : 'give finite numbers',
    );
}

/** The detections of a beam's power: I; XX and YY; or I, Q, U, V in the frame of the feeds. */
export const detections = { I: 1, 'XX,YY': 2, IQUV: 4 } as const;
export type Detection = keyof typeof detections;

/** Where a block's spectra go: spectrum t to bin ⌊(offset + t) / spectraPerBin⌋. */
export interface Bins {
  readonly detection: Detection;
  readonly spectraPerBin: number;
  /** Of the block's first spectrum within the first bin. */
  readonly offset: number;
  readonly bins: number;
}

export const checkBeamBlock = (plan: BeamPlan, block: SpectraBlock): void => {
  checkBlock('beams', plan, block);
};

/** powers : [b][d][bin][c]. */
export const powersLength = ({ beams, channels }: BeamPlan, { detection, bins }: Bins): number =>
  beams * detections[detection] * bins * channels;

export function checkBins(plan: BeamPlan, block: SpectraBlock, bins: Bins, into: Float64Array): void {
  const { detection, spectraPerBin, offset, bins: many } = bins;
  if (plan.polarisations === 1 && detection !== 'I')
    refuse('beams', `${detection} needs two polarisations, and stations have one`, 'detect I');
  wholeNumber('beams', 'spectra per bin', spectraPerBin, 1, Number.MAX_SAFE_INTEGER);
  wholeNumber('beams', 'offset', offset, 0, spectraPerBin - 1);
  const needed = Math.ceil((offset + block.samples) / spectraPerBin);
  if (many < needed) refuse('beams', `${many} bins for ${needed}`, 'give room for all of the block');
  if (into.length !== powersLength(plan, bins))
    refuse('beams', `room for ${into.length} powers`, `give [b][d][bin][c], ${powersLength(plan, bins)}`);
}
