/** What came of images from visibilities, for people and for machines. */
import { DEGREES_PER_RADIAN, formatSeconds } from '../../core/units.js';
import { unitFor } from '../../draw/index.js';
import type { VisibilityHeader } from '../../formats/index.js';
import type { HandTally } from '../../image/index.js';
import { betweenPixels, stationPositions, type Share } from '../../stages/index.js';
import {
  holdingCellDeg,
  loneHandOf,
  methodWords,
  picturePlane,
  standingChannel,
  type ImagedSeries,
  type ImagedSky,
  type WideSkyImage,
} from '../../visibilities/index.js';
import { bandFacts, bandLines, bandOfChannels } from './band-lines.js';
import { coarseLines, loneHandNote } from './image-notes.js';

type Imaged = ImagedSky | ImagedSeries;

export const imagedFacts = (paths: readonly string[], imaged: Imaged): object => ({
  ...(imaged.kind === 'image' ? skyFacts(paths, imaged) : seriesFacts(paths, imaged)),
  ...bandFacts(imaged.telescope, bandOfChannels(imaged.header.frequenciesHz)),
});

export const imagedLines = (paths: readonly string[], imaged: Imaged): string[] => [
  ...(imaged.kind === 'image' ? skyLines(paths, imaged) : seriesLines(paths, imaged)),
  ...bandLines(imaged.telescope, bandOfChannels(imaged.header.frequenciesHz)),
];

function figuresOf({ sky, telescope }: ImagedSky) {
  const { pixels, pixelCosine } = sky.pixels;
  const coarse = {
    plan: {
      ...{ pixels, pixelSize: pixelCosine, axes: sky.axes, frequenciesHz: sky.frequenciesHz },
      stationsM: stationPositions(telescope),
    },
  };
  return {
    ...{ pixels, cellDeg: pixelCosine * DEGREES_PER_RADIAN, coarse, loss: betweenPixels(coarse) },
    peak: picturePlane(sky).reduce((most, value) => (value > most ? value : most), -Infinity),
    beam: sky.fittedBeams[standingChannel(sky)],
  };
}

function skyFacts(paths: readonly string[], imaged: ImagedSky): object {
  const { sky, unit, seconds } = imaged;
  const { pixels, cellDeg, loss, peak, beam } = figuresOf(imaged);
  const clean = sky.cleaned?.facts;
  return {
    ...{ paths, pixels, cellDeg, centre: { name: sky.centreName, ...sky.centre } },
    ...{ peak, unit, beam: beam ?? null, integrations: sky.integrations, visibilities: sky.visibilities },
    ...{ durationS: sky.durationS, accuracy: sky.plan.accuracy, method: sky.method },
    ...(sky.method === 'gridded' && { planes: sky.plan.w.planes }),
    ...(sky.empty.length > 0 && { empty: sky.empty }),
    ...(sky.beyond.visibilities > 0 && { beyond: sky.beyond }),
    ...(sky.stokes && { stokes: sky.stokes.history }),
    ...{ smearing: sky.smearing, betweenPixels: loss, ...(clean && { clean }), seconds },
  };
}

function skyLines(paths: readonly string[], imaged: ImagedSky): string[] {
  const { sky, unit, seconds, note, alone, header } = imaged;
  const { pixels, cellDeg, coarse, loss, peak, beam } = figuresOf(imaged);
  return [
    `${paths.join(', ')}: ${pixels} × ${pixels} pixels of ${angleText(cellDeg)} round ${sky.centreName}, ` +
      `peak ${Number(peak.toPrecision(4))} ${unit}, ${formatSeconds(seconds)}`,
    `${sky.integrations} integration${sky.integrations === 1 ? '' : 's'}, ${formatSeconds(sky.durationS)}; ` +
      (beam
        ? `beam ${angleText(beam.majorDeg)} × ${angleText(beam.minorDeg)}, PA ${beam.positionAngleDeg.toFixed(0)}°`
        : 'the pixels are too coarse for a fit of the beam: ask for a smaller products.images.cell'),
    ...(note === undefined ? [] : [note]),
    methodWords(sky.method, sky.plan.accuracy),
    ...alone,
    ...(sky.cleaned?.facts ?? []).map(
      ({ iterations, majorCycles, fluxJy, noiseJy, stop }) =>
        `CLEAN: ${iterations} components in ${majorCycles} major cycles, ${Number(fluxJy.toPrecision(4))} ` +
        `${unit.replace('/beam', '')} in the model, noise ${Number(noiseJy.toPrecision(3))}; stopped by ${stop}`,
    ),
    ...coarseLines(coarse, loss, ['products.images.pixels', 'products.images.field']),
    ...beyondLines(sky.beyond),
    ...sharesLines(sky),
    ...emptyLines(sky),
    ...(sky.stokes?.history ?? []),
    ...handLines(sky.hands, header.feeds),
    ...smearLine('the width of a channel', sky.smearing.bandwidth),
    ...smearLine('the length of an integration', sky.smearing.time),
  ];
}

