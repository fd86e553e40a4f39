/** Runs a stream through a channeliser with delays, for the shared cases. */
import type { Backend } from '../backend/backend.js';
import { allocateSpectra } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { randomStream } from '../core/random.js';
import { spectrumDelays, type DelayModels, type SpectrumDelays } from '../delay/index.js';
import type { Channelised } from './compare.testing.js';
import { prepareChanneliser } from './index.js';
import type { ChannelisePlan } from './plan.js';
import { cut, fullScale } from './samples.testing.js';

/** The stream in blocks, cut also where delays change, with memory that was garbage beforehand. */
export async function channeliseDelayed(
  plan: ChannelisePlan,
  backend: Backend,
  whole: VoltageBlock,
  lengths: readonly number[],
  delays: SpectrumDelays,
): Promise<Channelised> {
  const { channels, inputs, capacity, outputType, samplesPerSpectrum, taps } = plan;
  const most = plan.mostDelaySamples ?? 0;
  const out = backend.allocateSpectra(plan.output);
  const channeliser = await prepareChanneliser(plan, backend);
  const garbage = allocateSpectra(outputType, channels, inputs, capacity).fill(85);
  const earlier = fullScale(plan.inputType, inputs, plan.blockSamples, randomStream(667, 'garbage'));
  await channeliser.run(earlier, out, delays.from(0).delays);
  channeliser.reset();
  const made: Channelised['blocks'][number][] = [];
  let fed = 0;
  for (const block of cut(whole, lengths)) {
    for (let rest = block; ;) {
      const run = delays.from(channeliser.produced);
      // The last spectrum before the change is complete with this sample.
      const end = (run.until + taps - 1) * samplesPerSpectrum + most;
      const [piece, after] = end - fed < rest.samples ? cut(rest, [end - fed]) : [rest, undefined];
      await out.write(garbage, capacity);
      await channeliser.run(piece, out, run.delays);
      made.push({ samples: out.samples, gaps: out.gaps, spectra: await out.read() });
      fed += piece.samples;
      if (!after || after.samples === 0) break;
      rest = after;
    }
  }
  const { saturated, produced } = channeliser;
  await channeliser.close();
  await out.close();
  return { blocks: made, saturated, produced };
}

export const RATE_HZ = 1e6;
const ZERO_HZ = 60.3e6;

export const delaysOf = (
  plan: ChannelisePlan,
  delayModel: DelayModels,
  { sampleRateHz, zeroHz }: { readonly sampleRateHz: number; readonly zeroHz: number } = {
    sampleRateHz: RATE_HZ,
    zeroHz: ZERO_HZ,
  },
): SpectrumDelays =>
  spectrumDelays({
    delayModel,
    samplesPerSpectrum: plan.samplesPerSpectrum,
    taps: plan.taps,
    sampleRateHz,
    zeroHz,
    mostDelaySamples: plan.mostDelaySamples ?? 0,
  });
