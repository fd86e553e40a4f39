/**
 * CLEAN: Högbom's minor cycles in the image, and after each the model's visibilities are subtracted from the measured
 * ones, so that the residual is right all over the field despite the beam's edges and the w term.
 */
import { planeML, visibilitiesRC, type PlaneML } from '../../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../../core/errors.js';
import { addRestored, fitBeam } from './beam.js';
import { joinedBlocks } from './collect.js';
import { hogbomFast, type MinorCycle, type MinorResult } from './hogbom.js';
import type { WideImage, WideImager } from './imager.js';
import { rowCount, type WideRows } from './rows.js';

const WHERE = 'clean';

export interface CleanOptions {
  /** The fraction of each peak in a component; 0.1 by default. */
  readonly gain?: number;
  /** Where a minor cycle stops: at 1 − mgain of its first peak; 0.8 by default. */
  readonly mgain?: number;
  /** Components in all; 100,000 by default. */
  readonly mostIterations?: number;
  readonly mostMajorCycles?: number;
  /** Peaks below it give no component. */
  readonly thresholdJy?: number;
  /** The same in units of the residual's noise, which is measured again after each major cycle; 3 by default. */
  readonly autoThreshold?: number;
  /** Down to so many times the noise components may be anywhere, then until the thresholds only at existing ones. */
  readonly autoMask?: number;
  /** mask : [m][l], components only where it is not 0. */
  readonly mask?: Uint8Array;
  /** The loop of a minor cycle; the fast one by default. */
  readonly minorCycle?: (cycle: MinorCycle) => MinorResult;
  readonly onProgress?: (progress: CleanProgress) => void;
}

export interface CleanProgress {
  readonly majorCycle: number;
  readonly iterations: number;
  readonly peakJy: number;
  readonly noiseJy: number;
}

export interface Cleaned {
  /** Jy in each pixel. */
  readonly model: PlaneML;
  /** Jy per beam. */
  readonly dirty: PlaneML;
  readonly residual: PlaneML;
  /** The residual, plus the model convolved with the fitted beam. */
  readonly restored: PlaneML;
  /** The image of a source of 1 Jy in the middle. */
  readonly beam: PlaneML;
  /** Of the visibilities' imaging weights. */
  readonly weightSum: number;
  readonly iterations: number;
  readonly majorCycles: number;
  readonly noiseJy: number;
  /** Why CLEAN stopped. */
  readonly stop: 'threshold' | 'iterations' | 'major cycles';
}

/** Blocks of rows with their imaging weights, the same ones each time they are requested. */
export type RowSource = () => Iterable<WideRows> | AsyncIterable<WideRows>;

/** The residual counts as diverging when it is this much brighter than the dirty image. */
const DIVERGED = 3;

/** CLEANs an image: subtracts bright points with their beams until noise or a limit is reached. */
export async function cleanWide(
  imager: WideImager,
  source: RowSource,
  options: CleanOptions = {},
): Promise<Cleaned> {
  const { pixels } = imager.plan;
  const settings = checkOptions(options, pixels);
  const blocks = (): AsyncIterable<WideRows> => joinedBlocks(source(), imager.plan);
  const { image: dirty, weightSum } = await imageOf(imager, blocks());
  const { image: beam } = await imageOf(imager, withoutVisibilities(blocks()));
  const fittedBeam = fitBeam(imager.plan, beam);
  const model = planeML(new Float64Array(pixels * pixels), pixels);
  let residual = planeML(dirty.slice(), pixels);
  let mask = options.mask;
  let isMasking = options.autoMask !== undefined;
  let iterations = 0;
  let majorCycles = 0;
  const first = peakOf(dirty, mask);
  for (;;) {
    const noiseJy = noiseOf(residual);
    const peakJy = peakOf(residual, mask);
    options.onProgress?.({ majorCycle: majorCycles, iterations, peakJy, noiseJy });
    if (peakJy > DIVERGED * first) refuse(WHERE, 'the residual grows', 'lower the gain or mgain');
    const last = Math.max(settings.thresholdJy, settings.autoThreshold * noiseJy);
    const stage = isMasking ? Math.max(last, settings.autoMask * noiseJy) : last;
    const finish = (stop: Cleaned['stop']): Cleaned => {
      const restored = planeML(residual.slice(), pixels);
      addRestored(imager.plan, restored, model, fittedBeam);
      return {
        model,
        dirty,
        residual,
        restored,
        beam,
        weightSum,
        iterations,
        majorCycles,
        noiseJy,
        stop,
      };
    };
    if (peakJy <= stage && isMasking) {
      isMasking = false;
      mask = whereModel(model, options.mask);
      continue;
    }
    if (peakJy <= stage) return finish('threshold');
    if (iterations >= settings.mostIterations) return finish('iterations');
    if (majorCycles >= settings.mostMajorCycles) return finish('major cycles');
    iterations += settings.minorCycle({
      pixels,
      beam,
      residual,
      model,
      gain: settings.gain,
      mask,
      downTo: Math.max(stage, (1 - settings.mgain) * peakJy),
      mostIterations: settings.mostIterations - iterations,
    });
    majorCycles++;
    residual = await residualOf(imager, blocks(), model);
  }
}

