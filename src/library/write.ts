/** Writes results of a program: integrations, an image, gains. */
import type { Integration } from '../core/blocks.js';
import { version } from '../core/program/version.js';
import {
  checkOutputs,
  gainPaths,
  visibilityFormatFor,
  writeGainFiles,
  type GainsFile,
  type VisibilityHeader,
} from '../formats/index.js';
import { refuse } from '../core/errors.js';
import { writeWide, type WideProductOptions, type WideSkyImage } from '../visibilities/index.js';
import { writeSkyFits, writeSkyPng, written, type PictureOptions, type SkyImage } from '../stages/index.js';

export type Writable =
  | {
      readonly integrations: Iterable<Integration> | AsyncIterable<Integration>;
      readonly header: Omit<VisibilityHeader, 'history'> & Partial<Pick<VisibilityHeader, 'history'>>;
    }
  | {
      readonly image: SkyImage;
      readonly about: Omit<PictureOptions, 'history'> & Partial<Pick<PictureOptions, 'history'>>;
    }
  | { readonly image: WideSkyImage; readonly about: WideProductOptions }
  | { readonly gains: GainsFile; readonly about: Parameters<typeof writeGainFiles>[2] };

/** Visibilities as .uvh5, .uvfits or .ms; an image as .fits or .png (of visibilities .fits, with the .png beside it); gains as .json with .calh5 beside it. */
export async function write(
  path: string,
  what: Writable,
  { overwrite = false }: { readonly overwrite?: boolean } = {},
): Promise<void> {
  await checkOutputs({ paths: pathsOf(path, what), overwrite });
  const program = [`corella ${version()}, written by a program`];
  if ('integrations' in what) {
    const header = { ...what.header, history: what.header.history ?? program };
    await written(
      () => visibilityFormatFor(path).createVisibilities(path, header),
      async (append) => {
        for await (const integration of what.integrations) await append(integration);
      },
    );
  } else if (isWide(what)) {
    if (!/\.fits?$/i.test(path)) refuse(path, 'is not a .fits', 'a picture is written beside a .fits');
    await writeWide({ fits: path, png: pictureBeside(path) }, what.image, what.about);
  } else if ('image' in what) {
    const about = { ...what.about, history: what.about.history ?? program };
    await (/\.png$/i.test(path) ? writeSkyPng : writeSkyFits)(path, what.image, about);
  } else await writeGainFiles(path, what.gains, what.about);
}

const isWide = (
  what: Writable,
): what is { readonly image: WideSkyImage; readonly about: WideProductOptions } =>
  'image' in what && 'channelWeights' in what.image;

const pictureBeside = (path: string): string => path.replace(/\.fits?$/i, '.png');

/** All paths that are written. */
const pathsOf = (path: string, what: Writable): readonly string[] =>
  isWide(what) ? [path, pictureBeside(path)] : 'gains' in what ? gainPaths(path) : [path];
