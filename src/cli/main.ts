#!/usr/bin/env node
/** Where the command line comes in, and the exit code goes out. */
import { runProgram } from './program.js';

/**
 * A reader that has seen enough closes the pipe (corella inspect … | head -1), which is no fault; a full disk under
 * standard output is.
 */
function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      // Set at the very end, since runProgram gives an exit code of its own.
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

watchOutput();
process.exitCode = await runProgram();
