/** Sources named by options, except those given by a position that moves with the sky. */
import { parseSource, type Source } from '../source.js';
import { findSources, withFlux } from '../sources.js';
import { isSkyModelPath, readSkyModel } from './read.js';

/** By name, by hand (NAME:RA_DEG:DEC_DEG:FLUX_JY), or from a sky model file. */
export const sourcesNamed = (names: 'all' | readonly string[]): readonly Source[] =>
  names === 'all'
    ? findSources('all')
    : names.flatMap((one) =>
        isSkyModelPath(one)
          ? readSkyModel(one)
          : (withFlux(one) ?? (one.includes(':') ? [parseSource(one)] : findSources([one]))),
      );
