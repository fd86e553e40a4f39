/** Pixels of an image that are inside a disc round a source at any moment of its data: they become blank. */
import { addSeconds, type Instant } from '../core/instant.js';
import { dot, type Vector3 } from '../core/vector.js';
import { discSources, type BlankedDiscs, type DiscSource, type SkyDisc } from '../sky/discs.js';
import { skyFrame, type SkyFrame, type SkyPosition } from '../sky/frame.js';
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

/** blanked : [m][l], 1 inside a disc; undefined where no disc is in the image. */
export function discPixels(discs: readonly SkyDisc[], span: BlankedSpan): Uint8Array | undefined {
  if (discs.length === 0) return undefined;
  const { site, start, durationS, pixels } = span;
  const frames = new Map<number, SkyFrame>();
  const frameAt = (offsetS: number): SkyFrame => {
    const frame = frames.get(offsetS) ?? skyFrame(site, addSeconds(start, offsetS));
    frames.set(offsetS, frame);
    return frame;
  };
  const blanked = new Uint8Array(pixels * pixels);
  const steps = Math.max(1, Math.ceil(durationS / STEP_S));
  for (const one of discSources(discs))
    for (let k = 0; k < steps; k++) {
      const [from, to] = [k, k + 1].map((edge) => (edge * durationS) / steps);
      markTrack(blanked, one, { from, to, halvings: 0 }, { frameAt, span });
    }
  return blanked.includes(1) ? blanked : undefined;
}

interface Track {
  readonly from: number;
  readonly to: number;
  readonly halvings: number;
}

/** Marks the disc at both ends, and between them where they are far apart. */
function markTrack(
  blanked: Uint8Array,
  one: DiscSource,
  { from, to, halvings }: Track,
  around: { readonly frameAt: (offsetS: number) => SkyFrame; readonly span: BlankedSpan },
): void {
  const ends = [from, to].map((offsetS) => placeOf(one, around.frameAt(offsetS), around.span));
  for (const end of ends) if (end?.isUp === true) markDisc(blanked, end.cosines, one.radiusRad, around.span);
  const [first, last] = ends;
  if (!first || !last || halvings >= MOST_HALVINGS) return;
  const apart = Math.hypot(
    last.cosines.x - first.cosines.x,
    last.cosines.y - first.cosines.y,
    last.cosines.z - first.cosines.z,
  );
  if (apart <= STEP_RADII * one.radiusRad) return;
  const middle = (from + to) / 2;
  markTrack(blanked, one, { from, to: middle, halvings: halvings + 1 }, around);
  markTrack(blanked, one, { from: middle, to, halvings: halvings + 1 }, around);
}

/** Undefined where its position is not known; a source below the horizon is not in the image. */
function placeOf(
  { source }: DiscSource,
  frame: SkyFrame,
  { cosinesOf }: BlankedSpan,
): { readonly cosines: Vector3; readonly isUp: boolean } | undefined {
  if (source.isKnownAt?.(frame) === false) return undefined;
  const position = source.position(frame);
  return { cosines: cosinesOf(position, frame), isUp: frame.directionEnu(position).z > 0 };
}

/** Only pixels near the source are tested. */
function markDisc(
  blanked: Uint8Array,
  towards: Vector3,
  radiusRad: number,
  { pixels, pixelCosine }: BlankedSpan,
): void {
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
    cosinesOf: (position, moment) => {
      const direction = shownAt(moment).directionEnu(position);
      return { x: dot(direction, axes.l), y: dot(direction, axes.m), z: dot(direction, axes.n) };
    },
  });
  if (!inside) return;
  for (let at = 0; at < image.length; at++) if (inside[at % inside.length] === 1) image[at] = Number.NaN;
}
