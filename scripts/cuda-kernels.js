// Every kernel over a set of plans, with its GPU architectures, for check-cuda.js. A new kernel is a line here.
import { ceilingRequest } from '../dist/backend/cuda/ceilings.js';
import { spectraRequest } from '../dist/backend/cuda/spectra.js';
import { planBeamFinish, planBeamKernel, planStations } from '../dist/beamform/cuda/plan.js';
import { planBeams } from '../dist/beamform/plan.js';
import { planChip, planMatrices, planStreaming } from '../dist/calibrate/cuda/plan.js';
import { planFullChip } from '../dist/calibrate/full/cuda/chip-plan.js';
import {
  planFullCommon,
  planFullFit,
  planFullMix,
  planFullSizes,
  planFullStep,
} from '../dist/calibrate/full/cuda/plan.js';
import { planLong } from '../dist/channelise/cuda/long.js';
import { planFused, planStream } from '../dist/channelise/cuda/plan.js';
import { planTensor } from '../dist/channelise/cuda/tensor.js';
import { planTurnKernel } from '../dist/channelise/turn/cuda/prepare.js';
import { planChannelise } from '../dist/channelise/plan.js';
import { hopperVariants, planFloatEngine, planTotals, planXEngine } from '../dist/correlate/cuda/plan.js';
import { planPowerSums } from '../dist/kurtosis/cuda/plan.js';
import { planFactors, planFinish } from '../dist/image/cuda/plan.js';
import { FOLDED_BOXES, planGridding, planImaging } from '../dist/image/direct/cuda/folded-plan.js';
import { halfCeilingRequest } from '../dist/image/direct/cuda/half-ceiling.js';
import { planPowers } from '../dist/image/direct/cuda/powers.js';
import { planSingle } from '../dist/image/direct/cuda/single-plan.js';
import { planVisibilities } from '../dist/image/flat/cuda/plan.js';
import { planFft, planGrid, planSort } from '../dist/image/wide/cuda/plan.js';
import { planWide } from '../dist/image/wide/plan.js';
import { chips } from '../dist/packets/chips.js';
import { speadFeng } from '../dist/packets/spead/feng.js';
import { planTurn } from '../dist/receive/cuda/plan.js';
import { planRing } from '../dist/receive/plan.js';

/** @typedef {import('../dist/backend/cuda/kernels.js').KernelRequest} KernelRequest */
/** @typedef {{ request: KernelRequest, architecture: string }} KernelJob */
/** @typedef {import('../dist/core/axes.js').VoltageType} VoltageType */
/** @typedef {import('../dist/core/axes.js').SpectraType} SpectraType */

export const everywhere = ['sm_80', 'sm_90a', 'sm_120'];
const hopper = ['sm_90a'];

/** @returns {KernelJob[]} */
export const kernelJobs = () => [
  ...ceilings(),
  ...turns(),
  ...correlators(),
  ...beamformers(),
  ...imagers(),
  ...wideImagers(),
  ...channelisers(),
  ...flaggers(),
  ...turners(),
  ...calibrators(),
];

/**
 * @param {readonly string[]} architectures
 * @param {readonly KernelRequest[]} requests
 * @returns {KernelJob[]}
 */
const jobs = (architectures, ...requests) =>
  requests.flatMap((request) => architectures.map((architecture) => ({ request, architecture })));

const ceilings = () => [
  ...jobs(everywhere, spectraRequest(), ceilingRequest('tensor'), ceilingRequest('dp4a')),
  ...jobs(hopper, ceilingRequest('hopper'), halfCeilingRequest()),
];

/** Packets of many inputs, of two, and of bytes in parts of a band. */
function turns() {
  const streams = [
    chips.plan({ boards: [1, 2], channels: 132, firstChannel: 0 }),
    chips.plan({ boards: [3], channels: 5, firstChannel: 0, subbands: 2 }),
    speadFeng.plan({
      antennas: [0, 1, 2],
      firstChannel: 0,
      channelsPerHeap: 4,
      spectraPerHeap: 16,
      ticksPerSpectrum: 64,
      packetBytes: 64,
    }),
  ];
  return streams.flatMap((stream) => jobs(everywhere, planTurn(planRing(stream, { slotsPerBlock: 70 }))));
}

function correlators() {
  const shapes = /** @type {const} */ ([
    { inputs: 1, polarisations: 1 },
    { inputs: 66, polarisations: 2 },
    { inputs: 1024, polarisations: 2 },
  ]);
  const modes = /** @type {const} */ (['replace', 'add']);
  const variants = /** @type {(keyof typeof hopperVariants)[]} */ (Object.keys(hopperVariants));
  return shapes.flatMap((shape) => [
    ...jobs(everywhere, planFloatEngine(shape).request, planTotals(shape)),
    ...modes.flatMap((mode) => [
      ...jobs(
        everywhere,
        planXEngine(shape, 'tensor', { mode }).request,
        planXEngine(shape, 'dp4a', { mode }).request,
      ),
      ...variants
        .filter((variant) => shape.inputs <= hopperVariants[variant].mostInputs)
        .flatMap((variant) => jobs(hopper, planXEngine(shape, 'hopper', { mode, variant }).request)),
    ]),
  ]);
}

