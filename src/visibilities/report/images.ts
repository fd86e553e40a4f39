/** Results of images from visibilities, as text and as JSON. */
import { present } from '../../core/present.js';
import { DEGREES_PER_RADIAN, formatSeconds } from '../../core/units.js';
import { angleText } from '../../draw/index.js';
import type { VisibilityHeader } from '../../formats/index.js';
import type { HandTally } from '../../image/index.js';
import { message, type Line, type Message } from '../../messages/index.js';
import { betweenPixels, sidelobesText, stationPositions, type Share } from '../../stages/index.js';
import { methodWords, type ImagedSeries, type ImagedSky } from '../products/images.js';
import { loneHandOf } from '../wide/settings.js';
import type { WideSkyImage } from '../wide/image.js';
import { dirtyBeamOf, picturePlane, standingChannel } from '../wide/products.js';
import { holdingCellDeg } from '../wide/weighed.js';
import {
  bandFacts,
  bandLines,
  bandOfChannels,
  coarseLines,
  loneHandNote,
} from '../../products/report/index.js';

type Imaged = ImagedSky | ImagedSeries;

export const imagedFacts = (paths: readonly string[], imaged: Imaged): object => ({
  ...(imaged.kind === 'image' ? skyFacts(paths, imaged) : seriesFacts(paths, imaged)),
  ...bandFacts(imaged.telescope, bandOfChannels(imaged.header.frequenciesHz)),
});

export const imagedLines = (paths: readonly string[], imaged: Imaged): Line[] => [
  ...(imaged.kind === 'image' ? skyLines(paths, imaged) : seriesLines(paths, imaged)),
  ...bandLines(imaged.telescope, bandOfChannels(imaged.header.frequenciesHz)),
];

function figuresOf({ sky, telescope }: ImagedSky) {
  const { pixels, pixelCosine } = sky.pixels;
  const coarse = {
    plan: {
      pixels,
      pixelSize: pixelCosine,
      axes: sky.axes,
      frequenciesHz: sky.frequenciesHz,
      stationsM: stationPositions(telescope),
    },
  };
  return {
    pixels,
    cellDeg: pixelCosine * DEGREES_PER_RADIAN,
    coarse,
    loss: betweenPixels(coarse),
    peak: picturePlane(sky).reduce((most, value) => (value > most ? value : most), -Infinity),
    beam: sky.fittedBeams[standingChannel(sky)],
    sidelobes: dirtyBeamOf(sky, telescope),
  };
}

function skyFacts(paths: readonly string[], imaged: ImagedSky): object {
  const { sky, unit, seconds } = imaged;
  const { pixels, cellDeg, loss, peak, beam, sidelobes } = figuresOf(imaged);
  const clean = sky.cleaned?.facts;
  return {
    paths,
    pixels,
    cellDeg,
    centre: { name: sky.centreName, ...sky.centre },
    peak,
    unit,
    beam: beam ?? null,
    ...(sidelobes && { sidelobes: { highest: sidelobes.highest, lowest: sidelobes.lowest } }),
    integrations: sky.integrations,
    visibilities: sky.visibilities,
    durationS: sky.durationS,
    exposureS: sky.exposureS,
    accuracy: sky.plan.accuracy,
    method: sky.method,
    ...(sky.method === 'gridded' && { planes: sky.plan.w.planes }),
    ...(sky.empty.length > 0 && { empty: sky.empty }),
    ...(sky.beyond.visibilities > 0 && { beyond: sky.beyond }),
    stokes: sky.stokes?.history,
    smearing: sky.smearing,
    betweenPixels: loss,
    clean,
    seconds,
  };
}

/** "40.0 s over 57 min 2 s": of the integrations together, and from the first to the last. */
const exposureText = ({ exposureS, durationS }: Pick<WideSkyImage, 'exposureS' | 'durationS'>): string =>
  exposureS < 0.99 * durationS
    ? `${formatSeconds(exposureS)} over ${formatSeconds(durationS)}`
    : formatSeconds(exposureS);

