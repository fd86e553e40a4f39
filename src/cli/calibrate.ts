/** corella calibrate: visibilities and a model of the sky to gains. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { leaveOutUnconverged, type Calibration, type IterationRule } from '../calibrate/index.js';
import { addSeconds } from '../core/instant.js';
import { formatSeconds, SPEED_OF_LIGHT_M_PER_S, withMinus } from '../core/units.js';
import { refuse } from '../core/errors.js';
import { gainPaths, writeGainFiles } from '../formats/index.js';
import { through } from '../pipeline/run.js';
import { prepareCalibrate } from '../pipeline/stages/calibrate.js';
import { oddChannels } from '../pipeline/odd-channels.js';
import { oddByGain, oddByPower, type OddInput } from '../pipeline/odd-inputs.js';
import type { Integration } from '../core/blocks.js';
import { inputName } from '../telescope/telescope.js';
import { frameAtMiddle } from '../pipeline/geometry.js';
import { fitDelays, oneGain, type OverBand } from '../pipeline/over-band.js';
import { chooseIntegration, integrationsEvery } from '../pipeline/select.js';
import {
  addBackendOptions,
  addExamples,
  parseCount,
  refuseGiven,
  type BackendOptions,
} from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { addFlagOption, parseFlags, type FlagOptions } from './options/flags.js';
import {
  convergenceLines,
  MOST_LINES,
  refuseNoneConverged,
  summarise,
  unconvergedLine,
} from './report/calibration-report.js';
import { history } from './report/history.js';
import { PartlyDone } from './report/outcome.js';
import { addIntegrationOption, choiceLines, type IntegrationOptions } from './options/integration-options.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { openVisibilities, telescopeFor, withBackend } from './open.js';
import { addOverwriteOption, checkOutputs, parseOutput, type OutputOptions } from './options/outputs.js';
import { duration, plainNumber } from './options/quantity.js';
import { addSourceOption, chooseSources } from './options/sky-options.js';
import { openTerminal } from './report/terminal.js';

interface CalibrateOptions extends BackendOptions, OutputOptions, FlagOptions, IntegrationOptions, OpenFlags {
  readonly out: string;
  readonly sources: string;
  readonly minAltitude: number;
  readonly iterations?: number;
  readonly tolerance: number;
  readonly mostIterations: number;
  readonly reference?: string;
  readonly minBaseline?: number;
  readonly odd: number;
  readonly every?: number;
  readonly over: OverBand;
  readonly delaysOut?: string;
}

export function registerCalibrate(program: Command): void {
  const command = program
    .command('calibrate')
    .description("visibilities + sky model → each antenna's complex gain (StEFCal)")
    .argument('<visibilities>', 'in any format we read')
    .option(
      '-o, --out <path>',
      'gains to write, as JSON; CalH5 takes the same name beside it',
      parseOutput,
      'gains.json',
    );
  addSourceOption(command, 'the model')
    .option(
      '--min-altitude <degrees>',
      'leave lower sources out of the model',
      plainNumber('--min-altitude'),
      5,
    )
    .option(
      '--tolerance <change>',
      'converged when the gains change by less, as a fraction',
      plainNumber('--tolerance'),
      1e-8,
    )
    .option(
      '--most-iterations <number>',
      'give up after so many; what has not converged has no gains',
      parseCount,
      500,
    )
    .option('--iterations <number>', 'exactly so many instead', parseCount)
    .option('--reference <station>', 'whose phase is zero, by number or name (default: the first good one)')
    .option(
      '--min-baseline <metres>',
      'leave shorter baselines out (default: none)',
      plainNumber('--min-baseline'),
    )
    .option(
      '--odd <factor>',
      'leave out inputs whose power or gain is so many times off the middle; 0 keeps all',
      parseOdd,
      4,
    )
    .option(
      '--every <time>',
      'gains for every so much of the file, like 10s, drawn straight in between where they are applied (default: one solution)',
      duration('--every'),
    )
    .option(
      '--over <what>',
      'a gain for each channel, one for the whole band, or a delay: a size, a delay and a phase for each input',
      parseOver,
      'channel',
    )
    .option(
      '--delays-out <path>',
      'with --over delay: cable lengths against the reference, as a delays.json that correlate takes by --delays',
    )
    .action(run);
  addIntegrationOption(command);
  addFlagOption(command);
  addOverwriteOption(command);
  addOpenOptions(command, 'visibilities');
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['calibrate visibilities.uvfits', 'with every bright source that was up'],
    [
      'calibrate visibilities.uvfits --sources CygA,CasA --min-baseline 20',
      'two sources, no short baselines',
    ],
    ['calibrate noon.uvfits --sources Sun --reference stand21 -o sun.json', 'in daylight, on the Sun alone'],
    ['calibrate night.uvh5 --every 10s', 'gains that follow the night'],
    [
      'calibrate visibilities.uvh5 --sources CygA --over delay --delays-out cables.json',
      'cable lengths, for correlate --delays cables.json',
    ],
    ['calibrate visibilities.uvfits --iterations 300 --json', 'a fixed amount of work, numbers for machines'],
  ]);
}

async function run(path: string, options: CalibrateOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  const paths = [...gainPaths(options.out), ...(options.delaysOut === undefined ? [] : [options.delaysOut])];
  if (options.delaysOut !== undefined && options.over !== 'delay')
    refuse('--delays-out', 'needs delays to write', 'add --over delay');
  if (options.every !== undefined)
    refuseGiven(command, ['integration'], 'chooses one part of the file, and --every takes all of it');
  const file = await openVisibilities(path, await openOptions(options));
  try {
    await checkOutputs({ ...options, paths, from: path });
    const telescope = await telescopeFor(file, options);
    const reading = terminal.stage('read');
    const choice = await chooseIntegration(file, options.integration, reading.update);
    reading.done();
    const chosen = choice.integration;
    const flags = parseFlags(options.flag, chosen.flaggedInputs.length, chosen.polarisations, telescope);
    const asked = { ...chosen, flaggedInputs: chosen.flaggedInputs.map((flag, a) => flag | flags[a]) };
    const oddPowers = options.odd === 0 ? [] : oddByPower(asked, options.odd);
    refuseAllOdd(oddPowers, asked, options.odd);
    const iterations: IterationRule =
      options.iterations === undefined
        ? { kind: 'until', tolerance: options.tolerance, most: options.mostIterations }
        : { kind: 'fixed', count: options.iterations, tolerance: options.tolerance };
    const referenceStation =
      options.reference === undefined ? undefined : findStation(options.reference, telescope.stations);
    const stage = terminal.stage('calibrate');
    const integration = without(asked, oddPowers);
    const { frequenciesHz, channelWidthHz, feeds } = file.header;
    const solved = await withBackend(options, async (backend) => {
      const solver = await prepareCalibrate({
        backend,
        telescope,
        frequenciesHz,
        polarisations: integration.polarisations,
        sources: chooseSources(options.sources, frameAtMiddle(telescope, integration)),
        minimumAltitudeDeg: options.minAltitude,
        iterations,
        onStep: stage.step,
        ...(referenceStation === undefined ? {} : { referenceStation }),
        ...(options.minBaseline === undefined ? {} : { minimumBaselineM: options.minBaseline }),
      });
      try {
        const first = await through(solver, integration);
        const oddGains =
          options.odd === 0
            ? []
            : oddByGain(first.calibration, integration.channels, integration.polarisations, options.odd);
        const odd = [...oddPowers, ...oddGains];
        refuseAllOdd(odd, asked, options.odd);
        // Solved again without them: noise that passed for signal has bent the others a little.
        const best = oddGains.length === 0 ? first : await through(solver, without(integration, oddGains));
        const later: { readonly integration: Integration; readonly calibration: Calibration }[] = [];
        if (options.every !== undefined) {
          for await (const next of integrationsEvery(file, options.every)) {
            const own = { ...next, flaggedInputs: next.flaggedInputs.map((flag, a) => flag | flags[a]) };
            const { calibration: gains } = await through(solver, without(own, odd));
            later.push({ integration: next, calibration: leaveOutUnconverged(gains) });
          }
        }
        return { ...best, odd, later };
      } finally {
        await solver.close();
      }
    });
    const seconds = stage.done();
    const { sources, odd, later } = solved;
    const calibration = leaveOutUnconverged(solved.calibration);
    refuseNoneConverged(calibration, options.iterations ?? options.mostIterations);
    const shaped = shapeOver(options.over, frequenciesHz);
    const series = (later.length > 0 ? later : [{ integration, calibration }]).map((one) => ({
      time: addSeconds(one.integration.start, one.integration.durationS / 2),
      ...one.calibration,
      ...shaped(one.calibration),
    }));
    const delays = options.over === 'delay' ? fitDelays(calibration, frequenciesHz).delays : [];
    const named = delays.map((one) => ({
      ...one,
      name: inputName(telescope, one.input, integration.polarisations, feeds),
    }));
    if (options.delaysOut !== undefined) await writeCables(options.delaysOut, named);
    await writeGainFiles(
      options.out,
      {
        telescope: telescope.name,
        stations: telescope.stations.map(({ name }) => name),
        polarisations: integration.polarisations,
        frequenciesHz,
        ...series[0],
        ...(series.length > 1 && { later: series.slice(1) }),
        sources: sources.map(({ source }) => source.name),
        history: history({ from: file, telescope }),
      },
      { telescope, channelWidthHz, durationS: integration.durationS, ...(feeds && { feeds }) },
    );
    const summary = summarise(calibration);
    const channels =
      options.odd === 0 ? [] : oddChannels(calibration.gains, frequenciesHz.length, options.odd);
    const given = unconvergedLine(summary, frequenciesHz);
    const oddInputs = odd.map((one) => ({
      ...one,
      name: inputName(telescope, one.input, integration.polarisations, feeds),
    }));
    const left = [
      ...oddInputs.map(({ name, level, by }) => `${name} (${by} ${level.toPrecision(2)} times the middle)`),
      ...summary.leftOut
        .filter(({ reason }) => reason !== 'flagged')
        .map(({ station, reason }) => `${telescope.stations[station].name} (${reason})`),
    ];
    terminal.result(
      {
        path: options.out,
        paths,
        sources: sources.map(({ source }) => source.name),
        integrations: choice.used,
        ...summary,
        solutionsInTime: series.length,
        ...(options.over === 'delay' && { delays: named }),
        oddInputs,
        oddChannels: channels,
        seconds,
      },
      [
        `${paths.join(', ')}: gains of ${summary.solvedInputs} of ${summary.inputs} inputs in ${summary.solves} solves`,
        ...(series.length > 1 ? [`${series.length} times, every ${formatSeconds(options.every ?? 0)}`] : []),
        ...(named.length > 0
          ? [
              `delays from ${delayText(Math.min(...delays.map(({ delayS }) => delayS)))} to ${delayText(Math.max(...delays.map(({ delayS }) => delayS)))} against ${telescope.stations[calibration.referenceStation].name}`,
            ]
          : []),
        `model: ${sources.map(({ source, altitudeDeg }) => `${source.name} at ${altitudeDeg.toFixed(0)}°`).join(', ')}`,
        ...convergenceLines(summary, channels, frequenciesHz),
        ...choiceLines(choice, options.integration),
        ...(summary.solvesWithoutData > 0
          ? [
              `${summary.solvesWithoutData} more have no data and no gains: all of a channel or a feed is flagged or missing`,
            ]
          : []),
        ...left.slice(0, MOST_LINES).map((one) => `left out: ${one}`),
        ...(left.length > MOST_LINES ? [`left out: ${left.length - MOST_LINES} more; --json lists all`] : []),
      ],
    );
    if (given !== undefined) throw new PartlyDone(given);
  } finally {
    await file.close();
  }
}

function parseOver(text: string): OverBand {
  return text === 'channel' || text === 'band' || text === 'delay'
    ? text
    : refuse('--over', `'${text}' is no way to solve`, 'choose channel, band or delay');
}

/** What goes to the file of a solution, channel by channel as ever. */
const shapeOver =
  (over: OverBand, frequenciesHz: Float64Array) =>
  (calibration: Calibration): Pick<Calibration, 'gains' | 'solved'> => {
    if (over === 'channel') return calibration;
    if (over === 'band') return oneGain(calibration, frequenciesHz.length);
    const { gains, solved } = fitDelays(calibration, frequenciesHz);
    return { gains, solved };
  };

