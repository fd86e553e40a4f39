/** Voltages as a source of spectra: what an F-engine does before sending. */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { CanonicalSpectra } from '../core/blocks.js';
import type { SpectraSource, VoltageSource } from '../core/sources.js';
import {
  channelsOf,
  results,
  spectrumGrid,
  everySpectra,
  type TimedSpectra,
  passing,
} from '../stages/index.js';
import { observe } from '../compose/index.js';

export function channelisedSource(
  source: VoltageSource,
  plan: ChannelisePlan,
  backend: Backend,
): SpectraSource {
  const grid = spectrumGrid(source, plan);
  async function* blocks(blockSamples: number): AsyncGenerator<CanonicalSpectra> {
    // Cut so that every block except the last has exactly the requested length.
    const pieces = results<CanonicalSpectra>((emit) => {
      const stage = passing<TimedSpectra>(async ({ block, start }) => {
        const spectra = await block.read();
        await emit({ spectra, samples: block.samples, gaps: block.gaps, start });
      });
      const clock = everySpectra(blockSamples);
      const front = { source, channels: plan };
      return observe({ front, products: [{ from: 'spectra', clock, stage }] }, [backend]);
    });
    yield* pieces;
  }
  return {
    kind: 'spectra',
    type: plan.outputType,
    inputs: source.inputs,
    polarisations: source.polarisations,
    channels: plan.channels,
    spectrumRateHz: grid.spectrumRateHz,
    ...channelsOf(source, plan),
    start: grid.start,
    blocks,
    close: () => source.close(),
  };
}
