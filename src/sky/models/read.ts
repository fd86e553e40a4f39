/** Sky models by file: lists of WSClean and BBS, catalogues as CSV. */
import { readFileSync } from 'node:fs';
import { CorellaError, refuse } from '../../core/errors.js';
import type { Source } from '../source.js';
import { parseCatalogue } from './catalogue.js';
import { isComponentList, parseComponentList } from './component-list.js';

export const isSkyModelPath = (text: string): boolean => /\.(txt|csv|skymodel|bbs|lst|model)$/i.test(text);

/** What it holds says which kind it is; small enough to be read at once, while options are. */
export function readSkyModel(path: string): readonly Source[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CorellaError(
      { where: path, what: 'the sky model cannot be read', fix: 'check the path' },
      { cause: error },
    );
  }
  const sources = isComponentList(text) ? parseComponentList(text, path) : parseCatalogue(text, path);
  return sources.length > 0 ? sources : refuse(path, 'holds no source', 'give one with at least one');
}
