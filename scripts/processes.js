// Common functions of the long scripts: start the program and other processes, wait for them, and kill them.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Debian installs nats-server outside the PATH of ordinary users. */
export const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };

/**
 * The value of a script's own option.
 * @param {string} name
 * @param {string} byDefault
 */
export const option = (name, byDefault) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? byDefault : process.argv[at + 1];
};

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @template Value
 * @param {string} what
 * @param {() => Value | undefined | Promise<Value | undefined>} found
 * @param {number} [timeoutMs]
 * @returns {Promise<Value>}
 */
export async function until(what, found, timeoutMs = 120_000) {
  for (const begun = performance.now(); performance.now() - begun < timeoutMs;) {
    const value = await found();
    if (value !== undefined) return value;
    await sleep(100);
  }
  throw new Error(`${what} never came`);
}

/** @returns {Promise<number>} a port that no process listens on now */
export const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const at = probe.address();
      probe.close(() => {
        resolve(typeof at === 'object' && at ? at.port : 0);
      });
    });
  });

/**
 * @typedef {object} Running
 * @property {Promise<number | null>} ended the exit code; null after a signal
 * @property {() => boolean} isRunning
 * @property {() => string} text what it printed
 * @property {() => string} errors what it printed to standard error
 * @property {(signal?: NodeJS.Signals) => Promise<void>} kill SIGKILL by default; waits for the end
 */

/**
 * @param {string} command
 * @param {readonly string[]} words
 * @param {string} [cwd]
 * @param {(text: string) => void} [onText] sees standard output part by part
 * @returns {Running}
 */
export function start(command, words, cwd, onText) {
  const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors, running] = ['', '', true];
  child.stdout.on('data', (/** @type {Buffer} */ part) => {
    out += String(part);
    onText?.(String(part));
  });
  child.stderr.on('data', (/** @type {Buffer} */ part) => (errors += String(part)));
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      running = false;
      resolve(code);
    });
  });
  return {
    kill: async (signal = 'SIGKILL') => {
      if (running) child.kill(signal);
      await ended;
    },
    ...{ ended, isRunning: () => running, text: () => out, errors: () => errors },
  };
}

/**
 * The program, running.
 * @param {string} cwd
 * @param {readonly string[]} words
 * @param {(text: string) => void} [onText]
 */
export const startCorella = (cwd, words, onText) => start(process.execPath, [program, ...words], cwd, onText);

/**
 * A script of this folder, in a separate process.
 * @param {string} path from scripts/
 * @param {readonly string[]} words
 */
export const startScript = (path, words) =>
  start(process.execPath, [fileURLToPath(new URL(path, import.meta.url)), ...words]);

/**
 * Runs the program to its end; returns its output.
 * @param {string} cwd
 * @param {readonly string[]} words
 */
export async function corella(cwd, ...words) {
  const running = startCorella(cwd, words);
  const code = await running.ended;
  if (code !== 0) throw new Error(`corella ${words.join(' ')}: ${running.errors()}`);
  return running.text();
}
