/** Reports an error as one line and an exit code. */
import { CommanderError } from 'commander';
import { InterruptedError } from '../../core/ending.js';
import { errorInFlags } from '../options/in-flags.js';
import { escaped } from '../report/escaped.js';
import { failureText } from '../report/failure.js';
import { errorText } from '../report/json.js';
import { Differs, EXIT_PARTLY, NotPassed, PartlyDone } from '../report/outcome.js';

/** `failed`: the command's exit code if it produced nothing. */
export function report(failure: unknown, { failed }: { readonly failed: 1 | 2 }): number {
  const error = errorInFlags(failure);
  if (error instanceof PartlyDone) {
    process.stderr.write(`corella: ${escaped(error.message)}\n`);
    return EXIT_PARTLY;
  }
  if (error instanceof NotPassed || error instanceof Differs) {
    process.stderr.write(`corella: ${escaped(error.message)}\n`);
    return 1;
  }
  if (process.argv.includes('--json')) process.stdout.write(`${errorText(error, process.argv[2])}\n`);
  // Commander has printed it already.
  if (error instanceof CommanderError) return failed;
  process.stderr.write(failureText(error));
  return error instanceof InterruptedError ? error.exitCode : failed;
}
