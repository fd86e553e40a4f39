/** How a command may end beside well and not at all. */

/** Exit code of a command that wrote what it could and left something out that was asked for. */
export const EXIT_PARTLY = 2;

/** The result is written and told; this line says what is not in it, and the exit code says so to scripts. */
export class PartlyDone extends Error {
  override readonly name = 'PartlyDone';
}
