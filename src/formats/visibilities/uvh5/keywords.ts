/** Other people's words in a file, kept for its copies. */
import type { KeywordValue } from '../../format.js';
import type { Hdf5File } from '../../hdf5/read.js';

/** Single numbers and texts of extra_keywords; our own words among them have their place already. */
export function keywordsIn(file: Hdf5File): Record<string, KeywordValue> {
  const group = 'Header/extra_keywords';
  const keywords: Record<string, KeywordValue> = {};
  for (const name of file.has(group) ? file.keys(group) : []) {
    if (name.startsWith('corella_')) continue;
    const value = file.scalar(`${group}/${name}`);
    if (value !== undefined) keywords[name] = value;
  }
  return keywords;
}
