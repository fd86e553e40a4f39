// Other software of the field on this machine: what is installed, in which version, and what was checked against it.
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const python = process.env.CORELLA_PYTHON ?? '/usr/bin/python3';

/** Commands that print each version, or fail. */
const modules = {
  baseband: 'import baseband, baseband.data; print(getattr(baseband, "__version__", "?"))',
  pyuvdata: 'import pyuvdata; from pyuvdata import UVData; print(pyuvdata.__version__)',
  astropy: 'import astropy; print(astropy.__version__)',
  h5py: 'import h5py; print(h5py.__version__)',
  casacore: 'import casacore, casacore.tables; print(casacore.__version__)',
  lsl: 'import lsl.reader, lsl.version; print(lsl.version.version)',
};

/** @type {Map<string, string | undefined>} */
const known = new Map();

/** Versions that builds from a repository do not know: "baseband=4.4.dev (617ecae),pyuvdata=…". */
const reported = new Map(
  (process.env.CORELLA_PEER_VERSIONS ?? '')
    .split(',')
    .filter((one) => one.includes('='))
    .map((one) => /** @type {[string, string]} */ (one.split('=', 2))),
);

/**
 * The version of a peer, undefined if it is not installed.
 * @param {string} name
 * @returns {string | undefined}
 */
function versionOf(name) {
  if (!known.has(name)) known.set(name, name === 'wsclean' ? wscleanVersion() : moduleVersion(name));
  return known.get(name);
}

/** @param {string} name */
function moduleVersion(name) {
  const source = /** @type {Record<string, string>} */ (modules)[name];
  const ran = spawnSync(python, ['-W', 'ignore', '-c', source], { encoding: 'utf8' });
  return ran.status === 0 ? (reported.get(name) ?? ran.stdout.trim().split('\n').at(-1)) : undefined;
}

function wscleanVersion() {
  const ran = spawnSync('wsclean', ['-version'], {
    encoding: 'utf8',
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1' },
  });
  return /version ([\d.]+)/i.exec(`${ran.stdout}${ran.stderr}`)?.[1];
}

export const peers = {
  python,
  names: [...Object.keys(modules), 'wsclean'],
  versionOf,
  /** @param {string} name */
  has: (name) => versionOf(name) !== undefined,
};

/**
 * Records an agreement, for the table in docs/formats.md.
 * @param {{ format: string, direction: 'read' | 'written', peer: string, files?: number, numbers?: number }} what
 */
export function record(what) {
  const path = process.env.CORELLA_CLIENT_RESULTS;
  if (path !== undefined)
    appendFileSync(path, `${JSON.stringify({ ...what, version: peers.versionOf(what.peer) ?? '' })}\n`);
}
