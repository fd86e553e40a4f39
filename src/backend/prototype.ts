/**
 * Checks that the library's functions have the prototypes that we call. The build records the prototype of every
 * function that the library exports (scripts/build-native.js); a call with a wrong one would corrupt memory. Checked
 * once for each function, when it is bound.
 */
import { refuse } from '../core/errors.js';

/** Prototypes by the names of their functions. */
type Recorded = Readonly<Record<string, string>>;

export interface Built {
  readonly path: string;
  /** The hash of all sources of the build, from the record beside it. */
  readonly hash: string | undefined;
  readonly functions: Recorded | undefined;
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

export function refuseOtherPrototype({ path, functions, command }: Built, prototype: string): void {
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
export function refuseOtherBuild({ path, hash, command }: Built, ofLibrary: () => string): void {
  let own: string;
  try {
    own = ofLibrary();
  } catch {
    return refuseLibrary(path, 'it does not say what it was built from', command);
  }
  if (own !== hash) refuseLibrary(path, 'it is not the library that its build.json describes', command);
}
