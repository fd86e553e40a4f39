/** casacore behind plain C functions (casacore/measurement-set.cpp), built on demand with Debian's casacore-dev. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import koffi from 'koffi';
import { CorellaError, refuse } from '../../../core/errors.js';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const built = `${root}/build/casacore/measurement-set.so`;
const trial = `${root}/build/casacore/try-set`;

/** Whether it is already built: the build takes a minute, too long for a test. */
export const isCasacoreBuilt = (): boolean => existsSync(built);

type Call = (...args: readonly unknown[]) => unknown;

export interface Casacore {
  /** Calls a function; a failure is reported in casacore's own words. */
  call(name: Name, path: string, ...args: readonly unknown[]): void;
  /** Opens a set that was first tried in a separate process. */
  open(path: string, column: string): Promise<unknown>;
  create(path: string, ...args: readonly unknown[]): unknown;
  text(path: string, handle: unknown, what: Text): string;
}

/** What ms_text returns. */
export type Text =
  | 'antennas'
  | 'mounts'
  | 'fields'
  | 'telescope'
  | 'observer'
  | 'own'
  | 'columns'
  | 'units'
  | 'fieldFrames'
  | 'feeds'
  | 'averaging'
  | 'pyuvdataOrientation'
  | 'timeFrame'
  | 'antennaFrame'
  | 'frequencyFrame';

const prototypes = {
  ms_close: 'int ms_close(void* handle)',
  ms_shape: 'int ms_shape(void* handle, double* shape)',
  ms_tables:
    'int ms_tables(void* handle, double* positions, double* diameters, double* frequencies, double* widths, int32_t* correlations, double* directions)',
  ms_rows:
    'int ms_rows(void* handle, double from, double count, double* times, double* intervals, int32_t* antenna1, int32_t* antenna2, int32_t* fields, int32_t* descriptions, double* uvw)',
  ms_values:
    'int ms_values(void* handle, double from, double count, double channels, double products, float* data, float* weights)',
  ms_append:
    'int ms_append(void* handle, double rows, double time, const double* intervals, const int32_t* antenna1, const int32_t* antenna2, const double* uvw, double channels, double products, const float* data, const float* weights, double scan)',
  ms_span: 'int ms_span(void* handle, double from, double to)',
} as const;
type Name = keyof typeof prototypes;
const openers = {
  open: 'void* ms_open(const char* path, const char* column)',
  create:
    'void* ms_create(const char* path, const char* telescope, const char* names, double antennas, const double* positions, const double* diameters, double channels, const double* frequencies, double channelWidth, double products, const int32_t* correlations, const char* field, double longitude, double latitude, const char* own, const char* history, const char* units, const double* receptorAngles, const char* mount)',
} as const;

let loaded: Casacore | undefined;

/** Builds it if it is not there. */
export async function buildCasacore(path: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [`${root}/scripts/build-casacore.js`]);
  } catch (error) {
    const said =
      error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : '';
    throw new CorellaError(
      {
        where: path,
        what: `Measurement Sets are read and written through casacore${said === '' ? ', which could not be built here' : `: ${said}`}`,
        fix: 'install what is missing, or convert it elsewhere (CASA: exportuvfits; pyuvdata: write_uvh5)',
      },
      { cause: error },
    );
  }
}

export async function openCasacore(path: string): Promise<Casacore> {
  if (!loaded) await buildCasacore(path);
  return loadCasacore();
}

/** What was built. */
export function loadCasacore(): Casacore {
  if (loaded) return loaded;
  const library = koffi.load(built);
  const bind = (prototype: string): Call => library.func(prototype) as Call;
  const problem = bind('const char* ms_problem()');
  const functions = Object.fromEntries(
    Object.entries(prototypes).map(([name, prototype]) => [name, bind(prototype)]),
  ) as Record<Name, Call>;
  const [open, create] = [bind(openers.open), bind(openers.create)];
  const texts = bind('const char* ms_text(void* handle, const char* what)');
  const failed = (path_: string): never => {
    throw refusal(path_, String(problem()));
  };
  loaded = {
    call: (name, where, ...args) => {
      if (functions[name](...args) !== 0) failed(where);
    },
    open: async (path_, column) => {
      await tryOpening(trial, path_, column);
      return open(path_, column) ?? failed(path_);
    },
    create: (path_, ...args) => create(path_, ...args) ?? failed(path_),
    text: (where, handle, what) => (texts(handle, what) as string | null) ?? failed(where),
  };
  return loaded;
}

/** Far more than a valid set needs: OVRO-LWA's of 2.5 MB and one of ours of 76 MB open within 8 MB. */
const BASE_BYTES = 128 * 2 ** 20;

/** Tables become strings, arrays and buckets in memory. */
const BYTES_PER_BYTE = 4;

/** The process's exit code if the requested column does not exist. */
const NO_COLUMN = 3;

async function tryOpening(trial: string, path: string, column: string): Promise<void> {
  const most = BASE_BYTES + BYTES_PER_BYTE * (await bytesUnder(path));
  const found = await new Promise<{ readonly said?: string; readonly columns?: string }>((resolve) => {
    execFile(trial, [path, column, String(most)], (error, stdout, stderr) => {
      if (!error) resolve({});
      else if (error.code === NO_COLUMN) resolve({ columns: stdout });
      else
        resolve({ said: error.code === 1 ? stderr : `it falls over it: ${error.signal ?? error.message}` });
    });
  });
  if (found.said !== undefined) throw refusal(path, found.said);
  if (found.columns === undefined) return;
  const there = found.columns.trim().split(/\s+/).filter(Boolean);
  refuse(
    path,
    `has no column ${column} of visibilities`,
    there.length === 0
      ? 'it has none at all: check what wrote it'
      : `choose source.column: ${there.join(' or ')}`,
  );
}

/** casacore's message, in one line. */
const refusal = (path: string, said: string): CorellaError =>
  new CorellaError(
    {
      where: path,
      what: `casacore refuses it (${said.split('\n')[0].slice(0, 200)})`,
      fix: 'it is damaged, or no Measurement Set: check it with CASA or taql',
    },
    { cause: new Error(said) },
  );

async function bytesUnder(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder, { recursive: true }))
    bytes += (await stat(join(folder, name))).size;
  return bytes;
}
