/**
 * Results of an observation, as text and as JSON. Lines name fields (front.gain); commands with flags replace them by
 * flags (options/shorthand.ts).
 */
import { formatHz, formatSeconds } from '../core/units.js';
import { message, type Line, type Message } from '../messages/index.js';
import { unknownFactWords } from './opening.js';
import type { ProductOutcome, RunOutcome } from './run.js';
import { phaseLossLines } from '../stages/index.js';
import type { BeamFacts, GainFacts, ImageFacts, SpectraFacts, VisibilityFacts } from '../products/index.js';
import { NO_TELESCOPE } from '../telescope/unplaced.js';
import {
  kurtosisFactsOf,
  kurtosisLinesOf,
  vanVleckLines,
  bandFacts,
  bandLines,
  bandOf,
  gainsFacts,
  gainsLines,
  lackingMessages,
  coherenceFacts,
  coherenceLines,
  askedLines,
  coarseLines,
  directErrorFacts,
  directErrorLines,
  loneHandNote,
  stokesNotes,
  levelFacts,
  levelLines,
  equaliserFacts,
  equaliserLines,
  roundedFacts,
  roundedLines,
  RANGES_OF_SPECTRA,
  lossFacts,
  lossLines,
  railLines,
} from '../products/report/index.js';

/** Facts of the front end, for all products. */
export function frontFacts({ account, plan, front }: RunOutcome): object {
  const { recording, telescope, spectra, delays } = plan.observed;
  const { samplesIn, spectra: made, saturated, missingSamples } = account;
  return {
    samplesIn,
    spectra: made,
    saturated,
    ...levelFacts(front.level),
    ...equaliserFacts(front.equaliser),
    ...lossFacts(recording, missingSamples),
    interference: front.kurtosis && kurtosisFactsOf(front.kurtosis, spectra.grid.spectrumRateHz),
    phaseLoss: front.phaseLoss,
    ...(delays?.towards !== undefined && { tracked: { towards: delays.towards } }),
    ...bandFacts(telescope, bandOf(recording)),
  };
}

export function frontLines({ account, plan, front, orbits }: RunOutcome): Line[] {
  const { recording, telescope, spectra } = plan.observed;
  const { saturated, missingSamples, spectra: made } = account;
  const fate =
    plan.products.length === 1 && plan.products[0].name === 'spectra'
      ? 'spectra that need them are marked as missing'
      : plan.products.every(({ name }) => name === 'visibilities')
        ? 'the weights are lower there'
        : 'they add nothing';
  return [
    ...plan.warnings,
    ...levelLines(front.level),
    ...equaliserLines(front.equaliser),
    ...mirrorLines(front.mirrored, spectra.channels),
    ...floatTapsLines(front.floatTaps),
    ...railLines(saturated, 2 * made * spectra.channels * spectra.inputs),
    ...lossLines(recording, missingSamples, fate),
    ...(front.kurtosis ? kurtosisLinesOf(front.kurtosis, spectra.grid.spectrumRateHz) : []),
    ...phaseLossLines(front.phaseLoss),
    ...bandLines(telescope, bandOf(recording)),
    ...orbits,
  ];
}

/** For real samples, the sides of zero frequency mirror each other. */
const mirrorLines = (mirrored: number, channels: number): Message[] =>
  mirrored > 0 ? [message('front.mirrored', { mirrored, channels })] : [];

const floatTapsLines = (asked: RunOutcome['front']['floatTaps']): Message[] =>
  asked
    ? [asked.widened ? message('front.taps-wide') : message('front.taps-float-anyway', { type: asked.of })]
    : [];

/** A product's own figures, and those of the front end. */
export function productFacts(product: ProductOutcome, outcome: RunOutcome): object {
  const { name, facts } = product;
  if (name === 'visibilities') return visibilityFacts(facts as VisibilityFacts, outcome);
  if (name === 'spectra') {
    const { channels, channelWidthHz, inputs, rounded } = facts as SpectraFacts;
    return { channels, channelWidthHz, inputs, ...roundedFacts(rounded) };
  }
  if (name === 'beams') {
    const { beams, ...figures } = facts as BeamFacts;
    return { beams: beams.length, ...figures };
  }
  if (name === 'gains') {
    const { solved } = facts as GainFacts;
    return solved ? gainsFacts(solved) : {};
  }
  return name === 'images' ? imageFacts(product, facts as ImageFacts, outcome) : facts;
}

