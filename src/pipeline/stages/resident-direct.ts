/**
 * Voltages to a direct image without leaving the card: the resident chain behind the face of a stage. The image is bit
 * for bit what channelising and imaging one after the other give, since it is scaled in float64 on the card too.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import { imageCPML } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { preparing } from '../../core/closing.js';
import { samplesIn } from '../../core/gaps.js';
import { addSeconds } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import type { SpectrumDelays } from '../../delay/index.js';
import { skyFrame } from '../../sky/frame.js';
import { prepareResidentChain, type ResidentImage } from '../resident/chain.js';
import { planResident, type ResidentPlan } from '../resident/plan.js';
import { planSky, refuseEmpty } from '../sky-image.js';
import { BlockSlicer } from '../slices.js';
import { spectrumGrid } from './channelise.js';
import type { DirectImageSettings, DirectSkyImage } from './direct-image.js';
import { kurtosisPlan, type RequestedKurtosis } from './kurtosis.js';
import { emptyAccount, type Emit, type Stage } from './stage.js';

export interface ResidentDirectSettings extends Omit<DirectImageSettings, 'backend' | 'grid'> {
  readonly backend: CudaBackend;
  readonly plan: ChannelisePlan;
  readonly source: Pick<VoltageSource, 'start' | 'sampleRateHz'>;
  /** Where the plan has `mostDelaySamples`; blocks are cut where they change. */
  readonly delays?: SpectrumDelays;
  readonly kurtosis?: RequestedKurtosis;
}

/** Beside images, sums and spectra: the imager's grids (image/direct/cuda/folded.ts). */
const GRID_BYTES = 3 * 2 ** 30;
/** The largest part of the free memory that is asked for. */
const MOST_OF_FREE = 0.9;

/** What the chain keeps on the card, at the most. */
function residentBytes(plan: ResidentPlan, channelise: ChannelisePlan): number {
  const { channels, inputs, capacity } = plan.spectra;
  const spectraBytes = plan.spectraBlocks * channels * inputs * capacity * 8;
  const voltageBytes =
    2 * inputs * (channelise.blockSamples + channelise.taps * channelise.samplesPerSpectrum) * 8;
  return GRID_BYTES + 4 * plan.imageBytes + spectraBytes + plan.powerBytes + voltageBytes;
}

/** Whether a card has room for all of it at once; elsewhere the stages are run one after the other. */
export const fitsCard = (plan: ResidentPlan, channelise: ChannelisePlan, { session }: CudaBackend): boolean =>
  residentBytes(plan, channelise) <= MOST_OF_FREE * session.freeMemoryBytes();

/** One image over all that comes; undefined where the card has no room for it. */
export async function prepareResidentDirect(
  settings: ResidentDirectSettings,
): Promise<Stage<VoltageBlock, DirectSkyImage> | undefined> {
  const { backend, plan: channelise, source, telescope, frequenciesHz, delays, lastsS } = settings;
  const { start, spectrumRateHz } = spectrumGrid(source, channelise);
  const middle = addSeconds(start, lastsS / 2);
  const calibrated = settings.gainsAt?.(middle) ?? settings.calibrated;
  const frame = skyFrame(telescope.site, middle);
  const image = planSky(telescope, frame, frequenciesHz, settings.image);
  const { kurtosis: asked } = settings;
  const kurtosis =
    asked && kurtosisPlan(asked, { ...channelise.output, ...channelise, gapsCover: 'stations' });
  const plan = planResident({
    ...(kurtosis && { kurtosis }),
    road: 'direct',
    input: { kind: 'voltages', plan: channelise },
    image,
    blocksPerImage: 2 ** 20,
    pixels: 'f64',
  });
  if (!fitsCard(plan, channelise, backend)) return undefined;
  const chain = await preparing(async (closers) => {
    const made = closers.keep(await prepareResidentChain(plan, backend));
    if (calibrated) made.setGains(calibrated.gains, calibrated.solved);
    if (made.plan.kurtosis && made.kurtosis) asked?.onPlan?.(made.plan.kurtosis, made.kurtosis);
    return made;
  });
  const account = emptyAccount();
  const { channels, products, pixels } = image;
  const { taps, samplesPerSpectrum, mostDelaySamples: most = 0 } = channelise;
  const slicer = new BlockSlicer(source.sampleRateHz);
  let fed = 0;

  /** In pieces that end where delays change: each has those of the spectra that it completes. */
  async function pushDelayed(
    block: VoltageBlock,
    law: SpectrumDelays,
    emit: Emit<DirectSkyImage>,
  ): Promise<void> {
    for (let at = 0; at < block.samples;) {
      const next = Math.max(0, Math.floor((fed - most) / samplesPerSpectrum) - taps + 1);
      const run = law.from(next);
      const end = (run.until + taps - 1) * samplesPerSpectrum + most;
      const take = Math.min(block.samples - at, end - fed);
      const piece = { ...slicer.slice(block, at, at + take), delays: run.delays };
      await chain.push(piece, async (made) => emit(skyOf(made)));
      at += take;
      fed += take;
    }
  }
  return {
    push: async (block, emit) => {
      account.samplesIn += block.samples;
      account.missingSamples += samplesIn(block.gaps);
      if (delays) await pushDelayed(block, delays, emit);
      else await chain.push(block, async (made) => emit(skyOf(made)));
    },
    flush: (emit) => chain.flush(async (made) => emit(skyOf(made))),
    account: () => ({ ...account, saturated: chain.saturated() }),
    close: () => chain.close(),
  };

  function skyOf({ image: values, samples, weights }: ResidentImage) {
    const kept = imageCPML(Float64Array.from(values), channels, products, pixels);
    refuseEmpty(kept, 'every input is missing or without gains', 'calibrate some of them');
    account.images++;
    account.spectra += samples;
    return { image: kept, samples, weights, plan: image, frame, start, durationS: samples / spectrumRateHz };
  }
}
