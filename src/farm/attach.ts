/**
 * Files that an observation names beside its recording travel with the jobs. A worker reads recordings from its own
 * folders; it gets every other file from its job.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { refuse } from '../core/errors.js';
import type { Observation } from '../observation/index.js';
import { telescopeNames } from '../telescope/registry.js';
import { NO_TELESCOPE } from '../telescope/unplaced.js';

/** File contents in base64, by "number/name". */
export type Attached = Readonly<Record<string, string>>;

const MARK = 'attached:';

/** The fields of an observation that may name a file beside its recording. */
const FIELDS = [
  ['source', 'metafits'],
  ['front', 'coefficients'],
  ['front', 'equaliser'],
  ['front', 'delays', 'fixed'],
  ['front', 'delays', 'track'],
  ['flags', 'file'],
  ['gains', 'file'],
  ['eop'],
  ['orbits'],
  ['telescope'],
] as const;
type Field = (typeof FIELDS)[number];

function isFile(field: Field, value: string): boolean {
  switch (field.join('.')) {
    case 'front.delays.track':
      return /\.json$/i.test(value.trim()) || value.startsWith(MARK);
    case 'front.equaliser':
      return value !== 'measured';
    case 'telescope':
      return value !== NO_TELESCOPE && !telescopeNames().includes(value);
    default:
      return true;
  }
}

type Tree = Record<string, unknown>;

/** The observation with every named file renamed. */
function renamed(observation: Observation, rename: (path: string, field: Field) => string): Observation {
  const copy = structuredClone(observation) as unknown as Tree;
  for (const field of FIELDS) {
    let at: Tree | undefined = copy;
    for (const key of field.slice(0, -1)) at = at?.[key] as Tree | undefined;
    const key = field[field.length - 1];
    const value = at?.[key];
    if (at && typeof value === 'string' && isFile(field, value)) at[key] = rename(value, field);
  }
  return copy as unknown as Observation;
}

/** Reads the files and renames them in the observation to their keys. */
export async function attachFiles(
  observation: Observation,
): Promise<{ readonly observation: Observation; readonly attached: Attached }> {
  const wanted: { readonly path: string; readonly field: Field }[] = [];
  const changed = renamed(observation, (path, field) => {
    wanted.push({ path, field });
    return `${MARK}${wanted.length - 1}/${basename(path)}`;
  });
  const attached: Record<string, string> = {};
  for (const [n, { path, field }] of wanted.entries()) {
    let bytes = await contentsOf(path, field);
    const positions = field[0] === 'telescope' && positionsOf(bytes);
    if (typeof positions === 'string') {
      const beside = isAbsolute(positions) ? positions : join(dirname(path), positions);
      attached[`${n}/${basename(beside)}`] = (await contentsOf(beside, field)).toString('base64');
      const json = JSON.parse(bytes.toString('utf8')) as object;
      bytes = Buffer.from(JSON.stringify({ ...json, positions: basename(beside) }));
    }
    attached[`${n}/${basename(path)}`] = bytes.toString('base64');
  }
  return { observation: changed, attached };
}

const contentsOf = (path: string, field: Field): Promise<Buffer> =>
  readFile(path).catch(() => refuse(field.join('.'), `${path} cannot be read`, 'check the name'));

/** The positions file named in a telescope's description. */
function positionsOf(bytes: Buffer): string | undefined {
  try {
    const { positions } = JSON.parse(bytes.toString('utf8')) as { readonly positions?: unknown };
    return typeof positions === 'string' ? positions : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a job's files into a folder and puts their paths into its observation; refuses any other file. */
export async function unpackFiles(
  observation: Observation,
  attached: Attached,
  folder: string,
  where: string,
): Promise<Observation> {
  for (const [name, contents] of Object.entries(attached)) {
    const [number, file] = name.split('/');
    if (!/^\d+$/.test(number) || basename(file) !== file || ['', '.', '..'].includes(file))
      refuse(where, `a file that it carries is called '${name}'`, 'submit it again');
    const bytes = Buffer.from(contents, 'base64');
    const positions = positionsOf(bytes);
    if (positions !== undefined && basename(positions) !== positions)
      refuse(where, `${file} names ${positions}, which the job does not carry`, 'submit it again');
    await mkdir(join(folder, number), { recursive: true });
    await writeFile(join(folder, number, file), bytes);
  }
  return renamed(observation, (path, field) =>
    path.startsWith(MARK) && Object.hasOwn(attached, path.slice(MARK.length))
      ? join(folder, path.slice(MARK.length))
      : refuse(where, `${field.join('.')} names a file that the job does not carry`, 'submit it again'),
  );
}
