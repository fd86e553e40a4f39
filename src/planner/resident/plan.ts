/**
 * The chain that stays on a card, before any data: which steps each block goes through, on which road, and what has to
 * lie in memory for it. Pure.
 *
 *   upload    ░ n+1
 *   compute   ▓▓▓▓▓ n    channelise ─┬─► correlate ─► (calibrate) ─► image               visibilities
 *   download  ▒ n−1                  └─► (correlate ─► calibrate) ─► direct image ─► finish    direct
 *
 * Where interference is looked for, block n + 1 goes up, is channelised and its powers summed while the host judges block n, of
 * which all the rest is made afterwards: one block later than otherwise.
 *
 * An image is made of one block or several. Gains are solved from an image's own data before it is made: on the direct
 * road, which needs them first, from its first block.
 */
import type { CalibrationPlan } from '../../calibrate/index.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import type { SpectraType } from '../../core/axes.js';
import type { SpectraShape } from '../../core/blocks.js';
import { refuse, wholeNumber } from '../../core/errors.js';
import type { Vector3 } from '../../core/vector.js';
import { planCorrelation, type CorrelatePlan } from '../../correlate/index.js';
import type { ImagePlan } from '../../image/index.js';
import type { KurtosisPlan } from '../../kurtosis/index.js';
import { powersBytesOf } from '../../backend/cuda/power-cells.js';
import { flaggerBytes } from '../../kurtosis/on-card.js';
import type { CardPixels } from '../../image/on-card.js';
import type { KernelName, RoadName } from './road-names.js';

export type ResidentInput =
  /** Voltages arrive and are channelised on the card. */
  | { readonly kind: 'voltages'; readonly plan: ChannelisePlan }
  /** Spectra arrive, channelised elsewhere. */
  | { readonly kind: 'spectra'; readonly type: SpectraType; readonly spectraPerBlock: number };

export interface ResidentCalibration {
  readonly plan: CalibrationPlan;
  /** Where the stations really stand; an image may hold outriggers elsewhere. */
  readonly stationsM: readonly Vector3[];
  /** Images from one solution to the next, 1 for every image. */
  readonly everyImages: number;
}

/** What goes down beside the images. */
export type ResidentExtra = 'gains' | 'visibilities';

export interface ResidentOptions {
  readonly road: RoadName;
  readonly input: ResidentInput;
  readonly image: ImagePlan;
  readonly blocksPerImage: number;
  /** flaggedInputs : [a], 1 for an input that is correlated but neither calibrated nor imaged; none unless given. */
  readonly flaggedInputs?: Uint8Array;
  readonly calibration?: ResidentCalibration;
  readonly deliver?: readonly ResidentExtra[];
  /** Of the images; float32 unless given. */
  readonly pixels?: CardPixels;
  /** Interference is taken out of spectra before anything is made of them. */
  readonly kurtosis?: KurtosisPlan | undefined;
}

export interface ResidentPlan {
  readonly road: RoadName;
  readonly input: ResidentInput;
  readonly image: ImagePlan;
  readonly spectra: SpectraShape;
  /** Blocks of spectra on the card at once. */
  readonly spectraBlocks: number;
  readonly blocksPerImage: number;
  readonly flaggedInputs: Uint8Array;
  readonly calibration: ResidentCalibration | undefined;
  /** Present where the road correlates: always by visibilities, for the gains directly. */
  readonly correlation: CorrelatePlan | undefined;
  readonly deliver: readonly ResidentExtra[];
  readonly pixels: CardPixels;
  readonly kurtosis: KurtosisPlan | undefined;
  /** Bytes of one image of all channels and products. */
  readonly imageBytes: number;
  /** Of sums of powers, at the most, where interference is looked for. */
  readonly powerBytes: number;
}

/** Blocks and images at once: being downloaded, being computed, being uploaded. */
export const IN_FLIGHT = 3;
/** Channelised on the card: one is written and read there in turn; two where one is judged while the next is filtered. */
const CHANNELISED_BLOCKS = { plain: 1, judged: 2 } as const;
/** That the flagger has begun and not finished: one is judged, the next is summed. */
export const FLAGGED_BLOCKS = 2;

export type ResidentStep = 'upload' | KernelName | 'flag' | 'download';

const WHERE = 'resident chain';

