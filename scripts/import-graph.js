// Which module of src/ imports which, read from the sources.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

export const source = new URL('../src/', import.meta.url).pathname;

const atLoad = /(?:^|\n)\s*(?:import|export)\b[^'";]*?\bfrom\s*'(\.[^']+)'/g;
const anyTime = new RegExp(`${atLoad.source}|\\bimport\\(\\s*'(\\.[^']+)'\\s*\\)`, 'g');

/** Every file below src/, relative to it. */
export const sourceFiles = () =>
  readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(source, join(entry.parentPath, entry.name)));

/** The module that a file belongs to: the first folder of its path. @param {string} file */
export const moduleOf = (file) => file.split('/')[0];

/**
 * imports of each file, in the order of its lines; `when: 'load'` leaves out those made while the program runs.
 * @param {ReadonlySet<string>} modules
 * @param {{ when?: 'load' | 'any' }} [options]
 */
export function importGraph(modules, { when = 'any' } = {}) {
  /** @type {Map<string, string[]>} */
  const graph = new Map();
  for (const file of modules) {
    const lines = readFileSync(join(source, file), 'utf8').matchAll(when === 'load' ? atLoad : anyTime);
    const targets = [...lines].map(([, from, called]) =>
      normalize(join(dirname(file), from || called)).replace(/\.js$/, '.ts'),
    );
    graph.set(
      file,
      targets.filter((target) => !target.startsWith('..') && modules.has(target)),
    );
  }
  return graph;
}

/**
 * Tests affected by a change. Inside the changed files' own modules imports are followed recursively; a test of another
 * module is near if it imports a changed module directly, and far if it does so through others.
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @param {readonly string[]} changed
 * @returns {{ near: string[], far: string[] }}
 */
export function affectedTests(graph, changed) {
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const [file, targets] of graph)
    for (const target of targets) users.set(target, [...(users.get(target) ?? []), file]);
  /** @param {(from: string, to: string) => boolean} goesOn */
  const reach = (goesOn) => {
    const found = new Set(changed);
    for (const file of found)
      for (const user of users.get(file) ?? []) if (goesOn(file, user)) found.add(user);
    return found;
  };
  const all = reach(() => true);
  const inside = reach((from, to) => moduleOf(from) === moduleOf(to));
  const near = new Set([...inside].flatMap((file) => [file, ...(users.get(file) ?? [])]));
  /** @param {Iterable<string>} files */
  const tests = (files) => [...files].filter((file) => file.endsWith('.test.ts')).sort();
  return { near: tests(near), far: tests(all).filter((file) => !near.has(file)) };
}
