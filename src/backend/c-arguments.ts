/**
 * The arguments of a C function, derived from the text of its prototype: the type system checks their types, and each
 * call checks that arrays are as long as the prototype requires. A pointer to numbers takes the typed array of the same
 * numbers; a note after it gives the least length, in terms of other arguments:
 *
 *   `int32_t corella_sender_send(char *error, int32_t descriptor, const uint8_t *datagrams /*[each * count]*\/)`
 *
 * `void *` is an object of the same family of functions (corella_ring_open makes the ring of corella_ring_take), or
 * plain memory, by its name.
 */

declare const kind: unique symbol;
/** The address of a native object; addresses of different kinds cannot be mixed. */
export type Address<Of extends string> = bigint & { readonly [kind]: Of };
/** A null pointer, where a function takes one. */
type Null = Address<'null'>;
export const NULL = 0n as Null;

/** Memory on either side. */
export type Memory = Address<'memory'> | ArrayBufferView;
/** Names of `void *` arguments that are memory. */
type MemoryName = 'block' | 'canonical' | 'memory' | 'out' | 'powers' | 'target' | 'values';

type Space = ' ' | '\n';
type Trim<Text extends string> = Text extends `${Space}${infer Rest}`
  ? Trim<Rest>
  : Text extends `${infer Rest}${Space}`
    ? Trim<Rest>
    : Text;
type Split<Text extends string, Done extends string[] = []> = Text extends `${infer One},${infer Rest}`
  ? Split<Rest, [...Done, Trim<One>]>
  : [...Done, Trim<Text>];
type WithoutNote<Parameter extends string> = Parameter extends `${infer Declared}/*${string}`
  ? Trim<Declared>
  : Parameter;

/** 'corella_ring_take' is of 'corella_ring'. */
type Family<Name extends string, Done extends string = ''> = Name extends `${infer Word}_${infer Rest}`
  ? Family<Rest, Done extends '' ? Word : `${Done}_${Word}`>
  : Done;
type NameOf<Prototype extends string> = Prototype extends `${string} ${infer Name}(${string}` ? Name : never;

interface ArrayOf {
  readonly int8_t: Int8Array;
  readonly uint8_t: Uint8Array;
  readonly int32_t: Int32Array;
  readonly uint32_t: Uint32Array;
  readonly int64_t: BigInt64Array;
  readonly uint64_t: BigUint64Array;
  readonly float: Float32Array;
  readonly double: Float64Array;
  readonly char: Uint8Array;
}
interface NumberOf {
  readonly int32_t: number;
  readonly int64_t: number | bigint;
  readonly double: number;
}

type Pointee<Of extends string, Name extends string, Fam extends string> = Of extends 'const char'
  ? string | null
  : Of extends 'const void'
    ? Memory | Null
    : Of extends 'void'
      ? Name extends MemoryName
        ? Memory | Null
        : Name extends 'context'
          ? Address<'context'>
          : Address<Fam>
      : (Of extends `const ${infer Plain}` ? Plain : Of) extends infer Plain extends keyof ArrayOf
        ? ArrayOf[Plain] | Null
        : never;

/** `_Out_` is koffi's: the first element is set. */
type Argument<Parameter extends string, Fam extends string> = Parameter extends `_Out_ ${string}**${string}`
  ? [bigint]
  : Parameter extends `_Out_ ${string}`
    ? number[]
    : Parameter extends `${infer Of} *${infer Name}`
      ? Pointee<Of, Name, Fam>
      : Parameter extends `${infer Of extends keyof NumberOf} ${string}`
        ? NumberOf[Of]
        : never;

type Arguments<Parameters extends readonly string[], Fam extends string> = {
  [At in keyof Parameters]: Argument<WithoutNote<Parameters[At]>, Fam>;
};

/** Types of all arguments; a text unknown at compile time matches nothing. */
export type ArgumentsOf<Prototype extends string> = string extends Prototype
  ? never[]
  : Prototype extends `${string}(${infer Inside})`
    ? Arguments<Split<Inside>, Family<NameOf<Prototype>>>
    : never[];

/** Without `error` and `context`, which the call adds. */
export type CallArguments<Prototype extends string> =
  ArgumentsOf<Prototype> extends [unknown, unknown, ...infer Rest] ? Rest : never[];
/** And without the last, which receives the opened object. */
export type OpenArguments<Prototype extends string> =
  CallArguments<Prototype> extends [...infer Rest, unknown] ? Rest : never[];
/** The object made by a function that ends in `open`. */
export type Opened<Prototype extends string> = Address<Family<NameOf<Prototype>>>;

/** The form for C and koffi: on one line, without notes. */
export const plainPrototype = (prototype: string): string =>
  prototype
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,)])/g, '');

interface LengthRule {
  readonly at: number;
  readonly name: string;
  readonly text: string;
  needs(args: readonly unknown[]): number;
}

function lengthRules(prototype: string): LengthRule[] {
  const parameters = prototype.slice(prototype.indexOf('(') + 1, prototype.lastIndexOf(')')).split(',');
  const names = parameters.map((text) => /(\w+)\s*(?:\/\*.*)?$/s.exec(text.trim())?.[1] ?? '');
  return parameters.flatMap((parameter, at): LengthRule[] => {
    const text = /\/\*\[(.+)\]\*\//.exec(parameter)?.[1];
    if (text === undefined) return [];
    const factorOf = (factor: string): ((args: readonly unknown[]) => number) => {
      if (/^\d+$/.test(factor)) return () => Number(factor);
      const from = names.indexOf(factor);
      if (from < 0) throw new Error(`${plainPrototype(prototype)}: no argument is named ${factor}`);
      return (args) => Number(args[from]);
    };
    const terms = text.split('+').map((term) => term.split('*').map((factor) => factorOf(factor.trim())));
    const product = (factors: readonly ReturnType<typeof factorOf>[], args: readonly unknown[]): number =>
      factors.reduce((all, factor) => all * factor(args), 1);
    return [
      {
        at,
        text,
        name: names[at],
        needs: (args) => terms.reduce((sum, factors) => sum + product(factors, args), 0),
      },
    ];
  });
}

/** Throws where an array is shorter than its note says; undefined where the prototype has no notes. */
export function lengthCheck(prototype: string): ((args: readonly unknown[]) => void) | undefined {
  const rules = lengthRules(prototype);
  if (rules.length === 0) return undefined;
  const name = /(\w+)\(/.exec(prototype)?.[1] ?? prototype;
  return (args) => {
    for (const rule of rules) {
      const array = args[rule.at];
      if (!ArrayBuffer.isView(array)) continue;
      const has = 'length' in array ? Number(array.length) : array.byteLength;
      const needs = rule.needs(args);
      if (!(has >= needs))
        throw new Error(`${name}: ${rule.name} has ${has} elements where ${rule.text} are ${needs}`);
    }
  };
}
