/**
 * A command is a shorthand for an observation: its flags are the fields of the parts that it uses. Each value on the
 * command line is put at its path in an observation; help and checks are those of the fields.
 */
import { Option, type Command } from 'commander';
import { refuse } from '../core/errors.js';
import {
  fieldsOf,
  fromText,
  helpOf,
  problemsFor,
  valueAt,
  withChoices,
  type About,
  type PlacedField,
  type Problem,
} from '../fields/index.js';
import { productFields, productNames, type ProductName } from '../products/index.js';
import { observation } from './schema.js';

/** Parts of an observation that commands use; `observation` has the fields that are in no part. */
type PartName = 'observation' | (typeof partKeys)[number] | `products.${ProductName}`;

/** A command's changes to a field's flag. */
type Renamed = Partial<Pick<About, 'flag' | 'help' | 'group' | 'otherwise'>>;

/** A flag for several fields, or for a field in another form. */
export interface Shorthand {
  readonly flag: string;
  readonly help: string;
  readonly group: string;
  /** An old spelling, not shown by --help. */
  readonly hidden?: true;
  /** Names of the fields that it may fill, for errors. */
  readonly fields: readonly string[];
  /** Values by field name. A flag without a value gives true. */
  readonly fill: (value: string | boolean) => Readonly<Record<string, unknown>>;
}

export interface FlagSettings {
  readonly parts: readonly PartName[];
  /** Fields for visibilities are offered only if they are the source. */
  readonly source?: 'visibilities';
  /** By field name: { 'products.images.every': { flag: '--image <time>' } }. */
  readonly renamed?: Readonly<Record<string, Renamed>>;
  /** Names of fields that this command does not offer. */
  readonly without?: readonly string[];
  readonly also?: readonly Shorthand[];
  /** Fields that a flag of another field also fills, for errors. */
  readonly filledBy?: Readonly<Record<string, string>>;
}

/** The given values: parts of an observation, and each product's own fields. Not yet checked as a whole. */
export interface GivenFields {
  readonly observation: Readonly<Record<string, unknown>>;
  readonly products: Readonly<Partial<Record<ProductName, Readonly<Record<string, unknown>>>>>;
}

export interface Flags {
  /** The values given on the command line, each checked by its field. */
  readonly given: () => GivenFields;
  /** The flag of a field in this command, for errors. */
  readonly flagOf: (field: string) => string | undefined;
}

const partKeys = ['source', 'front', 'flags', 'gains', 'page', 'machine'] as const;

const partNamed = (name: PartName): readonly PlacedField[] => {
  const part = partKeys.find((key) => key === name);
  if (part) return fieldsOf(observation.shape[part], [part]);
  const product = productNames.find((one) => name === `products.${one}`);
  if (product) return fieldsOf(productFields[product], ['products', product]);
  const isPart = (field: PlacedField): boolean => [...partKeys, 'products'].includes(field.path[0]);
  return fieldsOf(observation).filter((field) => !isPart(field));
};