/** Every tile width, one and two polarisations; integers, and floats for each. */
function beamformers() {
  /** @type {[number, 1 | 2, number][]} */
  const shapes = [
    [1, 1, 1],
    [70, 2, 17],
    [256, 2, 64],
    [64, 1, 50],
    [512, 1, 256],
  ];
  /** @type {[SpectraType, 'ci8' | 'cf32'][]} */
  const floats = [
    ['ci8', 'cf32'],
    ['cf32', 'ci8'],
    ['cf32', 'cf32'],
  ];
  return shapes.flatMap(([stations, polarisations, beams]) => {
    const common = { stations, polarisations, beams, channels: 3 };
    const integer = planBeams({ ...common, type: 'ci8', weights: 'ci8' });
    return [
      ...jobs(hopper, planBeamKernel(integer, 'hopper').request),
      ...jobs(
        everywhere,
        ...[planBeamKernel(integer, 'tensor').request, planBeamKernel(integer, 'dp4a').request],
        ...[planBeamFinish(integer), planStations(integer)],
        ...floats.map(
          ([type, weights]) => planBeamKernel(planBeams({ ...common, type, weights }), 'hopper').request,
        ),
      ),
    ];
  });
}

/** Every box, one and two polarisations, odd sizes. */
function imagers() {
  const shapes = /** @type {const} */ ([
    { pixels: 66, stations: 1, polarisations: 1, kernelSize: 1 },
    { pixels: 128, stations: 256, polarisations: 2, kernelSize: 5 },
    { pixels: 1024, stations: 33, polarisations: 2, kernelSize: 7 },
  ]);
  const samples = /** @type {const} */ (['integer', 'float']);
  const precisions = /** @type {const} */ (['half', 'split']);
  return [
    ...jobs(everywhere, planFinish()),
    ...shapes.flatMap((shape) => [
      ...jobs(everywhere, planFactors(shape), planVisibilities(shape)),
      ...samples.flatMap((kind) =>
        jobs(
          everywhere,
          planSingle(shape, { rows: 31, columns: 33, samples: kind }),
          planPowers(shape, kind),
        ),
      ),
      ...FOLDED_BOXES.flatMap((box) =>
        precisions.flatMap((precision) => {
          const { request, refining } = planImaging(shape, { box, precision, steps: 1000 });
          const refinings = refining ? [refining.request] : [];
          return jobs(hopper, planGridding(shape, box, precision).request, request, ...refinings);
        }),
      ),
    ]),
  ];
}

/** Both precisions, with one plane and with many, and transforms of every radix. */
function wideImagers() {
  const flat = { leastWLambda: 0, mostWLambda: 0, visibilities: 1e6 };
  const deep = { leastWLambda: 0, mostWLambda: 1000, visibilities: 1e6 };
  const card = { sharedBytesPerBlock: 99 * 1024 };
  const options = /** @type {const} */ ([
    { pixels: 64, pixelCosine: 2 / 64, bounds: flat },
    { pixels: 250, pixelCosine: 1e-3, bounds: deep, accuracy: 1e-2 },
    { pixels: 1024, pixelCosine: 1e-3, bounds: deep },
    { pixels: 4096, pixelCosine: 1e-4, bounds: deep, scale: 'flux-over-n' },
    { pixels: 512, pixelCosine: 1e-3, bounds: deep, accuracy: 1e-7 },
  ]);
  return options.flatMap((one) => {
    const plan = planWide({ ...one, costs: 'cuda' });
    return jobs(everywhere, planSort(plan), planGrid(plan, card).request, planFft(plan, card).request);
  });
}

/** Integers and floats, one polarisation and two. */
const flaggers = () => jobs(everywhere, planPowerSums({ type: 'ci8' }), planPowerSums({ type: 'cf32' }));

const turners = () => jobs(everywhere, planTurnKernel({ type: 'ci8' }), planTurnKernel({ type: 'cf32' }));

