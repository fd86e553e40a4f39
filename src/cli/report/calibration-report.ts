/**
 * What came of solving gains, for people and for machines. Lines name fields (products.gains.odd); a command that has flags
 * puts them there (options/shorthand.ts).
 */
import type { CrossHanded, LeftOutReason } from '../../calibrate/index.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, formatHz, formatSeconds, withMinus } from '../../core/units.js';
import { MOST_UNEXPLAINED, SOME_UNEXPLAINED, type FittedDelay, type ModelCheck } from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';
import {
  isMisplaced,
  misfitWords,
  type CalibrationSummary,
  type FullPolarisation,
  type GainsPlan,
  type OutsideAt,
  type SolvedGains,
} from '../../visibilities/index.js';
import { choiceLines } from './integration-lines.js';
import { bandFacts, bandLines, bandOfChannels } from './band-lines.js';

/** A residual above this: gains still come out, and may mean nothing. */
const LITTLE_EXPLAINED = 0.9;
/** More is in the JSON. */
const MOST_LINES = 20;
const MOST_CHANNELS = 6;
const MOST_SOURCES = 12;

const s = (count: number): string => (count === 1 ? '' : 's');

/** For --json. */
export function gainsFacts(solved: SolvedGains): object {
  const { plan, first, times, worst, outside, reference, misfit, fullPolarisation: full } = solved;
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
      ...(plan.model.diffuse && { diffuse: plan.model.diffuse.name }),
    },
    solutionsInTime: timesWithGains(solved),
    ...(leftOut.length > 0 && {
      timesLeftOut: leftOut.map(({ time, check }) => ({ timeUtc: formatInstant(time), ...orNull(check) })),
    }),
    ...(solved.timesWithoutData > 0 && { timesWithoutData: solved.timesWithoutData }),
    ...(plan.asked.over === 'delay' && { delays: solved.delays }),
    ...(misfit && { overMisfit: { free: misfit.free, shaped: misfit.shaped, lost: misfit.lost } }),
    oddInputs: solved.oddInputs,
    oddChannels: solved.oddChannels,
    oddGains: solved.oddGains,
    ...(first.integration.polarisations === 2 && { crossHand: crossHandFacts(first.calibration) }),
    ...bandFacts(plan.telescope, bandOfChannels(plan.header.frequenciesHz)),
    ...(full && {
      fullPolarisation: {
        ...{ medianLeakage: full.medianLeakage, largestLeakage: full.largestLeakage },
        ...{ openRotations: full.openRotations, errorDeg: full.errorRad * DEGREES_PER_RADIAN },
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
  ...(crossHandFit && { fits: crossHandFit }),
});

/** What was written, and what one should know of it. */
export function gainsLines(solved: SolvedGains, paths: readonly string[]): string[] {
  const { plan, times, worst, summary } = solved;
  const good = times.filter(({ isLeftOut }) => !isLeftOut).map(({ calibration }) => calibration);
  return [
    `${paths.join(', ')}: gains of ${summary.solvedInputs} of ${summary.inputs} inputs in ${summary.solves} solves`,
    ...timeLines(solved),
    ...delayLines(solved),
    ...misfitLines(solved),
    ...skyLines(solved),
    ...convergenceLines(solved),
    ...(plan.model.minimumBaselineM > 0 ? [baselineLine(plan)] : []),
    ...modelLines(worst.unshaped.check, solved.outside, times.length > 1 ? worst.unshaped.time : undefined),
    ...(solved.first.integration.polarisations === 2 && !solved.first.calibration.leakage
      ? crossHandLines(good, plan.header.feeds)
      : fullLines(solved.fullPolarisation)),
    ...(plan.asked.every === undefined ? choiceLines(solved.chosen, plan.integration) : []),
    ...unsolvedLines(summary),
    ...leftOutLines(solved),
    ...bandLines(plan.telescope, bandOfChannels(plan.header.frequenciesHz)),
  ];
}

/** What has no gains although it was asked for: the result is not all of it. */
export const lackingLines = (solved: SolvedGains): string[] =>
  [
    leftOutLine(
      solved.times.filter(({ isLeftOut }) => isLeftOut),
      solved.times.length,
    ),
    unconvergedLine(solved.summary, solved.plan.header.frequenciesHz),
  ].flatMap((line) => line ?? []);

function timeLines(solved: SolvedGains): string[] {
  const { plan, timesWithoutData, reference } = solved;
  const times = timesWithGains(solved);
  const nameOf = (station: number): string => plan.telescope.stations[station].name;
  return [
    ...(solved.times.length > 1
      ? [`${times} time${s(times)}, every ${formatSeconds(plan.asked.every ?? 0)}`]
      : []),
    ...(timesWithoutData > 0
      ? [`${timesWithoutData} more of them flagged or missing as a whole: gains are drawn across`]
      : []),
    ...(reference.isChanged
      ? [
          (reference.by === 'one'
            ? `reference: ${nameOf(reference.station)}, the first station that has gains at all of these times`
            : `reference: no station has gains at all of these times: each solution goes on in phase from the one before, the first by ${nameOf(reference.station)}`) +
            (plan.crossHand?.kind === 'given'
              ? `; the angle of products.gains.cross-hand is taken to be that of ${nameOf(reference.angleOf)}`
              : ''),
        ]
      : []),
  ];
}

function delayLines({ delays, plan, reference }: SolvedGains): string[] {
  if (delays.length === 0) return [];
  const text = (delayS: number): string => `${withMinus((delayS * 1e9).toFixed(3))} ns`;
  const values = delays.map(({ delayS }) => delayS);
  return [
    `delays from ${text(Math.min(...values))} to ${text(Math.max(...values))} against ${plan.telescope.stations[reference.station].name}`,
    ...delayRangeLines(delays),
  ];
}

/** Of its range, from where on a delay may as well be another's. */
const NEAR_EDGE = 0.9;

/** Delays are known up to whole turns between neighbouring channels: within which range, and which are at its edge. */
function delayRangeLines(delays: readonly (FittedDelay & { readonly name: string })[]): string[] {
  const rangeS = delays.reduce((least, one) => Math.min(least, one.rangeS), Infinity);
  const near = delays.filter((one) => Math.abs(one.delayS) > NEAR_EDGE * one.rangeS);
  return [
    `delays are known within ±${formatSeconds(rangeS)}, half a turn from channel to channel: ` +
      `one beyond comes out ${formatSeconds(2 * rangeS)} off`,
    ...(near.length > 0
      ? [
          `${near.length} of ${delays.length} delays ${near.length === 1 ? 'lies' : 'lie'} near that edge (${near
            .slice(0, 6)
            .map(({ name }) => name)
            .join(', ')}${near.length > 6 ? ' …' : ''}), and may be beyond it: finer channels would tell`,
        ]
      : []),
  ];
}

function misfitLines({ misfit }: SolvedGains): string[] {
  if (misfit?.isWarned !== true) return [];
  const { what, fix } = misfitWords(misfit);
  return [`products.gains.over: ${misfit.over} does not fit: ${what}; ${fix}`];
}

/** The model of the sky. */
function skyLines({ plan: { model, data, telescope }, sources }: SolvedGains): string[] {
  return [
    modelLine(sources),
    ...(model.diffuse ? [`model: and a diffuse sky, ${model.diffuse.title}`] : []),
    ...(data.kind === 'unknown' &&
    sources.some(({ source: { stokes } }) => Math.hypot(stokes.q, stokes.u) > 0)
      ? [`warning: Q and U of the model count as those of X and Y as they are: ${data.why}`]
      : []),
    ...(model.element === undefined && telescope.beamExponent === 0
      ? [
          'model: without a beam, none being known of these stations (products.gains.element): fluxes are apparent',
        ]
      : []),
  ];
}

function modelLine(sources: readonly SourceUp[]): string {
  const words = sources
    .slice(0, MOST_SOURCES)
    .map(({ source, altitudeDeg }) => `${source.name} at ${altitudeDeg.toFixed(0)}°`);
  const more = sources.length - words.length;
  return `model: ${words.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const baselineLine = ({ model: { minimumBaselineM }, minBaseline }: GainsPlan): string =>
  `baselines from ${minimumBaselineM.toFixed(1)} m${minBaseline === undefined ? ' (2 wavelengths; products.gains.min-baseline says otherwise)' : minBaseline.unit === 'wl' ? ` (${minBaseline.value} wavelengths)` : ''}`;

/** Of solves that have no gains though others do. */
const unsolvedLines = ({ solvesWithoutData, solvesWithOpenGains }: CalibrationSummary): string[] => [
  ...(solvesWithoutData > 0
    ? [
        `${solvesWithoutData} more have no gains: all of a channel or a feed is flagged or missing, but for two stations at the most`,
      ]
    : []),
  ...(solvesWithOpenGains > 0
    ? [
        `${solvesWithOpenGains} more have no gains: the pairs they have leave them open, and others would fit as well`,
      ]
    : []),
];

/** Why a station has no gain, for people. */
const reasonText = (reason: LeftOutReason): string =>
  reason === 'apart' ? 'apart: no baseline leads to the others' : reason;

function leftOutLines({ oddInputs, summary, plan }: SolvedGains): string[] {
  const without = [
    ...oddInputs.map(({ name, level, by }) => `${name} (${by} ${level.toPrecision(2)} times the middle)`),
    ...summary.leftOut
      .filter(({ reason }) => reason !== 'flagged')
      .map(({ station, reason }) => `${plan.telescope.stations[station].name} (${reasonText(reason)})`),
  ];
  return [
    ...without.slice(0, MOST_LINES).map((one) => `left out: ${one}`),
    ...(without.length > MOST_LINES
      ? [`left out: ${without.length - MOST_LINES} more; --json lists all`]
      : []),
  ];
}

/** "3, 4, 5 (57.2 MHz …)": the channels, and the frequency of the first. */
function channelList(channels: readonly number[], frequenciesHz: Float64Array): string {
  const some = channels.slice(0, MOST_CHANNELS).join(', ');
  const more = channels.length > MOST_CHANNELS ? ` and ${channels.length - MOST_CHANNELS} more` : '';
  return `${some}${more} (${channels.length === 1 ? 'at' : 'from'} ${formatHz(frequenciesHz[channels[0]])})`;
}

/** The first of them, and how many more. */
const timeList = (times: readonly string[]): string =>
  times.length < 4 ? times.join(', ') : `${times.slice(0, 3).join(', ')} and ${times.length - 3} more times`;

/** Times that have no gains because the model does not explain their sky. */
function leftOutLine(
  left: readonly { readonly time: Instant; readonly check: ModelCheck }[],
  of: number,
): string | undefined {
  if (left.length === 0) return undefined;
  const most = Math.max(...left.map(({ check }) => 1 - check.unexplained));
  return (
    `${left.length} of ${of} times have no gains: the model explains ${(100 * most).toFixed(0)} % of the sky's power there` +
    `${left.length > 1 ? ' at most' : ''}, at ${timeList(left.map(({ time }) => formatInstant(time)))}; ` +
    'what else was up then? products.gains.accept-model writes them all the same'
  );
}

