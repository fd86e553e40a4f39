/** Opens any Corella product for comparison. */
import { closingAfter } from '../../core/closing.js';
import {
  holdsFilterbank,
  holdsFitsImage,
  holdsGains,
  openFile,
  openInput,
  readCards,
} from '../../formats/index.js';
import { dataCards, type Content } from './content.js';
import { filterbankContent } from './filterbanks.js';
import { gainContent } from './gains.js';
import { imageContent, pictureContent } from './images.js';
import { recordingContent } from './recordings.js';
import { visibilityContent } from './visibilities.js';
import { stat } from 'node:fs/promises';

const PNG_START = [0x89, 0x50, 0x4e, 0x47];
const OPENS_OBJECT = 0x7b;

export async function openContent(path: string): Promise<Content> {
  const isFile = (await stat(path).catch(() => undefined))?.isFile() === true;
  if (isFile) {
    const head = await headOf(path);
    if (PNG_START.every((byte, k) => head[k] === byte)) return pictureContent(path);
    if (await holdsGains(path))
      return gainContent(path, head[0] === OPENS_OBJECT ? 'json' : 'calh5', await cardsOf(path));
    if (await holdsFilterbank(path)) return filterbankContent(path);
    if (await holdsFitsImage(path)) return imageContent(path, await cardsOf(path));
  }
  const file = await openFile(path);
  if (file.kind !== 'visibilities') return recordingContent(file);
  return visibilityContent(file, isFile ? await cardsOf(path) : new Map());
}

const headOf = (path: string): Promise<Uint8Array> =>
  closingAfter(async (closers) => {
    const file = closers.keep(await openInput(path));
    const head = new Uint8Array(Math.min(PNG_START.length, file.sizeBytes));
    await file.readExactly(head, 0);
    return head;
  });

const cardsOf = async (path: string): Promise<Content['cards']> => dataCards(await readCards(path));