const delayText = (delayS: number): string => `${withMinus((delayS * 1e9).toFixed(3))} ns`;

/** A delays.json whose cables are taken out by `correlate --delays`. */
const writeCables = (
  path: string,
  delays: readonly { readonly name: string; readonly delayS: number }[],
): Promise<void> =>
  writeFile(
    path,
    `${JSON.stringify({ fixed: delays.map(({ name, delayS }) => ({ input: name, cableM: delayS * SPEED_OF_LIGHT_M_PER_S })) }, undefined, 2)}\n`,
  );

const without = (integration: Integration, odd: readonly OddInput[]): Integration => {
  const left = new Set(odd.map(({ input }) => input));
  return {
    ...integration,
    flaggedInputs: integration.flaggedInputs.map((flag, a) => (left.has(a) ? 1 : flag)),
  };
};

function parseOdd(text: string): number {
  const factor = plainNumber('--odd')(text);
  if (factor !== 0 && !(factor > 1))
    refuse('--odd', `'${text}' is no factor`, 'give more than 1, like 4, or 0 to keep all inputs');
  return factor;
}

/** Where hardly any input is like the others, the factor is too small for them. */
function refuseAllOdd(
  odd: readonly OddInput[],
  { flaggedInputs, polarisations }: Integration,
  factor: number,
): void {
  const left = new Set(odd.map(({ input }) => input));
  for (let p = 0; p < polarisations; p++) {
    const inputs = Array.from(flaggedInputs.keys()).filter(
      (a) => a % polarisations === p && flaggedInputs[a] === 0,
    );
    const kept = inputs.filter((a) => !left.has(a)).length;
    if (inputs.length >= 3 && kept < 3)
      refuse(
        '--odd',
        `${factor} leaves ${kept} of ${inputs.length} inputs of a polarisation, where gains take three`,
        'give a larger factor, or 0 to keep all inputs',
      );
  }
}

function findStation(text: string, stations: readonly { readonly name: string }[]): number {
  const byName = stations.findIndex(({ name }) => name === text);
  const station = byName >= 0 ? byName : Number(text);
  if (!Number.isSafeInteger(station) || station < 0 || station >= stations.length) {
    refuse(
      '--reference',
      `'${text}' is no station here`,
      `give a name or a number from 0 to ${stations.length - 1}`,
    );
  }
  return station;
}
