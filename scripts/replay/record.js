// Records every call of a program to the native library, with its inputs and outputs, which replay.cpp repeats on
// another machine: node --import scripts/replay/record.js PROGRAM, into the file named by CORELLA_RECORDING.
//
// A call is: name; the code it returned; the number of arguments; and of each its kind and value:
//   e  the buffer for a reason            o  where an address came out: the address
//   i  a whole number   d  a float        p  an address
//   a  an array: name, element type, bytes before, whether they changed, and if so bytes after
// Text and bytes come after their length (uint32), whole numbers are int64, all little-endian.
import { writeFileSync } from 'node:fs';
import koffi from 'koffi';

const elementTypes = [
  Int8Array,
  Uint8Array,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
];
/** @typedef {{ name: string, parameters: { text: string, name: string }[] }} Signature */
/** @typedef {(fault: unknown, code: number) => void} Done */
/** @typedef {((...args: unknown[]) => number) & { async: (...args: unknown[]) => void }} Native */

/** @type {Buffer[]} */
const parts = [];

/** @param {number | bigint} value */
function whole(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)));
  parts.push(bytes);
}
/** @param {number} value */
function float(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  parts.push(bytes);
}
/** @param {Buffer} bytes */
function sized(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  parts.push(length, bytes);
}
/** @param {string} text */
const byte = (text) => parts.push(Buffer.from(text));
/** @param {ArrayBufferView} array */
const copyOf = (array) => Buffer.from(Buffer.from(array.buffer, array.byteOffset, array.byteLength));

/**
 * Name and parameters of a C prototype.
 * @param {string} prototype
 * @returns {Signature}
 */
function parse(prototype) {
  // Notes on lengths, and lines of a template, are our additions.
  const plain = prototype
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,)])/g, '')
    .trim();
  const match = /^[\w *]*?(\w+)\((.*)\)$/.exec(plain);
  if (!match) throw new Error(`'${prototype}' is no prototype`);
  const [, name, list] = match;
  return {
    name,
    parameters: list.split(/,\s*/).map((text) => ({ text, name: /(\w+)$/.exec(text)?.[1] ?? '' })),
  };
}

/**
 * Called before the call; the returned function records it, with its code, afterwards.
 * @param {Signature} signature
 * @param {unknown[]} args
 * @returns {(code: number) => void}
 */
function startCall({ name, parameters }, args) {
  const before = args.map((value) => (ArrayBuffer.isView(value) ? copyOf(value) : undefined));
  return (code) => {
    sized(Buffer.from(name));
    whole(code);
    whole(parameters.length);
    for (const [n, parameter] of parameters.entries()) {
      const value = args[n];
      if (parameter.name === 'error') byte('e');
      else if (parameter.text.startsWith('_Out_ void **')) {
        byte('o');
        whole(/** @type {bigint[]} */ (value)[0]);
      } else if (ArrayBuffer.isView(value)) {
        const after = copyOf(value);
        const old = before[n] ?? after;
        const changed = !after.equals(old);
        byte('a');
        sized(Buffer.from(parameter.name));
        whole(elementTypes.findIndex((type) => value instanceof type));
        sized(old);
        whole(changed ? 1 : 0);
        if (changed) sized(after);
      } else if (parameter.text.includes('*')) {
        byte('p');
        whole(/** @type {bigint} */ (value));
      } else if (/^(?:double|float)\b/.test(parameter.text)) {
        byte('d');
        float(/** @type {number} */ (value));
      } else {
        byte('i');
        whole(/** @type {number} */ (value));
      }
    }
  };
}

/**
 * @param {string} prototype
 * @param {Native} native
 * @returns {Native}
 */
function recorded(prototype, native) {
  const signature = parse(prototype);
  if (['corella_machine', 'corella_build'].includes(signature.name)) return native;
  /** @param {unknown[]} args */
  const call = (...args) => {
    const end = startCall(signature, args);
    const code = native(...args);
    end(code);
    return code;
  };
  /** @param {unknown[]} all */
  const async = (...all) => {
    const args = all.slice(0, -1);
    const done = /** @type {Done} */ (all.at(-1));
    const end = startCall(signature, args);
    /** @type {Done} */
    const ended = (fault, code) => {
      if (!fault) end(code);
      done(fault, code);
    };
    native.async(...args, ended);
  };
  return Object.assign(call, { async });
}

const target = process.env.CORELLA_RECORDING;
if (target === undefined) throw new Error('CORELLA_RECORDING names no file');
const load = koffi.load;
/** @param {string} path */
const loadRecorded = (path) => {
  const library = load(path);
  if (!path.includes('libcorella')) return library;
  /** @param {string} prototype */
  const func = (prototype) => recorded(prototype, /** @type {Native} */ (library.func(prototype)));
  return { func };
};
Object.assign(koffi, { load: loadRecorded });
process.on('exit', () => {
  writeFileSync(target, Buffer.concat(parts));
});
