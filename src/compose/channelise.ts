/** Voltages to channelised data on disk, for those who want the F-engine alone. */
import type { OnProgress } from '../core/progress.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { addSamples } from '../core/instant.js';
import { createSigmfSpectra, type VoltageRecording } from '../formats/index.js';
import {
  channelsOf,
  spectraIn,
  spectraBehind,
  type Finer,
  SpectraWatch,
  type Rounded,
  spectrumGrid,
  oneIntegration,
  type RequestedKurtosis,
  type TimedSpectra,
  passing,
  type Account,
  written,
} from '../stages/index.js';
import { observe } from './compose.js';

export interface ChanneliseRun {
  readonly backend: Backend;
  readonly path: string;
  readonly history: readonly string[];
  readonly onProgress?: OnProgress;
  /** Interference becomes missing spectra. */
  readonly kurtosis?: RequestedKurtosis;
  /** Where the recording is channelised already, and is taken as streams. */
  readonly finer?: Finer;
  /** levels : [a][c], gains over the usual one; the file says them. */
  readonly levels?: Float64Array;
  /** One gain over the usual, of all; the file says it. */
  readonly overUsual?: number;
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
    ...(plan.sampling === 'real' && { realChannels: 1 }),
    ...spectrumGrid(recording, plan),
    centreFrequencyHz: recording.centreFrequencyHz,
    ...channelsOf(recording, plan),
    ...(recording.unknownFacts && { unknownFacts: recording.unknownFacts }),
    description: `${plan.channels} channels of ${recording.path}`,
    history,
  };
}

/** Of finer channels: their own frequencies, of the recording's own inputs. */
const finerHeader = (
  { inputs, channels: { frequenciesHz, channelWidthHz } }: Finer,
  { description = '' }: { readonly description?: string },
) => ({
  ...{ inputs, channels: frequenciesHz.length, frequenciesHz, channelWidthHz },
  centreFrequencyHz: (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2,
  description: description.replace(/^\d+/, String(frequenciesHz.length)),
});

export async function channeliseToFile(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  { backend, path, history, onProgress, kurtosis, finer, levels, overUsual }: ChanneliseRun,
): Promise<Account & { readonly rounded: Rounded | undefined }> {
  spectraIn(recording, plan);
  const { start, spectrumRateHz } = spectrumGrid(recording, plan);
  const spectra = spectraBehind(plan.output, finer);
  const header = spectraHeader(recording, plan, history);
  const create = () =>
    createSigmfSpectra(path, {
      ...header,
      ...(finer && finerHeader(finer, header)),
      ...(levels && { levels: Array.from(levels) }),
      ...(overUsual !== undefined && { overUsual }),
    });
  const watch = new SpectraWatch(spectra);
  const front = { source: recording, channels: plan, finer, kurtosis };
  const account = await written(create, (append) => {
    const write = passing<TimedSpectra>(async ({ block, index }) => {
      const made = await block.read();
      watch.add(block, made, index);
      await append({
        samples: block.samples,
        spectra: made,
        gaps: block.gaps,
        start: addSamples(start, index, spectrumRateHz),
      });
    });
    const products = [{ from: 'spectra', clock: oneIntegration, stage: write }] as const;
    return observe({ front, products }, [backend], { onProgress });
  });
  return { ...account, rounded: watch.found() };
}
