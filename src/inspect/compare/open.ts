/** Opens any Corella product for comparison. */
import { closingAfter } from '../../core/closing.js';
import { formatInstant } from '../../core/instant.js';
import {
  holdsFilterbank,
  holdsFitsImage,
  holdsGains,
  openFile,
  openFilterbank,
  openInput,
  readCards,
} from '../../formats/index.js';
import { BLOCK_BYTES } from '../../stages/index.js';
import { dataCards, factsOf, type Content } from './content.js';
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

/** Header and every power of a beam. */
async function filterbankContent(path: string): Promise<Content> {
  const file = await openFilterbank(path);
  const { header, values } = file;
  const { planes, channels } = header;
  const most = Math.max(1, Math.floor(BLOCK_BYTES / (4 * planes * channels)));
  return {
    path,
    kind: 'beam',
    format: 'filterbank',
    cards: new Map(),
    close: () => file.close(),
    facts: factsOf({ ...header, rawDataFile: undefined, start: formatInstant(header.start, 9), values }),
    pieces: async function* () {
      for (let first = 0; first < values; first += most) {
        const count = Math.min(most, values - first);
        const axes = [
          { name: 'time', size: count },
          { name: 'plane', size: planes },
          { name: 'channel', size: channels },
        ];
        const numbers = await file.read(first, count);
        yield { at: `value ${first}`, parts: [{ name: 'powers', axes, numbers, nature: 'measured' }] };
      }
    },
  };
}
