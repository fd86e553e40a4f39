/**
 * The whole chain on a card: voltages or spectra from host memory in, finished float32 images out, and nothing in
 * between comes back. While a block is worked on, the next one goes up and the image before comes down, each on a stream
 * of its own.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import { offsetBy, type DeviceMemory, type PinnedMemory } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import type { ModelComponent } from '../../calibrate/index.js';
import {
  gainsCA,
  imageCPML,
  imageF32CPML,
  visibilitiesCBPP,
  type GainsCA,
  type ImageCPML,
  type ImageF32CPML,
  type VisibilitiesCBPP,
  type WeightsCP,
} from '../../core/axes.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { KurtosisTally, prepareFlagger } from '../../kurtosis/index.js';
import { LapClock, type Marks } from '../../backend/cuda/lap-clock.js';
import { prepareFront, type HostBlock } from './front.js';
import {
  FLAGGED_BLOCKS,
  IN_FLIGHT,
  closingStepsOf,
  solvesIn,
  stepsOf,
  type ResidentPlan,
  type ResidentStep,
} from './plan.js';
import { prepareRoad } from './roads.js';
import { doubles, prepareSlot, weightsOf, type Flight, type Slot } from './slots.js';

export type { HostBlock, HostSpectra } from './front.js';

/** Valid until the next one is asked for: the memory is used again. */
export interface ResidentImage {
  readonly index: number;
  /** NaN where nothing is shown; float32 or float64 as the plan says. */
  readonly image: ImageF32CPML | ImageCPML;
  /** Spectra in it. */
  readonly samples: number;
  /** What each plane was divided by: channels are averaged by it. */
  readonly weights: WeightsCP;
  /** Where they were asked for and solved from this image: 0 where an input has none. */
  readonly gains?: GainsCA;
  readonly visibilities?: VisibilitiesCBPP;
}

export interface ResidentTimes {
  readonly blocks: number;
  readonly images: number;
  readonly uploadedBytes: number;
  readonly downloadedBytes: number;
  /** Seconds that the card, or the bus, spent on each step. */
  readonly seconds: Readonly<Partial<Record<ResidentStep, number>>>;
  /** The shortest that a step took for one block or image. */
  readonly leastSeconds: Readonly<Partial<Record<ResidentStep, number>>>;
}

export interface ResidentChain extends Closable {
  readonly plan: ResidentPlan;
  readonly description: string;
  /** The sources that gains are solved with, from the next block on. */
  setSky(components: readonly ModelComponent[]): Promise<void>;
  /** Gains for all images from now on, where none are solved; [c][a], those with solved = 0 left out. Direct road alone. */
  setGains(gains: GainsCA, solved: Uint8Array): void;
  /**
   * The next block: an image is handed over for every `blocksPerImage` of them, a few blocks later, and valid until the
   * next push. A block's memory may be filled again once this has resolved.
   */
  push(block: HostBlock, emit: (image: ResidentImage) => Promise<void>): Promise<void>;
  /** Hands over what is on its way, and an image of what is left over. */
  flush(emit: (image: ResidentImage) => Promise<void>): Promise<void>;
  /**
   * An image for every `blocksPerImage` blocks, and one of what is left over. A block's memory may be filled again once
   * the next is asked for. Whoever stops half-way, or meets an error, closes the chain.
   */
  images(blocks: AsyncIterable<HostBlock> | Iterable<HostBlock>): AsyncGenerator<ResidentImage>;
  /** Real and imaginary parts that hit the rails on requantising, so far. Asking waits for the card. */
  saturated(): number;
  /** What was taken as interference so far, where the plan looks for it; of the block pushed last once the next is, or a flush. */
  readonly kurtosis: KurtosisTally | undefined;
  /** Since the start or the last reset, of images that were handed out. */
  readonly times: ResidentTimes;
  resetTimes(): void;
}

/** Before anything is made of a block. */
const FRONT_STEPS: ReadonlySet<ResidentStep> = new Set(['upload', 'channelise', 'flag']);

/** Compiles and allocates the whole chain on a card; close it afterwards. */
export const prepareResidentChain = (plan: ResidentPlan, backend: CudaBackend): Promise<ResidentChain> =>
  preparing((closers) => prepare(plan, backend, closers));

