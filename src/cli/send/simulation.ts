/** A simulated sky to send. */
import { nothingToClose } from '../../core/closing.js';
import { instant, parseInstant } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import { skyFrame } from '../../sky/frame.js';
import { perfectGains } from '../../sky/input-gains.js';
import { simulate } from '../../sky/simulate.js';
import { planSimulation } from '../../sky/simulation-plan.js';
import type { Telescope } from '../../telescope/telescope.js';
import { chooseSources, chooseTelescope } from '../options/sky-options.js';
import type { SimulationOptions } from './simulation-fields.js';

const DEFAULT_S = 1;
const FOR_EVER_S = 30 * 86_400;

export async function simulatedSource(
  options: SimulationOptions,
): Promise<{ readonly source: VoltageSource; readonly telescope: Telescope }> {
  const telescope = await chooseTelescope(options);
  const start =
    options.time === undefined ? instant(Math.ceil(Date.now() / 1000)) : parseInstant(options.time, '--time');
  const frame = skyFrame(telescope.site, start);
  const centreFrequencyHz = options.frequency ?? telescope.recording.centreFrequencyHz;
  const sampleRateHz =
    options.rate ?? telescope.recording.sampleRateHz * (options.type.startsWith('c') ? 1 : 2);
  // A filter's length longer than requested, so that no spectrum is missing at the end.
  const seconds = Math.min(FOR_EVER_S, (options.duration ?? options.for ?? DEFAULT_S) + 0.1);
  const plan = planSimulation({
    telescope,
    start,
    samples: Math.round(seconds * sampleRateHz),
    sampleRateHz,
    centreFrequencyHz,
    type: options.type,
    sources: chooseSources(options.sources, frame),
    systemFluxJy: options.noise,
    seed: options.seed,
    gains: options.perfect === true ? perfectGains : {},
    interferers: [],
    dropFraction: 0,
  });
  return {
    telescope,
    source: {
      kind: 'voltages',
      type: plan.type,
      inputs: plan.inputs,
      polarisations: plan.polarisations,
      sampleRateHz,
      centreFrequencyHz,
      start,
      blocks: (blockSamples) => simulate(plan, Math.min(blockSamples, plan.samples)),
      close: nothingToClose,
    },
  };
}
