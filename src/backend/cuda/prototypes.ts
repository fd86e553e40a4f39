/**
 * Binds a C function by its prototype, copied from the header. `npm run check:cuda` compares these with the installed
 * toolkit's headers, so the prototype is both the documentation and the binding.
 */
import type { LibraryHandle } from 'koffi';

/** Values that C accepts: numbers, handles and addresses, memory to be read or filled, text. */
export type CValue = number | bigint | string | null | NodeJS.TypedArray;
export interface CFunction {
  (...values: CValue[]): number;
  /** On a worker thread; the event loop continues. */
  async(...values: [...CValue[], (error: Error | null, code: number) => void]): void;
}

interface Parameter {
  readonly type: string;
  readonly name: string;
}
interface Prototype {
  readonly result: string;
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

export function parsePrototype(text: string): Prototype {
  const match = /^(?<result>.+?)\s*\b(?<name>\w+)\s*\((?<list>.*)\)$/.exec(text.trim());
  if (!match?.groups) throw new Error(`not a C prototype: ${text}`);
  const { result, name, list } = match.groups;
  const parameters = list.split(',').map((one) => {
    const parts = /^(?<type>.*[\s*])(?<name>\w+)$/.exec(one.trim());
    if (!parts?.groups) throw new Error(`not a C parameter: ${one} in ${text}`);
    return { type: parts.groups.type.replace(/\s*\*/g, ' *').trim(), name: parts.groups.name };
  });
  return { result, name, parameters };
}

/** Plain types of the two libraries; types that end in * are addresses, and so are handles. */
const scalars: Readonly<Partial<Record<string, string>>> = {
  int: 'int',
  'unsigned int': 'unsigned int',
  size_t: 'size_t',
  'unsigned char': 'unsigned char',
  CUdevice: 'int',
  CUdevice_attribute: 'int',
  CUfunction_attribute: 'int',
  CUresult: 'int',
  nvrtcResult: 'int',
  CUdeviceptr: 'uint64_t',
  CUtensorMapDataType: 'int',
  CUtensorMapInterleave: 'int',
  CUtensorMapSwizzle: 'int',
  CUtensorMapL2promotion: 'int',
  CUtensorMapFloatOOBfill: 'int',
  cuuint32_t: 'uint32_t',
};
const handles = new Set(['CUcontext', 'CUstream', 'CUevent', 'CUmodule', 'CUfunction', 'nvrtcProgram']);

/** The type for koffi: text is copied in, any other memory is passed by its address. */
export function koffiType(type: string): string {
  if (type === 'const char *') return 'const char *';
  if (type.endsWith('*') || handles.has(type)) return 'void *';
  const scalar = scalars[type];
  if (scalar === undefined) throw new Error(`no binding for the C type '${type}'`);
  return scalar;
}

export function bind(library: LibraryHandle, prototype: string, symbol?: string): CFunction {
  const { result, name, parameters } = parsePrototype(prototype);
  return library.func(
    symbol ?? name,
    koffiType(result),
    parameters.map((parameter) => koffiType(parameter.type)),
  ) as CFunction;
}
