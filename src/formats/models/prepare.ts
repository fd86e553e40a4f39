/** Reads sky models before the options are parsed, with progress and warnings: FITS, HDF5 and lists. */
import { stat } from 'node:fs/promises';
import type { OnProgress } from '../../core/progress.js';
import type { SkyModel } from '../../sky/models/brightest.js';
import { isSkyModelPath, keepSkyModel, readTextModel } from '../../sky/models/read.js';
import { isHdf5 } from '../hdf5/read.js';
import { headOf, withInput } from '../io/input.js';
import { satellitesInJson } from '../tart/json.js';
import { isTartSnapshot } from '../tart/tart.js';
import { readCatalogueFits } from './catalogue-fits.js';
import { readSkyH5 } from './skyh5.js';

/** Reads the files among these words (as in --sources); returns warnings. */
export async function prepareSkyModels(words: string, onProgress?: OnProgress): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const path of words.split(',').map((word) => word.trim())) {
    if (!isSkyModelPath(path)) continue;
    const model = await readModel(path, onProgress);
    if (!model) continue;
    keepSkyModel(path, model);
    notes.push(...model.notes.map((note) => `${path}: ${note}`));
  }
  return notes;
}

async function readModel(path: string, onProgress: OnProgress | undefined): Promise<SkyModel | undefined> {
  const found = await stat(path).catch(() => undefined);
  // A missing file is refused where it is used.
  if (found?.isFile() !== true) return undefined;
  const head = await withInput(path, (file) => headOf(file, 80));
  if (isHdf5(head)) return readSkyH5(path);
  if (new TextDecoder('latin1').decode(head).startsWith('SIMPLE  ='))
    return readCatalogueFits(path, onProgress);
  if (await isTartSnapshot(path)) return { sources: await satellitesInJson(path), notes: [] };
  return readTextModel(path, onProgress);
}
