#!/usr/bin/env node
/** Entry point of the command line; sets the exit code. */
import { statSync } from 'node:fs';
import type * as Program from './program.js';

const LEAST_NODE = 20;

/** A reader that closes the pipe early (corella inspect … | head -1) is no error; a full disk at standard output is. */
function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      // Set at the very end, because runProgram returns an exit code of its own.
      process.once('exit', () => {
        process.exitCode = 1;
      });
      if (stream === process.stdout) {
        process.stderr.write(
          `corella: standard output: cannot be written (${error.code ?? error.message})\n`,
        );
      }
    });
  }
}

/**
 * The program with its modules joined into few files (scripts/build-cli.js), which starts three times as fast; the
 * output of tsc if that is newer or there are no joined files.
 */
function programUrl(): string {
  const writtenMs = (name: string): number =>
    statSync(new URL(name, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
  const joined = './joined/program.js';
  const isNewest = writtenMs(joined) > -Infinity && writtenMs(joined) >= writtenMs('../.tsbuildinfo');
  return isNewest ? joined : './program.js';
}

const runProgram = async (): Promise<number> => ((await import(programUrl())) as typeof Program).runProgram();

watchOutput();
// Checked before loading anything that an older version cannot parse.
if (Number.parseInt(process.versions.node, 10) < LEAST_NODE) {
  process.stderr.write(
    `corella: Node ${process.versions.node} is too old; install Node ${LEAST_NODE} or newer (https://nodejs.org)\n`,
  );
  process.exitCode = 1;
} else {
  const code = await runProgram().catch((error: unknown) => {
    // Modules are files too, and many of them are opened at once.
    if (!(error instanceof Error && 'code' in error && error.code === 'EMFILE')) throw error;
    process.stderr.write(
      'corella: too many files are open at once; allow more in this shell with ulimit -n 1024\n',
    );
    return 1;
  });
  // Keeps an exit code that a command set itself: some products failed, or the disk is too small.
  if (code !== 0) process.exitCode = code;
}
