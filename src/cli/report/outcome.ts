/** How a command may end beside well and not at all. */

/** Exit code of a command that wrote what it could and left something out that was asked for. */
export const EXIT_PARTLY = 2;

/** The result is written and told; this line says what is not in it, and the exit code says so to scripts. */
export class PartlyDone extends Error {
  override readonly name = 'PartlyDone';
}

/** The work was done and told; what it found does not pass. */
export class NotPassed extends Error {
  constructor(lines: readonly string[]) {
    super(
      `${lines.length} ${lines.length === 1 ? 'threshold is' : 'thresholds are'} missed:\n  ${lines.join('\n  ')}`,
    );
  }
}

/** Two files were compared and reported; they are not the same. */
export class Differs extends Error {
  override readonly name = 'Differs';
}