/** What has no gains because it was given up; undefined where all went well. */
export function unconvergedLine(
  { unconverged: given, solves }: CalibrationSummary,
  frequenciesHz: Float64Array,
): string | undefined {
  if (given.length === 0) return undefined;
  const channels = [...new Set(given.map(({ channel }) => channel))];
  const times = [...new Set(given.flatMap(({ timeUtc }) => timeUtc ?? []))];
  return (
    `${given.length} of ${solves} solves did not converge and have no gains: channel${s(channels.length)} ` +
    `${channelList(channels, frequenciesHz)}${times.length > 0 ? ` at ${timeList(times)}` : ''}; raise products.gains.most-iterations, or look at them with inspect`
  );
}

function convergenceLines({ summary, oddChannels, oddGains, plan }: SolvedGains): string[] {
  const { frequenciesHz } = plan.header;
  return [
    `converged ${summary.converged} of ${summary.solves}, ${summary.medianIterations} iterations in the middle, ` +
      `residual ${(100 * summary.medianResidual).toFixed(1)} % in the middle, ${(100 * summary.worstResidual).toFixed(1)} % at worst`,
    ...oddChannels
      .slice(0, MOST_CHANNELS)
      .map(
        ({ channel, level, by, timeUtc }) =>
          `left out: channel ${channel} (${formatHz(frequenciesHz[channel])}${timeUtc === undefined ? '' : ` at ${timeUtc}`}), ` +
          (by === 'gain'
            ? `whose gains are ${level.toPrecision(2)} times the middle channel's`
            : `of which the model explains ${level.toPrecision(2)} times what it does of the middle channel`),
      ),
    ...(oddChannels.length > MOST_CHANNELS
      ? [`left out: ${oddChannels.length - MOST_CHANNELS} more channels; --json lists all`]
      : []),
    ...(oddGains.length > 0
      ? [
          `left out: ${oddGains.length} more gain${s(oddGains.length)} unlike those of the same input in other channels; --json lists all`,
        ]
      : []),
    ...(summary.medianResidual > LITTLE_EXPLAINED
      ? [
          'the model explains next to nothing of the data: either they are mostly noise, or another sky was up; look at an image before you trust these gains',
        ]
      : []),
  ];
}

