/** The observation that made a product, read from the product's history. */
import { open, readFile, stat } from 'node:fs/promises';
import { refuse } from '../core/errors.js';
import { holdsFilterbank, holdsGains, openFile, readGainFile } from '../formats/index.js';
import { OBSERVATION_MARK } from './history.js';
import { parseObservation } from './file.js';
import type { Observation } from './schema.js';

/** The newest observation in a history; earlier ones made its inputs. */
export function observationIn(history: readonly string[], path: string): Observation {
  const line = history.findLast((one) => one.startsWith(OBSERVATION_MARK));
  if (line === undefined)
    return refuse(path, 'has no observation in its history', 'see how it was made with corella inspect');
  return parseObservation(line.slice(OBSERVATION_MARK.length), path).observation;
}

export async function observationOfProduct(path: string): Promise<Observation> {
  // PSRFITS is FITS too.
  const beams = await descriptionOfBeams(path);
  if (beams) return observationIn(beams, path);
  const fits = await fitsHistory(path);
  if (fits) return observationIn(fits, path);
  if (await holdsGains(path)) return observationIn((await readGainFile(path)).history, path);
  const opened = await openFile(path);
  try {
    const history = opened.kind === 'visibilities' ? opened.header.history : opened.history;
    return observationIn(history ?? [], path);
  } finally {
    await opened.close();
  }
}

/** The history of beams is in the description next to them: NAME.fil.json, whatever the number of the beam. */
async function descriptionOfBeams(path: string): Promise<readonly string[] | undefined> {
  if (!(await holdsFilterbank(path))) return undefined;
  const names = [
    path,
    ...['.sf', '.vdif'].map((ext) => path.replace(/-samples\.fil$/, ext)),
    path.replace(/-(?:\d+|samples)(\.[^.]*)$/, '$1'),
  ];
  for (const name of names) {
    const text = await readFile(`${name}.json`, 'utf8').catch(() => undefined);
    if (text !== undefined)
      return (JSON.parse(text) as { readonly history?: readonly string[] }).history ?? [];
  }
  return refuse(path, 'has no description beside it', `copy ${names[names.length - 1]}.json to its folder`);
}

const BLOCK_BYTES = 2880;
const CARD_BYTES = 80;
/** Corella writes no header longer than this. */
const MOST_BLOCKS = 1000;

/** The HISTORY cards of a FITS file's first header; lines split over cards are joined. */
async function fitsHistory(path: string): Promise<readonly string[] | undefined> {
  // A Measurement Set is a folder.
  const found = await stat(path).catch(() => undefined);
  const file = found?.isFile() === true ? await open(path).catch(() => undefined) : undefined;
  if (!file) return undefined;
  try {
    const cards: string[] = [];
    for (let k = 0; k < MOST_BLOCKS; k++) {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(BLOCK_BYTES),
        0,
        BLOCK_BYTES,
        k * BLOCK_BYTES,
      );
      const text = buffer.subarray(0, bytesRead).toString('latin1');
      if (k === 0 && !text.startsWith('SIMPLE  =')) return undefined;
      for (let at = 0; at < text.length; at += CARD_BYTES) cards.push(text.slice(at, at + CARD_BYTES));
      if (bytesRead < BLOCK_BYTES || cards.some((card) => card.trimEnd() === 'END')) break;
    }
    const lines = cards.filter((card) => card.startsWith('HISTORY ')).map((card) => card.slice(8));
    const joined: string[] = [];
    for (const line of lines) {
      const before = joined.at(-1);
      if (before?.startsWith(OBSERVATION_MARK) === true && !isWhole(before))
        joined[joined.length - 1] = before + line;
      else joined.push(line);
    }
    return joined.map((line) => line.trimEnd());
  } finally {
    await file.close();
  }
}

/** Whether the JSON of an observation is complete. */
function isWhole(line: string): boolean {
  try {
    JSON.parse(line.slice(OBSERVATION_MARK.length));
    return true;
  } catch {
    return false;
  }
}
