/** corella simulate: a sky over a telescope, as voltages. */
import type { Command } from 'commander';
import type { VoltageType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { parseInstant } from '../core/instant.js';
import { formatBytes, formatHz, formatSeconds } from '../core/units.js';
import { voltageSizeBytes } from '../core/axes.js';
import { checkRoom } from '../formats/index.js';
import { recordSimulation } from '../stages/index.js';
import { skyFrame } from '../sky/frame.js';
import { perfectGains, type GainModel } from '../sky/input-gains.js';
import type { Interferer } from '../sky/interferers.js';
import { polarise } from '../sky/polarise.js';
import { checkedDirection } from '../sky/source.js';
import { planSimulation } from '../sky/simulation-plan.js';
import { sourcesUp } from '../sky/above.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  addCommonOptions,
  addExamples,
  optionWith,
  parseWhole,
  type CommonOptions,
} from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { parseFlags } from './options/flags.js';
import { bandFacts, bandLines, bandOfVoltages } from './report/band-lines.js';
import { history } from './report/history.js';
import { numbersText } from './report/inspect-text.js';
import {
  addOverwriteOption,
  checkOutputs,
  parseOutput,
  recordingPaths,
  type OutputOptions,
} from './options/outputs.js';
import { addPolariseOption, repeated } from './options/polarise-option.js';
import { duration, frequency, plainNumber, rate } from './options/quantity.js';
import {
  addSourceOption,
  addTelescopeOptions,
  chooseSources,
  chooseTelescope,
  FIRST_LIGHT_TIME,
  type TelescopeOptions,
} from './options/sky-options.js';
import { parseVoltageType, voltageTypes } from './options/open-options.js';
import { openTerminal } from './report/terminal.js';

interface SimulateOptions extends CommonOptions, OutputOptions, TelescopeOptions {
  readonly out: string;
  readonly time: string;
  readonly duration: number;
  readonly frequency?: number;
  readonly rate?: number;
  readonly type: VoltageType;
  readonly sources: string;
  readonly noise: number;
  readonly seed: number;
  readonly perfect?: true;
  readonly tone: readonly string[];
  readonly pulse: readonly string[];
  readonly drop: number;
  readonly dead?: string;
  readonly polarise: readonly string[];
}

export function registerSimulate(program: Command): void {
  const command = program.command('simulate');
  addTelescopeOptions(command, 'lwasv');
  addSourceOption(command, 'what shines')
    .option(
      '-o, --out <path>',
      'the recording to write, name.sigmf-meta and name.sigmf-data',
      parseOutput,
      'voltages.sigmf-meta',
    )
    .option('--time <utc>', 'when it starts', FIRST_LIGHT_TIME)
    .addOption(
      optionWith('--duration <time>', 'how long, like 40ms or 2s', duration('--duration'), {
        value: 0.1,
        words: '100ms',
      }),
    )
    .option('--frequency <hz>', "the band's middle (default: the telescope's)", frequency('--frequency'))
    .option('--rate <hz>', "samples per second (default: the telescope's)", rate('--rate'))
    .option(
      '--type <type>',
      `sample type: ${voltageTypes.join(', ')}; a leading c is complex`,
      parseVoltageType,
      'ci8',
    )
    .option('--noise <jy>', 'receiver noise of each input, as a flux', plainNumber('--noise'), 10_000)
    .option('--seed <number>', 'the same seed gives the same bytes', parseWhole, 1)
    .option('--perfect', 'antennas of gain 1, instead of unknown gains and cable delays')
    .addOption(repeated('--tone <FREQ:JY[:ALT:AZ]>', 'a carrier, its power as flux over the band'))
    .addOption(
      repeated(
        '--pulse <PERIOD:DUTY:JY[:ALT:AZ]>',
        'noise that comes and goes, on for DUTY (0 to 1) of each PERIOD',
      ),
    )
    .option('--drop <fraction>', 'chance of each packet to be lost, 0 to 1', plainNumber('--drop'), 0)
    .option('--dead <list>', 'inputs that hear nothing, by number (12, 30-33) or name (stand17, stand41:Y)')
    .action(run);
  addPolariseOption(command);
  addOverwriteOption(command);
  addCommonOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['simulate -o night.sigmf-meta', '0.1 s of the sky over LWA-SV'],
    [
      'simulate --telescope eda2 --stations 64 --time 2026-01-15T04:00:00Z --sources Sun,CygA',
      'the Sun over EDA2',
    ],
    ['simulate --sources spot@60:90:50000 --perfect', 'one source 30° east of the zenith, perfect antennas'],
    ['simulate --type i16 --tone 58.1MHz:5000 --drop 0.01', 'real 16-bit samples, a carrier, lost packets'],
    ['simulate --dead stand17,stand41:Y', 'one stand dead, and one polarisation of another'],
  ]);
}

