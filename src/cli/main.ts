#!/usr/bin/env node
/** Where the command line comes in, and the exit code goes out. */

const LEAST_NODE = 20;

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
// Before anything is loaded that an older one cannot read.
if (Number.parseInt(process.versions.node, 10) < LEAST_NODE) {
  process.stderr.write(
    `corella: Node ${process.versions.node} is too old; install Node ${LEAST_NODE} or newer (https://nodejs.org)\n`,
  );
  process.exitCode = 1;
} else {
  const { runProgram } = await import('./program.js');
  process.exitCode = await runProgram();
}
