/**
 * Results of solving gains, as text and as JSON. Lines name fields (products.gains.odd); commands with flags replace
 * them by flags (options/shorthand.ts).
 */
import { present } from '../../core/present.js';
import type { CrossHanded } from '../../calibrate/index.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, formatSeconds, percent, twoDigits, withMinus } from '../../core/units.js';
import { message, type Line, type Message } from '../../messages/index.js';
import { MOST_UNEXPLAINED, SOME_UNEXPLAINED, type FittedDelay, type ModelCheck } from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';
import {
  isMisplaced,
  misfitWords,
  type BesideUnpolarised,
  type CalibrationSummary,
  type FullPolarisation,
  type GainsPlan,
  type OutsideAt,
  type SolvedGains,
} from '../solve/index.js';
import { choiceLines } from './integrations.js';
import { bandFacts, bandLines, bandOfChannels } from './band.js';

/** Residual above which gains may be meaningless although they converge. */
const LITTLE_EXPLAINED = 0.9;
const MOST_SOURCES = 12;

const s = (count: number): string => (count === 1 ? '' : 's');

/** For --json. */
export function gainsFacts(solved: SolvedGains): object {
  const { plan, first, times, worst, outside, reference, misfit, fullPolarisation: full, beside } = solved;
  const leftOut = times.filter(({ isLeftOut }) => isLeftOut);
  return {
    sources: solved.sources.map(({ source }) => source.name),
    integrations: solved.chosen.used,
    ...solved.summary,
    referenceStation: reference.station,
    ...(times.length > 1 && { referenceBy: reference.by }),
    minimumBaselineM: plan.model.minimumBaselineM,
    model: {
      ...orNull(worst.check),
      outside,
      diffuse: plan.model.diffuse?.name,
    },
    solutionsInTime: timesWithGains(solved),
    ...(leftOut.length > 0 && {
      timesLeftOut: leftOut.map(({ time, check }) => ({ timeUtc: formatInstant(time), ...orNull(check) })),
    }),
    ...(solved.timesWithoutData > 0 && { timesWithoutData: solved.timesWithoutData }),
    ...(plan.asked.over === 'delay' && { delays: solved.delays }),
    ...(misfit && { overMisfit: { free: misfit.free, shaped: misfit.shaped, lost: misfit.lost } }),
    outlierInputs: solved.outlierInputs,
    outlierChannels: solved.outlierChannels,
    outlierGains: solved.outlierGains,
    ...(first.integration.polarisations === 2 && { crossHand: crossHandFacts(first.calibration) }),
    ...bandFacts(plan.telescope, bandOfChannels(plan.header.frequenciesHz)),
    ...(full && {
      fullPolarisation: {
        medianLeakage: full.medianLeakage,
        largestLeakage: full.largestLeakage,
        openRotations: full.openRotations,
        errorDeg: full.errorRad * DEGREES_PER_RADIAN,
        ...(beside && { beside }),
      },
    }),
  };
}

const timesWithGains = ({ times }: SolvedGains): number =>
  times.filter(({ calibration }) => calibration.solved.includes(1)).length;

/** JSON has no NaN. */
const orNull = ({ unexplained, noiseResidual, left }: ModelCheck) => ({
  unexplained: Number.isNaN(unexplained) ? null : unexplained,
  noiseResidual: Number.isNaN(noiseResidual) ? null : noiseResidual,
  left,
});

const crossHandFacts = ({ crossHand, crossHandFit }: CrossHanded) => ({
  how: crossHand.how,
  phaseDeg: Array.from(crossHand.phaseRad, (phase) =>
    Number.isNaN(phase) ? null : phase * DEGREES_PER_RADIAN,
  ),
  fits: crossHandFit,
});

