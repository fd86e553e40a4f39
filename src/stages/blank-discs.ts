/** Pixels of an image that are inside a disc round a source at any moment of its data: they become blank. */
import { addSeconds, type Instant } from '../core/instant.js';
import { dot, type Vector3 } from '../core/vector.js';
import { discSources, type BlankedDiscs, type DiscSource, type SkyDisc } from '../sky/discs.js';
import { cosinesAlong, skyFrame, type SkyFrame, type SkyPosition } from '../sky/frame.js';
import { isKnown } from '../sky/source.js';
import type { Site } from '../telescope/telescope.js';
import type { SkyImage } from './sky-image.js';

/** The data of an image. */
export interface BlankedSpan {
  readonly site: Site;
  readonly start: Instant;
  readonly durationS: number;
  readonly pixels: number;
  readonly pixelCosine: number;
  /** Direction cosines in the image (l, m, n) of a position at a moment. */
  readonly cosinesOf: (position: SkyPosition, frame: SkyFrame) => Vector3;
}

/** Sources are looked for this often; a satellite crosses the sky in ten minutes. */
const STEP_S = 60;
/** Between two discs a fourth of the radius apart 0.8 % of the radius is left at the edge. */
const STEP_RADII = 0.25;
/** Halvings of a step: 15 ms. */
const MOST_HALVINGS = 12;

/** Sine of the altitude: what is lower, here 15° below the horizon, does not rise within a step. */
const LOWEST = -0.26;

/** blanked : [m][l], 1 inside a disc; undefined where no disc is in the image. */
export function discPixels(discs: readonly SkyDisc[], span: BlankedSpan): Uint8Array | undefined {
  if (discs.length === 0) return undefined;
  const { site, start, durationS, pixels } = span;
  const steps = Math.max(1, Math.ceil(durationS / STEP_S));
  const frameAt = (offsetS: number): SkyFrame => skyFrame(site, addSeconds(start, offsetS));
  const edges = Array.from({ length: steps + 1 }, (_, k) => (k * durationS) / steps);
  const frames = edges.map(frameAt);
  const blanked = new Uint8Array(pixels * pixels);
  for (const one of discSources(discs)) {
    const places = frames.map((frame) => placeOf(one, frame, span));
    for (const place of places) markDisc(blanked, place, one.radiusRad, span);
    const between = (from: End, to: End, halvings: number): void => {
      if (!from.place || !to.place || halvings === MOST_HALVINGS) return;
      if (from.place.height < LOWEST && to.place.height < LOWEST) return;
      if (apart(from.place.cosines, to.place.cosines) <= STEP_RADII * one.radiusRad) return;
      const offsetS = (from.offsetS + to.offsetS) / 2;
      const middle = { offsetS, place: placeOf(one, frameAt(offsetS), span) };
      markDisc(blanked, middle.place, one.radiusRad, span);
      between(from, middle, halvings + 1);
      between(middle, to, halvings + 1);
    };
    for (let k = 0; k < steps; k++)
      between({ offsetS: edges[k], place: places[k] }, { offsetS: edges[k + 1], place: places[k + 1] }, 0);
  }
  return blanked.includes(1) ? blanked : undefined;
}

interface Place {
  readonly cosines: Vector3;
  /** Sine of the altitude. */
  readonly height: number;
}

interface End {
  readonly offsetS: number;
  readonly place: Place | undefined;
}

const apart = (one: Vector3, other: Vector3): number =>
  Math.hypot(one.x - other.x, one.y - other.y, one.z - other.z);

/** Undefined where its position is not known. */
function placeOf({ source }: DiscSource, frame: SkyFrame, { cosinesOf }: BlankedSpan): Place | undefined {
  if (!isKnown(source, frame)) return undefined;
  const position = source.position(frame);
  return { cosines: cosinesOf(position, frame), height: frame.directionEnu(position).z };
}

/** A source below the horizon is not in the image. Only pixels near it are tested. */
function markDisc(
  blanked: Uint8Array,
  place: Place | undefined,
  radiusRad: number,
  { pixels, pixelCosine }: BlankedSpan,
): void {
  if (!place || place.height <= 0) return;
  const { cosines: towards } = place;
  const chord = 2 * Math.sin(radiusRad / 2);
  const least = Math.cos(radiusRad) - 1e-12;
  const range = (cosine: number): readonly [number, number] => [
    Math.max(0, Math.ceil((cosine - chord) / pixelCosine + pixels / 2 - 1e-9)),
    Math.min(pixels - 1, Math.floor((cosine + chord) / pixelCosine + pixels / 2 + 1e-9)),
  ];
  const [west, east] = range(towards.x);
  const [south, north] = range(towards.y);
  for (let row = south; row <= north; row++) {
    const y = (row - pixels / 2) * pixelCosine;
    for (let column = west; column <= east; column++) {
      const x = (column - pixels / 2) * pixelCosine;
      const z = 1 - x * x - y * y;
      if (z < 0) continue;
      if (dot(towards, { x, y, z: Math.sqrt(z) }) >= least) blanked[row * pixels + column] = 1;
    }
  }
}

/** Blanks an image of integrations or spectra in place: the one way from the imagers to the products. */
export function blankDiscs(sky: SkyImage, blanked: BlankedDiscs | undefined): void {
  if (!blanked) return;
  const { image, plan, frame, start, durationS } = sky;
  const { pixels, pixelSize, axes } = plan;
  const shownAt = blanked.fixedTo === 'sky' ? (): SkyFrame => frame : (moment: SkyFrame) => moment;
  const inside = discPixels(blanked.discs, {
    site: frame.site,
    start,
    durationS,
    pixels,
    pixelCosine: pixelSize,
    cosinesOf: (position, moment) => cosinesAlong(axes, shownAt(moment).directionEnu(position)),
  });
  if (!inside) return;
  for (let at = 0; at < image.length; at++) if (inside[at % inside.length] === 1) image[at] = Number.NaN;
}