/** Adds the flags of some parts of the schema to a command. */
export function addFlags(command: Command, settings: FlagSettings): Flags {
  const { renamed = {}, without = [], also = [], filledBy = {} } = settings;
  const offered = settings.parts
    .flatMap(partNamed)
    .map((field) => ({ ...field, name: field.path.join('.') }))
    .filter(({ name }) => !without.includes(name))
    .filter(({ about }) => about.of === undefined || about.of === settings.source)
    .map((field) => ({ ...field, about: { ...field.about, ...renamed[field.name] } }))
    .map((field) => ({ ...field, about: withSharedHelp(field.about) }))
    .filter(({ about }) => about.flag !== undefined);
  for (const name of [...Object.keys(renamed), ...without])
    if (!settings.parts.some((part) => partNamed(part).some(({ path }) => path.join('.') === name)))
      throw new Error(`${command.name()}: ${name} is not a field of its parts`);
  const byOption = new Map<string, (typeof offered)[number] | Shorthand>();
  const add = (option: Option, group: string, owner: (typeof offered)[number] | Shorthand): void => {
    command.addOption(option.helpGroup(`${group}:`));
    byOption.set(option.attributeName(), owner);
  };
  for (const one of offered) {
    const { flag = '', group = 'Options', negatable } = one.about;
    // Wrong values are refused first; a flag without a value needs no check.
    const parse = (text: string | undefined, before: unknown): unknown => {
      if (text !== undefined) fromText(one.schema, text, longOf(flag));
      return gathered(text, before);
    };
    add(withChoices(new Option(flag, helpOf(one.about)).argParser(parse), one.schema), group, one);
    if (negatable !== undefined)
      add(new Option(flag.replace(/^.*--/, '--no-').replace(/ .*$/, ''), negatable), group, one);
  }
  for (const one of also) {
    const option = new Option(one.flag, one.help).argParser(gathered);
    add(one.hidden ? option.hideHelp() : option, one.group, one);
  }
  const flagsByField = new Map([
    ...Object.entries(filledBy),
    ...also.flatMap(({ flag, fields }) => fields.map((name) => [name, longOf(flag)] as const)),
    ...offered.flatMap(({ name, path, about }) =>
      [name, fieldNameOf(path)].map((one) => [one, longOf(about.flag ?? '')] as const),
    ),
  ]);
  ownFlags.set(command, flagsByField);
  return {
    given: () => {
      const filled = { observation: {}, products: {} };
      for (const [attribute, owner] of byOption) {
        if (command.getOptionValueSource(attribute) !== 'cli') continue;
        const value: unknown = command.getOptionValue(attribute);
        if ('fill' in owner)
          for (const text of [value].flat() as (string | boolean)[])
            for (const [name, one] of Object.entries(owner.fill(text))) {
              refuseWrong(name, one, longOf(owner.flag));
              put(filled, name.split('.'), one, longOf(owner.flag));
            }
        else
          put(
            filled,
            owner.path,
            fromText(owner.schema, value, longOf(owner.about.flag ?? '')).form,
            owner.name,
          );
      }
      return filled;
    },
    flagOf: (field) => flagsByField.get(field),
  };
}

const ownFlags = new WeakMap<Command, ReadonlyMap<string, string>>();

/** The command that makes a product; there is none for beams. */
const makers: Readonly<Partial<Record<ProductName, string>>> = {
  visibilities: 'correlate',
  images: 'image',
  spectra: 'channelise',
  gains: 'calibrate',
};

/** Every field that has a flag somewhere. */
const flaggedFields = [
  ...fieldsOf(observation),
  ...productNames.flatMap((name) => fieldsOf(productFields[name], ['products', name])),
].filter(({ about }) => about.flag !== undefined);

/**
 * Replaces field names by a command's flags in sentences: a path with a value, "front.bits: float", becomes a flag and
 * its value; so does a name in backquotes, and a bare name. For a product's field that the command lacks, the command
 * that makes the product is named. Users of observation files see the field.
 */
export function inFlagsOf(command: Command): Translate {
  const offered = new Set(command.options.map(({ long }) => long));
  const isOfFile = command.registeredArguments.some((argument) => argument.name() === 'observation');
  const flags = new Map<string, string>();
  for (const { path, about } of flaggedFields) {
    const flag = longOf(about.flag ?? '');
    const maker = path[0] === 'products' ? makers[path[1] as ProductName] : undefined;
    if (offered.has(flag)) flags.set(path.join('.'), flag);
    else if (maker !== undefined && !isOfFile) flags.set(path.join('.'), `${maker} ${flag}`);
  }
  for (const [field, flag] of ownFlags.get(command) ?? []) flags.set(field, flag);
  const names = new Map<string, string>();
  for (const [field, flag] of flags) {
    const name = field.split('.').at(-1) ?? field;
    if (productNames.some((product) => product === name)) continue;
    if (flag.startsWith('-') && names.get(name) !== `--${name}`) names.set(name, flag);
  }
  const isBare = (flag: string): boolean =>
    command.options.some(({ long, required, optional }) => long === flag && !required && !optional);
  const flagNamed = (name: string): string | undefined =>
    names.get(name) ?? (offered.has(`--${name}`) ? `--${name}` : undefined);
  return (text) =>
    flags.get(text) ??
    flagNamed(text) ??
    withoutRepeats(
      translated(text, flags, isBare).replace(/`([a-z-]+)`/g, (all, name: string) => flagNamed(name) ?? all),
    );
}

