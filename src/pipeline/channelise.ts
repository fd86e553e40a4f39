/** Voltages to channelised data on disk, for those who want the F-engine alone. */
import type { OnProgress } from '../core/progress.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { addSamples } from '../core/instant.js';
import { createSigmfSpectra, type VoltageRecording } from '../formats/index.js';
import { channelsOf, spectraIn } from './channels.js';
import { lengthOf, run } from './run.js';
import { prepareChannelise, spectrumGrid } from './stages/channelise.js';
import { oneIntegration } from './stages/clock.js';
import type { Account } from './stages/stage.js';
import { written } from './write.js';

export interface ChanneliseRun {
  readonly backend: Backend;
  readonly path: string;
  readonly history: readonly string[];
  readonly onProgress?: OnProgress;
}

/** What the file says of the channels that a plan makes of a recording. */
export function spectraHeader(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  history: readonly string[],
): Parameters<typeof createSigmfSpectra>[1] {
  return {
    type: plan.outputType,
    ...(recording.telescope === undefined ? {} : { telescope: recording.telescope }),
    inputs: recording.inputs,
    polarisations: recording.polarisations,
    channels: plan.channels,
    ...spectrumGrid(recording, plan),
    centreFrequencyHz: recording.centreFrequencyHz,
    ...channelsOf(recording, plan),
    ...(recording.unknownFacts && { unknownFacts: recording.unknownFacts }),
    description: `${plan.channels} channels of ${recording.path}`,
    history,
  };
}

export async function channeliseToFile(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  { backend, path, history, onProgress }: ChanneliseRun,
): Promise<Account> {
  spectraIn(recording, plan);
  const { start, spectrumRateHz } = spectrumGrid(recording, plan);
  const create = () => createSigmfSpectra(path, spectraHeader(recording, plan, history));
  return written(create, async (append) =>
    run(
      recording.blocks(plan.blockSamples),
      await prepareChannelise({ backend, plan, source: recording, clock: oneIntegration }),
      async ({ block, index }) => {
        await append({
          samples: block.samples,
          spectra: await block.read(),
          gaps: block.gaps,
          start: addSamples(start, index, spectrumRateHz),
        });
      },
      { ...lengthOf(recording), ...(onProgress && { onProgress }) },
    ),
  );
}
