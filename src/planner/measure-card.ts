/**
 * Computing time per unit of work of each kernel on a card, and its bus rate: images of noise by both methods, on part
 * of the channels, timed step by step.
 */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { CardStep } from '../backend/cuda/meter.js';
import type { Telescope } from '../telescope/telescope.js';
import { secondsPerRun, timeBeams, timeCalibrate } from './measure-costs.js';
import { spectraInImage } from './memory.js';
import type { Cost, KernelCosts, Machine } from './planner.js';
import type { MethodName } from './method-names.js';
import { timeImages, type Piece, type TimedImages } from './time-images.js';
import type { Workload } from './workload.js';

interface CardMeasurement {
  readonly costs: KernelCosts;
  readonly machine: Machine;
}

/** Enough to fill the card with tiles of a 128² image, two per channel. */
const MOST_CHANNELS = 66;
const LEAST_IMAGES = 6;
const LEAST_S = 0.1;

/** Card time of one solve; the host's part does not occupy the card. */
function solveSeconds(backend: CudaBackend, workload: Workload): Promise<number> {
  return timeCalibrate(backend, workload, async (run) => {
    await run();
    backend.meter.begin();
    await run();
    return backend.meter.account()?.seconds.calibrate ?? NaN;
  });
}

export async function measureCard(
  backend: CudaBackend,
  telescope: Telescope,
  workload: Workload,
): Promise<CardMeasurement> {
  const piece: Piece = {
    channels: Math.min(MOST_CHANNELS, workload.channels),
    spectra: spectraInImage(workload),
    images: Math.max(LEAST_IMAGES, Math.ceil(LEAST_S / workload.cadenceS)),
  };
  const accountOf = async (method: MethodName): Promise<NonNullable<TimedImages['card']>> => {
    const { card } = await timeImages(method, backend, telescope, workload, piece);
    if (!card) throw new Error(`${method}: nothing was metered`);
    return card;
  };
  const [correlated, direct] = [await accountOf('visibilities'), await accountOf('direct')];
  const cost = ({ seconds }: typeof direct, step: CardStep, units: number): Cost => {
    const taken = seconds[step];
    // A kernel that the workload does not use costs nothing.
    if (taken === undefined) return { secondsPerUnit: 0, basis: 'estimated' };
    return { secondsPerUnit: taken / units, basis: 'measured' };
  };
  const images = piece.images * piece.channels;
  const spectra = images * piece.spectra;
  const calibrate = await solveSeconds(backend, workload);
  const { seconds, uploadedBytes, downloadedBytes } = correlated;
  return {
    costs: {
      channelise: cost(correlated, 'channelise', spectra * workload.stations * workload.polarisations),
      correlate: cost(correlated, 'correlate', spectra),
      calibrate: { secondsPerUnit: calibrate, basis: 'measured' },
      image: cost(correlated, 'image', images),
      'direct image': cost(direct, 'image', spectra),
      finish: cost(direct, 'finish', images),
      beams: await timeBeams(backend, workload, { channels: piece.channels, samples: 1024 }, (run) =>
        secondsPerRun(run, LEAST_S),
      ),
    },
    machine: {
      title: backend.description,
      countedAs: 'card',
      memoryBytes: backend.session.device.memoryBytes,
      bus: {
        upBytesPerS: uploadedBytes / (seconds.upload ?? NaN),
        downBytesPerS: downloadedBytes / (seconds.download ?? NaN),
      },
    },
  };
}
