/** Images of noise, made by the composer like live data, and timed. */
import type { Backend } from '../backend/backend.js';
import type { CardAccount } from '../backend/cuda/meter.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { methodUsed, observe, spectraOfFront } from '../compose/index.js';
import { elementsPerSpectra, spectraCAT, voltagesAT, type SpectraCAT } from '../core/axes.js';
import { closingAfter, nothingToClose, type Closers } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { addSamples, instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { planProduct, type Observed } from '../products/index.js';
import { inputsNamed } from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { fillSpectra, fillWithNoise, spectraType } from '../bench/noise.js';
import { channelisePlanOf } from './measure-costs.js';
import { cutImage } from './memory.js';
import type { MethodName } from './method-names.js';
import type { Workload } from './workload.js';

/** The part of a workload to run. */
export interface Piece {
  readonly channels: number;
  /** Spectra of each channel in an image. */
  readonly spectra: number;
  readonly images: number;
}

export interface TimedImages {
  /** All images together, without warm-up. */
  readonly elapsedS: number;
  /** For a card: its busy time and its memory. */
  readonly card?: CardAccount & { readonly memoryBytes: number };
}

/** These compile, allocate and warm up. */
const WARM_UP_IMAGES = 3;
const START = instant(1_767_225_600);

export const timeImages = (
  method: MethodName,
  backend: Backend,
  telescope: Telescope,
  workload: Workload,
  piece: Piece,
): Promise<TimedImages> =>
  closingAfter(async (closers) => {
    const { polarisations, pixels, field, kernelSize, leftOut } = workload;
    const { source, channels } = noiseOf(workload, piece, backend, closers);
    const everyS = piece.spectra / workload.channelWidthHz;
    const card = backend.kind === 'cuda' ? backend : undefined;
    const freeBytes = card?.session.freeMemoryBytes() ?? 0;
    let [made, begunMs, endedMs] = [0, 0, 0];
    let account: TimedImages['card'];
    const count = (): void => {
      made++;
      if (made === WARM_UP_IMAGES) {
        card?.meter.begin();
        begunMs = performance.now();
      }
      if (made === WARM_UP_IMAGES + piece.images) {
        endedMs = performance.now();
        const busy = card?.meter.account();
        account = card && busy && { ...busy, memoryBytes: freeBytes - card.session.freeMemoryBytes() };
      }
    };
    const flaggedInputs = inputsNamed(leftOut, source.inputs, polarisations, telescope.stations, 'plan');
    const front = { source, channels, flaggedInputs };
    const observed: Observed = {
      telescope,
      front,
      flaggedInputs,
      recording: {
        ...source,
        path: 'noise',
        telescope,
        samples: Infinity,
      } as unknown as Observed['recording'],
      spectra: spectraOfFront(front),
      ...{ rules: [], discs: [], equaliserIsLost: false },
      live: {
        imaging: {
          image: { pixels, field, kernelSize },
          method: 'flat',
          chosen: methodUsed(method === 'direct' ? 'direct' : 'flat', { anywhere: 0, high: 0 }),
        },
      },
    };
    const fields = {
      images: null,
      every: everyS,
      method,
      align: 'first-sample',
      weights: 'natural',
    } as const;
    const planned = await planProduct(fields, observed);
    const { composed } = await planned.make({
      backend,
      history: [],
      listener: {
        image: count,
        noImage: (why) => refuse('plan', `an image of noise failed: ${why}`, 'report it'),
      },
    });
    await observe({ front, flaggedInputs, products: [composed] }, [backend], {
      until: () => made >= WARM_UP_IMAGES + piece.images,
    });
    return { elapsedS: (endedMs - begunMs) / 1000, card: account };
  });

/** Endless noise: one block repeated, from page-locked memory if a card reads it. */
function noiseOf(
  whole: Workload,
  { channels, spectra }: Piece,
  backend: Backend,
  closers: Closers,
): { readonly source: Source; readonly channels?: ChannelisePlan } {
  const workload = { ...whole, channels };
  const { polarisations, channelWidthHz, highestHz, bits } = workload;
  const inputs = workload.stations * polarisations;
  const facts = { inputs, polarisations, start: START, close: nothingToClose } as const;
  const bytesFor = (what: string, size: number): Int8Array =>
    backend.kind === 'cuda'
      ? closers.keep(backend.session.allocatePinned(what, size)).view(Int8Array, size)
      : new Int8Array(size);
  const lowestHz = highestHz - whole.channels * channelWidthHz;
  if (workload.input === 'spectra') {
    const type = spectraType(bits);
    const noise = (samples: number): SpectraCAT => {
      const bytes = bytesFor('spectra', elementsPerSpectra(type) * channels * inputs * samples);
      const values = type === 'ci4' ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes;
      const all = spectraCAT(values, type, channels, inputs, samples);
      fillSpectra(all);
      return all;
    };
    const source: Source = {
      ...facts,
      kind: 'spectra',
      type,
      channels,
      channelWidthHz,
      spectrumRateHz: channelWidthHz,
      frequenciesHz: Float64Array.from({ length: channels }, (_, c) => lowestHz + (c + 0.5) * channelWidthHz),
      blocks: (most) => {
        const samples = wholePart(spectra, most);
        const block = { spectra: noise(samples), samples, gaps: [] };
        return again((n) => ({ ...block, start: addSamples(START, n * samples, channelWidthHz) }));
      },
    };
    return { source };
  }
  const { blocksPerImage } = cutImage(workload);
  const plan = channelisePlanOf(workload, inputs, Math.ceil(spectra / blocksPerImage));
  const sampleRateHz = plan.channels * channelWidthHz;
  const source: Source = {
    ...facts,
    kind: 'voltages',
    type: 'ci8',
    sampleRateHz,
    centreFrequencyHz: lowestHz + sampleRateHz / 2,
    blocks: (samples) => {
      const bytes = bytesFor('voltages', 2 * inputs * samples);
      fillWithNoise(bytes, 60);
      const voltages = voltagesAT(bytes, 'ci8', inputs, samples);
      const block = { type: 'ci8', inputs, samples, voltages, gaps: [] } as const;
      return again((n) => ({ ...block, start: addSamples(START, n * samples, sampleRateHz) }));
    },
  };
  return { source, channels: plan };
}

/** A block length that divides images into whole blocks, if there is one: others would be cut on the host. */
function wholePart(spectra: number, most: number): number {
  const least = Math.ceil(spectra / most);
  for (let blocks = least; blocks < 2 * least; blocks++) if (spectra % blocks === 0) return spectra / blocks;
  return Math.min(most, spectra);
}

async function* again<Block>(blockAt: (n: number) => Block): AsyncGenerator<Block> {
  for (let n = 0; ; n++) yield await Promise.resolve(blockAt(n));
}
