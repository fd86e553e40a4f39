/** Voltages to channelised data on disk, for those who want the F-engine alone. */
import type { Backend } from '../backend/backend.js';
import { prepareChanneliser, type ChannelisePlan } from '../channelise/index.js';
import { samplesIn } from '../core/gaps.js';
import { addSamples } from '../core/instant.js';
import { createSigmfSpectra, type VoltageRecording } from '../formats/index.js';
import { channelsOf, firstSpectrumStart, spectraIn } from './channels.js';

export interface ChanneliseRun {
  readonly backend: Backend;
  readonly path: string;
  readonly history: readonly string[];
  readonly onProgress?: (fraction: number) => void;
}

export interface ChannelisedFacts {
  readonly spectra: number;
  readonly saturated: number;
  /** Of the voltages, over all inputs. */
  readonly missingSamples: number;
}

export async function channeliseToFile(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  run: ChanneliseRun,
): Promise<ChannelisedFacts> {
  const spectraInAll = spectraIn(recording, plan);
  const spectrumRateHz = recording.sampleRateHz / plan.samplesPerSpectrum;
  const start = firstSpectrumStart(recording, plan);
  const channeliser = await prepareChanneliser(plan, run.backend);
  const block = run.backend.allocateSpectra(plan.output);
  const writer = await createSigmfSpectra(run.path, {
    type: plan.outputType,
    ...(recording.telescope === undefined ? {} : { telescope: recording.telescope }),
    inputs: recording.inputs,
    polarisations: recording.polarisations,
    channels: plan.channels,
    spectrumRateHz,
    centreFrequencyHz: recording.centreFrequencyHz,
    ...channelsOf(recording, plan),
    start,
    ...(recording.unknownFacts && { unknownFacts: recording.unknownFacts }),
    description: `${plan.channels} channels of ${recording.path}`,
    history: run.history,
  });
  try {
    let done = 0;
    let missingSamples = 0;
    for await (const voltages of recording.blocks(plan.blockSamples)) {
      missingSamples += samplesIn(voltages.gaps);
      await channeliser.run(voltages, block);
      if (block.samples === 0) continue;
      await writer.append({
        samples: block.samples,
        spectra: await block.read(),
        gaps: block.gaps,
        start: addSamples(start, done, spectrumRateHz),
      });
      done += block.samples;
      run.onProgress?.(done / spectraInAll);
    }
    await writer.finish();
    return { spectra: done, saturated: channeliser.saturated, missingSamples };
  } catch (error) {
    await writer.abandon();
    throw error;
  } finally {
    block.close();
    await channeliser.close();
  }
}
