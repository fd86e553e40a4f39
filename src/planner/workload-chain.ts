/** The resident chain of a telescope's workload, or of a part of its channels. */
import { planCalibration } from '../calibrate/index.js';
import { channelFrequenciesHz, planChannelise, type ChannelisePlan } from '../channelise/index.js';
import { planImage } from '../image/index.js';
import type { SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { spectraType } from './blocks.js';
import { stationPositions } from '../stages/index.js';
import { cutImage } from './memory.js';
import { planResident, type ResidentPlan } from './resident/plan.js';
import type { RoadName } from './resident/road-names.js';
import type { Workload } from './workload.js';

/** As the papers count: enough for any array. */
const ITERATIONS = 300;

export interface WorkloadPart {
  readonly road: RoadName;
  /** The highest of the band, since they make the widest grids. */
  readonly channels: number;
  readonly everyImages: number;
}

/** A part of a workload as the simulator, the chain and whoever checks its images need it. */
export interface WorkloadChain {
  readonly plan: ResidentPlan;
  /** How voltages become the plan's spectra; done elsewhere where spectra arrive. */
  readonly channelise: ChannelisePlan;
  readonly centreFrequencyHz: number;
  readonly sampleRateHz: number;
}

export const imagesBetweenSolutions = ({ calibrateEveryS, cadenceS }: Workload): number =>
  Math.max(1, Math.round(calibrateEveryS / cadenceS));

export function planWorkloadChain(
  telescope: Telescope,
  frame: SkyFrame,
  workload: Workload,
  { road, channels, everyImages }: WorkloadPart,
): WorkloadChain {
  const { stations, polarisations, taps, bits, channelWidthHz, highestHz } = workload;
  const { spectraPerBlock, blocksPerImage } = cutImage(workload);
  const channelise = planChannelise({
    channels,
    taps,
    inputs: stations * polarisations,
    polarisations,
    inputType: 'ci8',
    outputType: spectraType(bits),
    blockSamples: channels * spectraPerBlock,
  });
  const sampleRateHz = channels * channelWidthHz;
  const centreFrequencyHz = highestHz - sampleRateHz / 2;
  const { placedM, flaggedInputs } = placeOutriggers(telescope, workload);
  const image = planImage({
    pixels: workload.pixels,
    field: workload.field,
    stationsM: placedM,
    axes: frame.tangentAxes(frame.zenith),
    frequenciesHz: channelFrequenciesHz(channelise, centreFrequencyHz, sampleRateHz),
    polarisations,
    kernel: { kind: 'fitted', size: workload.kernelSize },
  });
  const plan = planResident({
    road,
    input:
      workload.input === 'voltages'
        ? { kind: 'voltages', plan: channelise }
        : { kind: 'spectra', type: spectraType(bits), spectraPerBlock },
    image,
    blocksPerImage,
    flaggedInputs,
    calibration: {
      plan: planCalibration({
        stations,
        polarisations,
        channels,
        iterations: { kind: 'fixed', count: ITERATIONS },
      }),
      stationsM: stationPositions(telescope),
      everyImages,
    },
  });
  return { plan, channelise, centreFrequencyHz, sampleRateHz };
}

/**
 * Outriggers that the image leaves out are put where another station stands, so that the grid need not reach them, and
 * flagged, so that they add nothing to it.
 */
export function placeOutriggers(telescope: Telescope, { leftOut, polarisations }: Workload) {
  const positions = stationPositions(telescope);
  const isOut = telescope.stations.map(({ name }) => leftOut.includes(name));
  const anyInside = positions[isOut.indexOf(false)];
  return {
    placedM: positions.map((position, s) => (isOut[s] ? anyInside : position)),
    flaggedInputs: Uint8Array.from({ length: positions.length * polarisations }, (_, a) =>
      isOut[Math.floor(a / polarisations)] ? 1 : 0,
    ),
  };
}
