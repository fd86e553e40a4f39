/** From a recording to integrations: channelise where needed, correlate, and end integrations on time. */
import type { Backend } from '../backend/backend.js';
import type { SpectraType } from '../core/axes.js';
import type { Integration, SpectraBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { channelSamplesIn, samplesIn, wholeStations, zeroGaps } from '../core/gaps.js';
import { addSamples, addSeconds, type Instant } from '../core/instant.js';
import { prepareChanneliser, type ChannelisePlan } from '../channelise/index.js';
import { planCorrelation, prepareCorrelator, type Correlator } from '../correlate/index.js';
import type { Recording, SpectraRecording, VoltageRecording } from '../formats/index.js';
import { BLOCK_BYTES, firstSpectrumStart, spectraIn } from './channels.js';
import { sliceSpectra } from './spectra-slices.js';
import { cutStream } from './slices.js';

export interface CorrelationSettings {
  readonly backend: Backend;
  /** One integration over everything unless given. */
  readonly integrationS?: number;
  readonly flaggedInputs?: Uint8Array;
  readonly onProgress?: (fraction: number) => void;
}

/** What a run did beside its visibilities; complete once the last integration is out. */
export interface CorrelationTally {
  samplesIn: number;
  spectra: number;
  /** Real and imaginary parts that hit the rails on requantising. */
  saturated: number;
  /** Samples that were missing, over all inputs; of a channelised recording each channel's count. */
  missingSamples: number;
}

export const newTally = (): CorrelationTally => ({
  samplesIn: 0,
  spectra: 0,
  saturated: 0,
  missingSamples: 0,
});

export async function* correlateVoltages(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  settings: CorrelationSettings,
  tally: CorrelationTally = newTally(),
): AsyncGenerator<Integration> {
  const { backend } = settings;
  const spectrumRateHz = recording.sampleRateHz / plan.samplesPerSpectrum;
  const spectraInAll = spectraIn(recording, plan);
  const perIntegration = spectraPerIntegration(settings, spectrumRateHz, spectraInAll);
  // Together: where kernels are compiled, that is most of a short run.
  const [channeliser, correlator] = await Promise.all([
    prepareChanneliser(plan, backend),
    prepare(recording, plan.channels, plan.outputType, settings),
  ]);
  const spectra = backend.allocateSpectra(plan.output);
  const first = firstSpectrumStart(recording, plan);
  try {
    const cuts = {
      firstPiece: (perIntegration + plan.taps - 1) * plan.samplesPerSpectrum,
      piece: perIntegration * plan.samplesPerSpectrum,
    };
    let done = 0;
    let inThis = 0;
    const finish = async (): Promise<Integration> => {
      const start = addSeconds(first, done / spectrumRateHz);
      const made = await integration(recording, correlator, start, inThis / spectrumRateHz);
      done += inThis;
      tally.spectra = done;
      // Asked for once an integration: the answer is on the card, and waiting for it would hold up the next block.
      tally.saturated = channeliser.saturated;
      inThis = 0;
      return made;
    };
    for await (const { block, endsPiece } of cutStream(
      recording.blocks(plan.blockSamples),
      cuts,
      recording.sampleRateHz,
    )) {
      await channeliser.run(block, spectra);
      if (spectra.samples > 0) await correlator.accumulate(spectra);
      inThis += spectra.samples;
      tally.samplesIn += block.samples;
      tally.missingSamples += samplesIn(block.gaps);
      settings.onProgress?.(tally.samplesIn / recording.samples);
      if (endsPiece) yield await finish();
    }
    if (inThis > 0) yield await finish();
  } finally {
    spectra.close();
    await correlator.close();
    await channeliser.close();
  }
}

export async function* correlateSpectra(
  recording: SpectraRecording,
  settings: CorrelationSettings,
  tally: CorrelationTally = newTally(),
): AsyncGenerator<Integration> {
  const { channels, inputs, type, spectrumRateHz } = recording;
  const perIntegration = spectraPerIntegration(settings, spectrumRateHz, recording.samples);
  const capacity = Math.max(1, Math.floor(BLOCK_BYTES / (channels * inputs * 4)));
  const block: SpectraBlock = settings.backend.allocateSpectra({ type, channels, inputs, capacity });
  const correlator = await prepare(recording, channels, type, settings);
  try {
    let done = 0;
    let inThis = 0;
    const finish = async (): Promise<Integration> => {
      const start = addSamples(recording.start, done, spectrumRateHz);
      const made = await integration(recording, correlator, start, inThis / spectrumRateHz);
      done += inThis;
      inThis = 0;
      return made;
    };
    for await (const stretch of recording.blocks(capacity)) {
      tally.missingSamples += channelSamplesIn(stretch.gaps);
      for (let at = 0; at < stretch.samples;) {
        const take = Math.min(stretch.samples - at, perIntegration - inThis);
        const part = sliceSpectra(stretch, recording, { first: at, end: at + take });
        // A recording may lack one polarisation of a station; half a station's sample is nobody's.
        const gaps = wholeStations(part.gaps, recording.polarisations);
        zeroGaps(part.spectra, { type, inputs, samples: part.samples }, gaps);
        await block.write(part.spectra, part.samples, gaps);
        await correlator.accumulate(block);
        at += take;
        inThis += take;
        tally.samplesIn += take;
        tally.spectra += take;
        settings.onProgress?.(tally.samplesIn / recording.samples);
        if (inThis === perIntegration) yield await finish();
      }
    }
    if (inThis > 0) yield await finish();
  } finally {
    block.close();
    await correlator.close();
  }
}

function spectraPerIntegration(settings: CorrelationSettings, spectrumRateHz: number, inAll: number): number {
  if (settings.integrationS === undefined) return inAll;
  const spectra = Math.round(settings.integrationS * spectrumRateHz);
  if (!(spectra >= 1)) {
    refuse(
      'integration',
      `${settings.integrationS} s is shorter than one spectrum`,
      `give at least ${1 / spectrumRateHz} s`,
    );
  }
  return Math.min(spectra, inAll);
}

function prepare(
  recording: Recording,
  channels: number,
  type: SpectraType,
  settings: CorrelationSettings,
): Promise<Correlator> {
  return prepareCorrelator(
    planCorrelation({
      stations: recording.inputs / recording.polarisations,
      polarisations: recording.polarisations,
      channels,
      type,
      ...(settings.flaggedInputs === undefined ? {} : { flaggedInputs: settings.flaggedInputs }),
    }),
    settings.backend,
  );
}

async function integration(
  recording: Recording,
  correlator: Correlator,
  start: Instant,
  durationS: number,
): Promise<Integration> {
  const { visibilities, counts } = await correlator.finish();
  return {
    start,
    durationS,
    channels: correlator.plan.channels,
    stations: correlator.plan.stations,
    polarisations: recording.polarisations,
    visibilities,
    counts,
    flaggedInputs: correlator.plan.flaggedInputs,
  };
}
