/**
 * A field: one option of the user. Its type, unit, range, default, help and flag are declared here, once. The check of
 * a file, the command line, --help, the JSON Schema and the reference page are all made from this declaration.
 */
import { z } from 'zod';

/** When a running observation may change a field: never, at a cut of a product, or from any spectrum. */
type Changes = 'never' | 'cut' | 'spectrum';

/** Bounds of a number, in the field's unit. */
interface Range {
  readonly least?: number;
  /** The value must be larger than this. */
  readonly above?: number;
  readonly most?: number;
}

/** What a field declares beside its type. */
export interface About {
  /** One sentence without a full stop, for --help, editors and the reference page. */
  readonly help: string;
  readonly changes: Changes;
  /** In commander's form: "--taps <number>". A field without a flag is for files and the library. */
  readonly flag?: string;
  /** "--no-…" is offered beside the flag, with this help. */
  readonly negatable?: string;
  /** The heading in --help. */
  readonly group?: string;
  /** Unit of the checked number: "s", "Hz", "degrees". */
  readonly unit?: string;
  readonly range?: Range;
  /** Used if the field is not given; `withDefaults` fills it in. */
  readonly default?: unknown;
  /** How the default is chosen, if it depends on the data. */
  readonly otherwise?: string;
  /** For observations whose source is visibilities: other commands do not offer it, and other runs refuse it. */
  readonly of?: 'visibilities';
}

const declared = z.registry<About>();

declare const HAS_DEFAULT: unique symbol;
/** The mark of a field with a default. */
export interface Preset {
  readonly [HAS_DEFAULT]?: true;
}

/** An optional field. Its type includes the default, if any, for `withDefaults`. */
export type Field<Schema extends z.ZodType, Said extends About> = z.ZodExactOptional<Schema> &
  (Said extends { readonly default: unknown } ? Preset : unknown);

/** Declares an optional field. */
export function field<Schema extends z.ZodType, const Said extends About>(
  schema: Schema,
  about: Said & { readonly default?: z.output<Schema> },
): Field<Schema, Said> {
  const own = within(schema, about.range).exactOptional();
  declared.add(own, about);
  return own;
}

/** Declares a required field. */
export function requiredField<Schema extends z.ZodType>(schema: Schema, about: About): Schema {
  // Schemas are shared, and metadata of a shared one would be overwritten: each field has its own copy.
  const own = within(schema, about.range).clone();
  declared.add(own, about);
  return own;
}

/** The same field in another command: only its default behaviour and its heading may differ. */
export function variant<
  Schema extends z.ZodType,
  const Changed extends Pick<About, 'default' | 'otherwise' | 'group'>,
>(
  schema: Schema,
  changed: Changed,
): Schema & (Changed extends { readonly default: unknown } ? Preset : unknown) {
  const about = declared.get(schema);
  if (!about) throw new Error('not a field');
  const own = schema.clone();
  // A new default replaces the words that describe the old one.
  const otherwise = 'default' in changed ? undefined : about.otherwise;
  declared.add(own, { ...about, otherwise, ...changed });
  return own;
}

/** The declaration of a field; undefined for a part that holds fields. */
export const aboutField = (schema: z.core.$ZodType): About | undefined =>
  declared.get(schema as z.ZodType) ?? undefined;

function within<Schema extends z.ZodType>(schema: Schema, range: Range | undefined): Schema {
  if (!range) return schema;
  return schema.superRefine((value, context) => {
    if (typeof value === 'number' && !inRange(value, range))
      context.addIssue({ code: 'custom', message: `${value} is out of range` });
  });
}

const inRange = (value: number, { least = -Infinity, above = -Infinity, most = Infinity }: Range): boolean =>
  value >= least && value > above && value <= most;

/** "from 1 to 256", "above 0", "at least 4"; empty without a range. */
export function rangeWords(range: Range | undefined, unit = ''): string {
  const { least, above, most } = range ?? {};
  const of = (value: number): string => `${value}${unit === '' ? '' : ` ${unit}`}`;
  if (least !== undefined && most !== undefined) return `from ${least} to ${of(most)}`;
  const low = least !== undefined ? `at least ${of(least)}` : above !== undefined ? `above ${of(above)}` : '';
  const high = most === undefined ? '' : `at most ${of(most)}`;
  return [low, high].filter((words) => words !== '').join(' and ');
}

type FilledKeys<Shape> = { [Key in keyof Shape]: Shape[Key] extends Preset ? Key : never }[keyof Shape];
/** A part with all its default fields present. */
export type Filled<Part extends z.ZodObject> = z.output<Part> & {
  readonly [Key in FilledKeys<Part['shape']> & keyof z.output<Part>]-?: Exclude<
    z.output<Part>[Key],
    undefined
  >;
};

/** The part with the declared defaults of its own fields filled in; defaults that depend on the data stay open. */
export function withDefaults<Part extends z.ZodObject>(
  part: Part,
  given: z.output<Part> | undefined,
): Filled<Part> {
  const filled: Record<string, unknown> = { ...given };
  for (const [key, schema] of Object.entries<z.core.$ZodType>(part.shape)) {
    const preset = aboutField(schema)?.default;
    if (preset !== undefined && filled[key] === undefined) filled[key] = preset;
  }
  return filled as Filled<Part>;
}