function imageFacts(
  { paths }: ProductOutcome,
  facts: ImageFacts,
  { plan: { observed } }: RunOutcome,
): object {
  const { images, leftOut, everyS, pixels, unit, imaging, predictedError, tilt, seen, coherence } = facts;
  return {
    paths,
    ...(everyS === undefined ? {} : { images, everyS, ...(leftOut > 0 && { leftOut }) }),
    pixels,
    unit,
    imaging,
    ...directErrorFacts(predictedError),
    peak: seen?.peak,
    betweenPixels: seen?.betweenPixels,
    stokes: seen?.stokes?.history,
    ...(seen && observed.delays?.towards === undefined && coherenceFacts(coherence, seen.durationS)),
    tilt,
  };
}

function beamLines(
  paths: readonly string[],
  {
    beams,
    values,
    valueS,
    channels,
    samples,
    saturated,
    bits,
    phaseLoss,
    quality,
    spectraLeftOut,
  }: BeamFacts,
): Line[] {
  const [first] = beams;
  const missing = samples.possible - samples.added;
  return [
    `${beams.length === 1 ? first.path : `${first.path} to ${beams[beams.length - 1].path}`}: ${values} values of ${formatSeconds(valueS)}, ${channels} channels, towards ${beams
      .map((one) => one.name)
      .slice(0, 5)
      .join(', ')}${beams.length > 5 ? ', …' : ''}`,
    message('beams.missing', { path: paths[beams.length], missing, possible: samples.possible }),
    ...(spectraLeftOut > 0 ? [message('beams.left-out', { spectra: spectraLeftOut })] : []),
    ...(saturated > 0
      ? [
          message('beams.saturated', {
            values: saturated,
            part: saturated / Math.max(1, values * channels * beams.length),
            bits,
          }),
        ]
      : []),
    ...(phaseLoss > 0.002 ? [message('beams.phase-only', { loss: phaseLoss })] : []),
    ...(quality ? [message('beams.weighted', { ...quality })] : []),
  ];
}

function visibilityFacts(
  { integrations, integration, header, flagged, rounded, vanVleck }: VisibilityFacts,
  { plan: { observed } }: RunOutcome,
): object {
  const { longestS, coherence } = integration;
  return {
    integrations,
    stations: header.telescope.stations.length,
    polarisations: header.polarisations,
    channels: header.frequenciesHz.length,
    channelWidthHz: header.channelWidthHz,
    ...roundedFacts(rounded),
    ...(flagged.rules > 0 && { flags: { values: flagged.values, asked: flagged.ruled } }),
    ...(vanVleck && { vanVleck: { ...vanVleck } }),
    integrationS: longestS,
    ...(observed.delays?.towards === undefined && coherenceFacts(coherence, longestS)),
    phaseCentre: { object: header.object, ...header.phaseCentre },
  };
}

/** The files that were written, and remarks about them. */
export function productLines(product: ProductOutcome, outcome: RunOutcome, seconds: number): Line[] {
  const { name, facts, failure, paths } = product;
  if (failure) return [failedMessage(product)];
  if (name === 'visibilities') return visibilityLines(paths[0], facts as VisibilityFacts, outcome, seconds);
  if (name === 'spectra') {
    const { channels, channelWidthHz, inputs, rounded, unknownFacts } = facts as SpectraFacts;
    return [
      `${paths[1]}: ${spectraText(outcome.account.spectra)} of ${channels} channels, ${formatHz(channelWidthHz)} each, for ${inputs} inputs`,
      ...roundedLines(rounded, { ...roundedBy(outcome), of: RANGES_OF_SPECTRA }),
      ...unknownFacts.map((one) => {
        const [what, fix] = unknownFactWords[one];
        return message('file.unknown-fact', { what, fix });
      }),
    ];
  }
  if (name === 'beams') return beamLines(paths, facts as BeamFacts);
  if (name === 'gains') return gainsLinesOf(product);
  if (name === 'images') return imageLines(paths, facts as ImageFacts, outcome, seconds);
  // A product without its own lines: its files and its counts.
  const counted = Object.entries(facts).flatMap(([what, value]) =>
    typeof value === 'number' ? [`${value} ${what}`] : [],
  );
  return [[product.paths.join(', '), ...counted].join(': ')];
}

/** Lines of a gains product; none for other products. */
export function gainsLinesOf({ name, paths, facts }: ProductOutcome): Line[] {
  const { solved } = facts as Partial<GainFacts>;
  return name === 'gains' && solved
    ? gainsLines(solved, paths, { other: 'products.gains.every solves for the gains of all of them' })
    : [];
}

