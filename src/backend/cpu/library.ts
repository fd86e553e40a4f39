/**
 * Finds and loads the native library, and binds its functions by their C prototypes. Every exported function takes a
 * buffer for the error first and returns a code (context.h).
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import { z } from 'zod';
import { CorellaError, refuse } from '../../core/errors.js';
import { version } from '../../core/program/version.js';
import { isaTitles, levelsOf, type Isa } from './levels.js';
import { lengthCheck, plainPrototype, type ArgumentsOf } from '../c-arguments.js';

/** A bound function; `async` runs it on a worker thread and calls back with the code. Arrays are passed in place. */
export interface NativeFunction<Arguments extends readonly unknown[] = never[]> {
  (...args: Arguments): number;
  async(...args: [...Arguments, done: (fault: unknown, code: number) => void]): void;
}

export interface NativeLibrary {
  readonly path: string;
  readonly compiler: string;
  /** The compiled levels that the processor has, lowest first, and the best of them. */
  readonly levels: readonly Isa[];
  readonly best: Isa;
  readonly cores: number;
  readonly function: <Prototype extends string>(
    prototype: Prototype,
  ) => NativeFunction<ArgumentsOf<Prototype>>;
}

/** Why the library cannot be used on this machine, and how to fix it. */
export interface Absence {
  readonly what: string;
  readonly fix: string;
}

const ERROR_BYTES = 512;
export const errorBuffer = (): Uint8Array => new Uint8Array(ERROR_BYTES);

/** The error and the other arguments of a bound function. */
type Callable<Rest extends readonly unknown[]> = NativeFunction<readonly [Uint8Array, ...Rest]>;

/** Buffers for errors, used again: a call allocates nothing. */
const spare: Uint8Array[] = [];

/** Calls a function with a buffer for its error; throws the error, if any. */
export function call<Rest extends readonly unknown[]>(
  where: string,
  native: Callable<Rest>,
  ...rest: Rest
): void {
  const error = spare.pop() ?? errorBuffer();
  try {
    settle(where, native(error, ...rest), error);
  } finally {
    spare.push(error);
  }
}

/** Arrays in use by native code; kept here so that they are not collected meanwhile. */
const underWay = new Set<readonly unknown[]>();

/** The same on a worker thread: the event loop continues, and arrays passed must not be changed until it has settled. */
export async function callApart<Rest extends readonly unknown[]>(
  where: string,
  native: Callable<Rest>,
  ...rest: Rest
): Promise<void> {
  const error = spare.pop() ?? errorBuffer();
  underWay.add(rest);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      native.async(error, ...rest, (fault, result) => {
        if (fault instanceof Error) reject(fault);
        else resolve(result);
      });
    });
    settle(where, code, error);
  } finally {
    underWay.delete(rest);
    spare.push(error);
  }
}

const buildRecord = z.union([
  z.object({
    library: z.string(),
    compiler: z.string(),
    levels: z.array(z.string()),
    /** The hash of all sources of the build. */
    hash: z.string().exactOptional(),
    /** Missing in libraries built before this was recorded. */
    functions: z.record(z.string(), z.string()).exactOptional(),
  }),
  z.object({ problem: z.string(), fix: z.string() }),
]);

/**
 * dist/native, unless CORELLA_NATIVE names another build (the sanitizers' one); where nothing was compiled at install,
 * the library of the optional package for this machine (scripts/packages.js).
 */
function nativeFolder(): string {
  const own = process.env.CORELLA_NATIVE ?? fileURLToPath(new URL('../../native', import.meta.url));
  const isCompiled = (folder: string): boolean => {
    const record = readRecord(folder);
    return record !== undefined && 'library' in record;
  };
  if (process.env.CORELLA_NATIVE !== undefined || isCompiled(own)) return own;
  return packagedLibrary(import.meta.url) ?? own;
}

/**
 * The folder of an optional package, @corella/linux-x64 and the like, for users without a compiler, as seen from a
 * module; undefined if it is not installed, or of another version of Corella.
 */
export function packagedLibrary(from: string): string | undefined {
  let path: string;
  try {
    path = createRequire(from).resolve(`@corella/${process.platform}-${process.arch}/package.json`);
  } catch {
    return undefined;
  }
  const found = JSON.parse(readFileSync(path, 'utf8')) as { readonly version?: string };
  return found.version === version() ? join(dirname(path), 'native') : undefined;
}

