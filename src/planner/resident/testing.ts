/** What a resident chain should make, worked out on the reference, one room after the other. */
import { openReference } from '../../backend/reference.js';
import { modelVisibilities, prepareCalibrator, type ModelComponent } from '../../calibrate/index.js';
import { prepareChanneliser, type ChannelisePlan } from '../../channelise/index.js';
import {
  gainsCA,
  type GainsCA,
  type ImageCPML,
  type VisibilitiesCBPP,
  type WeightsCP,
} from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import { prepareCorrelator } from '../../correlate/index.js';
import { imageVisibilities, prepareDirectImager, type DirectImage } from '../../image/index.js';
import type { HostBlock, HostSpectra } from './front.js';
import { solvesIn, type ResidentPlan } from './plan.js';

export interface ReferenceImage {
  readonly image: ImageCPML;
  readonly samples: number;
  readonly weights: WeightsCP;
  readonly gains?: GainsCA;
  readonly visibilities?: VisibilitiesCBPP;
}

/** Spectra as they are, voltages through the reference's channeliser as one stream. */
export async function referenceSpectra(
  plan: ChannelisePlan,
  blocks: readonly HostBlock[],
): Promise<HostSpectra[]> {
  const backend = openReference();
  const channeliser = await prepareChanneliser(plan, backend);
  const out = backend.allocateSpectra(plan.output);
  const all: HostSpectra[] = [];
  for (const block of blocks) {
    if (!('voltages' in block)) {
      all.push(block);
      continue;
    }
    await channeliser.run(block, out);
    all.push({ spectra: await out.read(), samples: out.samples, gaps: out.gaps });
  }
  return all;
}

export async function referenceImages(
  plan: ResidentPlan,
  blocks: readonly HostSpectra[],
  components: readonly ModelComponent[] = [],
): Promise<ReferenceImage[]> {
  const images: ReferenceImage[] = [];
  let gains = unitGains(plan);
  for (let first = 0; first < blocks.length; first += plan.blocksPerImage) {
    const own = blocks.slice(first, first + plan.blocksPerImage);
    const solves = solvesIn(plan, images.length);
    if (plan.road === 'visibilities') {
      const integration = await correlate(plan, own);
      if (solves) gains = await calibrate(plan, integration, components);
      const { image, weights } = imageVisibilities(plan.image, [integration], gains);
      const { visibilities } = integration;
      images.push({
        ...{ image, weights, samples: samplesOf(own) },
        visibilities,
        ...(solves ? { gains: zeroed(gains.gains, plan) } : {}),
      });
    } else {
      if (solves) gains = await calibrate(plan, await correlate(plan, own.slice(0, 1)), components);
      const { image, weights } = await imageDirectly(plan, own, gains);
      images.push({
        ...{ image, weights, samples: samplesOf(own) },
        ...(solves ? { gains: zeroed(gains.gains, plan) } : {}),
      });
    }
  }
  return images;
}

const samplesOf = (blocks: readonly HostSpectra[]): number =>
  blocks.reduce((sum, { samples }) => sum + samples, 0);

interface Solved {
  readonly gains: GainsCA;
  readonly solved: Uint8Array;
}

function unitGains({ image, flaggedInputs }: ResidentPlan): Solved {
  const inputs = flaggedInputs.length;
  const count = image.channels * inputs;
  const gains = Float64Array.from({ length: 2 * count }, (_, n) => (n % 2 === 0 ? 1 : 0));
  const solved = Uint8Array.from({ length: count }, (_, at) => (flaggedInputs[at % inputs] === 1 ? 0 : 1));
  return { gains: gainsCA(gains, image.channels, inputs), solved };
}

/** A card's gains are 0 where the host's are NaN. */
const zeroed = (gains: GainsCA, { image }: ResidentPlan): GainsCA =>
  gainsCA(
    gains.map((value) => (Number.isNaN(value) ? 0 : value)),
    image.channels,
    image.stations * image.polarisations,
  );

async function onReference(
  plan: ResidentPlan,
  blocks: readonly HostSpectra[],
  take: (block: ReturnType<ReturnType<typeof openReference>['allocateSpectra']>) => Promise<void>,
): Promise<void> {
  const block = openReference().allocateSpectra(plan.spectra);
  for (const { spectra, samples, gaps } of blocks) {
    await block.write(spectra, samples, gaps);
    await take(block);
  }
}

async function correlate(plan: ResidentPlan, blocks: readonly HostSpectra[]): Promise<Integration> {
  if (!plan.correlation) throw new Error('this chain does not correlate');
  const correlator = await prepareCorrelator(plan.correlation, openReference());
  await onReference(plan, blocks, (block) => correlator.accumulate(block));
  const { visibilities, counts } = await correlator.finish();
  const { channels, stations, polarisations } = plan.image;
  const about = { start: instant(0), durationS: 1, channels, stations, polarisations };
  return { ...about, visibilities, counts, flaggedInputs: plan.flaggedInputs };
}

async function calibrate(
  { calibration, image }: ResidentPlan,
  integration: Integration,
  components: readonly ModelComponent[],
): Promise<Solved> {
  if (!calibration) throw new Error('this chain solves no gains');
  const { stationsM } = calibration;
  const { frequenciesHz, polarisations } = image;
  const calibrator = await prepareCalibrator(calibration.plan, openReference());
  const model = modelVisibilities({ stationsM, frequenciesHz, polarisations, components });
  return calibrator.solve({ ...integration, model });
}

async function imageDirectly(
  plan: ResidentPlan,
  blocks: readonly HostSpectra[],
  { gains, solved }: Solved,
): Promise<DirectImage> {
  const imager = await prepareDirectImager(plan.image, openReference());
  imager.setGains(gains, solved);
  await onReference(plan, blocks, (block) => imager.accumulate(block));
  return imager.finish();
}
