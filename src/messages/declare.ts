/** How a message is declared: code, severity, data, text and explanation in one entry. */

/** `warning`: the result may not be what was wanted. `note`: worth knowing. */
export type Severity = 'note' | 'warning' | 'error';

export interface Declared<Data extends object> {
  readonly severity: Severity;
  /** What each field of the data is, for docs/json.md. */
  readonly data: { readonly [Name in keyof Required<Data>]: string };
  /** One line of plain English. Fields are named as in an observation; a command shows its flags instead. */
  readonly text: (data: Data) => string;
  /** For `corella help CODE`: what it means, and what to do. */
  readonly help: string;
}

export const declare = <Data extends object>(message: Declared<Data>): Declared<Data> => message;

export const percent = (part: number, digits = 1): string => `${(100 * part).toFixed(digits)} %`;
/** "1 sample", "2 samples". */
export const count = (many: number, one: string, several = `${one}s`): string =>
  `${many} ${many === 1 ? one : several}`;
/** The first of a list, and how many more. */
export const listed = (names: readonly (string | number)[], most: number): string =>
  names.slice(0, most).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '');
