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
  const loaded = await import('./program.js').catch((error: unknown) => {
    // Modules are files, too, and many of them are opened at once.
    if (!(error instanceof Error && 'code' in error && error.code === 'EMFILE')) throw error;
    process.stderr.write(
      'corella: too many files are open at once; allow more in this shell with ulimit -n 1024\n',
    );
    return undefined;
  });
  process.exitCode = loaded ? await loaded.runProgram() : 1;
}
