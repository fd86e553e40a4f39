/**
 * What came of an observation, for people and for machines. Lines name fields (front.gain); a command that has flags puts
 * them there (options/shorthand.ts).
 */
import { formatHz, formatSeconds } from '../../core/units.js';
import { unknownFactWords, type ProductOutcome, type RunOutcome } from '../../observation/index.js';
import { bearableIntegrationS, phaseLossLines } from '../../stages/index.js';
import type { BeamFacts, ImageFacts, SpectraFacts, VisibilityFacts } from '../../products/index.js';
import { NO_TELESCOPE } from '../../telescope/unplaced.js';
import { kurtosisFactsOf, kurtosisLinesOf } from '../interference/kurtosis-lines.js';
import { vanVleckLines } from '../interference/van-vleck-lines.js';
import { bandFacts, bandLines, bandOf } from './band-lines.js';
import { coherenceFacts, coherenceLines } from './coherence-lines.js';
import { askedLines } from './flag-lines.js';
import { coarseLines, loneHandNote, stokesNotes } from './image-notes.js';
import {
  levelFacts,
  levelLines,
  levelsFacts,
  levelsLines,
  roundedFacts,
  roundedLines,
  STRETCHES_OF_SPECTRA,
} from './level-lines.js';
import { lossFacts, lossLines, railLines } from './loss-lines.js';
import { roadLines } from './road-lines.js';
import { spectraText } from './terminal.js';

/** What the front met, for all products. */
export function frontFacts({ account, plan, front }: RunOutcome): object {
  const { recording, telescope, spectra, delays } = plan.observed;
  const { samplesIn, spectra: made, saturated, missingSamples } = account;
  return {
    ...{ samplesIn, spectra: made, saturated },
    ...levelFacts(front.level),
    ...levelsFacts(front.equaliser),
    ...lossFacts(recording, missingSamples),
    ...(front.kurtosis && { interference: kurtosisFactsOf(front.kurtosis, spectra.grid.spectrumRateHz) }),
    ...(front.phaseLoss !== undefined && { phaseLoss: front.phaseLoss }),
    ...(delays?.towards !== undefined && { tracked: { towards: delays.towards } }),
    ...bandFacts(telescope, bandOf(recording)),
  };
}

export function frontLines({ account, plan, front }: RunOutcome): string[] {
  const { recording, telescope, spectra } = plan.observed;
  const { saturated, missingSamples, spectra: made } = account;
  const fate =
    plan.products.length === 1 && plan.products[0].name === 'spectra'
      ? 'spectra that need them are marked as missing'
      : plan.products.every(({ name }) => name === 'visibilities')
        ? 'the counts say where'
        : 'they add nothing';
  return [
    ...plan.warnings,
    ...levelLines(front.level),
    ...levelsLines(front.equaliser),
    ...mirrorLines(front.mirrored, spectra.channels),
    ...floatTapsLines(front.floatTaps),
    ...railLines(saturated, 2 * made * spectra.channels * spectra.inputs),
    ...lossLines(recording, missingSamples, fate),
    ...(front.kurtosis ? kurtosisLinesOf(front.kurtosis, spectra.grid.spectrumRateHz) : []),
    ...phaseLossLines(front.phaseLoss),
    ...bandLines(telescope, bandOf(recording)),
  ];
}

/** Around the zero of real numbers either side is the other's mirror, and the band has but one. */
const mirrorLines = (mirrored: number, channels: number): string[] =>
  mirrored > 0
    ? [
        `channels 0-${mirrored - 1} are below the band, which began as real numbers, and mirror those above its edge: leave them out ` +
          `(corella correlate --keep-channels ${mirrored}-${channels - 1})`,
      ]
    : [];

const floatTapsLines = (asked: RunOutcome['front']['floatTaps']): string[] =>
  asked
    ? asked.widened
      ? ["the filter's taps are floats: samples are taken as 16 bits, which is slower"]
      : [`the filter of ${asked.of} samples has taps of floats anyway`]
    : [];

/** A product's own figures, beside those of the front. */
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
  return name === 'images' ? imageFacts(product, facts as ImageFacts, outcome) : facts;
}

function imageFacts(
  { paths }: ProductOutcome,
  facts: ImageFacts,
  { plan: { observed } }: RunOutcome,
): object {
  const { images, leftOut, everyS, pixels, unit, predictedError, tilt, seen, coherence } = facts;
  return {
    paths,
    ...(everyS === undefined ? {} : { images, everyS, ...(leftOut > 0 && { leftOut }) }),
    ...{ pixels, unit, ...(predictedError !== undefined && { roadError: predictedError }) },
    ...(seen && { peak: seen.peak, betweenPixels: seen.betweenPixels }),
    ...(seen?.stokes && { stokes: seen.stokes.history }),
    ...(seen && observed.delays?.towards === undefined && coherenceFacts(coherence, seen.durationS)),
    ...(tilt && { tilt }),
  };
}

