/** Successive files: one name, or one file per UTC interval with its start in its name. */
import { access } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { formatInstant, type Instant } from '../core/instant.js';

interface Naming {
  readonly path: string;
  readonly everyS?: number;
  /** By default, restarting an interrupted run overwrites nothing. */
  readonly overwrite?: boolean;
}

/** The interval that contains an instant. */
export const slotOf = (everyS: number | undefined, { unixSeconds, fraction }: Instant): number =>
  // A start that is before the boundary by a rounding error counts as on it.
  everyS === undefined ? 0 : Math.floor((unixSeconds + fraction + 1e-6) / everyS);

export async function nextPath(
  { path, everyS, overwrite }: Naming,
  start: Instant,
  isFirst: boolean,
): Promise<string> {
  const beside = (of: string, suffix: string | number): string => {
    const { dir, name, ext } = parse(of);
    return join(dir, `${name}-${suffix}${ext}`);
  };
  const stamp = formatInstant(start, everyS !== undefined && everyS < 1 ? 3 : 0).replaceAll(':', '');
  const named = everyS === undefined && isFirst ? path : beside(path, stamp);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? named : beside(named, number);
    const isThere = await access(candidate).then(
      () => true,
      () => false,
    );
    if (overwrite === true || !isThere) return candidate;
  }
}
