/** A picture of the sky, its pixels under a drawing in SVG: north up, east to the left, as seen lying on one's back with the head to the north. */
import { planeML, type PlaneML } from '../core/axes.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import { escapeXml, FONT_FAMILY } from './render.js';
import type { Canvas } from './png.js';
import { directionFromAltAz, type SkyFrame } from '../sky/frame.js';
import { placeLabels } from './labels.js';
import { paintSky } from './paint.js';
import { type ImagePlan, placeOf } from '../image/index.js';
import { colourAt, colourFraction, percentileStretch, type Stretch } from './stretch.js';
import { equatorialGrid, horizontalGrid, type Place, type SkyGrid } from './sky-grid.js';

export interface NamedDirection {
  readonly name: string;
  /** Unit vector: x east, y north, z up. */
  readonly directionEnu: Vector3;
}

export interface SkyPicture {
  readonly plane: PlaneML;
  readonly plan: ImagePlan;
  /** The first line is the headline; the others follow small: telescope, time, frequency, backend. */
  readonly title: readonly string[];
  /** "Jy/beam". */
  readonly unit: string;
  /** Marked and named where they are above the horizon and inside the field. */
  readonly sources: readonly NamedDirection[];
  /** Draws right ascension and declination; without it, altitude and azimuth. */
  readonly frame?: SkyFrame;
  /** Default: from the 2nd to the 99.95th percentile. */
  readonly stretch?: Stretch;
}

const WIDTH = 900;
const SKY = { left: 45, top: 96, size: 810 } as const;
const BAR = { left: 150, top: 940, width: 600, height: 14 } as const;
const HEIGHT = 1010;
const CENTRE = { x: SKY.left + SKY.size / 2, y: SKY.top + SKY.size / 2 } as const;
const PAPER = 0x0b0d13;
const GROUND = 0x12151d;
const paper = `#${PAPER.toString(16).padStart(6, '0')}`;
const ink = '#e8ecf4';
const quiet = '#8d97aa';
const line = '#9fb4d8';
const accent = '#7fe3ff';

/** "+60°" in small letters; a label that would be cut at the edge is left out. */
const LABEL_HALF_WIDTH = 15;

/** From direction cosines to the picture's coordinates; l grows east, which is to the left. */
interface View {
  readonly halfWidth: number;
  x(l: number): number;
  y(m: number): number;
  readonly scale: number;
}

/** What `renderPng` takes. */
export interface DrawnSky {
  readonly svg: string;
  readonly under: (canvas: Canvas) => void;
}

export function skyPicture(picture: SkyPicture): DrawnSky {
  const { plane, plan, title, unit, sources, frame } = picture;
  planeML(plane, plan.pixels);
  const stretch = picture.stretch ?? percentileStretch(plane, 2, 99.95);
  const view = makeView(plan);
  const grid = frame ? equatorialGrid(plan, frame) : horizontalGrid(plan);
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" ` +
      `viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="${FONT_FAMILY}">`,
    drawTitle(title),
    drawGrid(grid, plan, view),
    drawHorizon(plan, view),
    drawSources(sources, plan, view),
    drawColourBar(stretch, unit),
    '</svg>',
  ].join('\n');
  return {
    svg,
    under: (canvas) => {
      const scale = canvas.width / WIDTH;
      paintSky(canvas, {
        plane,
        pixels: plan.pixels,
        stretch,
        centre: { x: scale * CENTRE.x, y: scale * CENTRE.y },
        zoom: scale * view.scale * plan.pixelSize,
        depth:
          plan.field.kind === 'all-sky'
            ? (x, y) => scale * view.scale - Math.sqrt(x * x + y * y)
            : (x, y) => (scale * SKY.size) / 2 - Math.max(Math.abs(x), Math.abs(y)),
        paper: PAPER,
        ground: GROUND,
      });
    },
  };
}

function makeView(plan: ImagePlan): View {
  // the whole sky leaves a rim for the compass letters
  const halfWidth =
    plan.field.kind === 'all-sky' ? 1.07 : Math.sin((plan.field.widthDeg / 2) * RADIANS_PER_DEGREE);
  const scale = SKY.size / 2 / halfWidth;
  return { halfWidth, scale, x: (l) => CENTRE.x - l * scale, y: (m) => CENTRE.y - m * scale };
}

const fixed = (value: number): string => value.toFixed(2);

function drawTitle([headline = '', ...rest]: readonly string[]): string {
  const small = rest.join('  ·  ');
  return (
    `<text x="${SKY.left}" y="46" font-size="${fitting(headline, 25, 0.68)}" font-weight="bold" fill="${ink}">${escapeXml(headline)}</text>` +
    `<text x="${SKY.left}" y="74" font-size="${fitting(small, 15, 0.6)}" fill="${quiet}">${escapeXml(small)}</text>`
  );
}

/** A size at which the text fits the picture; `emWide`: a character's mean width in the font, generously. */
const fitting = (text: string, size: number, emWide: number): number =>
  Math.min(size, Math.floor((10 * SKY.size) / (emWide * Math.max(1, text.length))) / 10);

const inside = (view: View, { l, m }: Place): boolean =>
  Math.abs(l) <= view.halfWidth && Math.abs(m) <= view.halfWidth;

