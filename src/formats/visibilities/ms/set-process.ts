/**
 * A process that writes one Measurement Set: where casacore aborts, as it does on a full disk, this process ends and
 * the run goes on. Started by writing-process.ts.
 */
import { rmSync } from 'node:fs';
import { loadCasacore } from './library.js';
import type { WritingAnswer, WritingTask } from './writing-process.js';

const [growing] = process.argv.slice(2);
const casacore = loadCasacore();
let handle: unknown;

function work(task: WritingTask): void {
  if (task.name === 'end') process.disconnect();
  else if (task.name === 'ms_create') handle = casacore.create(growing, ...task.args);
  else casacore.call(task.name, growing, handle, ...task.args);
}

process.on('message', (task: WritingTask) => {
  const answer: WritingAnswer = {};
  try {
    work(task);
  } catch (error) {
    answer.fault = String(
      error instanceof Error && error.cause instanceof Error ? error.cause.message : error,
    );
  }
  if (process.connected) process.send?.(answer);
});

// The run answers signals.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// It is over, or was killed: then this is left of a set that nothing can complete.
process.on('disconnect', () => {
  rmSync(growing, { recursive: true, force: true });
  process.exit();
});
