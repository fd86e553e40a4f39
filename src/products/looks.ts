/** Common to images of recordings, live data and visibilities: files, pictures, the beam to divide by. */
import { join, parse } from 'node:path';
import { refuse } from '../core/errors.js';
import type { SkyLook } from '../draw/index.js';
import type { ElementBeam } from '../sky/beams/element-beam.js';
import { beamWords } from '../sky/beams/registry.js';
import { elementBeam, type SeriesPaths } from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { Product } from './registry.js';

export function lookOf({ range, scale, colours, light }: Product<'images'>): SkyLook {
  const ends = range?.split('..').map((end) => (end.trim() === '' ? undefined : Number(end)));
  return { ...(ends && { range: { low: ends[0], high: ends[1] } }), scale, colours, light };
}

/** A FITS file, the picture next to it, and the contact sheet of a series. */
export function seriesPaths(
  path: string,
  { picture, sheet }: { readonly picture: boolean; readonly sheet: boolean },
): SeriesPaths {
  const { dir, name } = parse(path);
  return {
    fits: path,
    ...(picture && { png: join(dir, `${name}.png`) }),
    ...(sheet && { sheet: join(dir, `${name}-sheet.png`) }),
  };
}

/** The beam that an image is divided by, if requested. */
export function dividingBeam(
  { 'beam-corrected': isAsked = false, element }: Pick<Product<'images'>, 'beam-corrected' | 'element'>,
  telescope: Telescope,
): ElementBeam | undefined {
  if (!isAsked) return undefined;
  return (
    elementBeam(element, telescope) ??
    refuse(
      'products.images.beam-corrected',
      'nothing is known of the beam of its stations',
      `give products.images.element: ${beamWords()}`,
    )
  );
}

/** Dishes point at one position: with several targets each was observed separately. */
export function refuseFollowingAll(beam: ElementBeam | undefined, target: string | undefined): void {
  const follows = (beam?.perStation ?? (beam ? [beam] : [])).some(({ pointing }) => pointing === 'followed');
  if (follows && target?.trim().toLowerCase() === 'all')
    refuse(
      'source.target',
      `all, and ${beam?.name ?? ''} points at the target: one beam would be used for all of them`,
      'take one target at a time',
    );
}
