/** Selects the files of a folder that a page can show. */
import { refuse } from '../../core/errors.js';
import { holdsFitsImage, holdsGains } from '../../formats/index.js';
import { filesOfFolder } from '../../inspect/index.js';

export const isCapturePath = (path: string): boolean => /\.pcap(?:ng)?$/i.test(path);

type ShownKind = 'fits' | 'gains' | 'visibilities' | 'capture';

export async function shownKindOf(path: string): Promise<ShownKind> {
  if (isCapturePath(path)) return 'capture';
  if (await holdsFitsImage(path)) return 'fits';
  return (await holdsGains(path)) ? 'gains' : 'visibilities';
}

/** For a folder: its images, one visibility file, and the matching gains. */
export async function shownFilesOf(path: string): Promise<readonly string[]> {
  const files = await filesOfFolder(path);
  if (!files) return [path];
  const readable = await Promise.all(
    files.map(async (file) => ({ file, kind: await shownKindOf(file).catch(() => undefined) })),
  );
  const of = (wanted: string): string[] =>
    readable.flatMap(({ file, kind }) => (kind === wanted ? [file] : []));
  const visibilities = of('visibilities').filter((file) => /\.(?:uvh5|uvfits|ms|fitsidi)$/i.test(file));
  // If the same data or gains exist in two formats, one of each is shown.
  const data = visibilities.find((file) => /\.uvh5$/i.test(file)) ?? visibilities.at(0);
  const gains = of('gains').filter((file) => /\.json$/i.test(file));
  const images = of('fits').filter((file) => /\.fits?$/i.test(file));
  const shown = [
    ...(data === undefined ? [] : [data]),
    ...(data !== undefined && gains.length === 1 ? gains : []),
    ...images,
  ];
  return shown.length > 0
    ? shown
    : refuse(
        path,
        'holds no images and no visibilities',
        'name files to show: corella inspect lists a folder',
      );
}
