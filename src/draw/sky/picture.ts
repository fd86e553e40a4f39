/** A picture of the sky: north up, east to the left. */
import { planeML, type PlaneML } from '../../core/axes.js';
import { formatSeconds } from '../../core/units.js';
import { drawColourBar, type ColourScale } from '../colour-bar.js';
import { cutLine } from '../cut.js';
import { textWidth } from '../letters.js';
import { paintSky } from '../paint.js';
import type { Picture, Shape } from '../shapes.js';
import {
  equatorialGrid,
  hasOffsets,
  horizontalGrid,
  offsetGrid,
  unitFor,
  type SkyDirections,
  type SkyGrid,
} from './grid.js';
import { gridLabels } from './labels.js';
import {
  beamMarks,
  footnote,
  horizonMarks,
  scaleBar,
  sourceMarks,
  type BeamEllipse,
  type NamedDirection,
} from './marks.js';
import { BEAM_PANEL_WIDTH, beamPanel, type DirtyBeam } from './beam-panel.js';
import { BAR, HEIGHT, MARGIN, skyView, WIDTH, type SkyPlan, type SkyView } from './view.js';
import { coloursOf, lightPicture, lit, stretchOf, type SkyLook } from '../look.js';
import { paletteNamed } from '../palettes.js';
import { stretchName, type Stretch } from '../stretch.js';
import { GROUND, LINE, PAPER, sizeOf, text, weightOf, type TextStyle } from '../style.js';
import { numberText } from '../ticks.js';

export interface SkyPicture {
  readonly plane: PlaneML;
  readonly plan: SkyPlan;
  /** The first line is the headline; the others are smaller: telescope, time, frequency, backend. */
  readonly title: readonly string[];
  /** "Jy/beam". */
  readonly unit: string;
  /** Marked and named if above the horizon and inside the field. */
  readonly sources: readonly NamedDirection[];
  /** Draws right ascension and declination; without it, altitude and azimuth. */
  readonly frame?: SkyDirections;
  /** Default: from the 2nd percentile to the peak, or to the 99.95th if the peak is far above it. */
  readonly stretch?: Stretch;
  readonly look?: SkyLook;
  /** Stokes parameter or product of the plane: "I", "V", "XX". */
  readonly stokes?: string;
  /** Whether gains were applied. */
  readonly calibration?: 'calibrated' | 'relative gains' | 'uncalibrated';
  readonly integrationS?: number;
  /** Drawn to scale in a corner. */
  readonly beam?: BeamEllipse;
  /** Drawn beside the sky, with the level of its sidelobes. */
  readonly dirtyBeam?: DirtyBeam;
}

/** The sky with its grid, colour bar, caption and the names of sources. */
export function skyPicture(picture: SkyPicture): Picture {
  const { plane, plan, title, sources, frame, look = {} } = picture;
  planeML(plane, plan.pixels);
  const view = skyView(plan);
  const grid = hasOffsets(plan)
    ? offsetGrid(plan)
    : frame
      ? equatorialGrid(plan, frame)
      : horizontalGrid(plan);
  const scale = colourScale(picture);
  const marks = [
    ...(picture.beam ? [beamMarks(picture.beam, view)] : []),
    ...(hasOffsets(plan) ? [scaleBar(view)] : []),
    horizonMarks(plan, view),
    sourceMarks(sources, plan, view),
  ];
  const drawn: Picture = {
    width: WIDTH + (picture.dirtyBeam ? BEAM_PANEL_WIDTH : 0),
    height: HEIGHT,
    paper: PAPER,
    shapes: [
      drawPixels(plane, plan, view, scale, look.light === true),
      ...drawTitle([...title, factsOf(picture)]),
      ...drawLines(grid, view),
      ...gridLabels(
        grid,
        view,
        marks.flatMap(({ boxes }) => boxes),
      ),
      ...marks.flatMap(({ shapes }) => shapes),
      ...drawColourBar(scale, BAR, { stands: 'below' }),
      ...(picture.dirtyBeam ? beamPanel(picture.dirtyBeam, plan, scale.palette) : []),
      footnote(`${scale.label} · ${stretchName(scale)}`),
    ],
  };
  return look.light === true ? lightPicture(drawn, look) : drawn;
}

