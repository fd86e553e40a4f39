/** A calibration with known truth: visibilities of a known sky through known gains, with noise. */
import type { Backend } from '../backend/backend.js';
import { planCalibration, prepareCalibrator, type Calibration } from '../calibrate/index.js';
import { baselineCount, baselineIndex, countsCB, modelCBP, visibilitiesCBPP } from '../core/axes.js';
import { closingAfter } from '../core/closing.js';
import { randomStream } from '../core/random.js';

export const STATIONS = 24;
/** Of a visibility over its noise, for amplitudes of 1. */
export const SIGNAL_TO_NOISE = 3;

export function drawGains(): Float64Array {
  const random = randomStream(3, 'gains');
  const truth = new Float64Array(2 * STATIONS);
  for (let a = 0; a < STATIONS; a++) {
    const amplitude = Math.exp(0.2 * random.gaussian());
    // The reference's phase is zero, as in the solver.
    const phase = a === 0 ? 0 : 2 * Math.PI * random.uniform();
    truth[2 * a] = amplitude * Math.cos(phase);
    truth[2 * a + 1] = amplitude * Math.sin(phase);
  }
  return truth;
}

interface Data {
  readonly visibilities: Float64Array;
  /** [b] complex, of two interfering sources: its amplitude differs between pairs. */
  readonly model: Float64Array;
}

function observed(truth: Float64Array, channels: number, noise: number): Data {
  const baselines = baselineCount(STATIONS);
  const random = randomStream(5, 'visibilities');
  const model = new Float64Array(2 * baselines);
  const visibilities = new Float64Array(2 * channels * baselines);
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      const phase = 2 * Math.PI * 0.37 * (i - j);
      const [re, im] = [1 + 0.4 * Math.cos(phase), 0.4 * Math.sin(phase)];
      model[2 * b] = re;
      model[2 * b + 1] = im;
      const [gi, hi, gj, hj] = [truth[2 * i], truth[2 * i + 1], truth[2 * j], truth[2 * j + 1]];
      const [pairRe, pairIm] = [gi * gj + hi * hj, hi * gj - gi * hj];
      for (let c = 0; c < channels; c++) {
        const at = 2 * (c * baselines + b);
        visibilities[at] = pairRe * re - pairIm * im + (noise / Math.SQRT2) * random.gaussian();
        visibilities[at + 1] = pairRe * im + pairIm * re + (noise / Math.SQRT2) * random.gaussian();
      }
    }
  return { visibilities, model };
}

export const solve = (
  backend: Backend,
  truth: Float64Array,
  channels: number,
  iterations?: number,
): Promise<{ readonly calibration: Calibration; readonly data: Data }> =>
  closingAfter(async (closers) => {
    const baselines = baselineCount(STATIONS);
    const data = observed(truth, channels, 1 / SIGNAL_TO_NOISE);
    const plan = planCalibration({
      stations: STATIONS,
      polarisations: 1,
      channels,
      referenceStation: 0,
      ...(iterations !== undefined && { iterations: { kind: 'fixed', count: iterations } }),
    });
    const calibrator = closers.keep(await prepareCalibrator(plan, backend));
    const model = new Float64Array(channels * data.model.length);
    for (let c = 0; c < channels; c++) model.set(data.model, c * data.model.length);
    const calibration = await calibrator.solve({
      visibilities: visibilitiesCBPP(data.visibilities, channels, baselines, 1),
      counts: countsCB(new Float64Array(channels * baselines).fill(1), channels, baselines),
      flaggedInputs: new Uint8Array(STATIONS),
      model: modelCBP(model, channels, baselines, 1),
    });
    return { calibration, data };
  });

/** Gains of a few channels, for comparing backends. */
export async function solveCase(backend: Backend): Promise<Float64Array> {
  const { calibration } = await solve(backend, drawGains(), 3);
  return calibration.gains;
}