function skyLines(paths: readonly string[], imaged: ImagedSky): Line[] {
  const { sky, unit, seconds, note, alone, header } = imaged;
  const { pixels, cellDeg, coarse, loss, peak, beam, sidelobes } = figuresOf(imaged);
  return present(
    `${paths.join(', ')}: ${pixels} × ${pixels} pixels of ${angleText(cellDeg)} around ${sky.centreName}, ` +
      `peak ${Number(peak.toPrecision(4))} ${unit}, ${formatSeconds(seconds)}`,
    `${sky.integrations} integration${sky.integrations === 1 ? '' : 's'}, ${exposureText(sky)}; ` +
      (beam
        ? `beam ${angleText(beam.majorDeg)} × ${angleText(beam.minorDeg)}, PA ${beam.positionAngleDeg.toFixed(0)}°`
        : 'no fit of the beam') +
      (sidelobes ? `, ${sidelobesText(sidelobes)}` : ''),
    !beam && message('image.beam-not-fitted'),
    note,
    methodWords(sky.method, sky.plan.accuracy),
    ...alone,
    ...(sky.cleaned?.facts ?? []).map(
      ({ iterations, majorCycles, fluxJy, noiseJy, stop }) =>
        `CLEAN: ${iterations} components in ${majorCycles} major cycles, ${Number(fluxJy.toPrecision(4))} ` +
        `${unit.replace('/beam', '')} in the model, noise ${Number(noiseJy.toPrecision(3))}; stopped by ${stop}`,
    ),
    ...coarseLines(coarse, loss),
    ...beyondLines(sky.beyond),
    ...sharesLines(sky),
    ...emptyLines(sky),
    ...(sky.stokes?.history ?? []),
    ...handLines(sky.hands, header.feeds),
    ...smearLines('bandwidth', sky.smearing.bandwidth),
    ...smearLines('time', sky.smearing.time),
  );
}

function seriesFacts(paths: readonly string[], { series, unit, seconds }: ImagedSeries): object {
  const { lost = [], beyond, smearing, made } = series;
  return {
    paths,
    images: series.images.length,
    everyS: series.everyS,
    pixels: series.plan.pixels,
    unit,
    ...(made && { accuracy: made.accuracy, method: made.method }),
    ...(lost.length > 0 && { lost }),
    ...(beyond && beyond.visibilities > 0 && { beyond }),
    smearing,
    seconds,
  };
}

function seriesLines(
  paths: readonly string[],
  { series, seconds, onContactSheet, header }: ImagedSeries,
): Line[] {
  const { made, lost = [], beyond, hands, smearing } = series;
  const { pixels } = series.plan;
  const count = series.images.length;
  return present(
    `${paths.join(', ')}: ${count} image${count === 1 ? '' : 's'} of ${pixels} × ${pixels} pixels, one every ` +
      `${formatSeconds(series.everyS)}, ${formatSeconds(seconds)}; ${paths[1]} is an animation` +
      ((onContactSheet ?? count) < count ? `, the contact sheet has ${onContactSheet} of them` : ''),
    lost.length > 0 && message('image.without-data', { images: lost.length, of: count }),
    ...(beyond ? beyondLines(beyond) : []),
    ...(hands ? handLines(hands, header.feeds) : []),
    ...smearLines('bandwidth', smearing?.bandwidth ?? 0),
    ...smearLines('time', smearing?.time ?? 0),
    made && methodWords(made.method, made.accuracy),
  );
}

/** Baselines too long for the pixels are outside the grid's uv plane. */
const beyondLines = (beyond: WideSkyImage['beyond']): Message[] =>
  beyond.visibilities > 0
    ? [
        message('image.baselines-too-long', {
          part: beyond.visibilities / beyond.of,
          cellDeg: holdingCellDeg(beyond),
          cell: angleText(holdingCellDeg(beyond)),
        }),
      ]
    : [];

/** How finely the mean beam was sampled. */
function sharesLines({ shares }: WideSkyImage): Message[] {
  if (!shares) return [];
  const most = (of: (share: Share) => unknown): number =>
    Math.max(...shares.map((own) => new Set(own.map(of)).size));
  return [
    message('image.averaged-beam', {
      moments: most(({ moment }) => moment),
      frequencies: most(({ frequencyHz }) => frequencyHz),
    }),
  ];
}

/** For a cube: planes that could not be made are blank. */
function emptyLines({ empty, products, frequenciesHz }: WideSkyImage): Message[] {
  const channels = new Set(empty.map(({ channel }) => channel)).size;
  const lacking = products.length === 1 ? [] : [...new Set(empty.map(({ product }) => product))];
  return channels === 0
    ? []
    : [message('image.channels-blank', { channels, of: frequenciesHz.length, lacking })];
}

/** An image of X or Y alone contains Q, and has the beam and scale of that polarisation. */
function handLines(hands: HandTally, feeds: VisibilityHeader['feeds']): Message[] {
  const { both, one } = hands;
  const lone = loneHandOf(hands);
  if (lone) return [loneHandNote(lone === 'XX' ? 0 : 1, feeds)];
  return one > 0 ? [message('image.partly-single-polarisation', { part: one / (both + one) })] : [];
}

/** Reported above one per cent. */
export const smearLines = (by: 'bandwidth' | 'time', loss: number): Message[] =>
  loss > 0.01 ? [message('image.smearing', { by, loss })] : [];
