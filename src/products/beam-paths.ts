/** Files of beams: one each, one of how many samples each value has, and a description. */
import { join, parse } from 'node:path';
import { refuse } from '../core/errors.js';
import type { Product } from './registry.js';

export const MOST_BEAMS = 4096;

/** A grid around each of so many places. */
export function beamGrid(
  { grid }: Pick<Product<'beams'>, 'grid'>,
  places: number,
): { readonly columns: number; readonly rows: number; readonly beams: number } {
  const [columns, rows] = grid?.split(/[x×]/).map(Number) ?? [1, 1];
  const beams = columns * rows * places;
  if (grid !== undefined && !(columns >= 1 && rows >= 1 && beams <= MOST_BEAMS))
    refuse('products.beams.grid', `${grid} are ${beams} beams`, `take 1 to ${MOST_BEAMS}`);
  return { columns, rows, beams };
}

/** With the beam's number, if there were several at the start or this beam was added later. */
export function beamPath(path: string, number: number, atStart: number): string {
  if (number === 1 && atStart === 1) return path;
  const { dir, name, ext } = parse(path);
  const digits = String(atStart).length;
  return join(dir, `${name}-${String(number).padStart(digits, '0')}${ext}`);
}

export function besideBeams(path: string): { readonly counts: string; readonly description: string } {
  const { dir, name } = parse(path);
  return { counts: join(dir, `${name}-samples.fil`), description: `${path}.json` };
}