type Translate = (text: string) => string;

/** One flag may fill several fields: "(--times, --times)". */
const withoutRepeats = (text: string): string =>
  text.replace(/(--[a-z-]+)(?:(?:,| and| or) \1(?![\w-]))+/g, '$1');

/** The same with the flags of any command. */
export const inFlags: Translate = (text) =>
  translated(
    text,
    new Map(flaggedFields.map(({ path, about }) => [path.join('.'), longOf(about.flag ?? '')])),
    (flag) => flaggedFields.some(({ about }) => about.flag === flag),
  );

/** Each product has a path, but a command writes one product and has one option. */
export const OUT_HELP = 'name of the result; its ending chooses the format';
const withSharedHelp = (about: About): About =>
  about.flag?.startsWith('-o,') === true ? { ...about, help: OUT_HELP } : about;

const longOf = (flag: string): string => new Option(flag).long ?? flag;

/** A field's name in errors: a product's path goes by the product, "products.images". */
const fieldNameOf = (path: readonly string[]): string =>
  path[0] === 'products' && path.length === 3 && path[1] === path[2] ? `products.${path[1]}` : path.join('.');

/** One-word fields are also ordinary words: only these, as in "telescope: none", are read as fields. */
const words = ['telescope', 'eop', 'orbits', 'old-orbits', 'overwrite'];

/** Longer names first, since "front.equaliser-out" begins with "front.equaliser". A flag may take no value. */
function translated(
  text: string,
  flags: ReadonlyMap<string, string>,
  isBare: (flag: string) => boolean,
): string {
  const names = [...flags.keys()].filter((name) => name.includes('.')).sort((a, b) => b.length - a.length);
  const either = [
    ...names.map((name) => name.replaceAll('.', '\\.')),
    ...words.filter((word) => flags.has(word)).map((word) => `${word}(?=: \\S)`),
  ];
  if (either.length === 0) return text;
  const pattern = new RegExp(
    `(?<![\\w./-])(${either.join('|')})(?![\\w-]|\\.\\w)(?::(?= \\S)( [a-z]+(?![\\w-]))?)?`,
    'g',
  );
  return text.replace(pattern, (all: string, name: string, value = '') => {
    const flag = flags.get(name);
    return flag === undefined ? all : isBare(flag) ? flag : `${flag}${value as string}`;
  });
}

/** Collects repeated values; lists join them, other fields refuse them. */
const gathered = (text: string | undefined, before: unknown): unknown =>
  before === undefined || typeof before === 'boolean' ? text : [before, text].flat();

/** Values filled in by a shorthand are checked by their fields too. */
function refuseWrong(name: string, value: unknown, flag: string): void {
  const [first, second] = name.split('.');
  const part = first === 'products' ? `products.${second}` : partKeys.find((key) => key === first);
  const field = partNamed((part ?? 'observation') as PartName).find(({ path }) => path.join('.') === name);
  if (!field) throw new Error(`${flag}: ${name} is not a field`);
  const [problem] = problemsFor(field.schema, value) as readonly (Problem | undefined)[];
  if (problem) refuse(flag, problem.what, problem.fix);
}

/** Joins lists; any other value may be given only once. */
function put(
  { observation: parts, products }: { observation: object; products: object },
  path: readonly string[],
  value: unknown,
  flag: string,
): void {
  const [first, ...rest] = path;
  const [root, way] = first === 'products' ? [products, rest] : [parts, path];
  let at = root as Record<string, unknown>;
  for (const key of way.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
  const key = way[way.length - 1];
  const before = valueAt(root, way);
  if (before !== undefined && !(Array.isArray(before) && Array.isArray(value)))
    refuse(flag, `${path.join('.')} is given twice`, 'give it once');
  at[key] = Array.isArray(before) ? [...(before as unknown[]), ...(value as unknown[])] : value;
}

/** Parts whose fields other commands also use; the entry point loads far more than a list of options. */
export { machine } from './parts/machine.js';
export { pageFields } from './parts/page.js';
export { source } from './parts/source.js';
export { observation };
