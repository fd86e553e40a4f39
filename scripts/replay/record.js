// Keeps every call that a program makes to the native library, with what went in and what came out, for replay.cpp to
// make again elsewhere: node --import scripts/replay/record.js PROGRAM, into the file that CORELLA_RECORDING names.
//
// A call is: name; the code it returned; how many arguments; and of each its kind and value:
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
const parts = [];

function whole(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)));
  parts.push(bytes);
}
function float(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  parts.push(bytes);
}
function sized(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  parts.push(length, bytes);
}
const byte = (text) => parts.push(Buffer.from(text));
const copyOf = (array) => Buffer.from(Buffer.from(array.buffer, array.byteOffset, array.byteLength));

/** Name and parameters of a C prototype. */
function parse(prototype) {
  const [, name, list] = /^\w+ (\w+)\((.*)\)$/.exec(prototype);
  return {
    name,
    parameters: list.split(/,\s*/).map((text) => ({ text, name: /(\w+)$/.exec(text)[1] })),
  };
}

/** Before the call; the function returned keeps it, with its code, after it. */
function startCall({ name, parameters }, args) {
  const before = args.map((value) => (ArrayBuffer.isView(value) ? copyOf(value) : undefined));
  return (code) => {
    sized(Buffer.from(name));
    whole(code);
    whole(parameters.length);
    for (const [n, parameter] of parameters.entries()) {
      const value = args[n];
      if (parameter.name === 'error') byte('e');
      else if (/^_Out_ void \*\*/.test(parameter.text)) {
        byte('o');
        whole(value[0]);
      } else if (ArrayBuffer.isView(value)) {
        const after = copyOf(value);
        const changed = !after.equals(before[n]);
        byte('a');
        sized(Buffer.from(parameter.name));
        whole(elementTypes.findIndex((type) => value instanceof type));
        sized(before[n]);
        whole(changed ? 1 : 0);
        if (changed) sized(after);
      } else if (parameter.text.includes('*')) {
        byte('p');
        whole(value);
      } else if (/^(?:double|float)\b/.test(parameter.text)) {
        byte('d');
        float(value);
      } else {
        byte('i');
        whole(value);
      }
    }
  };
}

function recorded(prototype, native) {
  const signature = parse(prototype);
  if (signature.name === 'corella_machine') return native;
  const call = (...args) => {
    const end = startCall(signature, args);
    const code = native(...args);
    end(code);
    return code;
  };
  call.async = (...all) => {
    const [args, done] = [all.slice(0, -1), all.at(-1)];
    const end = startCall(signature, args);
    native.async(...args, (fault, code) => {
      if (!fault) end(code);
      done(fault, code);
    });
  };
  return call;
}

const load = koffi.load;
koffi.load = (path, ...rest) => {
  const library = load(path, ...rest);
  if (!/libcorella/.test(path)) return library;
  return { func: (prototype) => recorded(prototype, library.func(prototype)) };
};
process.on('exit', () => {
  writeFileSync(process.env.CORELLA_RECORDING, Buffer.concat(parts));
});