/** What the whole chain on a card will do and hold; needs no card. */
export function planResident(options: ResidentOptions): ResidentPlan {
  const { road, input, image, calibration, deliver = [], pixels = 'f32' } = options;
  const { channels, stations, polarisations } = image;
  const inputs = stations * polarisations;
  const { kurtosis } = options;
  const spectra: SpectraShape =
    input.kind === 'voltages'
      ? input.plan.output
      : {
          type: input.type,
          channels,
          inputs,
          capacity: wholeNumber(WHERE, 'spectra in a block', input.spectraPerBlock, 1, 2 ** 31 - 1),
        };
  if (spectra.channels !== channels || spectra.inputs !== inputs) {
    refuse(
      WHERE,
      `spectra of ${spectra.channels} channels and ${spectra.inputs} inputs for an image of ${channels} and ${inputs}`,
      'plan both for the same channels and stations',
    );
  }
  if (calibration) checkCalibration(calibration, image);
  if (
    kurtosis &&
    (kurtosis.type !== spectra.type || kurtosis.channels !== channels || kurtosis.inputs !== inputs)
  )
    refuse(WHERE, 'interference is looked for in other spectra than the chain has', 'plan both for the same');
  const flaggedInputs = options.flaggedInputs?.slice() ?? new Uint8Array(inputs);
  if (flaggedInputs.length !== inputs) {
    refuse(WHERE, `${flaggedInputs.length} input flags for ${inputs} inputs`, 'give one for each input');
  }
  const correlates = road === 'visibilities' || calibration !== undefined;
  if (deliver.includes('gains') && !calibration) {
    refuse(WHERE, 'gains were asked for, and none are solved', 'give it a calibration');
  }
  if (deliver.includes('visibilities') && road === 'direct') {
    refuse(WHERE, 'visibilities were asked for by the direct road', 'take the road by visibilities');
  }
  const spectraBlocks =
    input.kind === 'spectra' ? IN_FLIGHT : CHANNELISED_BLOCKS[kurtosis ? 'judged' : 'plain'];
  return {
    road,
    input,
    image,
    spectra,
    spectraBlocks,
    blocksPerImage: wholeNumber(WHERE, 'blocks in an image', options.blocksPerImage, 1, 2 ** 20),
    flaggedInputs,
    calibration,
    correlation: correlates
      ? planCorrelation({ stations, polarisations, channels, type: spectra.type })
      : undefined,
    deliver,
    pixels,
    kurtosis,
    powerBytes: kurtosis
      ? flaggerBytes(kurtosis, spectra, FLAGGED_BLOCKS) +
        spectraBlocks * powersBytesOf({ ...spectra, powers: kurtosis.spectraPerWindow })
      : 0,
    imageBytes: (pixels === 'f64' ? 8 : 4) * channels * image.products * image.pixels ** 2,
  };
}

function checkCalibration({ plan, stationsM, everyImages }: ResidentCalibration, image: ImagePlan): void {
  wholeNumber(WHERE, 'images between calibrations', everyImages, 1, 2 ** 31 - 1);
  const { channels, stations, polarisations } = image;
  if (plan.channels !== channels || plan.stations !== stations || plan.polarisations !== polarisations) {
    refuse(
      WHERE,
      `a calibration of ${plan.channels} channels, ${plan.stations} stations and ${plan.polarisations} polarisations ` +
        `for an image of ${channels}, ${stations} and ${polarisations}`,
      'plan both for the same data',
    );
  }
  if (stationsM.length !== stations) {
    refuse(WHERE, `${stationsM.length} positions for ${stations} stations`, 'give each station its position');
  }
}

type Shape = Pick<ResidentPlan, 'road' | 'blocksPerImage'> & {
  readonly input: Pick<ResidentInput, 'kind'>;
  readonly calibration?: Pick<ResidentCalibration, 'everyImages'> | undefined;
  readonly kurtosis?: KurtosisPlan | undefined;
};

/** Whether image `image` is one that gains are solved from. */
export const solvesIn = ({ calibration }: Pick<Shape, 'calibration'>, image: number): boolean =>
  calibration !== undefined && image % calibration.everyImages === 0;

/**
 * What block `block` goes through, in order, before anything of the image it may complete. Where it is judged by the host, the
 * next one goes through these steps as far as `flag` meanwhile.
 */
export function stepsOf(plan: Shape, block: number): readonly ResidentStep[] {
  const { road, blocksPerImage } = plan;
  const isFirst = block % blocksPerImage === 0;
  const solves = solvesIn(plan, Math.floor(block / blocksPerImage));
  const front: readonly ResidentStep[] = [
    'upload',
    ...(plan.input.kind === 'voltages' ? (['channelise'] as const) : []),
    ...(plan.kurtosis ? (['flag'] as const) : []),
  ];
  const back = {
    visibilities: ['correlate'],
    direct: isFirst && solves ? ['correlate', 'calibrate', 'direct image'] : ['direct image'],
  } as const satisfies Record<RoadName, readonly ResidentStep[]>;
  return [...front, ...back[road]];
}

/** What makes image `image` of the blocks before it. */
export function closingStepsOf(plan: Shape, image: number): readonly ResidentStep[] {
  const steps = {
    visibilities: solvesIn(plan, image) ? ['calibrate', 'image', 'download'] : ['image', 'download'],
    direct: ['finish', 'download'],
  } as const satisfies Record<RoadName, readonly ResidentStep[]>;
  return steps[plan.road];
}
