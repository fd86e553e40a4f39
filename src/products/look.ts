/** How the pictures of images look, as their fields say. */
import type { SkyLook } from '../draw/index.js';
import type { Product } from './registry.js';

export function lookOf({ range, scale, colours, light }: Product<'images'>): SkyLook {
  const ends = range?.split('..').map((end) => (end.trim() === '' ? undefined : Number(end)));
  return { ...(ends && { range: { low: ends[0], high: ends[1] } }), scale, colours, light };
}
