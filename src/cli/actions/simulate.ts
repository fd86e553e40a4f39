/** What corella simulate does, loaded when it runs. */
import { refuse } from '../../core/errors.js';
import { parseInstant } from '../../core/instant.js';
import { formatBytes, formatHz, formatSeconds } from '../../core/units.js';
import { voltageSizeBytes } from '../../core/axes.js';
import { checkRoom, checkOutputs, recordingPaths } from '../../formats/index.js';
import { recordSimulation } from '../../stages/index.js';
import { skyFrame } from '../../sky/frame.js';
import { perfectGains, type GainModel } from '../../sky/input-gains.js';
import type { Interferer } from '../../sky/interferers.js';
import { polarise } from '../../sky/polarise.js';
import { pulsate } from '../../sky/pulsars.js';
import { checkedDirection } from '../../sky/source.js';
import { planSimulation } from '../../sky/simulation-plan.js';
import { sourcesUp } from '../../sky/above.js';
import type { Telescope } from '../../telescope/telescope.js';
import { parseFlags } from '../options/flags.js';
import { bandFacts, bandLines, bandOfVoltages } from '../../products/report/index.js';
import { history } from '../report/history.js';
import { numbersText } from '../../inspect/index.js';
import { duration, frequency, plainNumber } from '../options/quantity.js';
import { chooseSources, chooseTelescope } from '../options/sky-options.js';
import { openTerminal } from '../report/terminal.js';
import type { SimulateOptions } from '../simulate.js';

export async function run(options: SimulateOptions): Promise<void> {
  const terminal = openTerminal(options);
  const telescope = await chooseTelescope(options);
  const start = parseInstant(options.time, '--time');
  const frame = skyFrame(telescope.site, start);
  const centreFrequencyHz = options.frequency ?? telescope.recording.centreFrequencyHz;
  // Real samples of the same band have twice the rate.
  const sampleRateHz =
    options.rate ?? telescope.recording.sampleRateHz * (options.type.startsWith('c') ? 1 : 2);
  const samples = Math.round(options.duration * sampleRateHz);
  if (samples === 0)
    refuse(
      '--rate, --duration',
      `${formatSeconds(options.duration)} at ${formatHz(sampleRateHz)} hold no sample`,
      'give a higher rate, like 1.6MHz, or a longer duration',
    );
  const sources = pulsate(
    polarise(chooseSources(options.sources, frame), options.polarise, '--polarise'),
    options.pulsar.map(parsePulsar),
    '--pulsar',
  );
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

/** As a fraction of the period. */
const PULSAR_WIDTH = '0.05';

function parsePulsar(text: string): Parameters<typeof pulsate>[1][number] {
  const given = text.split(':');
  if (given.length < 3 || given.length > 4)
    refuse('--pulsar', `'${text}' is not understood`, 'write NAME:PERIOD:DM or NAME:PERIOD:DM:WIDTH');
  const [name, period, dm, width = PULSAR_WIDTH] = given;
  const number = plainNumber('--pulsar');
  const pulse = { periodS: duration('--pulsar')(period), dm: number(dm), width: number(width) };
  return { name, pulse };
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