async function run(options: SimulateOptions): Promise<void> {
  const terminal = openTerminal(options);
  const telescope = await chooseTelescope(options);
  const start = parseInstant(options.time, '--time');
  const frame = skyFrame(telescope.site, start);
  const centreFrequencyHz = options.frequency ?? telescope.recording.centreFrequencyHz;
  // Real samples of the same band come twice as fast.
  const sampleRateHz =
    options.rate ?? telescope.recording.sampleRateHz * (options.type.startsWith('c') ? 1 : 2);
  const samples = Math.round(options.duration * sampleRateHz);
  if (samples === 0)
    refuse(
      '--rate, --duration',
      `${formatSeconds(options.duration)} at ${formatHz(sampleRateHz)} hold no sample`,
      'give a higher rate, like 1.6MHz, or a longer duration',
    );
  const sources = polarise(chooseSources(options.sources, frame), options.polarise, '--polarise');
  const gains: Partial<GainModel> = options.perfect === true ? perfectGains : {};
  const plan = planSimulation({
    telescope,
    start,
    samples,
    sampleRateHz,
    centreFrequencyHz,
    type: options.type,
    sources,
    systemFluxJy: options.noise,
    seed: options.seed,
    gains,
    interferers: [...options.tone.map(parseTone), ...options.pulse.map(parsePulse)],
    dropFraction: options.drop,
    deadInputs: deadInputs(options, telescope),
  });
  const [, path] = recordingPaths(options.out);
  const sizeBytes = plan.samples * plan.inputs * voltageSizeBytes(plan.type);
  await checkOutputs({ ...options, paths: recordingPaths(options.out) });
  await checkRoom(path, sizeBytes);
  const stage = terminal.stage('simulate');
  const facts = await recordSimulation(plan, path, {
    history: history({ telescope }),
    onProgress: stage.update,
  });
  const seconds = stage.done(formatBytes(sizeBytes));
  const band = bandOfVoltages({ centreFrequencyHz, sampleRateHz });
  const up = sourcesUp(sources, frame, 0, { telescope, frequencyHz: centreFrequencyHz });
  terminal.result(
    {
      path,
      telescope: telescope.name,
      stations: telescope.stations.length,
      inputs: plan.inputs,
      samples: plan.samples,
      sampleRateHz,
      centreFrequencyHz,
      sizeBytes,
      seconds,
      ...facts,
      ...bandFacts(telescope, band),
      sources: up.map(({ source, position, altitudeDeg, azimuthDeg }) => ({
        name: source.name,
        ...position,
        altitudeDeg,
        azimuthDeg,
      })),
    },
    [
      `${path}: ${formatSeconds(plan.samples / sampleRateHz)} of ${plan.inputs} inputs at ${formatHz(centreFrequencyHz)}, ${formatBytes(sizeBytes)}`,
      `sources up: ${up.map(({ source, altitudeDeg }) => `${source.name} at ${altitudeDeg.toFixed(0)}°`).join(', ') || 'none'}`,
      ...(facts.clippedNumbers > 0 ? [`${numbersText(facts.clippedNumbers)} clipped`] : []),
      ...(facts.missingSamples > 0 ? [`${facts.missingSamples} samples lost, and marked as missing`] : []),
      ...bandLines(telescope, band),
    ],
  );
}

function deadInputs({ dead }: SimulateOptions, { stations, polarisations }: Telescope): number[] {
  const flags = parseFlags(dead, stations.length * polarisations, polarisations, { stations }, '--dead');
  return [...flags.keys()].filter((a) => flags[a] === 1);
}

function fields(option: string, text: string, least: number, form: string): string[] {
  const parts = text.split(':');
  if (parts.length !== least && parts.length !== least + 2)
    refuse(option, `'${text}' is not understood`, `write ${form}`);
  return parts;
}

const direction = (option: string, altAz: readonly string[]): Pick<Interferer, 'directionEnu'> => {
  if (altAz.length === 0) return {};
  const [altDeg, azDeg] = altAz.map(plainNumber(option));
  return { directionEnu: checkedDirection(option, altDeg, azDeg) };
};

function parseTone(text: string): Interferer {
  const [at, flux, ...altAz] = fields('--tone', text, 2, 'FREQUENCY:JY[:ALT:AZ]');
  return {
    kind: 'tone',
    frequencyHz: frequency('--tone')(at),
    bandFluxJy: plainNumber('--tone')(flux),
    ...direction('--tone', altAz),
  };
}

function parsePulse(text: string): Interferer {
  const [period, duty, flux, ...altAz] = fields('--pulse', text, 3, 'PERIOD:DUTY:JY[:ALT:AZ]');
  return {
    kind: 'pulsed',
    periodS: duration('--pulse')(period),
    duty: plainNumber('--pulse')(duty),
    bandFluxJy: plainNumber('--pulse')(flux),
    ...direction('--pulse', altAz),
  };
}
