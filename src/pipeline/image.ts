/** Images by either road, with the geometry of the moment. */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { prepareChanneliser } from '../channelise/index.js';
import type { GainsCA, ImageCPML } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { samplesIn } from '../core/gaps.js';
import { addSeconds, type Instant } from '../core/instant.js';
import type { VoltageRecording } from '../formats/index.js';
import {
  fittingPixels,
  planImage,
  prepareDirectImager,
  prepareVisibilityImager,
  type ImageField,
  type ImageOptions,
  type ImagePlan,
  type KernelSize,
  type VisibilityImage,
} from '../image/index.js';
import type { SkyFrame } from '../sky/frame.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { firstSpectrumStart, spectraIn } from './channels.js';
import { frameAtMiddle, stationPositions } from './geometry.js';
import { cutStream } from './slices.js';

export interface ImageSettings {
  /** Along each side. Default: 128, or the next good size that holds the array. */
  readonly pixels?: number;
  readonly field: ImageField;
  readonly kernelSize: KernelSize;
}

export interface Calibrated {
  readonly gains: GainsCA;
  readonly solved: Uint8Array;
}

/** A picture of one moment: everything needed to write or draw it. */
export interface SkyImage {
  readonly image: ImageCPML;
  readonly plan: ImagePlan;
  readonly frame: SkyFrame;
  readonly start: Instant;
  readonly durationS: number;
}

export function planSky(
  telescope: Telescope,
  frame: SkyFrame,
  frequenciesHz: Float64Array,
  settings: ImageSettings,
): ImagePlan {
  const options: Omit<ImageOptions, 'pixels'> = {
    field: settings.field,
    stationsM: stationPositions(telescope),
    axes: frame.tangentAxes(frame.zenith),
    frequenciesHz,
    polarisations: telescope.polarisations,
    kernel: { kind: 'fitted', size: settings.kernelSize },
  };
  return planImage({ ...options, pixels: settings.pixels ?? fittingPixels(options) });
}

export interface VisibilityRoad {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly calibrated?: Calibrated;
  readonly weight: 'natural' | 'uniform';
  readonly autos: 'include' | 'leave-out';
}

export async function imageIntegration(
  integration: Integration,
  road: VisibilityRoad,
  settings: ImageSettings,
): Promise<SkyImage & { readonly beam: VisibilityImage['beam'] }> {
  const frame = frameAtMiddle(road.telescope, integration);
  const plan = planSky(road.telescope, frame, road.frequenciesHz, settings);
  const { weight, autos, calibrated } = road;
  const imager = await prepareVisibilityImager(plan, road.backend);
  try {
    const { image, beam } = await imager.image([integration], { weight, autos, ...calibrated });
    refuseEmpty(
      image,
      `every ${autos === 'include' ? 'visibility' : 'cross-correlation'} is flagged, missing or without gains`,
      autos === 'include'
        ? 'image another integration'
        : 'keep autocorrelations, or image another integration',
    );
    return { image, beam, plan, frame, start: integration.start, durationS: integration.durationS };
  } finally {
    imager.close();
  }
}

/** A picture of nothing is refused before anything is written. */
function refuseEmpty(image: ImageCPML, why: string, fix: string): void {
  if (image.every((value) => Number.isNaN(value)))
    refuse('image', `nothing is left of the data: ${why}`, fix);
}

export interface DirectRoad {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly calibrated?: Calibrated;
  /** Stops after this many seconds of the recording; all of it unless given. */
  readonly durationS?: number;
  readonly onProgress?: (fraction: number) => void;
}

/** Voltages → spectra → image, no visibility in between (EPIC). */
export async function imageDirectly(
  recording: VoltageRecording,
  channels: ChannelisePlan,
  road: DirectRoad,
  settings: ImageSettings,
): Promise<SkyImage & { readonly samples: number; readonly missingSamples: number }> {
  const { backend } = road;
  const spectrumRateHz = recording.sampleRateHz / channels.samplesPerSpectrum;
  const wanted = Math.min(
    spectraIn(recording, channels),
    Math.round((road.durationS ?? Infinity) * spectrumRateHz),
  );
  if (wanted < 1)
    refuse(
      'image',
      `${road.durationS ?? 0} s is shorter than one spectrum`,
      `give at least ${1 / spectrumRateHz} s`,
    );
  const start = firstSpectrumStart(recording, channels);
  const durationS = wanted / spectrumRateHz;
  const frame = skyFrame(road.telescope.site, addSeconds(start, durationS / 2));
  const plan = planSky(road.telescope, frame, road.frequenciesHz, settings);
  const channeliser = await prepareChanneliser(channels, backend);
  const spectra = backend.allocateSpectra(channels.output);
  const imager = await prepareDirectImager(plan, backend);
  try {
    if (road.calibrated) imager.setGains(road.calibrated.gains, road.calibrated.solved);
    let done = 0;
    let missingSamples = 0;
    const piece = (wanted + channels.taps - 1) * channels.samplesPerSpectrum;
    const stream = cutStream(
      recording.blocks(channels.blockSamples),
      { firstPiece: piece, piece },
      recording.sampleRateHz,
    );
    for await (const { block, endsPiece } of stream) {
      missingSamples += samplesIn(block.gaps);
      await channeliser.run(block, spectra);
      if (spectra.samples > 0) await imager.accumulate(spectra);
      done += spectra.samples;
      road.onProgress?.(done / wanted);
      if (endsPiece) break;
    }
    const { image, samples } = await imager.finish();
    refuseEmpty(image, 'every input is missing or without gains', 'calibrate some of them');
    return { image, plan, frame, start, durationS, samples, missingSamples };
  } finally {
    spectra.close();
    imager.close();
    await channeliser.close();
  }
}