async function prepare(plan: ResidentPlan, backend: CudaBackend, closers: Closers): Promise<ResidentChain> {
  const { session } = backend;
  const { compute, beside, download } = session.streams;
  const front = await prepareFront(plan, backend, closers);
  const road = await prepareRoad(plan, backend, closers);
  const flagger =
    plan.kurtosis && closers.keep(await prepareFlagger(plan.kurtosis, backend, { blocks: FLAGGED_BLOCKS }));
  const tally = plan.kurtosis && new KurtosisTally(plan.kurtosis);
  let spectraSeen = 0;
  const clock = closers.keep(new LapClock<ResidentStep>(session));
  const computed = closers.keep(session.createEvent());
  const slots = Array.from({ length: IN_FLIGHT }, () => prepareSlot(plan, backend, closers));
  let blocks = 0;
  /** That the image in the making ends with. */
  let last: CudaSpectraBlock | undefined;
  let index = 0;
  let uploadedBytes = 0;
  const landed = { blocks: 0, images: 0, downloadedBytes: 0 };
  let state: 'ready' | 'running' | 'spoiled' | 'closed' = 'ready';

  /** Queues something on the compute stream, between two events. */
  async function timed(step: ResidentStep, action: () => Promise<void> | void): Promise<void> {
    const begun = clock.begin(compute);
    await action();
    clock.end(step, begun, compute);
  }

  /** Queues a step of the road; what closes an image reads no block. */
  async function queue(step: ResidentStep, block: CudaSpectraBlock): Promise<void> {
    const action = step === 'upload' || step === 'flag' || step === 'download' ? undefined : road.steps[step];
    if (!action) return;
    const to = slots[index % IN_FLIGHT].onCard.pointer;
    await timed(step, () => action({ block, to, weightsTo: offsetBy(to, plan.imageBytes) }));
  }

  /** A block on the card, the number of its first spectrum, and marks around the sums of its powers. */
  interface Arrived {
    readonly block: CudaSpectraBlock;
    readonly first: number;
    readonly summed?: Marks;
  }
  /** The one that is being judged: what is made of it waits for the next. */
  let judged: Arrived | undefined;
  /** What was asked for meanwhile, from the next block on. */
  const later: (() => Promise<void> | void)[] = [];

  /** Resolves when it has arrived. */
  async function sendUp(given: HostBlock): Promise<void> {
    uploadedBytes += await front.send(given, clock);
  }

  /** The block that arrived last through the filter, and its powers summed. */
  async function makeSpectra(): Promise<Arrived> {
    if (plan.input.kind === 'voltages') {
      await timed('channelise', () => {
        front.make();
      });
    }
    const block = front.block();
    const first = spectraSeen;
    spectraSeen += block.samples;
    if (!flagger) return { block, first };
    // Beside whatever the card computes, from when the block is there.
    block.reading(beside);
    const begun = clock.begin(beside);
    flagger.begin(block);
    return { block, first, summed: [begun, clock.begin(beside)] };
  }

  /** What is made of a block. What is taken of it must be known before it is counted. */
  async function use({ block, first, summed }: Arrived): Promise<void> {
    if (flagger && tally) tally.add(await flagger.finish(), first);
    if (summed) clock.lap('flag', summed);
    for (const step of stepsOf(plan, blocks)) if (!FRONT_STEPS.has(step)) await queue(step, block);
    blocks++;
    last = block;
    judged = undefined;
  }

  /** Gains cannot change in the middle of an image: what was asked for meanwhile comes behind the one that a block completes. */
  async function change(): Promise<void> {
    for (let next = later.shift(); next; next = later.shift()) await next();
  }

  async function finish(ofBlocks: number): Promise<Flight> {
    const slot = slots[index % IN_FLIGHT];
    for (const step of closingStepsOf(plan, index)) {
      if (step === 'download') send(slot);
      else await queue(step, last ?? front.block());
    }
    return { slot, index: index++, samples: road.samples(), laps: clock.count, blocks: ofBlocks };
  }

  /** Down on its own stream, while the next image is made. */
  function send(slot: Slot): void {
    computed.record(compute);
    computed.holdBack(download);
    const begun = clock.begin(download);
    const copy = (from: DeviceMemory, to: PinnedMemory): void => {
      session.call('cuMemcpyDtoHAsync', to.pointer, from.pointer, to.sizeBytes, download.handle);
      landed.downloadedBytes += to.sizeBytes;
    };
    copy(slot.onCard, slot.onHost);
    const { gains, visibilities } = slot.extras;
    if (gains && road.calibrator) copy(road.calibrator.gains, gains);
    if (visibilities && road.visibilities) copy(road.visibilities, visibilities);
    clock.end('download', begun, download);
    slot.landed.record(download);
    // These lie where the next image's will: it waits until they have left.
    if (gains ?? visibilities) slot.landed.holdBack(compute);
  }

  async function land(flight: Flight): Promise<ResidentImage> {
    const { slot } = flight;
    await slot.landed.passed();
    clock.collect(flight.laps);
    landed.images++;
    landed.blocks += flight.blocks;
    const { channels, products, pixels, stations, polarisations } = plan.image;
    const { gains, visibilities } = slot.extras;
    const hasGains = gains && solvesIn(plan, flight.index);
    return {
      index: flight.index,
      samples: flight.samples,
      weights: weightsOf(plan, slot.onHost),
      image:
        plan.pixels === 'f64'
          ? imageCPML(
              new Float64Array(slot.onHost.buffer, 0, plan.imageBytes / 8),
              channels,
              products,
              pixels,
            )
          : imageF32CPML(
              new Float32Array(slot.onHost.buffer, 0, plan.imageBytes / 4),
              channels,
              products,
              pixels,
            ),
      ...(hasGains ? { gains: gainsCA(doubles(gains), channels, stations * polarisations) } : {}),
      ...(visibilities && plan.correlation
        ? {
            visibilities: visibilitiesCBPP(
              doubles(visibilities),
              channels,
              plan.correlation.baselines,
              polarisations,
            ),
          }
        : {}),
    };
  }

  const flying: Flight[] = [];
  let inHand = 0;
  type Give = (image: ResidentImage) => Promise<void>;

  /** Work on the chain; if it fails, what is under way is nobody's and the chain is of no more use. */
  async function guarded(work: () => Promise<void>): Promise<void> {
    if (state !== 'ready') {
      refuse('resident chain', `it was given work while it is ${state}`, 'open a new chain');
    }
    state = 'running';
    try {
      await work();
      state = 'ready';
    } finally {
      if (state === 'running') state = 'spoiled';
    }
  }

  /** Makes what a block is for, and hands over the image that makes room for the one it may complete. */
  async function complete(arrived: Arrived, give: Give): Promise<void> {
    await use(arrived);
    inHand++;
    if (inHand === plan.blocksPerImage) {
      flying.push(await finish(inHand));
      inHand = 0;
    }
    await change();
    const first = flying.length === IN_FLIGHT ? flying.shift() : undefined;
    if (first) await give(await land(first));
  }

  const push = (block: HostBlock, give: Give): Promise<void> =>
    guarded(async () => {
      const before = judged;
      const arrived = sendUp(block);
      try {
        // Whichever comes first: the host judges while the block goes up, or the card filters it while the host judges.
        const isSummed =
          before &&
          flagger &&
          (await Promise.race([flagger.summed().then(() => true), arrived.then(() => false)]));
        if (before && isSummed) await complete(before, give);
        await arrived;
        const made = await makeSpectra();
        if (!flagger) await complete(made, give);
        else if (before && !isSummed) await complete(before, give);
        judged = flagger ? made : undefined;
      } finally {
        // Nobody reads the block's memory any more.
        await arrived.catch(() => undefined);
      }
    });

  const flush = (give: Give): Promise<void> =>
    guarded(async () => {
      if (judged) {
        await use(judged);
        inHand++;
      }
      if (inHand > 0) flying.push(await finish(inHand));
      inHand = 0;
      await change();
      for (let first = flying.shift(); first; first = flying.shift()) await give(await land(first));
      // Blocks are counted in whole images: an image cut short ends the count.
      blocks = index * plan.blocksPerImage;
    });

  async function* images(
    source: AsyncIterable<HostBlock> | Iterable<HostBlock>,
  ): AsyncGenerator<ResidentImage> {
    const made: ResidentImage[] = [];
    const keep: Give = (image) => {
      made.push(image);
      return Promise.resolve();
    };
    let isDone = false;
    try {
      for await (const block of source) {
        await push(block, keep);
        yield* made.splice(0);
      }
      await flush(keep);
      yield* made.splice(0);
      isDone = true;
    } finally {
      if (!isDone && state === 'ready') state = 'spoiled';
    }
  }

  return {
    plan,
    description: [front.description, road.calibrator?.description, road.description]
      .filter((part) => part !== undefined)
      .join('; '),
    setSky: async (components) => {
      const { calibrator } = road;
      if (!calibrator) return refuse('resident chain', 'it solves no gains', 'give it a calibration');
      if (judged) later.push(() => calibrator.setSky(components));
      else await calibrator.setSky(components);
    },
    setGains: (gains, solved) => {
      const { setGains, calibrator } = road;
      if (!setGains || calibrator)
        return refuse(
          'resident chain',
          'it takes no gains from outside',
          'take the direct road without a calibration',
        );
      if (!judged) {
        setGains(gains, solved);
        return;
      }
      if ((inHand + 1) % plan.blocksPerImage !== 0)
        refuse('resident chain', 'new gains in the middle of an image', 'finish it first');
      const { channels, stations, polarisations } = plan.image;
      const kept = gainsCA(gains.slice(), channels, stations * polarisations);
      const keptSolved = solved.slice();
      later.push(() => {
        setGains(kept, keptSolved);
      });
    },
    push,
    flush,
    images,
    saturated: () => front.saturated(),
    kurtosis: tally,
    get times() {
      return { ...landed, uploadedBytes, seconds: clock.times, leastSeconds: clock.leastTimes };
    },
    resetTimes: () => {
      Object.assign(landed, { blocks: 0, images: 0, downloadedBytes: 0 });
      uploadedBytes = 0;
      clock.reset();
    },
    close: async () => {
      if (state === 'closed') return;
      state = 'closed';
      for (const stream of Object.values(session.streams)) session.call('cuStreamSynchronize', stream.handle);
      await closers.close();
    },
  };
}
