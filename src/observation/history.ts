/** How a product was made, for its header: the observation as one line, and the files that were read. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isProduct, productNames, type Product } from '../products/index.js';
import { isSkyModelPath } from '../sky/models/read.js';
import { canonicalObservation } from './file.js';
import type { Observation } from './schema.js';

/** Longer files are identified by size and the hash of this many first bytes: a full hash would take too long. */
const HASHED_BYTES = 2 ** 30;

/** `read NAME sha256 …`, or `read NAME N bytes, the first 1073741824 sha256 …`. */
export async function readLine(path: string): Promise<string> {
  const { size } = await stat(path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { end: HASHED_BYTES - 1 })) hash.update(chunk as Buffer);
  const digest = `sha256 ${hash.digest('hex')}`;
  return size > HASHED_BYTES
    ? `read ${basename(path)} ${size} bytes, the first ${HASHED_BYTES} ${digest}`
    : `read ${basename(path)} ${digest}`;
}

const withoutFolder = (value: unknown): unknown =>
  typeof value === 'string' ? basename(value) : Array.isArray(value) ? value.map(withoutFolder) : value;

/** Other products are not made with gains. */
export const usesGains = (product: Product): boolean =>
  isProduct('visibilities', product)
    ? product.calibrated === true
    : !isProduct('spectra', product) && !isProduct('gains', product);

/** Fields that contain file names among other words: a sky model, a beam of some stations, earlier gains. */
const NAMING = ['sources', 'solve', 'element', 'diffuse', 'cross-hand', 'delays-out'] as const;

/** "models/sky.txt,CygA" and "dish0=beams/a.csv" without folders. */
const wordsWithoutFolders = <Part extends object>(part: Part): Part => ({
  ...part,
  ...Object.fromEntries(
    Object.entries(part)
      .filter(([name, value]) => (NAMING as readonly string[]).includes(name) && typeof value === 'string')
      .map(([name, value]: [string, string]) => [
        name,
        value
          .split(',')
          .map((word) => word.replace(/^([^/=]*=)?.*\//, '$1'))
          .join(','),
      ]),
  ),
});

/** Files that a product uses besides those of the observation. */
export function filesOf(product: Product): readonly string[] {
  const { sources, element, diffuse, 'cross-hand': crossHand } = product as Partial<Product<'gains'>>;
  const words = (text = ''): string[] => text.split(',').map((word) => word.trim());
  return [
    ...(isProduct('gains', product) ? words(sources ?? '').filter(isSkyModelPath) : []),
    ...words(element).map((word) => word.replace(/^[^/=]*=/, '')),
    ...words(diffuse),
    ...words(crossHand),
  ].filter((word) => isSkyModelPath(word) && existsSync(word));
}

/** The output file for flags is not part of how a product was made. */
const withoutOut = (flags: NonNullable<Observation['flags']>): Observation['flags'] => ({
  ...flags,
  out: undefined,
});

/** The observation in a product's history: this product only, file names without folders, no machine settings. */
function observationOf(observation: Observation, product: number): Observation {
  const { corella, stations, start, end, source, front, flags, gains, telescope, eop, orbits, log } =
    observation;
  const paths = <Part extends object>(part: Part | undefined, ...names: (keyof Part)[]): Part | undefined =>
    part && {
      ...part,
      ...Object.fromEntries(
        names.filter((name) => part[name] !== undefined).map((name) => [name, withoutFolder(part[name])]),
      ),
    };
  const chosen = observation.products[product];
  return {
    corella,
    ...(stations !== undefined && { stations }),
    start,
    end,
    for: observation.for,
    source: paths(source, 'recording', 'visibilities', 'capture', 'metafits', 'meta') ?? source,
    ...(telescope !== undefined && { telescope: telescope.includes('/') ? basename(telescope) : telescope }),
    ...(front && {
      front: {
        ...paths(front, 'coefficients', 'equaliser', 'equaliser-out'),
        ...(front.delays && { delays: paths(front.delays, 'fixed', 'track') }),
      },
    }),
    ...(flags && { flags: withoutOut(paths(flags, 'file') ?? flags) }),
    ...(gains && usesGains(chosen) && { gains: wordsWithoutFolders(paths(gains, 'file') ?? gains) }),
    ...(eop !== undefined && { eop: basename(eop) }),
    ...(orbits !== undefined && { orbits: basename(orbits), 'old-orbits': observation['old-orbits'] }),
    ...(log !== undefined && { log: basename(log) }),
    products: [wordsWithoutFolders(paths(chosen, ...(productNames as never[])) ?? chosen)],
  };
}

/** FITS splits long lines at spaces and allows only ASCII: JSON can escape both. */
const plainAscii = (json: string): string =>
  json.replace(/[^!-~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const OBSERVATION_MARK = 'observation ';

/** The history of one product. */
export const historyOf = (
  version: string,
  observation: Observation,
  product: number,
  reads: readonly string[],
): readonly string[] => [
  `corella ${version}`,
  `${OBSERVATION_MARK}${plainAscii(canonicalObservation(observationOf(observation, product)))}`,
  ...(observation.flags?.sky ?? []).map((disc) => {
    const [name, radius] = disc.split('@');
    return `flagged: the sky within ${radius} of ${name}: blank in images, left out of models`;
  }),
  ...reads,
];
