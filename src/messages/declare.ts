/** How a message is declared: code, severity, data, text and explanation in one entry. */

/** `warning`: the result may be wrong for its purpose. `note`: worth knowing. */
export type Severity = 'note' | 'warning' | 'error';

export interface Declared<Data extends object> {
  readonly severity: Severity;
  /** The meaning of each field of the data, for docs/json.md. */
  readonly data: { readonly [Name in keyof Required<Data>]: string };
  /** One line of plain English. Fields are named as in an observation; a command shows its flags instead. */
  readonly text: (data: Data) => string;
  /** For `corella help CODE`: its meaning, and what to do. */
  readonly help: string;
}

export const declare = <Data extends object>(message: Declared<Data>): Declared<Data> => message;
/** "1 sample", "2 samples". */
export const count = (many: number, one: string, several = `${one}s`): string =>
  `${many} ${many === 1 ? one : several}`;
/** The first items of a list, and the number of the rest. */
export const listed = (names: readonly (string | number)[], most: number): string =>
  names.slice(0, most).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '');