function beamLines(
  paths: readonly string[],
  { beams, values, valueS, channels, samples, saturated, bits, phaseLoss, spectraLeftOut }: BeamFacts,
): string[] {
  const [first] = beams;
  const missing = samples.possible - samples.added;
  const share = (part: number, of: number): string => `${((100 * part) / Math.max(1, of)).toPrecision(2)} %`;
  return [
    `${beams.length === 1 ? first.path : `${first.path} to ${beams[beams.length - 1].path}`}: ${values} values of ${formatSeconds(valueS)}, ${channels} channels, towards ${beams
      .map((one) => one.name)
      .slice(0, 5)
      .join(', ')}${beams.length > 5 ? ', …' : ''}`,
    `${paths[beams.length]}: how many samples are in each value; ${missing === 0 ? 'none is missing' : `${missing} of ${samples.possible} (${share(missing, samples.possible)}) are missing or flagged, and add nothing`}`,
    ...(spectraLeftOut > 0
      ? [`${spectraText(spectraLeftOut)} at the end are too few for a value, and left out`]
      : []),
    ...(saturated > 0
      ? [
          `${saturated} values (${share(saturated, values * channels * beams.length)}) are beyond what ${bits} bits hold`,
        ]
      : []),
    ...(phaseLoss > 0.002
      ? [
          `channels are steered by phases alone: the station with the largest delay loses ${(100 * phaseLoss).toFixed(2)} % of its amplitude`,
        ]
      : []),
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

/** What was written, and what one should know of it. */
export function productLines(product: ProductOutcome, outcome: RunOutcome, seconds: number): string[] {
  const { name, facts, failure, paths } = product;
  if (failure) return [`${name}: failed: ${failure.message}`];
  if (name === 'visibilities') return visibilityLines(paths[0], facts as VisibilityFacts, outcome, seconds);
  if (name === 'spectra') {
    const { channels, channelWidthHz, inputs, rounded, unknownFacts } = facts as SpectraFacts;
    return [
      `${paths[1]}: ${spectraText(outcome.account.spectra)} of ${channels} channels, ${formatHz(channelWidthHz)} each, for ${inputs} inputs`,
      ...roundedLines(rounded, { ...roundedBy(outcome), of: STRETCHES_OF_SPECTRA }),
      ...unknownFacts.map((one) => {
        const [what, fix] = unknownFactWords[one];
        return `nothing says ${what}; ${fix}`;
      }),
    ];
  }
  if (name === 'beams') return beamLines(paths, facts as BeamFacts);
  if (name === 'images') return imageLines(paths, facts as ImageFacts, outcome, seconds);
  // A product without lines of its own: its files, and what it counted.
  const counted = Object.entries(facts).flatMap(([what, value]) =>
    typeof value === 'number' ? [`${value} ${what}`] : [],
  );
  return [[product.paths.join(', '), ...counted].join(': ')];
}

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
  { plan: { observed } }: RunOutcome,
  seconds: number,
): string[] {
  const isFilm = paths.some((path) => /\.png$/i.test(path));
  const took = formatSeconds(seconds);
  return [
    seen
      ? `${paths.join(', ')}: ${pixels} × ${pixels} pixels, peak ${Number(seen.peak.toPrecision(4))} ${unit}, ${took}`
      : `${paths.join(', ')}: ${images} image${images === 1 ? '' : 's'} of ${pixels} × ${pixels} pixels, one every ` +
        `${formatSeconds(everyS ?? 0)}, ${took}${isFilm ? `; ${paths[1]} is a film` : ''}`,
    ...(leftOut === 0
      ? []
      : [`${leftOut} image${leftOut === 1 ? '' : 's'} left out: nothing was left of the data there`]),
    ...(predictedError === undefined ? [] : roadLines(predictedError)),
    ...(seen && observed.delays?.towards === undefined
      ? coherenceLines(coherence, seen.durationS, {
          channel: 'front.delays.track: SOURCE saves it, and so do narrower front.channels',
          time: `front.delays.track: SOURCE saves it, and so does source.duration: ${formatSeconds(bearableIntegrationS(coherence))}`,
        })
      : []),
    ...tiltLines,
    ...(seen
      ? coarseLines(seen, seen.betweenPixels, ['products.images.pixels', 'products.images.field'])
      : []),
    ...(seen?.hand === undefined
      ? stokesNotes(seen?.stokes, { crossHands }, observed.telescope)
      : [loneHandNote(seen.hand)]),
  ];
}

const roundedBy = ({ plan: { observed }, front }: RunOutcome) => ({
  ...{ type: observed.spectra.type, level: front.level, levels: front.equaliser },
});

function visibilityLines(
  path: string,
  { integrations, integration, header, flagged, rounded, vanVleck }: VisibilityFacts,
  outcome: RunOutcome,
  seconds: number,
): string[] {
  const { observation, observed } = outcome.plan;
  const { longestS, coherence, shortenedToS, roundedToS, chosenS = longestS } = integration;
  const { stations } = header.telescope;
  return [
    `${path}: ${integrations} integration${integrations === 1 ? '' : 's'} of ${stations.length} station${stations.length === 1 ? '' : 's'}, ` +
      `${header.frequenciesHz.length} channels of ${formatHz(header.channelWidthHz)}, from ${spectraText(outcome.account.spectra)}, ${formatSeconds(seconds)}`,
    ...(observation.telescope === NO_TELESCOPE
      ? ['the positions of the stations are unknown: all are written at one place, and cannot be imaged']
      : []),
    ...(shortenedToS === undefined
      ? []
      : [
          `integrations of ${formatSeconds(shortenedToS)}, the longest that keep 99 % of the amplitude; products.visibilities.integration chooses another length`,
        ]),
    ...(roundedToS === undefined
      ? []
      : [
          `integrations of ${formatSeconds(roundedToS)}: whole spectra, the nearest to ${formatSeconds(chosenS)}`,
        ]),
    ...(observed.delays?.towards === undefined
      ? coherenceLines(coherence, longestS, {
          channel: 'front.delays.track: SOURCE saves it, and so do narrower front.channels',
          time: `front.delays.track: SOURCE saves it, and so does products.visibilities.integration: ${formatSeconds(bearableIntegrationS(coherence))}`,
        })
      : []),
    ...roundedLines(rounded, roundedBy(outcome)),
    ...askedLines(flagged),
    ...(vanVleck ? vanVleckLines(vanVleck, observed.recording.bits) : []),
  ];
}
