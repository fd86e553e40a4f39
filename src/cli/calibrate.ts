/** corella calibrate: visibilities and a model of the sky to gains. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Calibration, CrossHanded, CrossHandRule, IterationRule } from '../calibrate/index.js';
import { formatInstant } from '../core/instant.js';
import { DEGREES_PER_RADIAN, formatSeconds, SPEED_OF_LIGHT_M_PER_S, withMinus } from '../core/units.js';
import { refuse } from '../core/errors.js';
import { gainPaths, writeGainFiles } from '../formats/index.js';
import {
  prepareCalibrate,
  leaveOutOddGains,
  oddGains,
  type OddGains,
  frameAtMiddle,
  type ModelCheck,
  toOneReference,
  type OverBand,
  chooseIntegration,
  stokesFrameOf,
} from '../stages/index.js';
import { beamOfTelescope } from '../sky/beams/registry.js';
import { inputName } from '../telescope/telescope.js';
import { refuseUnplaced } from '../telescope/unplaced.js';
import { outsideOf } from './calibrate/outside.js';
import { delayRangeLines, misfitFact, shape, shapeLines } from './calibrate/shape.js';
import {
  allSources,
  bestOf,
  judge,
  oddInputsOf,
  solveEvery,
  solveStretch,
  worstOf,
} from './calibrate/stretches.js';
import { refuseGiven } from './options/command.js';
import { addCalibrateOptions, findStation, type CalibrateOptions } from './options/calibrate-options.js';
import { crossHandAfter, type CrossHandChoice } from './options/cross-hand-option.js';
import { checkFull } from './options/polarisation-option.js';
import { modelOf, type BaselineLength } from './options/model-options.js';
import {
  convergenceLines,
  crossHandLines,
  leftOutLine,
  MOST_LINES,
  oddOfTimes,
  refuseNoCrossHand,
  refuseNoneConverged,
  reasonText,
  summarise,
  unsolvedLines,
  unconvergedLine,
} from './report/calibration-report.js';
import { fullFacts, fullLines, refuseOpenFrame } from './report/full-lines.js';
import { history } from './report/history.js';
import { modelLine, modelLines, refuseWrongModel } from './report/model-lines.js';
import { PartlyDone } from './report/outcome.js';
import { choiceLines } from './options/integration-options.js';
import { openOptions } from './options/open-options.js';
import { partOf } from './options/part-options.js';
import { tellingBand } from './report/band-lines.js';
import { tellingFlags, withOrientation } from './report/flag-lines.js';
import { openVisibilities, refuseUnknown, telescopeFor, withBackend } from './open.js';
import { checkOutputs } from './options/outputs.js';
import { polarise } from './options/polarise-option.js';
import type { Telescope } from '../telescope/telescope.js';
import { chooseSources } from './options/sky-options.js';
import { openTerminal } from './report/terminal.js';

export function registerCalibrate(program: Command): void {
  const command = program
    .command('calibrate')
    .argument('<visibilities>', 'in any format we read')
    .action(run);
  addCalibrateOptions(command);
}

async function run(path: string, options: CalibrateOptions, command: Command): Promise<void> {
  const screen = openTerminal(options);
  const paths = [...gainPaths(options.out), ...(options.delaysOut === undefined ? [] : [options.delaysOut])];
  if (options.delaysOut !== undefined && options.over !== 'delay')
    refuse('--delays-out', 'needs delays to write', 'add --over delay');
  if (options.every !== undefined)
    refuseGiven(command, ['integration'], 'chooses one part of the file, and --every takes all of it');
  const opened = await openVisibilities(path, await openOptions(options));
  try {
    refuseUnknown(opened);
    const beside = options.flagsOut === undefined ? [] : [options.flagsOut];
    await checkOutputs({ ...options, paths: [...paths, ...beside], from: path });
    const { file, told, finish: finishPart } = await partOf(opened, options);
    checkFull(options, file.header);
    const { telescope: own, frame: data } = stokesFrameOf(
      await telescopeFor(file, options),
      file.header,
      options.feeds,
    );
    // Models are of the feeds as they are mounted only where the data are.
    const telescope: Telescope = data.kind === 'feeds' ? own : { ...own, mount: undefined };
    const terminal = tellingBand(
      tellingFlags(screen, options.polarise.length > 0 ? withOrientation(told) : told, options),
      telescope,
      file,
    );
    refuseUnplaced(path, telescope, 'a model of the sky says nothing of them');
    const reading = terminal.stage('read');
    const choice = await chooseIntegration(file, options.integration, reading.update);
    reading.done();
    const asked = choice.integration;
    const iterations: IterationRule =
      options.iterations === undefined
        ? { kind: 'until', tolerance: options.tolerance, most: options.mostIterations }
        : { kind: 'fixed', count: options.iterations, tolerance: options.tolerance };
    const referenceStation =
      options.reference === undefined ? undefined : findStation(options.reference, telescope.stations);
    const afterwards = await crossHandAfter(options.crossHand, telescope, file.header.frequenciesHz);
    const stage = terminal.stage('calibrate');
    const { frequenciesHz, channelWidthHz, feeds } = file.header;
    const model = await modelOf(options, telescope, frequenciesHz);
    const { element, minimumBaselineM } = model;
    const solved = await withBackend(options, async (backend) => {
      const solver = await prepareCalibrate({
        backend,
        telescope,
        frequenciesHz,
        polarisations: asked.polarisations,
        ...(feeds && { feeds }),
        sources: polarise(chooseSources(options.sources, frameAtMiddle(telescope, asked)), options.polarise),
        minimumAltitudeDeg: options.minAltitude,
        iterations,
        crossHand: ruleOf(options.crossHand),
        polarisation: options.polarisation,
        followed: file.header.phaseCentre,
        ...model,
        onStep: stage.step,
        ...(referenceStation === undefined ? {} : { referenceStation }),
      });
      try {
        return options.every === undefined
          ? { stretches: [await solveStretch(solver, asked, options.odd)], empty: 0 }
          : await solveEvery(solver, file, options.every, options.odd);
      } finally {
        await solver.close();
      }
    });
    const seconds = stage.done();
    refuseNoneConverged(solved.stretches, options.iterations ?? options.mostIterations);
    const judged = judge(solved.stretches, channelWidthHz, options.acceptModel === true);
    const [left, kept] = [judged.filter((one) => one.isLeftOut), judged.filter((one) => !one.isLeftOut)];
    if (kept.length === 0) refuseWrongModel(bestOf(judged).check, judged.length, options);
    const sources = allSources(kept);
    const found = kept.map(({ calibration }) => calibration);
    if (found[0].leakage) refuseOpenFrame(options.crossHand, found);
    else refuseNoCrossHand(options.crossHand, found, sources, feeds);
    const referred = toOneReference(judged.map(({ calibration }) => calibration));
    const finished = judged.map((one, k) => {
      const calibration = referred.solutions[k];
      const strange = oddOf(calibration, frequenciesHz.length, options.odd);
      const clean = leaveOutOddGains(calibration, frequenciesHz.length, strange);
      return { ...one, strange, calibration: clean.solved.includes(1) ? afterwards(clean) : clean };
    });
    for (const one of finished) if (!one.isLeftOut) refuseMixedOver(options.over, one.calibration);
    const made = finished.map((one) => shape(options.over, one, frequenciesHz, channelWidthHz));
    const good = made.filter((one) => !one.isLeftOut);
    const misfits = shapeLines(options.over, good, options.acceptModel === true);
    const { calibration, integration, delays } =
      good.find((one) => one.calibration.solved.includes(1)) ?? good[0];
    const { referenceStation: reference } = calibration;
    const changed = kept.filter((one) => one.calibration.referenceStation !== reference);
    const outside = outsideOf(good, telescope, frequenciesHz);
    const series = made.map((one) => ({ time: one.time, ...one.calibration }));
    const nameOf = (input: number): string => inputName(telescope, input, integration.polarisations, feeds);
    const named = delays.map((one) => ({ ...one, name: nameOf(one.input) }));
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
        dataUnits: file.header.units === 'Jy' ? 'Jy' : 'uncalibrated',
        element: (element ?? beamOfTelescope(telescope))?.name ?? 'none',
        sources: sources.map(({ source }) => source.name),
        history: history({ from: file, telescope }),
      },
      { telescope, channelWidthHz, durationS: integration.durationS, ...(feeds && { feeds }) },
    );
    await finishPart();
    const summary = summarise(good);
    const strange = oddOfTimes(good);
    const worst = worstOf(good);
    // What the shape leaves is told by itself, and is no fault of the model's.
    const leaving = misfits.length > 0 ? worstOf(kept) : worst;
    const isSeries = judged.length > 1;
    const times = series.filter((one) => one.solved.includes(1)).length;
    const lacking = [leftOutLine(left, judged.length), unconvergedLine(summary, frequenciesHz)].flatMap(
      (line) => line ?? [],
    );
    const oddInputs = oddInputsOf(good).map((one) => ({ ...one, name: nameOf(one.input) }));
    const without = [
      ...oddInputs.map(({ name, level, by }) => `${name} (${by} ${level.toPrecision(2)} times the middle)`),
      ...summary.leftOut
        .filter(({ reason }) => reason !== 'flagged')
        .map(({ station, reason }) => `${telescope.stations[station].name} (${reasonText(reason)})`),
    ];
    terminal.result(
      {
        path: options.out,
        paths,
        sources: sources.map(({ source }) => source.name),
        integrations: choice.used,
        ...summary,
        referenceStation: reference,
        ...(isSeries && { referenceBy: referred.by }),
        minimumBaselineM,
        model: { ...orNull(worst.check), outside, ...(options.diffuse && { diffuse: options.diffuse.name }) },
        solutionsInTime: times,
        ...(left.length > 0 && {
          timesLeftOut: left.map(({ time, check }) => ({ timeUtc: formatInstant(time), ...orNull(check) })),
        }),
        ...(solved.empty > 0 && { timesWithoutData: solved.empty }),
        ...(options.over === 'delay' && { delays: named }),
        ...misfitFact(good),
        oddInputs,
        oddChannels: strange.channels,
        oddGains: strange.gains.map((one) => ({ ...one, name: nameOf(one.input) })),
        ...(integration.polarisations === 2 && { crossHand: crossHandFacts(calibration) }),
        ...fullFacts(good.map((one) => one.calibration)),
        seconds,
      },
      [
        `${paths.join(', ')}: gains of ${summary.solvedInputs} of ${summary.inputs} inputs in ${summary.solves} solves`,
        ...(isSeries
          ? [`${times} time${times === 1 ? '' : 's'}, every ${formatSeconds(options.every ?? 0)}`]
          : []),
        ...(solved.empty > 0
          ? [`${solved.empty} more of them flagged or missing as a whole: gains are drawn across`]
          : []),
        ...(changed.length > 0
          ? [
              referenceLine(
                referred.by,
                telescope.stations[reference].name,
                options.crossHand?.kind === 'given'
                  ? telescope.stations[found[0].referenceStation].name
                  : undefined,
              ),
            ]
          : []),
        ...(named.length > 0
          ? [
              `delays from ${delayText(Math.min(...delays.map(({ delayS }) => delayS)))} to ${delayText(Math.max(...delays.map(({ delayS }) => delayS)))} against ${telescope.stations[reference].name}`,
            ]
          : []),
        ...delayRangeLines(named),
        ...misfits,
        modelLine(sources),
        ...(options.diffuse ? [`model: and a diffuse sky, ${options.diffuse.title}`] : []),
        ...(data.kind === 'unknown' &&
        sources.some(({ source: { stokes } }) => Math.hypot(stokes.q, stokes.u) > 0)
          ? [`warning: Q and U of the model count as those of X and Y as they are: ${data.why}`]
          : []),
        ...(element === undefined && telescope.beamExponent === 0
          ? ['model: without a beam, none being known of these stations (--element): fluxes are apparent']
          : []),
        ...convergenceLines(summary, strange, frequenciesHz),
        ...(minimumBaselineM > 0 ? [baselineLine(minimumBaselineM, options.minBaseline)] : []),
        ...modelLines(leaving.check, outside, isSeries ? leaving.time : undefined),
        ...(integration.polarisations === 2 && !calibration.leakage
          ? crossHandLines(
              good.map((one) => one.calibration),
              feeds,
            )
          : fullLines(good.map((one) => one.calibration))),
        ...(options.every === undefined ? choiceLines(choice, options.integration) : []),
        ...unsolvedLines(summary),
        ...without.slice(0, MOST_LINES).map((one) => `left out: ${one}`),
        ...(without.length > MOST_LINES
          ? [`left out: ${without.length - MOST_LINES} more; --json lists all`]
          : []),
      ],
    );
    if (lacking.length > 0) throw new PartlyDone(lacking.join('\n'));
  } finally {
    await opened.close();
  }
}

/** JSON has no NaN. */
const orNull = ({ unexplained, noiseResidual, left }: ModelCheck) => ({
  unexplained: Number.isNaN(unexplained) ? null : unexplained,
  noiseResidual: Number.isNaN(noiseResidual) ? null : noiseResidual,
  left,
});

