/** Voltages as a source of spectra: what an F-engine does before it sends. */
import type { Backend } from '../../backend/backend.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import type { CanonicalSpectra } from '../../core/blocks.js';
import type { SpectraSource, VoltageSource } from '../../core/sources.js';
import { channelsOf } from '../channels.js';
import { results, run } from '../run.js';
import { prepareChannelise, spectrumGrid } from '../stages/channelise.js';
import { everySpectra } from '../stages/clock.js';

export function channelisedSource(
  source: VoltageSource,
  plan: ChannelisePlan,
  backend: Backend,
): SpectraSource {
  const grid = spectrumGrid(source, plan);
  async function* blocks(blockSamples: number): AsyncGenerator<CanonicalSpectra> {
    // Cut so that every block but the last is just as long as asked for.
    const stage = await prepareChannelise({ backend, plan, source, clock: everySpectra(blockSamples) });
    const pieces = results<CanonicalSpectra>((emit) =>
      run(source.blocks(plan.blockSamples), stage, async ({ block, start }) => {
        const spectra = await block.read();
        await emit({ spectra, samples: block.samples, gaps: block.gaps, start });
      }),
    );
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
