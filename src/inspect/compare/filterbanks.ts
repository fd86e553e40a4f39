/** Contents of beam filterbanks for comparison: header and every power. */
import { formatInstant } from '../../core/instant.js';
import { openFilterbank } from '../../formats/index.js';
import { BLOCK_BYTES } from '../../stages/index.js';
import { factsOf, type Content } from './content.js';

export async function filterbankContent(path: string): Promise<Content> {
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
