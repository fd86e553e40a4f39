/**
 * What the library was built with against what we call it by. The build records the prototype of every function the library
 * exports (scripts/build-native.js); one that reads otherwise, called all the same, would write wherever it likes. Asked
 * once for each function, when it is bound.
 */
import { refuse } from '../core/errors.js';

/** Prototypes by the names of their functions. */
export type Recorded = Readonly<Record<string, string>>;

export interface Built {
  readonly path: string;
  readonly functions: Recorded | undefined;
  /** How to build it again. */
  readonly command: string;
}

/** As scripts/prototypes.js has it: koffi's notes on direction are not C's. */
const normal = (prototype: string): string =>
  prototype
    .replace(/\b_(?:Out|Inout)_ /g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?\* ?/g, ' *')
    .trim();

export function refuseOtherPrototype({ path, functions, command }: Built, prototype: string): void {
  const wanted = normal(prototype);
  const name = /(\w+)\(/.exec(wanted)?.[1] ?? wanted;
  const built = functions?.[name];
  if (built === wanted) return;
  const why =
    functions === undefined
      ? 'nothing says what it offers'
      : built === undefined
        ? `it has no ${name}`
        : `its ${name} takes other arguments`;
  refuse(path, `the native library was built from other sources than this program: ${why}`, `run ${command}`);
}