function checkOptions(
  options: CleanOptions,
  pixels: number,
): Required<Omit<CleanOptions, 'mask' | 'onProgress'>> {
  const { autoThreshold = options.thresholdJy === undefined ? 3 : 0, minorCycle = hogbomFast } = options;
  if (options.mask && options.mask.length !== pixels * pixels) {
    refuse(WHERE, `a mask of ${options.mask.length} pixels`, `give ${pixels} × ${pixels}`);
  }
  return {
    gain: realNumber(WHERE, 'gain', options.gain ?? 0.1, 1e-4, 1),
    mgain: realNumber(WHERE, 'mgain', options.mgain ?? 0.8, 1e-3, 1),
    mostIterations: wholeNumber(WHERE, 'iterations', options.mostIterations ?? 100_000, 0, 1e9),
    mostMajorCycles: wholeNumber(WHERE, 'major cycles', options.mostMajorCycles ?? 50, 0, 10_000),
    thresholdJy: realNumber(WHERE, 'threshold in Jy', options.thresholdJy ?? 0, 0, Number.MAX_VALUE),
    autoThreshold: realNumber(WHERE, 'automatic threshold', autoThreshold, 0, 1e6),
    autoMask: realNumber(WHERE, 'automatic mask', options.autoMask ?? 0, 0, 1e6),
    minorCycle,
  };
}

async function imageOf(imager: WideImager, blocks: AsyncIterable<WideRows>): Promise<WideImage> {
  for await (const rows of blocks) await imager.accumulate(rows);
  const made = await imager.finish();
  if (made.visibilities === 0) refuse(WHERE, 'no visibility has any weight', 'look at the flags');
  return made;
}

async function* withoutVisibilities(blocks: AsyncIterable<WideRows>): AsyncIterable<WideRows> {
  for await (const { uvwM, frequenciesHz, weights } of blocks) yield { uvwM, frequenciesHz, weights };
}

/** The image of the residual visibilities. */
async function residualOf(
  imager: WideImager,
  blocks: AsyncIterable<WideRows>,
  model: PlaneML,
): Promise<PlaneML> {
  await imager.loadModel(model);
  const less = async function* (): AsyncIterable<WideRows> {
    for await (const rows of blocks) {
      const predicted = await imager.predict(rows);
      for (let k = 0; k < predicted.length; k++) predicted[k] = (rows.visibilities?.[k] ?? 1) - predicted[k];
      yield { ...rows, visibilities: visibilitiesRC(predicted, rowCount(rows), rows.frequenciesHz.length) };
    }
  };
  return (await imageOf(imager, less())).image;
}

function peakOf(image: PlaneML, mask: Uint8Array | undefined): number {
  let peak = 0;
  for (let k = 0; k < image.length; k++) {
    const value = Math.abs(image[k]);
    if (value > peak && mask?.[k] !== 0) peak = value;
  }
  return peak;
}

/** 1.4826 times the median of |x − median|: the rms of noise, which sources hardly change. */
export function noiseOf(image: PlaneML): number {
  const values = image.filter((value) => !Number.isNaN(value)).sort();
  const median = middleValue(values);
  return 1.4826 * middleValue(values.map((value) => Math.abs(value - median)).sort());
}

const middleValue = (sorted: Float64Array): number =>
  (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;

const whereModel = (model: PlaneML, mask: Uint8Array | undefined): Uint8Array =>
  Uint8Array.from(model, (flux, k) => Number(flux !== 0 && mask?.[k] !== 0));
