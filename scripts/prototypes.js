// The C prototypes of what our C++ sources export, as they are compared and recorded.

/**
 * A prototype as it is compared: koffi's notes on direction are not C's, nor are ours on lengths. src/backend/prototype.ts does the same.
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
 * The name of the function that a prototype is of.
 * @param {string} prototype
 */
export const nameOf = (prototype) => /(\w+)\(/.exec(prototype)?.[1];

/**
 * Of every function that a source exports.
 * @param {string} source
 */
export function exportedBy(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ' ');
  return [...code.matchAll(/(?:\bCORELLA_EXPORT|\bextern "C")\s+([^{};]*\))\s*\{/g)].map(([, text]) =>
    normal(text),
  );
}