/** Facts of the gains products. */
export function gainsFactsOf(products: readonly ProductOutcome[]): object {
  const gains = products.flatMap(({ name, paths, facts }) => {
    const { solved } = facts as Partial<GainFacts>;
    return name === 'gains' && solved ? [{ paths, ...gainsFacts(solved) }] : [];
  });
  return gains.length === 0 ? {} : { gains };
}

/** Messages about requested gains that are missing: the exit code is then 2. */
export const lackingOf = (products: readonly ProductOutcome[]): Message[] =>
  products.flatMap(({ name, facts, failure }) => {
    const { solved } = facts as Partial<GainFacts>;
    return name === 'gains' && !failure && solved ? lackingMessages(solved) : [];
  });

function imageLines(
  paths: readonly string[],
  {
    images,
    leftOut,
    everyS,
    pixels,
    unit,
    predictedError,
    tiltLines,
    seen,
    coherence,
    crossHands,
  }: ImageFacts,
  { plan: { observed, observation } }: RunOutcome,
  seconds: number,
): Line[] {
  const isAnimation = paths.some((path) => /\.png$/i.test(path));
  const took = formatSeconds(seconds);
  return [
    seen
      ? `${paths.join(', ')}: ${pixels} × ${pixels} pixels, peak ${Number(seen.peak.toPrecision(4))} ${unit}, ${took}`
      : `${paths.join(', ')}: ${images} image${images === 1 ? '' : 's'} of ${pixels} × ${pixels} pixels, one every ` +
        `${formatSeconds(everyS ?? 0)}, ${took}${isAnimation ? `; ${paths[1]} is an animation` : ''}`,
    ...(leftOut === 0
      ? []
      : [
          message('image.left-out', {
            images: leftOut,
            isSolving: observation.gains?.solve !== undefined,
          }),
        ]),
    ...(predictedError === undefined ? [] : directErrorLines(predictedError)),
    ...(seen && observed.delays?.towards === undefined
      ? coherenceLines(coherence, seen.durationS, 'source.duration')
      : []),
    ...tiltLines,
    ...(seen ? coarseLines(seen, seen.betweenPixels) : []),
    ...(seen?.hand === undefined
      ? stokesNotes(seen?.stokes, { crossHands }, observed.telescope)
      : [loneHandNote(seen.hand)]),
  ];
}

const roundedBy = ({ plan: { observed }, front }: RunOutcome) => ({
  type: observed.spectra.type,
  level: front.level,
  levels: front.equaliser,
});

function visibilityLines(
  path: string,
  { integrations, integration, header, flagged, rounded, vanVleck }: VisibilityFacts,
  outcome: RunOutcome,
  seconds: number,
): Line[] {
  const { observation, observed } = outcome.plan;
  const { longestS, coherence, shortenedToS, roundedToS, chosenS = longestS } = integration;
  const { stations } = header.telescope;
  return [
    `${path}: ${integrations} integration${integrations === 1 ? '' : 's'} of ${stations.length} station${stations.length === 1 ? '' : 's'}, ` +
      `${header.frequenciesHz.length} channels of ${formatHz(header.channelWidthHz)}, from ${spectraText(outcome.account.spectra)}, ${formatSeconds(seconds)}`,
    ...(observation.telescope === NO_TELESCOPE ? [message('telescope.positions-unknown')] : []),
    ...(shortenedToS === undefined
      ? []
      : [message('visibilities.integration-shortened', { integrationS: shortenedToS })]),
    ...(roundedToS === undefined
      ? []
      : [message('visibilities.integration-rounded', { integrationS: roundedToS, askedS: chosenS })]),
    ...(observed.delays?.towards === undefined
      ? coherenceLines(coherence, longestS, 'products.visibilities.integration')
      : []),
    ...roundedLines(rounded, roundedBy(outcome)),
    ...askedLines(flagged),
    ...(vanVleck ? vanVleckLines(vanVleck, observed.recording.bits) : []),
  ];
}

/** A product that failed while others were made. */
export const failedMessage = ({
  name,
  failure,
}: {
  readonly name: string;
  readonly failure?: Error;
}): Message => message('product.failed', { product: name, why: failure?.message ?? '' });

/** "1 spectrum", "2 spectra". */
export const spectraText = (count: number): string => `${count} ${count === 1 ? 'spectrum' : 'spectra'}`;
