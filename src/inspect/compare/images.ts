/** Contents of FITS images and PNG pictures for comparison, pixel by pixel. */
import { readFile } from 'node:fs/promises';
import { decode } from 'fast-png';
import { openFitsPlanes, type Cards } from '../../formats/index.js';
import { refuse } from '../../core/errors.js';
import type { Content } from './content.js';

export async function imageContent(path: string, cards: Cards): Promise<Content> {
  const image = await openFitsPlanes(path);
  const { width, height, axes } = image;
  /** 'stokes 0, freq 3': name of plane k in file order. */
  const nameOf = (k: number): string => {
    let rest = k;
    return [...axes]
      .reverse()
      .map(({ name, size }) => {
        const at = `${name} ${rest % size}`;
        rest = Math.floor(rest / size);
        return at;
      })
      .reverse()
      .join(', ');
  };
  return {
    path,
    kind: 'image',
    format: 'fits',
    cards,
    facts: new Map(),
    pieces: async function* () {
      let k = 0;
      for await (const numbers of image.planes())
        yield {
          at: nameOf(k++),
          parts: [
            {
              name: 'pixels',
              axes: [
                { name: 'row', size: height },
                { name: 'column', size: width },
              ],
              numbers,
              nature: 'measured' as const,
            },
          ],
        };
    },
    close: () => image.close(),
  };
}

export async function pictureContent(path: string): Promise<Content> {
  const { width, height, channels, depth, data } = decoded(path, await readFile(path));
  return {
    path,
    kind: 'picture',
    format: 'png',
    cards: new Map(),
    facts: new Map(Object.entries({ width, height, channels, depth })),
    // eslint-disable-next-line @typescript-eslint/require-await -- from memory
    pieces: async function* () {
      yield {
        at: '',
        parts: [
          {
            name: 'pixels',
            axes: [
              { name: 'row', size: height },
              { name: 'column', size: width },
              { name: 'colour', size: channels },
            ],
            numbers: data instanceof Uint8ClampedArray ? Uint8Array.from(data) : data,
            nature: 'measured',
          },
        ],
      };
    },
    close: () => Promise.resolve(),
  };
}

function decoded(path: string, bytes: Uint8Array): ReturnType<typeof decode> {
  try {
    return decode(bytes);
  } catch (error) {
    return refuse(
      path,
      `cannot be read as PNG (${error instanceof Error ? error.message : String(error)})`,
      'draw it again',
    );
  }
}
