/** Outcomes of a command between success and failure. */

/** Exit code of a command that wrote its products except some that were requested. */
export const EXIT_PARTLY = 2;

/** The result is written and reported; this line names what is missing, and the exit code shows it to scripts. */
export class PartlyDone extends Error {
  override readonly name = 'PartlyDone';
}

/** The work was done and reported; its result does not pass. */
export class NotPassed extends Error {
  constructor(lines: readonly string[]) {
    super(
      `${lines.length} ${lines.length === 1 ? 'threshold is' : 'thresholds are'} missed:\n  ${lines.join('\n  ')}`,
    );
  }
}

/** Two files were compared and reported; they differ. */
export class Differs extends Error {
  override readonly name = 'Differs';
}