function seriesFacts(paths: readonly string[], { series, unit, seconds }: ImagedSeries): object {
  const { lost = [], beyond, smearing, made } = series;
  return {
    ...{ paths, images: series.images.length, everyS: series.everyS, pixels: series.plan.pixels, unit },
    ...(made && { accuracy: made.accuracy, method: made.method }),
    ...(lost.length > 0 && { lost }),
    ...(beyond && beyond.visibilities > 0 && { beyond }),
    ...(smearing && { smearing }),
    seconds,
  };
}

function seriesLines(paths: readonly string[], { series, seconds, onSheet, header }: ImagedSeries): string[] {
  const { made, lost = [], beyond, hands, smearing } = series;
  const { pixels } = series.plan;
  const count = series.images.length;
  return [
    `${paths.join(', ')}: ${count} image${count === 1 ? '' : 's'} of ${pixels} × ${pixels} pixels, one every ` +
      `${formatSeconds(series.everyS)}, ${formatSeconds(seconds)}; ${paths[1]} is a film` +
      ((onSheet ?? count) < count ? `, the sheet has ${onSheet} of them` : ''),
    ...(lost.length > 0
      ? [
          `${lost.length} of the ${count} are blank (NaN): their stretch of time has no data; the film leaves them out`,
        ]
      : []),
    ...(beyond ? beyondLines(beyond) : []),
    ...(hands ? handLines(hands, header.feeds) : []),
    ...smearLine('the width of a channel', smearing?.bandwidth ?? 0),
    ...smearLine('the length of an integration', smearing?.time ?? 0),
    ...(made ? [methodWords(made.method, made.accuracy)] : []),
  ];
}

/** What is too long for the pixels has no cell in the uv plane. */
const beyondLines = (beyond: WideSkyImage['beyond']): string[] =>
  beyond.visibilities > 0
    ? [
        `${((100 * beyond.visibilities) / beyond.of).toFixed(1)} % of the visibilities are left out, being of baselines too long for ` +
          `these pixels: with a products.images.cell of ${angleText(holdingCellDeg(beyond))} or less, or natural weights, none is`,
      ]
    : [];

/** How finely the mean of the beam was taken. */
function sharesLines({ shares }: WideSkyImage): string[] {
  if (!shares) return [];
  const most = (of: (share: Share) => unknown): number =>
    Math.max(...shares.map((own) => new Set(own.map(of)).size));
  const [moments, frequencies] = [most(({ moment }) => moment), most(({ frequencyHz }) => frequencyHz)];
  return [
    `over the mean of the beam at ${moments} moment${moments === 1 ? '' : 's'} and ` +
      `${frequencies} ${frequencies === 1 ? 'frequency' : 'frequencies'}, by what they weigh in the image`,
  ];
}

/** Of a cube: what could not be made is blank. */
function emptyLines({ empty, products, frequenciesHz }: WideSkyImage): string[] {
  const channels = new Set(empty.map(({ channel }) => channel)).size;
  if (channels === 0) return [];
  const of = `${channels} of ${frequenciesHz.length} channels`;
  return [
    products.length === 1
      ? `${of} ${channels === 1 ? 'has' : 'have'} no data: blank (NaN) there`
      : `${of} lack ${[...new Set(empty.map(({ product }) => product))].join(', ')}: Stokes planes that take it are ` +
        'blank there (NaN); without products.images.stokes I takes one hand where the other is lost',
  ];
}

/** What is made of X or Y alone has Q in it, and that hand's own beam and scale. */
function handLines(hands: HandTally, feeds: VisibilityHeader['feeds']): string[] {
  const { both, one } = hands;
  const lone = loneHandOf(hands);
  if (lone) return [loneHandNote(lone === 'XX' ? 0 : 1, feeds)];
  return one > 0
    ? [
        `${((100 * one) / (both + one)).toFixed(1)} % of the visibilities of I are of one hand alone, the other being flagged or missing: ` +
          'right for what is not polarised and both hands hear alike; where their beams or gains differ it is that hand’s',
      ]
    : [];
}

/** Reported above one per cent. */
export const smearLine = (by: string, part: number): string[] =>
  part > 0.01
    ? [`${by} takes ${(100 * part).toFixed(part > 0.1 ? 0 : 1)} % of a source at the edge of the field`]
    : [];

function angleText(degrees: number): string {
  const { unit, perDegree } = unitFor(degrees);
  return `${Number((degrees * perDegree).toPrecision(3))}${unit}`;
}