const baselineLine = (minimumM: number, asked: BaselineLength | undefined): string =>
  `baselines from ${minimumM.toFixed(1)} m${asked === undefined ? ' (2 wavelengths; --min-baseline says otherwise)' : asked.unit === 'wl' ? ` (${asked.value} wavelengths)` : ''}`;

const ruleOf = (choice: CrossHandChoice | undefined): CrossHandRule =>
  choice === undefined ? { kind: 'model' } : choice.kind === 'file' ? { kind: 'unknown' } : choice;

const oddOf = (found: Calibration, channels: number, factor: number): OddGains =>
  factor === 0 ? { channels: [], gains: [] } : oddGains(found, channels, factor);

const crossHandFacts = ({ crossHand, crossHandFit }: CrossHanded) => ({
  how: crossHand.how,
  phaseDeg: Array.from(crossHand.phaseRad, (phase) =>
    Number.isNaN(phase) ? null : phase * DEGREES_PER_RADIAN,
  ),
  ...(crossHandFit && { fits: crossHandFit }),
});

/** Gains of channels with the phase between X and Y and of those without do not add up. */
function refuseMixedOver(over: OverBand, { crossHand, solved }: CrossHanded): void {
  const inputs = solved.length / crossHand.phaseRad.length;
  const isLacking = (phase: number, c: number): boolean =>
    Number.isNaN(phase) && solved.subarray(c * inputs, (c + 1) * inputs).includes(1);
  if (over !== 'channel' && crossHand.how !== 'unknown' && crossHand.phaseRad.some(isLacking))
    refuse(
      '--over',
      'the phase between X and Y is known in some channels alone, which cannot be joined',
      'leave --over out, or give the phase as an angle or by an earlier gains file (--cross-hand)',
    );
}

/** `angleOf`: the station whose X and Y have the angle that was given. */
const referenceLine = (by: 'one' | 'continued', name: string, angleOf: string | undefined): string =>
  (by === 'one'
    ? `reference: ${name}, the first station that has gains at all of these times`
    : `reference: no station has gains at all of these times: each solution goes on in phase from the one before, the first by ${name}`) +
  (angleOf === undefined ? '' : `; the angle of --cross-hand is taken to be that of ${angleOf}`);

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
