// Keeps the doors between rooms (docs/design.md): who may import whom, and no circles anywhere.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const source = new URL('../src/', import.meta.url).pathname;

/** Which rooms each room may open the door to. Anything not listed is forbidden. */
const ground = ['core', 'telescope', 'sky', 'delay', 'formats', 'backend'];
const rooms = ['channelise', 'correlate', 'calibrate', 'image'];
const doors = {
  core: ['core'],
  telescope: ['core', 'telescope'],
  sky: ['core', 'telescope', 'sky'],
  delay: ['core', 'telescope', 'sky', 'delay'],
  formats: ['core', 'telescope', 'sky', 'formats'],
  backend: ['core', 'backend'],
  ...Object.fromEntries(rooms.map((room) => [room, [...ground, room]])),
  pipeline: [...ground, ...rooms, 'pipeline'],
  bench: [...ground, ...rooms, 'pipeline', 'bench'],
  cli: [...ground, ...rooms, 'pipeline', 'bench', 'cli'],
  acceptance: [...ground, ...rooms, 'pipeline', 'bench', 'cli', 'acceptance'],
  'index.ts': [...ground, ...rooms, 'pipeline'],
};

const files = readdirSync(source, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'));
const roomOf = (file) => file.split('/')[0];
const importLine =
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?\bfrom\s*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/g;

const faults = [];
const graph = new Map();
for (const file of files) {
  const room = roomOf(file);
  const allowed = doors[room];
  if (!allowed) faults.push(`src/${file}: '${room}' is no room; add it to scripts/check-imports.js`);
  const targets = [];
  for (const match of readFileSync(join(source, file), 'utf8').matchAll(importLine)) {
    const target = normalize(join(dirname(file), match[1] ?? match[2])).replace(/\.js$/, '.ts');
    if (target.startsWith('..') || !files.includes(target)) continue;
    targets.push(target);
    if (allowed && !allowed.includes(roomOf(target))) {
      faults.push(`src/${file}: '${room}' may not import '${roomOf(target)}' (src/${target})`);
    }
  }
  graph.set(file, targets);
}

// Depth-first walk; a file met again while still on the path closes a circle.
const done = new Set();
function walk(file, path) {
  if (done.has(file)) return;
  const at = path.indexOf(file);
  if (at >= 0) {
    faults.push(
      `imports run in a circle: ${[...path.slice(at), file].map((name) => `src/${name}`).join(' → ')}`,
    );
    return;
  }
  for (const target of graph.get(file) ?? []) walk(target, [...path, file]);
  done.add(file);
}
for (const file of files) walk(file, []);

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`${files.length} files, ${relative(process.cwd(), source) || 'src'}: imports go one way`);
