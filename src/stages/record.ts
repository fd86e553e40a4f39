/** Writes a simulated sky to disk, with the true sky beside it. */
import type { OnProgress } from '../core/progress.js';
import { samplesIn } from '../core/gaps.js';
import { createSigmf } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { simulate } from '../sky/simulate.js';
import type { SimulationPlan } from '../sky/simulation-plan.js';
import { writtenBlocks } from './write.js';

interface RecordOptions {
  readonly history: readonly string[];
  readonly onProgress?: OnProgress;
}

interface RecordedFacts {
  /** Numbers (re and im count separately) that hit the converter's rails. */
  readonly clippedNumbers: number;
  readonly missingSamples: number;
}

/** Samples at a time: whole chunks of the simulator, a few megabytes for any telescope. */
const BLOCK_SAMPLES = 65_536;

export async function recordSimulation(
  plan: SimulationPlan,
  path: string,
  options: RecordOptions,
): Promise<RecordedFacts> {
  const atStart = skyFrame(plan.telescope.site, plan.start);
  const create = () =>
    createSigmf(path, {
      type: plan.type,
      telescope: plan.telescope,
      inputs: plan.inputs,
      polarisations: plan.polarisations,
      sampleRateHz: plan.sampleRateHz,
      centreFrequencyHz: plan.centreFrequencyHz,
      start: plan.start,
      description: `Simulated sky over ${plan.telescope.title}`,
      history: options.history,
      extra: {
        simulation: {
          seed: plan.seed,
          systemFluxJy: plan.systemFluxJy,
          countsPerRootJy: plan.countsPerRootJy,
          sources: plan.sources.map((source) => ({
            name: source.name,
            ...source.position(atStart),
            fluxJy: source.fluxJy(plan.centreFrequencyHz),
            stokes: source.stokes,
          })),
          inputGains: plan.inputGains,
        },
      },
    });
  const simulation = simulate(plan, Math.min(BLOCK_SAMPLES, plan.samples));
  const { missingSamples } = await writtenBlocks(create, simulation, ({ gaps }) => samplesIn(gaps), {
    path,
    of: plan.samples,
    onProgress: options.onProgress,
  });
  return { clippedNumbers: simulation.clippedNumbers, missingSamples };
}
