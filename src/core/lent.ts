/** Arrays that their owner fills again: they are valid until then, and a later use is an error, not other values. */

/**
 * In tests (scripts/run-tests.js sets the variable) fills memory that is handed back, so that a view of it that is kept
 * too long shows: floats read NaN, whole numbers −1.
 */
export function fillReturned(bytes: Uint8Array): void {
  if (process.env.CORELLA_FILL_RETURNED === '1') bytes.fill(0xff);
}

/** What an owner has lent out. */
export interface Lent<Values> {
  /** Throws once the owner has filled the arrays again, or is closed. */
  readonly values: Values;
  /** With arrays of its own. */
  copy(): Values;
}

/** The owner's side: it lends the same arrays again and again. */
export class Lender<Values extends object> {
  private loans = 0;
  private ended = 'filled them again';

  /** `owner` is named in errors. */
  constructor(
    private readonly owner: string,
    private readonly copyOf: (values: Values) => Values,
  ) {}

  lend(values: Values): Lent<Values> {
    const loan = ++this.loans;
    const check = (): Values => {
      if (loan !== this.loans)
        throw new Error(
          `arrays of ${this.owner} are used after it ${this.ended}: copy them while they are valid`,
        );
      return values;
    };
    return {
      get values() {
        return check();
      },
      copy: () => this.copyOf(check()),
    };
  }

  /** Ends what was lent, before the arrays are filled again. */
  refill(): void {
    this.loans++;
  }

  close(): void {
    this.ended = 'was closed';
    this.loans++;
  }
}
