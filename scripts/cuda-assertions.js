// The kernel arguments and structures of TypeScript, as assertions for the compiler, placed at the end of the kernel's
// source.

/** @typedef {import('../dist/backend/cuda/kernels.js').KernelRequest} KernelRequest */
/** @typedef {import('../dist/backend/cuda/arguments.js').ArgumentKind} ArgumentKind */
/** @typedef {import('../dist/backend/cuda/arguments.js').StructureLayout} StructureLayout */

/** Parameters of a kernel, one by one; the run-time compiler lacks the headers for this. */
const tools = `
#include <stddef.h>
namespace corella_check {
template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };
template <class A> struct Pointer { static constexpr bool value = false; };
template <class A> struct Pointer<A *> { static constexpr bool value = true; };
template <int n, class A, class... Rest> struct Nth { using type = typename Nth<n - 1, Rest...>::type; };
template <class A, class... Rest> struct Nth<0, A, Rest...> { using type = A; };
template <class Kernel> struct Arguments;
template <class... All> struct Arguments<void (*)(All...)> {
  static constexpr int count = sizeof...(All);
  template <int n> using At = typename Nth<n, All...>::type;
};
template <class A> constexpr bool isInt() { return Same<A, int>::value || Same<A, unsigned>::value; }
template <class A> constexpr bool isLong() {
  return Same<A, long>::value || Same<A, unsigned long>::value || Same<A, long long>::value ||
         Same<A, unsigned long long>::value;
}
}  // namespace corella_check
`;

/**
 * @param {string} type
 * @param {StructureLayout} layout
 */
export function layoutAssertions(type, { bytes, ...fields }) {
  return [
    ...Object.entries(fields).map(
      ([field, at]) =>
        `static_assert(offsetof(${type}, ${field}) == ${at}, "${type}.${field} is not at ${at}");`,
    ),
    `static_assert(sizeof(${type}) == ${bytes}, "${type} has not ${bytes} bytes");`,
  ];
}

/**
 * @param {string} at the type of the argument
 * @param {ArgumentKind} kind
 * @param {string} where for messages
 */
function argumentAssertions(at, kind, where) {
  if (kind === 'pointer')
    return [`static_assert(corella_check::Pointer<${at}>::value, "${where} is no address");`];
  if (kind === 'i32') return [`static_assert(corella_check::isInt<${at}>(), "${where} is no int");`];
  if (kind === 'i64') return [`static_assert(corella_check::isLong<${at}>(), "${where} is no int64_t");`];
  const { type, bytes, align, layout } = kind;
  if (type === undefined) return [`#error "${where}: say the C name of what is passed by value"`];
  return [
    `static_assert(corella_check::Same<${at}, ${type}>::value, "${where} is no ${type}");`,
    `static_assert(sizeof(${type}) == ${bytes} && alignof(${type}) == ${align}, "${type}: size or alignment");`,
    ...(layout ? layoutAssertions(type, layout) : []),
  ];
}

/**
 * @param {KernelRequest} request
 * @returns {string} lines for the end of its source
 */
export function assertionsOf({ entries, tables = {} }) {
  const kernels = Object.entries(entries).flatMap(([name, kinds]) => {
    const all = `corella_check::Arguments<decltype(&${name})>`;
    return [
      `static_assert(${all}::count == ${kinds.length}, "${name} does not take ${kinds.length} arguments");`,
      ...kinds.flatMap((kind, n) => argumentAssertions(`${all}::At<${n}>`, kind, `argument ${n} of ${name}`)),
    ];
  });
  return [
    tools,
    ...kernels,
    ...Object.entries(tables).flatMap(([type, layout]) => layoutAssertions(type, layout)),
    '',
  ].join('\n');
}