/** The files that were written, and remarks about them. */
export function gainsLines(
  solved: SolvedGains,
  paths: readonly string[],
  { other }: { readonly other?: string } = {},
): Line[] {
  const { plan, times, worst, summary } = solved;
  const good = times.filter(({ isLeftOut }) => !isLeftOut).map(({ calibration }) => calibration);
  return present(
    `${paths.join(', ')}: gains of ${summary.solvedInputs} of ${summary.inputs} inputs in ${summary.solves} solves`,
    ...timeLines(solved),
    ...delayLines(solved),
    ...misfitLines(solved),
    ...skyLines(solved),
    ...convergenceLines(solved),
    plan.model.minimumBaselineM > 0 && baselineLine(plan),
    ...modelLines(worst.unshaped.check, solved.outside, times.length > 1 ? worst.unshaped.time : undefined),
    ...(solved.first.integration.polarisations === 2 && !solved.first.calibration.leakage
      ? crossHandLines(good, plan.header.feeds)
      : [...fullLines(solved.fullPolarisation), ...besideLines(solved.beside)]),
    ...(plan.asked.every === undefined ? choiceLines(solved.chosen, plan.integration, { other }) : []),
    ...unsolvedLines(summary),
    ...leftOutLines(solved),
    ...bandLines(plan.telescope, bandOfChannels(plan.header.frequenciesHz)),
  );
}

/** Requested gains that are missing: the result is incomplete. */
export function lackingMessages({ times, summary, plan }: SolvedGains): Message[] {
  const left = times.filter(({ isLeftOut }) => isLeftOut);
  return present(
    left.length > 0 &&
      message('calibrate.times-unexplained', {
        timesUtc: left.map(({ time }) => formatInstant(time)),
        of: times.length,
        explained: Math.max(...left.map(({ check }) => 1 - check.unexplained)),
      }),
    ...unconvergedMessages(summary, plan.header.frequenciesHz),
  );
}

export function unconvergedMessages(
  { unconverged, solves }: Pick<CalibrationSummary, 'unconverged' | 'solves'>,
  frequenciesHz: Float64Array,
): Message[] {
  if (unconverged.length === 0) return [];
  const channels = [...new Set(unconverged.map(({ channel }) => channel))];
  return [
    message('calibrate.unconverged', {
      unconverged: unconverged.length,
      solves,
      channels,
      firstHz: frequenciesHz[channels[0]],
      timesUtc: [...new Set(unconverged.flatMap(({ timeUtc }) => timeUtc ?? []))],
    }),
  ];
}

function timeLines(solved: SolvedGains): Line[] {
  const { plan, timesWithoutData, reference } = solved;
  const times = timesWithGains(solved);
  const nameOf = (station: number): string => plan.telescope.stations[station].name;
  return present(
    solved.times.length > 1 && `${times} time${s(times)}, every ${formatSeconds(plan.asked.every ?? 0)}`,
    timesWithoutData > 0 && message('calibrate.times-without-data', { times: timesWithoutData }),
    reference.isChanged &&
      message('calibrate.reference-changed', {
        station: nameOf(reference.station),
        by: reference.by,
        ...(plan.crossHand?.kind === 'given' && { angleOf: nameOf(reference.angleOf) }),
      }),
  );
}

function delayLines({ delays, plan, reference }: SolvedGains): Line[] {
  if (delays.length === 0) return [];
  const text = (delayS: number): string => `${withMinus((delayS * 1e9).toFixed(3))} ns`;
  const values = delays.map(({ delayS }) => delayS);
  return [
    `delays from ${text(Math.min(...values))} to ${text(Math.max(...values))} against ${plan.telescope.stations[reference.station].name}`,
    ...delayRangeLines(delays),
  ];
}

/** Fraction of the range above which a delay may be ambiguous. */
const NEAR_EDGE = 0.9;

/** Delays are ambiguous by whole turns of phase between neighbouring channels. */
function delayRangeLines(delays: readonly (FittedDelay & { readonly name: string })[]): Message[] {
  const rangeS = delays.reduce((least, one) => Math.min(least, one.rangeS), Infinity);
  const near = delays.filter((one) => Math.abs(one.delayS) > NEAR_EDGE * one.rangeS);
  return present(
    message('calibrate.delay-range', { rangeS }),
    near.length > 0 &&
      message('calibrate.delays-near-edge', {
        inputs: near.map(({ name }) => name),
        delays: delays.length,
      }),
  );
}

