/** Sky models from files: lists of WSClean, BBS and hyperdrive, catalogues as CSV; FITS and skyh5 if prepared. */
import { existsSync, statSync } from 'node:fs';
import { refuse } from '../../core/errors.js';
import type { OnProgress } from '../../core/progress.js';
import { readText } from '../read-text.js';
import type { Source } from '../source.js';
import { brightestOf, type Component, type SkyModel } from './brightest.js';
import { parseCatalogue } from './catalogue.js';
import { isComponentList, parseComponentList } from './component-list.js';
import { isHyperdriveList, parseHyperdrive } from './hyperdrive.js';

/** A path, a known ending or an existing file: these are never looked up as source names. */
export const isSkyModelPath = (text: string): boolean =>
  !/^[^/]*[:@]/.test(text) &&
  (/\.[a-z][a-z0-9]{1,9}$/i.test(text) ||
    text.includes('/') ||
    (existsSync(text) && statSync(text).isFile()));

/** Models that were read before the options: those too long to read twice, and those that only `formats` reads. */
const prepared = new Map<string, SkyModel>();

export const keepSkyModel = (path: string, model: SkyModel): void => void prepared.set(path, model);

/** Other lists that are recognised and refused. */
const foreign: readonly { readonly what: string; readonly fix: string; readonly form: RegExp }[] = [
  {
    what: 'is a source list of WODEN, which is not read here',
    fix: 'write it as YAML (hyperdrive srclist-convert --input-type woden)',
    form: /^\s*COMPONENT\s+(?:POINT|GAUSSIAN|SHAPELET)\b/m,
  },
  {
    what: 'is a source list of the RTS, which is not read here',
    fix: 'write it as YAML (hyperdrive srclist-convert --input-type rts)',
    form: /^\s*SOURCE\s+\S+\s+[-+\d.]+\s+[-+\d.]+[^]*^\s*FREQ\s+[\d.]/m,
  },
  {
    what: 'is a VOTable, which is not read here',
    fix: 'write it as CSV or FITS (astropy: Table.read, write)',
    form: /<VOTABLE\b/,
  },
];

/** The content determines the format; read synchronously, while options are parsed. */
export function readSkyModel(path: string): readonly Source[] {
  const known = prepared.get(path);
  if (known) return known.sources;
  const { sources, notes } = readTextModel(path);
  return notes.length === 0
    ? sources
    : refuse(path, notes[0], 'commands report it: read it with prepareSkyModels first');
}

export function readTextModel(path: string, onProgress?: OnProgress): SkyModel {
  const text = readText(path, 'the sky model cannot be read');
  const head = text.slice(0, 2 ** 16);
  const found = foreign.find(({ form }) => form.test(head));
  if (found) refuse(path, found.what, found.fix);
  const notes: string[] = [];
  return collect(path, componentsOf(text, path, notes), notes, onProgress);
}

function componentsOf(text: string, path: string, notes: string[]): Iterable<Component> {
  if (isComponentList(text)) return parseComponentList(text, path);
  if (isHyperdriveList(text)) return parseHyperdrive(text, path);
  return parseCatalogue(text, path, notes);
}

/** `notes` are complete after the last component. */
export function collect(
  path: string,
  components: Iterable<Component>,
  notes: readonly string[],
  onProgress?: OnProgress,
): SkyModel {
  const brightest = brightestOf();
  let count = 0;
  for (const component of components) {
    brightest.add(component);
    if (++count % 1000 === 0) onProgress?.({ done: count, unit: 'components' });
  }
  if (count === 0) refuse(path, 'holds no source', 'give one with at least one');
  const model = brightest.finish();
  return { sources: model.sources, notes: [...notes, ...model.notes] };
}
