/** casacore behind plain C functions (casacore/measurement-set.cpp), built on demand where Debian's casacore-dev is. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import koffi from 'koffi';
import { CorellaError } from '../../../core/errors.js';
import { refusal, tryOpening } from './trial.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const built = `${root}/build/casacore/measurement-set.so`;
const trial = `${root}/build/casacore/try-set`;

/** Whether it has been built already: what takes a minute to make is not made for a test. */
export const isCasacoreBuilt = (): boolean => existsSync(built);

type Call = (...args: readonly unknown[]) => unknown;

export interface Casacore {
  /** Calls a function; a failure is refused in casacore's own words. */
  call(name: Name, path: string, ...args: readonly unknown[]): void;
  /** Of a set that was tried in a process of its own. */
  open(path: string, column: string): Promise<unknown>;
  create(path: string, ...args: readonly unknown[]): unknown;
  text(path: string, handle: unknown, what: Text): string;
}

/** What ms_text answers to. */
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
  ms_open: 'void* ms_open(const char* path, const char* column)',
  ms_create:
    'void* ms_create(const char* path, const char* telescope, const char* names, double antennas, const double* positions, const double* diameters, double channels, const double* frequencies, double channelWidth, double products, const int32_t* correlations, const char* field, double longitude, double latitude, const char* own, const char* history, const char* units, const double* receptorAngles, const char* mount)',
} as const;

let loaded: Casacore | undefined;

export async function openCasacore(path: string): Promise<Casacore> {
  if (loaded) return loaded;
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
  const library = koffi.load(built);
  const bind = (prototype: string): Call => library.func(prototype) as Call;
  const problem = bind('const char* ms_problem()');
  const functions = Object.fromEntries(
    Object.entries(prototypes).map(([name, prototype]) => [name, bind(prototype)]),
  ) as Record<Name, Call>;
  const opening = { ms_open: bind(openers.ms_open), ms_create: bind(openers.ms_create) };
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
      return opening.ms_open(path_, column) ?? failed(path_);
    },
    create: (path_, ...args) => opening.ms_create(path_, ...args) ?? failed(path_),
    text: (where, handle, what) => (texts(handle, what) as string | null) ?? failed(where),
  };
  return loaded;
}