/** Every pass, sample and output type of the channeliser, and its kernels for one shape each. */
function channelisers() {
  /**
   * @param {number} channels
   * @param {number} taps
   * @param {VoltageType} inputType
   * @param {SpectraType} outputType
   * @param {{ readonly mostDelaySamples?: number }} delays
   */
  const plan = (channels, taps, inputType, outputType, delays = {}) =>
    planChannelise({
      ...delays,
      channels,
      taps,
      inputType,
      outputType,
      inputs: 2,
      polarisations: 1,
      blockSamples: 64 * channels,
    });
  /** @type {[number, number, VoltageType, SpectraType][]} */
  const shapes = [
    [16, 4, 'ci8', 'ci8'],
    [15, 256, 'i8', 'ci4'],
    [1024, 8, 'ci16', 'cf32'],
    [4096, 8, 'ci8', 'ci8'],
    [75, 3, 'i16', 'ci8'],
    [8192, 16, 'f32', 'cf32'],
    [97, 5, 'cf32', 'ci8'],
    [66, 3, 'i8', 'ci8'],
    [132, 8, 'ci8', 'ci4'],
    [1001, 3, 'ci8', 'ci8'],
    [2100, 8, 'i16', 'ci8'],
    [102, 3, 'i8', 'ci8'],
    [2 ** 20, 4, 'ci8', 'ci8'],
  ];
  /** Those that also sum powers. @type {[number, number, VoltageType, SpectraType][]} */
  const summed = [
    [256, 8, 'ci8', 'ci8'],
    [1000, 4, 'i8', 'ci4'],
    [8192, 4, 'ci8', 'ci8'],
    [1024, 8, 'ci8', 'cf32'],
    [4095, 4, 'cf32', 'cf32'],
  ];
  /** @param {(what: { gaps: boolean, powers: boolean }) => KernelRequest} request */
  const everyKind = (request) =>
    [false, true].flatMap((powers) => [false, true].map((gaps) => request({ gaps, powers })));
  /** @param {ReturnType<typeof planFused>} fused */
  const allPasses = ({ passes }) => passes.flatMap(({ request }) => jobs(everywhere, request));
  const delayed = { mostDelaySamples: 100 };
  const card = /** @type {const} */ ({ capability: 90, sharedBytesPerBlock: 232_448, path: 'hopper' });
  return [
    ...jobs(everywhere, planStream()),
    ...shapes.flatMap((shape) =>
      [101_376, 232_448].flatMap((sharedBytesPerBlock) =>
        allPasses(planFused(plan(...shape), { sharedBytesPerBlock })),
      ),
    ),
    ...shapes.slice(0, 8).flatMap((shape) => allPasses(planFused(plan(...shape, delayed), card))),
    ...summed.flatMap((shape) => {
      const fused = planFused(plan(...shape), card, { powers: true });
      if (!fused.sumsPowers) throw new Error(`powers of ${shape.join(', ')} are no longer summed`);
      return allPasses(fused);
    }),
    ...[8, 16].flatMap((taps) => {
      const tensor = planTensor(plan(1024, taps, 'ci8', 'ci8', delayed), card);
      if (!tensor) throw new Error(`tensor cores no longer take ${taps} taps with delays`);
      return jobs(hopper, ...everyKind(tensor.request));
    }),
    ...[1, 8, 13, 17].flatMap((taps) => {
      const tensor = planTensor(plan(1024, taps, 'ci8', 'ci8'), card);
      const long = planLong(plan(4096, taps, 'ci8', 'ci8'), card);
      if (!tensor || !long) throw new Error(`tensor cores no longer take ${taps} taps`);
      const ofLong = [false, true].map((powers) => long.request({ gaps: false, powers }));
      return jobs(hopper, ...everyKind(tensor.request), ...ofLong);
    }),
  ];
}

/** StEFCal in the on-chip memory of several GPUs. */
function calibrators() {
  const sizes = [
    { stations: 3, solves: 2 },
    { stations: 33, solves: 4 },
    { stations: 256, solves: 264 },
    { stations: 500, solves: 20 },
    { stations: 1000, solves: 1 },
    { stations: 2000, solves: 1 },
  ];
  const cards = [
    { architecture: 'sm_80', multiprocessors: 108, sharedBytesPerBlock: 166_912 },
    { architecture: 'sm_90a', multiprocessors: 132, sharedBytesPerBlock: 232_448 },
    { architecture: 'sm_120', multiprocessors: 188, sharedBytesPerBlock: 101_376 },
  ];
  const rules = /** @type {const} */ (['fixed', 'until']);
  return [
    ...jobs(everywhere, planMatrices(), planStreaming(), planFullStep(), planFullMix(), planFullCommon()),
    ...jobs(everywhere, planFullFit(), planFullSizes()),
    ...fullChips(cards),
    ...sizes.flatMap(({ stations, solves }) =>
      cards.flatMap(({ architecture, ...card }) =>
        rules.flatMap((rule) => {
          const chip = planChip(stations, solves, { capability: 80, ...card }, rule);
          return chip ? jobs([architecture], chip.request) : [];
        }),
      ),
    ),
  ];
}

/**
 * Every form of model: a single block, several blocks per solve, and mixed steps.
 * @param {readonly { architecture: string, multiprocessors: number, sharedBytesPerBlock: number }[]} cards
 */
const fullChips = (cards) =>
  cards.flatMap(({ architecture, ...card }) =>
    /** @type {const} */ ([0, 1, 2]).flatMap((form) =>
      /** @type {const} */ ([
        [19, 2, 'until'],
        [64, 384, 'fixed'],
        [256, 64, 'fixed'],
      ]).flatMap(([stations, solves, rule]) => {
        const chip = planFullChip({ stations, solves, form }, { capability: 80, ...card }, rule);
        return chip ? jobs([architecture], chip.request) : [];
      }),
    ),
  );
