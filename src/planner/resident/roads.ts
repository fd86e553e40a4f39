/** The two roads on a card: what each of their steps queues on the compute stream. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import { prepareResidentCalibrator, type ResidentCalibrator } from '../../calibrate/on-card.js';
import { gainsCA, type GainsCA } from '../../core/axes.js';
import type { Closers } from '../../core/closing.js';
import {
  prepareCudaDirectImager,
  prepareCudaVisibilityImager,
  prepareImageScaler,
} from '../../image/on-card.js';
import { prepareResidentCorrelations, type ResidentCorrelations } from './correlations.js';
import type { ResidentPlan } from './plan.js';
import type { KernelName } from './road-names.js';

/** What a step works on: the block at hand, and where the image in the making will lie. */
export interface StepWork {
  readonly block: CudaSpectraBlock;
  /** to : [c][product][m][l] float32. */
  readonly to: DevicePointer;
  /** And its weights : [c][product] float64; where Im XY has none, Re XY's are its. */
  readonly weightsTo: DevicePointer;
}

export interface ResidentRoad {
  /** Queues a step in order on the compute stream. */
  readonly steps: Readonly<Partial<Record<KernelName, (work: StepWork) => Promise<void>>>>;
  /** Spectra in the image that was finished last. */
  samples(): number;
  readonly calibrator: ResidentCalibrator | undefined;
  /** Gains for all images from now on, where none are solved on the card; the direct road alone takes them. */
  readonly setGains?: (gains: GainsCA, solved: Uint8Array) => void;
  /** visibilities : [c][b][p_i][p_j] complex float64 of the image that was finished last. */
  readonly visibilities: DeviceMemory | undefined;
  readonly description: string;
}

/** Everything that a road makes is handed to `closers`, so that it goes also when a later part fails. */
export async function prepareRoad(
  plan: ResidentPlan,
  backend: CudaBackend,
  closers: Closers,
): Promise<ResidentRoad> {
  const correlations =
    plan.correlation && closers.keep(await prepareResidentCorrelations(plan.correlation, backend));
  const calibrator = plan.calibration && closers.keep(await prepareCalibrator(plan, backend));
  return plan.road === 'direct'
    ? directRoad(plan, backend, closers, { correlations, calibrator })
    : visibilityRoad(plan, backend, closers, { correlations, calibrator });
}

const prepareCalibrator = (plan: ResidentPlan, backend: CudaBackend): Promise<ResidentCalibrator> => {
  const { calibration, image, flaggedInputs } = plan;
  if (!calibration) throw new Error('a chain without calibration has no calibrator');
  const { stationsM } = calibration;
  const { frequenciesHz } = image;
  return prepareResidentCalibrator(calibration.plan, backend, { stationsM, frequenciesHz, flaggedInputs });
};

interface Solving {
  readonly correlations: ResidentCorrelations | undefined;
  readonly calibrator: ResidentCalibrator | undefined;
}

async function visibilityRoad(
  plan: ResidentPlan,
  backend: CudaBackend,
  closers: Closers,
  { correlations, calibrator }: Solving,
): Promise<ResidentRoad> {
  if (!correlations) throw new Error('the road by visibilities correlates');
  const { session } = backend;
  const imager = closers.keep(await prepareCudaVisibilityImager(plan.image, backend));
  const scaler = closers.keep(await prepareImageScaler(plan.image, backend, plan.pixels));
  const flags = closers.keep(await uploadArray(session, 'input flags', plan.flaggedInputs));
  const factors =
    calibrator?.factors ?? closers.keep(await uploadArray(session, 'factors', unsolvedGains(plan).gains));
  let samples = 0;
  let isSettled = false;
  /** Once an image, before the first step that needs its visibilities. */
  const settle = async (): Promise<void> => {
    if (isSettled) return;
    samples = await correlations.finish();
    isSettled = true;
  };
  const { visibilities, counts } = correlations;
  return {
    steps: {
      correlate: async ({ block }) => {
        isSettled = false;
        await correlations.accumulate(block);
      },
      calibrate: async () => {
        await settle();
        calibrator?.solve({ visibilities: visibilities.pointer, counts: counts.pointer });
      },
      image: async ({ to, weightsTo }) => {
        await settle();
        const source = {
          ...{ visibilities: visibilities.pointer, weights: counts.pointer, weightsPerBaseline: 1 },
          ...{ factors: factors.pointer, flags: flags.pointer },
        };
        imager.imageOnDevice(source, { weightsTo });
        scaler.scale({ sums: imager.sums.pointer, weights: weightsTo, to });
      },
    },
    samples: () => samples,
    calibrator,
    visibilities,
    description: imager.description,
  };
}

async function directRoad(
  plan: ResidentPlan,
  backend: CudaBackend,
  closers: Closers,
  { correlations, calibrator }: Solving,
): Promise<ResidentRoad> {
  const imager = closers.keep(await prepareCudaDirectImager(plan.image, backend, { pixels: plan.pixels }));
  await imager.prepare(plan.spectra);
  const { gains, solved } = unsolvedGains(plan);
  imager.setGains(gains, solved);
  let samples = 0;
  return {
    steps: {
      correlate: async ({ block }) => {
        await correlations?.accumulate(block);
      },
      calibrate: async () => {
        if (!correlations || !calibrator) return;
        await correlations.finish();
        const { visibilities, counts } = correlations;
        calibrator.solve({ visibilities: visibilities.pointer, counts: counts.pointer });
        imager.setGainsOnDevice(calibrator.gains.pointer, calibrator.solved.pointer);
      },
      'direct image': ({ block }) => imager.accumulate(block),
      finish: async ({ to, weightsTo }) => {
        ({ samples } = await imager.finishOnDevice(to, weightsTo));
      },
    },
    samples: () => samples,
    calibrator,
    setGains: (given, isSolved) => {
      imager.setGains(given, isSolved);
    },
    visibilities: undefined,
    description: imager.describe(plan.spectra),
  };
}

/** Before anything is solved, or where nothing will be: 1 for every input that takes part. */
function unsolvedGains({ image, flaggedInputs }: ResidentPlan) {
  const inputs = flaggedInputs.length;
  const solved = Uint8Array.from(
    { length: image.channels * inputs },
    (_, at) => 1 - flaggedInputs[at % inputs],
  );
  const gains = Float64Array.from({ length: 2 * solved.length }, (_, n) => (n % 2 === 0 ? solved[n / 2] : 0));
  return { gains: gainsCA(gains, image.channels, inputs), solved };
}