const misfitLines = ({ misfit }: SolvedGains): Message[] =>
  misfit?.isWarned === true
    ? [message('calibrate.shape-misfit', { over: misfit.over, ...misfitWords(misfit) })]
    : [];

/** The model of the sky. */
function skyLines({ plan: { model, data, telescope }, sources }: SolvedGains): Line[] {
  return present(
    modelLine(sources),
    model.diffuse && `model: and a diffuse sky, ${model.diffuse.title}`,
    data.kind === 'unknown' &&
      sources.some(({ source: { stokes } }) => Math.hypot(stokes.q, stokes.u) > 0) &&
      message('calibrate.polarisation-of-feeds', { why: data.why }),
    model.element === undefined && telescope.beamExponent === 0 && message('calibrate.beam-unknown'),
  );
}

function modelLine(sources: readonly SourceUp[]): string {
  const words = sources
    .slice(0, MOST_SOURCES)
    .map(({ source, altitudeDeg }) => `${source.name} at ${altitudeDeg.toFixed(0)}°`);
  const more = sources.length - words.length;
  return `model: ${words.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const baselineLine = ({ model: { minimumBaselineM }, minBaseline }: GainsPlan): string =>
  `baselines from ${minimumBaselineM.toFixed(1)} m${minBaseline === undefined ? ' (2 wavelengths; products.gains.min-baseline sets another)' : minBaseline.unit === 'wl' ? ` (${minBaseline.value} wavelengths)` : ''}`;

/** Solves without gains, although others have them. */
const unsolvedLines = ({ solvesWithoutData, solvesWithOpenGains }: CalibrationSummary): Message[] =>
  present(
    solvesWithoutData > 0 && message('calibrate.solves-without-data', { solves: solvesWithoutData }),
    solvesWithOpenGains > 0 && message('calibrate.open-gains', { solves: solvesWithOpenGains }),
  );

function leftOutLines({ outlierInputs, summary, plan }: SolvedGains): Message[] {
  const stations = summary.leftOut
    .filter(({ reason }) => reason !== 'flagged')
    .map(({ station, reason }) => ({ name: plan.telescope.stations[station].name, reason }));
  const inputs = outlierInputs.map(({ name, level, by }) => ({ name, level, by }));
  return inputs.length + stations.length > 0
    ? [message('calibrate.inputs-left-out', { inputs, stations })]
    : [];
}

function convergenceLines({ summary, outlierChannels, outlierGains, plan }: SolvedGains): Line[] {
  const { medianResidual, worstResidual } = summary;
  return present(
    `converged ${summary.converged} of ${summary.solves}, median ${summary.medianIterations} iterations, ` +
      `residual median ${(100 * medianResidual).toFixed(1)} %, maximum ${(100 * worstResidual).toFixed(1)} %`,
    outlierChannels.length > 0 &&
      message('calibrate.channels-left-out', {
        channels: outlierChannels.map(({ channel, level, by, timeUtc }) => ({
          channel,
          frequencyHz: plan.header.frequenciesHz[channel],
          level,
          by,
          timeUtc,
        })),
      }),
    outlierGains.length > 0 && message('calibrate.gains-left-out', { gains: outlierGains.length }),
    medianResidual > LITTLE_EXPLAINED && message('calibrate.nothing-explained', { residual: medianResidual }),
  );
}

/** Whether the X–Y phase is known, and from what; for all times, their channels combined. */
function crossHandLines(all: readonly CrossHanded[], feeds: 'linear' | 'circular' = 'linear'): Line[] {
  const used = all.flatMap(({ crossHand, solved }) => {
    const inputs = solved.length / crossHand.phaseRad.length;
    return Array.from(crossHand.phaseRad).filter((_, c) =>
      solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
    );
  });
  const found = used.filter((phase) => !Number.isNaN(phase));
  const how = all.find(({ crossHand }) => crossHand.how !== 'unknown')?.crossHand.how ?? 'unknown';
  if (found.length === 0) return [message('calibrate.cross-hand-unknown', { feeds })];
  const words = {
    unknown: '',
    model: 'by the model',
    'v-zero': 'taking V as zero',
    given: 'as given',
    earlier: 'as in the earlier gains',
  }[how];
  const median = withMinus((found[Math.floor(found.length / 2)] * DEGREES_PER_RADIAN).toFixed(1));
  return present(
    `the phase between ${feeds === 'linear' ? 'X and Y' : 'R and L'}: median ${median}°, ${words}`,
    found.length < used.length &&
      message('calibrate.cross-hand-partly-known', { feeds, known: found.length, of: used.length }),
  );
}

/** From the other polarisation: no working feed has so much leakage. */
const MOST_LEAKAGE = 0.5;

/** For full polarisation: the leakage, and what the model determines. */
export function fullLines(full: FullPolarisation | undefined): Line[] {
  if (!full) return [];
  const { openRotations, errorRad, medianLeakage, largestLeakage } = full;
  return present(
    `leakage median ${percent(medianLeakage, 1)}, maximum ${percent(largestLeakage, 1)}`,
    largestLeakage > MOST_LEAKAGE &&
      message('calibrate.leakage-high', { largest: largestLeakage, most: MOST_LEAKAGE }),
    openRotations === 0
      ? `the model determines I, Q, U and V, their rotation to ${twoDigits(errorRad * DEGREES_PER_RADIAN)}°`
      : message('calibrate.rotations-open', { rotations: openRotations }),
  );
}

/** By this much more leakage a polarised model is doubtful. */
const MORE_LEAKAGE = 1.1;

/** A polarised model beside the same without polarisation. */
export function besideLines(beside: BesideUnpolarised | undefined): Line[] {
  if (!beside) return [];
  const { better, residual, medianLeakage, unpolarisedResidual, unpolarisedLeakage } = beside;
  if (better === 'unpolarised' || (better === 'neither' && medianLeakage > MORE_LEAKAGE * unpolarisedLeakage))
    return [message('calibrate.unpolarised-fits', beside)];
  return [
    better === 'polarised'
      ? `the polarised model fits better than an unpolarised one: it leaves ${percent(residual)}, not ${percent(unpolarisedResidual)}`
      : `an unpolarised model fits as well, with a median leakage of ${percent(unpolarisedLeakage, 1)} (here ${percent(medianLeakage, 1)})`,
  ];
}

/** With several times the worst is reported; `at` is its time. */
function modelLines(
  { unexplained, noiseResidual, left }: ModelCheck,
  outside: readonly OutsideAt[],
  at?: Instant,
): Message[] {
  const when = at && { timeUtc: formatInstant(at) };
  return [
    ...(unexplained > MOST_UNEXPLAINED
      ? [message('calibrate.model-poor', { explained: 1 - unexplained, ...when })]
      : unexplained > SOME_UNEXPLAINED
        ? [message('calibrate.model-incomplete', { unexplained, noiseResidual, ...when })]
        : Number.isNaN(unexplained) && left > SOME_UNEXPLAINED
          ? [
              message('calibrate.model-unchecked', {
                left,
                isNoiseUnknown: Number.isNaN(noiseResidual),
                ...when,
              }),
            ]
          : []),
    ...outside.map((one) => {
      const { name, offsetDeg, overFlux, timeUtc } = one;
      const seen = { name, offsetDeg, overFlux, timeUtc };
      const finding = findingOf(one);
      return finding === undefined
        ? message('calibrate.source-confirmed', seen)
        : message('calibrate.source-outside-model', { ...seen, finding });
    }),
  ];
}

/** A source at its position may still have a wrong flux in the beam or in the model. */
function findingOf(one: OutsideAt): 'missing' | 'displaced' | 'scale' | undefined {
  if (isMisplaced(one)) return one.overFlux < 0.2 ? 'missing' : 'displaced';
  // Cen A's lobes are wider than most beams, which leave a third of its flux.
  return one.overFlux > 2.5 || one.overFlux < 0.2 ? 'scale' : undefined;
}
