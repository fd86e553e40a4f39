/** Tests a plan: runs images of noise through the composer and compares them with the prediction. */
import type { Backend } from '../backend/backend.js';
import type { CardStep } from '../backend/cuda/meter.js';
import type { Telescope } from '../telescope/telescope.js';
import { spectraInImage } from './memory.js';
import type { KernelCosts, Plan } from './planner.js';
import type { KernelName, MethodName } from './method-names.js';
import { timeImages, type Piece, type TimedImages } from './time-images.js';
import type { Workload } from './workload.js';

/** Seconds per image. */
export interface Compared {
  readonly predictedS: number;
  readonly measuredS: number;
}

export interface MethodRun extends Compared {
  readonly method: MethodName;
  readonly channels: number;
  /** Spectra of each channel in an image. */
  readonly spectra: number;
  readonly images: number;
  /** Seconds of data that were processed, and the computing time. */
  readonly dataS: number;
  readonly elapsedS: number;
  /** Measured over predicted. */
  readonly ratio: number;
  /** For a card. */
  readonly card?: {
    readonly kernels: readonly (Compared & { readonly kernel: KernelName })[];
    readonly bus: { readonly up: Compared; readonly down: Compared };
    readonly memory: { readonly predictedBytes: number; readonly measuredBytes: number };
  };
}

/** A processor runs a part of the workload in which an image should take about this long. */
const AIM_S = 2;
const LEAST_SPECTRA = 8;
const IMAGES = 3;

/** Kernels of one image, without calibration, which runs between images. */
function predict(
  method: MethodName,
  workload: Workload,
  costs: KernelCosts,
  { channels, spectra }: Omit<Piece, 'images'>,
): number {
  const inputs = workload.stations * workload.polarisations;
  const front =
    workload.input === 'voltages' ? costs.channelise.secondsPerUnit * inputs * channels * spectra : 0;
  const back = {
    visibilities: channels * (spectra * costs.correlate.secondsPerUnit + costs.image.secondsPerUnit),
    direct: channels * (spectra * costs['direct image'].secondsPerUnit + costs.finish.secondsPerUnit),
  } satisfies Record<MethodName, number>;
  return front + back[method];
}

/** As many channels as this time allows with the full number of spectra; fewer spectra if not even two channels fit. */
export function choosePiece(method: MethodName, workload: Workload, costs: KernelCosts): Piece {
  const spectra = spectraInImage(workload);
  const least = Math.min(2, workload.channels);
  const perChannel = predict(method, workload, costs, { channels: 1, spectra });
  const channels = Math.min(workload.channels, Math.max(least, Math.floor(AIM_S / perChannel)));
  const share = AIM_S / (perChannel * channels);
  const taken = share >= 1 ? spectra : Math.max(LEAST_SPECTRA, Math.floor(spectra * share));
  return { channels, spectra: Math.min(spectra, taken), images: IMAGES };
}

/** A card runs the whole workload for this many seconds of data. */
export async function runPlan(
  method: MethodName,
  backend: Backend,
  telescope: Telescope,
  { plan, costs, dataS }: { readonly plan: Plan; readonly costs: KernelCosts; readonly dataS: number },
): Promise<MethodRun> {
  const { workload } = plan;
  const { channels, cadenceS } = workload;
  const isCard = backend.kind === 'cuda';
  const piece = isCard
    ? { channels, spectra: spectraInImage(workload), images: Math.max(1, Math.round(dataS / cadenceS)) }
    : choosePiece(method, workload, costs);
  const { load, bus } = plan.methods[method];
  const predictedS = isCard ? cadenceS * Math.max(load, bus.load) : predict(method, workload, costs, piece);
  const { elapsedS, card } = await timeImages(method, backend, telescope, workload, piece);
  const measuredS = elapsedS / piece.images;
  return {
    method,
    ...piece,
    predictedS,
    measuredS,
    ratio: measuredS / predictedS,
    elapsedS,
    dataS: (piece.images * piece.spectra) / workload.channelWidthHz,
    card: card && compareSteps(method, plan, card, piece.images),
  };
}

/** The timed step of each kernel; calibration is not run. */
const stepOf = {
  channelise: 'channelise',
  correlate: 'correlate',
  image: 'image',
  'direct image': 'image',
  finish: 'finish',
  calibrate: undefined,
  beams: undefined,
} as const satisfies Record<KernelName, CardStep | undefined>;

function compareSteps(
  method: MethodName,
  { methods, workload, machine }: Plan,
  { seconds, memoryBytes }: NonNullable<TimedImages['card']>,
  images: number,
): MethodRun['card'] {
  const { kernels, bus } = methods[method];
  const { cadenceS } = workload;
  const perImage = (step: CardStep): number => (seconds[step] ?? 0) / images;
  const across = (bytesPerS: number, busBytesPerS = NaN): number => (cadenceS * bytesPerS) / busBytesPerS;
  return {
    kernels: kernels.flatMap(({ kernel, load }) => {
      const step = stepOf[kernel];
      // Direct images need no correlation here: gains are not solved.
      if (step === undefined || (method === 'direct' && kernel === 'correlate')) return [];
      return [{ kernel, predictedS: cadenceS * load, measuredS: perImage(step) }];
    }),
    bus: {
      up: {
        predictedS: across(bus.upBytesPerS, machine.bus?.upBytesPerS),
        measuredS: perImage('upload'),
      },
      down: {
        predictedS: across(bus.downBytesPerS, machine.bus?.downBytesPerS),
        measuredS: perImage('download'),
      },
    },
    memory: { predictedBytes: methods[method].memoryBytes, measuredBytes: memoryBytes },
  };
}
