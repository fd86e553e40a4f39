/** One image on several cards, each with some of the channels, put together as one card would have made it. */
import type { Backend } from '../../backend/backend.js';
import { gainsCA, imageCPML, weightsCP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { frameAtMiddle } from '../geometry.js';
import { imageIntegration } from '../image.js';
import {
  isEmptyImage,
  pixelsOf,
  planSky,
  refuseEmpty,
  type Calibrated,
  type ImageSettings,
} from '../sky-image.js';
import type { ImageStageSettings, VisibilitySkyImage } from '../stages/image.js';
import type { ChannelRange } from '../stages/select-channels.js';
import { takeChannels } from '../visibilities/take-channels.js';
import { channelRanges } from './ranges.js';

export async function imageOnCards(
  integration: Integration,
  road: Omit<ImageStageSettings, 'image' | 'backend'>,
  settings: ImageSettings,
  backends: readonly Backend[],
): Promise<VisibilitySkyImage> {
  const { telescope, frequenciesHz, calibrated } = road;
  const frame = frameAtMiddle(telescope, integration);
  // Pixels are those that the whole band needs.
  const pixels = pixelsOf(telescope, frame, frequenciesHz, settings);
  const parts = await Promise.all(
    channelRanges(frequenciesHz.length, backends.length).map((range, k) =>
      imageIntegration(
        takeChannels(integration, channelsOf(range)),
        {
          ...{ ...road, backend: backends[k] },
          frequenciesHz: frequenciesHz.slice(range.first, range.end),
          ...(calibrated && { calibrated: gainsOf(calibrated, range, frequenciesHz.length) }),
        },
        { ...settings, pixels },
      ).catch((error: unknown) => {
        // Of all its channels nothing is left: the others may have something.
        if (!isEmptyImage(error)) throw error;
        return undefined;
      }),
    ),
  );
  const plan = planSky(telescope, frame, frequenciesHz, { ...settings, pixels });
  const { channels, products } = plan;
  const size = products * pixels * pixels;
  const image = new Float64Array(channels * size).fill(NaN);
  const weights = new Float64Array(channels * products);
  const beam = new Float64Array(channels * size).fill(NaN);
  const hasBeam = parts.some((part) => part?.beam);
  channelRanges(channels, backends.length).forEach(({ first }, k) => {
    const part = parts[k];
    if (!part) return;
    image.set(part.image, first * size);
    if (part.weights) weights.set(part.weights, first * products);
    if (part.beam) beam.set(part.beam, first * size);
  });
  const whole = imageCPML(image, channels, products, pixels);
  refuseEmpty(whole, 'every visibility is flagged, missing or without gains', 'image another integration');
  const { start, durationS } = integration;
  return {
    ...{ image: whole, weights: weightsCP(weights, channels, products), plan, frame, start, durationS },
    ...(hasBeam && { beam: imageCPML(beam, channels, products, pixels) }),
  };
}

const channelsOf = ({ first, end }: ChannelRange): number[] =>
  Array.from({ length: end - first }, (_, k) => first + k);

function gainsOf(calibrated: Calibrated, { first, end }: ChannelRange, channels: number): Calibrated {
  const { gains, leakage, solved, crossHands } = calibrated;
  const inputs = solved.length / channels;
  const some = (all: Float64Array): Calibrated['gains'] =>
    gainsCA(all.slice(2 * first * inputs, 2 * end * inputs), end - first, inputs);
  return {
    gains: some(gains),
    ...(leakage && { leakage: some(leakage) }),
    solved: solved.slice(first * inputs, end * inputs),
    ...(crossHands && { crossHands: crossHands.slice(first, end) }),
  };
}
