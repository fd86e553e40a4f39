// The C prototypes exported by our C++ sources, in the form used for comparison.

/**
 * Normalises a prototype for comparison: removes koffi's notes on direction and our notes on lengths.
 * src/backend/cpu/library.ts does the same.
 * @param {string} text
 */
export const normal = (text) =>
  text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\b_(?:Out|Inout)_ /g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?\* ?/g, ' *')
    .replace(/ (?=[,)])/g, '')
    .trim();

/**
 * The name of a prototype's function.
 * @param {string} prototype
 */
export const nameOf = (prototype) => /(\w+)\(/.exec(prototype)?.[1];

/**
 * Prototypes of every function that a source exports.
 * @param {string} source
 */
export function exportedBy(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ' ');
  return [...code.matchAll(/(?:\bCORELLA_EXPORT|\bextern "C")\s+([^{};]*\))\s*\{/g)].map(([, text]) =>
    normal(text),
  );
}