/** Includes the plane's extremes, so that the bar can show values beyond its range. */
function colourScale({ plane, stretch, stokes, unit, look = {} }: SkyPicture): ColourScale {
  let [least, most] = [Infinity, -Infinity];
  for (const value of plane) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const label = [...quantity(stokes), unit].join(', ');
  return { ...stretchOf(plane, look, stretch), palette: paletteNamed(coloursOf(look)), label, least, most };
}

/** "Stokes I", but "XX": a product of feeds is no Stokes parameter. */
const quantity = (stokes: string | undefined): string[] =>
  stokes === undefined ? [] : [/^[IQUV]$/.test(stokes) ? `Stokes ${stokes}` : stokes];

/** The facts needed to interpret an image. */
function factsOf({ stokes, calibration, integrationS, beam }: SkyPicture): string {
  return [
    ...quantity(stokes),
    ...(calibration === undefined ? [] : [calibration]),
    ...(integrationS === undefined ? [] : [`${formatSeconds(integrationS)} integrated`]),
    ...(beam === undefined ? [] : [beamText(beam)]),
  ].join(' · ');
}

/** "beam 3.2° × 2.9°, PA 12°", in arcminutes, arcseconds or milliarcseconds if smaller. */
function beamText({ majorDeg, minorDeg, positionAngleDeg }: BeamEllipse): string {
  const { unit, perDegree } = unitFor(majorDeg);
  const size = (degrees: number): string => `${numberText(degrees * perDegree, 3)}${unit}`;
  return `beam ${size(majorDeg)} × ${size(minorDeg)}, PA ${numberText(Math.round(positionAngleDeg))}°`;
}

const drawPixels = (
  plane: PlaneML,
  plan: SkyPlan,
  view: SkyView,
  scale: ColourScale,
  isLight: boolean,
): Shape => ({
  kind: 'raster',
  box: view.box,
  paint: (canvas, box) => {
    const size = box.right - box.left;
    const zoom = size / (view.box.right - view.box.left);
    paintSky(canvas, box, {
      plane,
      pixels: plan.pixels,
      stretch: scale,
      palette: scale.palette,
      centre: { x: zoom * view.centre.x, y: zoom * view.centre.y },
      zoom: zoom * view.scale * plan.pixelSize,
      depth:
        view.kind === 'all-sky'
          ? (x, y) => zoom * view.reach(view.centre.x + x, view.centre.y + y) - Math.sqrt(x * x + y * y)
          : (x, y) => size / 2 - Math.max(Math.abs(x), Math.abs(y)),
      paper: isLight ? lit(PAPER) : PAPER,
      ground: isLight ? lit(GROUND) : GROUND,
    });
  },
});

const drawLines = (grid: SkyGrid, view: SkyView): Shape[] =>
  grid
    .flatMap(({ pieces }) => pieces)
    .flatMap((piece) => cutLine(piece.map(view.place), view.box))
    .map((points) => ({ kind: 'line', points, width: 1, colour: LINE, opacity: 0.3 }));

/** The headline, the facts of the observation, those of the image. */
const drawTitle = ([headline = '', ...rest]: readonly string[]): Shape[] => {
  const facts = rest.pop() ?? '';
  return [
    fitted('headline', headline, 44),
    fitted('remark', rest.join(' · '), 70),
    fitted('remark', facts, 92),
  ];
};

/** In its style's size, or smaller if the text would not fit the picture. */
function fitted(style: TextStyle, words: string, y: number): Shape {
  const size = sizeOf(style);
  const width = textWidth(words, size, weightOf(style));
  return text(style, words, { x: MARGIN, y, size: size * Math.min(1, (WIDTH - 2 * MARGIN) / width) });
}
