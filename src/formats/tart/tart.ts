/** TART, the Transient Array Radio Telescope (24 antennas at GPS L1): raw samples, visibilities and API snapshots. */
import { closingAfter, preparing } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { FileKind, Format } from '../format.js';
import type { GainsFile } from '../gains/gains.js';
import { isHdf5, namesInHead, openHdf5 } from '../hdf5/read.js';
import { headOf, withInput } from '../io/input.js';
import { refuseUnread } from '../reading-options.js';
import { isTartJson, gainsInJson, openTartJson } from './json.js';
import { openTartRaw } from './raw.js';
import { gainsInHdf5, openTartVisibilities } from './visibilities.js';

const kinds = {
  raw: { title: 'TART raw', holds: 'recordings', reads: ['polarisations'] },
  visibilities: { title: 'TART HDF5', holds: 'visibilities', reads: [] },
  json: { title: 'TART JSON', holds: 'visibilities', reads: [] },
} as const satisfies Record<string, FileKind>;

const HEAD_BYTES = 4096;

const headAt = (path: string): Promise<Uint8Array> => withInput(path, (file) => headOf(file, HEAD_BYTES));

const isSnapshot = (head: Uint8Array): boolean => isTartJson(Buffer.from(head).toString('latin1'));

/** Snapshots of its API, possibly with a catalogue. */
export const isTartSnapshot = async (path: string): Promise<boolean> => isSnapshot(await headAt(path));

/** A TART's own gains from any kind of TART file; undefined for other files. */
export async function tartGainsIn(path: string): Promise<GainsFile | undefined> {
  const head = await headAt(path);
  if (isSnapshot(head)) return gainsInJson(path);
  if (!isHdf5(head)) return undefined;
  return closingAfter(async (closers) => {
    const file = closers.keep(await openHdf5(path));
    return file.has('config') && file.has('vis') ? gainsInHdf5(file) : undefined;
  });
}

export const tart: Format = {
  name: 'tart',
  title: 'TART (HDF5, JSON)',
  extensions: ['.hdf'],
  kinds: Object.values(kinds),
  recognise: (_path, head, names) =>
    isSnapshot(head) ||
    (names === undefined || names === 'damaged'
      ? namesInHead(head, 'config', 'timestamp', 'data') || namesInHead(head, 'config', 'timestamp', 'vis')
      : names.has('config') && names.has('timestamp') && (names.has('data') || names.has('vis'))),
  open: async (path, options = {}) => {
    if (isSnapshot(await headAt(path))) {
      refuseUnread(path, options, [kinds.json], Object.values(kinds));
      return openTartJson(path, options);
    }
    return preparing(async (closers) => {
      const file = closers.keep(await openHdf5(path));
      const kind = file.has('vis') ? kinds.visibilities : kinds.raw;
      refuseUnread(path, options, [kind], Object.values(kinds));
      if (kind === kinds.visibilities) return openTartVisibilities(file, options);
      if (!file.has('data')) refuse(path, 'has neither data nor vis', 'it is damaged, or no file of a TART');
      return openTartRaw(file, options, closers);
    });
  },
};
