import type { Isa } from './levels.js';
import type { loadNative } from './library.js';

/** Levels to test: those that are compiled and that this processor has (CI compiles all; `npm test` its own). */
export const compiledLevels = (library: ReturnType<typeof loadNative>): readonly Isa[] =>
  'levels' in library ? library.levels : ['portable'];