function readRecord(folder: string): z.output<typeof buildRecord> | undefined {
  const path = join(folder, 'build.json');
  return existsSync(path) ? buildRecord.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

/** In a clone, or in an installed package, which has only C++ sources. */
const buildCommand = (): string =>
  existsSync(fileURLToPath(new URL('../../../tsconfig.json', import.meta.url)))
    ? 'npm run build'
    : 'npm rebuild corella';

let loaded: NativeLibrary | undefined;

/** Once per process. */
export function loadNative(): NativeLibrary | Absence {
  if (loaded) return loaded;
  const folder = nativeFolder();
  const record = readRecord(folder);
  if (!record) return { what: 'the native library is not built', fix: buildCommand() };
  if ('problem' in record) return { what: record.problem, fix: record.fix };
  const path = join(folder, record.library);
  try {
    const { hash, functions } = record;
    const bound = bindLibrary({ path, hash, functions, command: buildCommand() }, record);
    if ('what' in bound) return bound;
    loaded = bound;
  } catch (error) {
    if (error instanceof CorellaError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { what: `${path} does not load: ${reason}`, fix: `build it again: ${buildCommand()}` };
  }
  return loaded;
}

/** Or a refusal, where it cannot be used. */
export function requireNative(where: string): NativeLibrary {
  const library = loadNative();
  return 'what' in library ? refuse(where, library.what, library.fix) : library;
}

function bindLibrary(
  built: Built,
  { compiler, levels: compiled }: { readonly compiler: string; readonly levels: readonly string[] },
): NativeLibrary | Absence {
  const { path } = built;
  const library = koffi.load(path);
  refuseOtherBuild(built, () => (library.func('const char *corella_build(void)') as () => string)());
  const bind = <Prototype extends string>(prototype: Prototype): NativeFunction<ArgumentsOf<Prototype>> => {
    refuseOtherPrototype(built, prototype);
    return checked(prototype, library.func(plainPrototype(prototype)));
  };
  const machine = bind('int32_t corella_machine(char *error, _Out_ int32_t *level, _Out_ int32_t *cores)');
  const level = [0];
  const cores = [0];
  call('cpu', machine, level, cores);
  // An installation compiles only the levels of its own processor, and may be moved to another.
  const present = levelsOf(process.arch).slice(0, level[0] + 1);
  const levels = present.filter((isa) => compiled.includes(isa));
  const best = levels.at(-1);
  if (best === undefined)
    return {
      what: `the native library was compiled for another processor: ${compiled.join(', ')}, and this one has ${isaTitles[present[level[0]]]}`,
      fix: `compile it here: ${built.command} (all levels: CORELLA_LEVELS=all)`,
    };
  return { path, compiler, levels, best, cores: cores[0], function: bind };
}

interface Built {
  readonly path: string;
  /** The hash of all sources of the build, from the record beside it. */
  readonly hash: string | undefined;
  /** The prototypes of its functions, by their names. */
  readonly functions: Readonly<Record<string, string>> | undefined;
  /** How to build it again. */
  readonly command: string;
}

/** As in scripts/prototypes.js: koffi's notes on direction are not part of C, nor are ours on lengths. */
const normal = (prototype: string): string =>
  prototype
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\b_(?:Out|Inout)_ /g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?\* ?/g, ' *')
    .replace(/ (?=[,)])/g, '')
    .trim();

/** Once for each function, when it is bound: a call with a wrong prototype would corrupt memory. */
function refuseOtherPrototype({ path, functions, command }: Built, prototype: string): void {
  const wanted = normal(prototype);
  const name = /(\w+)\(/.exec(wanted)?.[1] ?? wanted;
  const built = functions?.[name];
  if (built === wanted) return;
  const why =
    functions === undefined
      ? 'it does not state what it offers'
      : built === undefined
        ? `it has no ${name}`
        : `its ${name} takes other arguments`;
  refuseLibrary(path, why, command);
}

const refuseLibrary = (path: string, why: string, command: string): never =>
  refuse(path, `the native library was built from other sources than this program: ${why}`, `run ${command}`);

/**
 * Both the record beside a library and the library itself (`corella_build`) give its build: an older library under a
 * newer record would be called with wrong prototypes.
 */
function refuseOtherBuild({ path, hash, command }: Built, ofLibrary: () => string): void {
  let own: string;
  try {
    own = ofLibrary();
  } catch {
    return refuseLibrary(path, 'it does not say what it was built from', command);
  }
  if (own !== hash) refuseLibrary(path, 'it is not the library that its build.json describes', command);
}

/** The function, with its arrays checked against the lengths in its prototype. */
function checked<Arguments extends readonly unknown[]>(
  prototype: string,
  native: NativeFunction<Arguments>,
): NativeFunction<Arguments> {
  const check = lengthCheck(prototype);
  if (!check) return native;
  const plain = (...args: Arguments): number => {
    check(args);
    return native(...args);
  };
  const async: NativeFunction<Arguments>['async'] = (...args) => {
    check(args);
    native.async(...args);
  };
  return Object.assign(plain, { async });
}

/** Codes of the ABI (context.h); any other is a bug of ours. */
export const nativeCodes = { OK: 0, REFUSED: 1, OUT_OF_MEMORY: 2 } as const;

/** Throws the error for a code other than 0. */
export function settle(where: string, code: number, error: Uint8Array): void {
  if (code === nativeCodes.OK) return;
  const text = new TextDecoder().decode(error.subarray(0, error.indexOf(0)));
  if (code === nativeCodes.REFUSED) refuse(where, text);
  if (code === nativeCodes.OUT_OF_MEMORY)
    refuse(where, text, 'use shorter blocks or fewer channels at a time');
  throw new Error(`${where}: native code failed: ${text}`);
}