/** Whether X and Y have one phase, and by what; of all times, their channels together. */
function crossHandLines(all: readonly CrossHanded[], feeds: 'linear' | 'circular' = 'linear'): string[] {
  const [first, second, mixed] = feeds === 'linear' ? ['X', 'Y', 'U and V'] : ['R', 'L', 'Q and U'];
  const used = all.flatMap(({ crossHand, solved }) => {
    const inputs = solved.length / crossHand.phaseRad.length;
    return Array.from(crossHand.phaseRad).filter((_, c) =>
      solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
    );
  });
  const found = used.filter((phase) => !Number.isNaN(phase));
  const how = all.find(({ crossHand }) => crossHand.how !== 'unknown')?.crossHand.how ?? 'unknown';
  if (found.length === 0)
    return [
      `the phase between ${first} and ${second} is unknown: images leave ${mixed} out; products.gains.cross-hand says how to know it`,
    ];
  const words = {
    unknown: '',
    model: 'by the model',
    'v-zero': 'taking V as zero',
    given: 'as given',
    earlier: 'as the earlier gains have it',
  }[how];
  const middle = withMinus((found[Math.floor(found.length / 2)] * DEGREES_PER_RADIAN).toFixed(1));
  return [
    `the phase between ${first} and ${second}: ${middle}° in the middle, ${words}` +
      (found.length < used.length
        ? `, in ${found.length} of ${used.length} channels${all.length > 1 ? ' and times' : ''}: the cross hands of the others are too weak, so images leave ${mixed} out`
        : ''),
  ];
}

