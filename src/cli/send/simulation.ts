/** A simulated sky to send, as options and as a source. */
import type { Command } from 'commander';
import type { VoltageType } from '../../core/axes.js';
import { nothingToClose } from '../../core/closing.js';
import { instant, parseInstant } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import { skyFrame } from '../../sky/frame.js';
import { perfectGains } from '../../sky/input-gains.js';
import { simulate } from '../../sky/simulate.js';
import { planSimulation } from '../../sky/simulation-plan.js';
import type { Telescope } from '../../telescope/telescope.js';
import { parseWhole } from '../options/command.js';
import { parseVoltageType } from '../options/open-options.js';
import { duration, frequency, plainNumber, rate } from '../options/quantity.js';
import {
  addSourceOption,
  addTelescopeOptions,
  chooseSources,
  chooseTelescope,
  type TelescopeOptions,
} from '../options/sky-options.js';

export interface SimulationOptions extends TelescopeOptions {
  readonly time?: string;
  readonly frequency?: number;
  readonly rate?: number;
  readonly type: VoltageType;
  readonly noise: number;
  readonly perfect?: true;
  readonly sources: string;
  readonly seed: number;
  readonly for?: number;
  readonly duration?: number;
}

export function addSimulationOptions(command: Command): Command {
  command.optionsGroup('A simulated sky:');
  addTelescopeOptions(command, 'lwasv');
  addSourceOption(command, 'what shines');
  return command
    .option('--time <utc>', 'when it starts (default: now)')
    .option('--frequency <hz>', "the band's middle (default: the telescope's)", frequency('--frequency'))
    .option('--rate <hz>', "samples per second (default: the telescope's)", rate('--rate'))
    .option('--type <type>', 'of the samples', parseVoltageType, 'ci8')
    .option(
      '--duration <time>',
      'of the sky that --loop repeats (default: --for, or 1s)',
      duration('--duration'),
    )
    .option('--noise <jy>', 'receiver noise of each input, as a flux', plainNumber('--noise'), 10_000)
    .option('--perfect', 'antennas of gain 1, instead of unknown gains and cable delays')
    .option('--seed <number>', 'of the sky and of the faults', parseWhole, 1);
}

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
  // A filter's length more than asked for, so that no spectrum lacks at the end.
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