function drawGrid({ lines, labels }: SkyGrid, plan: ImagePlan, view: View): string {
  const paths = lines.map((points) => {
    const steps = points.map(({ l, m }) => `${fixed(view.x(l))} ${fixed(view.y(m))}`);
    return `<path d="M${steps.join('L')}"/>`;
  });
  const isSky = skyTest(plan, view);
  const texts = labels
    .filter(({ l, m }) =>
      [-LABEL_HALF_WIDTH, LABEL_HALF_WIDTH].every((dx) => isSky(view.x(l) + dx, view.y(m))),
    )
    .map(({ l, m, text }) => `<text x="${fixed(view.x(l))}" y="${fixed(view.y(m) + 4)}">${text}</text>`);
  const drawn =
    `<g fill="none" stroke="${line}" stroke-opacity="0.3" stroke-width="1">${paths.join('')}</g>` +
    `<g fill="${line}" fill-opacity="0.75" font-size="12" text-anchor="middle">${texts.join('')}</g>`;
  // The whole sky's lines end at the horizon by themselves; a field's run on. Clipping
  // costs more than everything drawn.
  if (plan.field.kind === 'all-sky') return drawn;
  const square = `<rect x="${SKY.left}" y="${SKY.top}" width="${SKY.size}" height="${SKY.size}"/>`;
  return `<clipPath id="sky">${square}</clipPath><g clip-path="url(#sky)">${drawn}</g>`;
}

function drawHorizon(plan: ImagePlan, view: View): string {
  if (plan.field.kind === 'field') {
    return `<rect x="${SKY.left}" y="${SKY.top}" width="${SKY.size}" height="${SKY.size}" fill="none" stroke="${line}"/>`;
  }
  const rim = `<circle cx="${CENTRE.x}" cy="${CENTRE.y}" r="${fixed(view.scale)}" fill="none" stroke="${line}" stroke-width="1.5"/>`;
  const letters = ['N', 'E', 'S', 'W'].map((letter, quarter) => {
    const place = placeOf({ axes: plan.axes }, directionFromAltAz(0.01, 90 * quarter));
    if (!place) return '';
    const beyond = 1.04 / Math.hypot(place.l, place.m);
    const [x, y] = [view.x(place.l * beyond), view.y(place.m * beyond)];
    return `<text x="${fixed(x)}" y="${fixed(y + 6)}">${letter}</text>`;
  });
  return `${rim}<g font-size="17" font-weight="bold" text-anchor="middle" fill="${ink}">${letters.join('')}</g>`;
}

/** Whether a point of the picture is sky: names stay within it. */
function skyTest(plan: ImagePlan, view: View): (x: number, y: number) => boolean {
  return (x, y) =>
    plan.field.kind === 'all-sky'
      ? Math.hypot(x - CENTRE.x, y - CENTRE.y) < view.scale
      : Math.max(Math.abs(x - CENTRE.x), Math.abs(y - CENTRE.y)) < SKY.size / 2;
}

function drawSources(sources: readonly NamedDirection[], plan: ImagePlan, view: View): string {
  const markers = sources.flatMap(({ name, directionEnu }) => {
    const place = directionEnu.z > 0 ? placeOf(plan, directionEnu) : undefined;
    return place && inside(view, place) ? [{ x: view.x(place.l), y: view.y(place.m), text: name }] : [];
  });
  const markerRadius = 18;
  const fontSize = 15;
  const drawn = placeLabels(markers, { fontSize, markerRadius, isFree: skyTest(plan, view) }).map(
    ({ x, y, text, textX, textY, anchor }) =>
      `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="${markerRadius}" fill="none" stroke="${accent}" stroke-width="1.2" stroke-opacity="0.9"/>` +
      // a dark outline under the letters keeps them legible on bright sky
      `<text x="${fixed(textX)}" y="${fixed(textY)}" text-anchor="${anchor}" stroke="${paper}" stroke-width="3.5" ` +
      `stroke-opacity="0.75" stroke-linejoin="round" fill="none">${escapeXml(text)}</text>` +
      `<text x="${fixed(textX)}" y="${fixed(textY)}" text-anchor="${anchor}" fill="${ink}">${escapeXml(text)}</text>`,
  );
  return `<g font-size="${fontSize}">${drawn.join('')}</g>`;
}

function drawColourBar(stretch: Stretch, unit: string): string {
  const stops = Array.from(
    { length: 17 },
    (_, k) => `<stop offset="${k / 16}" stop-color="${colourAt(k / 16)}"/>`,
  );
  const { left, top, width, height } = BAR;
  const ticks = niceTicks(stretch.low, stretch.high).map((value) => {
    const x = fixed(left + width * colourFraction(value, stretch));
    return (
      `<path d="M${x} ${top + height}v5" stroke="${quiet}"/>` +
      `<text x="${x}" y="${top + height + 20}">${formatTick(value)}</text>`
    );
  });
  return (
    `<defs><linearGradient id="colours">${stops.join('')}</linearGradient></defs>` +
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="url(#colours)" stroke="${quiet}" stroke-width="0.5"/>` +
    `<g font-size="13" fill="${quiet}" text-anchor="middle">${ticks.join('')}` +
    `<text x="${left + width + 14}" y="${top + height - 2}" text-anchor="start" fill="${ink}">${escapeXml(unit)}</text></g>`
  );
}

/** Round numbers, four to eight of them. */
export function niceTicks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((nice) => nice * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) => (first + k) * step);
}

const formatTick = (value: number): string => {
  const text = String(Number(value.toPrecision(6)));
  return text.replace('-', '−');
};