/** Of the other polarisation: no feed that works receives so much. */
const MOST_LEAKAGE = 0.5;

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;

/** Of full polarisation: how much leaks, and what the model holds. */
export function fullLines(full: FullPolarisation | undefined): string[] {
  if (!full) return [];
  const { openRotations: open, errorRad, medianLeakage, largestLeakage } = full;
  return [
    `leakage ${percent(medianLeakage)} in the middle, ${percent(largestLeakage)} at most`,
    ...(largestLeakage > MOST_LEAKAGE
      ? [
          `warning: leakage above ${percent(MOST_LEAKAGE)} is no antenna's: the model's polarisation has wrong signs, its feeds are held in another way (products.gains.feeds), or X and Y are swapped`,
        ]
      : []),
    open === 0
      ? `I, Q, U and V are held by the model, their rotation to ${(errorRad * DEGREES_PER_RADIAN).toPrecision(2)}°`
      : `the model leaves ${open === 1 ? 'one rotation' : `${open} rotations`} of Q, U and V open: images hold I alone. ` +
        'Leakage is by convention the least; three sources of different polarisation would hold it (products.gains.polarise)',
  ];
}

const explained = (unexplained: number): string => `${(100 * (1 - unexplained)).toFixed(0)} %`;

/** Of several times the worst is reported, `at` that time. */
function modelLines(
  { unexplained, noiseResidual, left }: ModelCheck,
  outside: readonly OutsideAt[],
  at?: Instant,
): string[] {
  const when = at ? `, at ${formatInstant(at)}` : '';
  return [
    ...(unexplained > MOST_UNEXPLAINED
      ? [
          `the model explains ${explained(unexplained)} of the sky's power${when}: do not believe these gains before you know why`,
        ]
      : unexplained > SOME_UNEXPLAINED
        ? [
            `the model leaves ${(100 * unexplained).toFixed(0)} % of the sky's power unexplained${when} (noise alone would leave a residual of ${(100 * noiseResidual).toPrecision(2)} %): part of the sky is not in it`,
          ]
        : Number.isNaN(unexplained) && left > SOME_UNEXPLAINED
          ? [
              `the model leaves ${(100 * left).toFixed(0)} % of the data's power${when}, and ${
                Number.isNaN(noiseResidual)
                  ? 'without autocorrelations nothing tells how much of that is noise'
                  : 'noise may be all of it or little'
              }: whether it is the right sky is not known`,
            ]
          : []),
    ...outside.map((one) =>
      isMisplaced(one) && one.overFlux < 0.2
        ? `check: ${one.name}, not in the model, is not seen at its place, where it should be bright${timeOf(one)}`
        : `check: ${one.name}, not in the model, is ${one.offsetDeg.toFixed(1)}° from its place, ${one.overFlux.toPrecision(2)} times its flux${timeOf(one)}${verdictOn(one)}`,
    ),
  ];
}

const timeOf = ({ timeUtc }: { readonly timeUtc?: string }): string =>
  timeUtc === undefined ? '' : ` (at worst, ${timeUtc})`;

/** Of a source in its place the flux may still be its beam's or the model's fault. */
function verdictOn(one: OutsideAt): string {
  if (isMisplaced(one)) return ': the sky seems displaced, or something brighter is near';
  // Cen A's lobes are wider than most beams, which leave a third of it.
  if (one.overFlux > 2.5 || one.overFlux < 0.2)
    return ": its place is right, the scale of the model's fluxes is not";
  return '';
}
