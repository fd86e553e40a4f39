// The cpu backend's shared cases as recordings (record.js), made on this machine, where the same run checks them
// against the reference; and the program that repeats their calls on another machine.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'build', 'replay');

/** Smallest first. */
const rooms = ['channelise/turn', 'calibrate', 'image/direct', 'image/flat', 'correlate', 'channelise'];

/** Paths of one recording per module, of its tests at the portable level. */
export function record() {
  // An installation may lack that level.
  execFileSync(process.execPath, [join(root, 'scripts', 'build-native.js')], { stdio: 'inherit' });
  mkdirSync(folder, { recursive: true });
  return rooms.map((room) => {
    const path = join(folder, `${room.replace('/', '-')}.bin`);
    const recorder = pathToFileURL(join(root, 'scripts', 'replay', 'record.js')).href;
    const test = join(root, 'dist', room, 'cpu', 'cpu.test.js');
    const words = ['--import', recorder, '--test-name-pattern=at level portable', test];
    execFileSync(process.execPath, words, {
      env: { ...process.env, CORELLA_RECORDING: path },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return path;
  });
}

/**
 * Compiles the program, and returns its path.
 * @param {string} compiler
 * @param {string} name
 * @param {string[]} flags
 */
export function buildReplay(compiler, name, flags = []) {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, `replay-${name}`);
  const source = join(root, 'scripts', 'replay', 'replay.cpp');
  execFileSync(
    compiler,
    ['-std=c++17', '-O1', '-g1', '-Wall', '-Wextra', ...flags, source, '-o', program, '-ldl'],
    {
      stdio: 'inherit',
    },
  );
  return program;
}
