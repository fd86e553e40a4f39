/** Checks that a value is a valid observation; each problem names its field. */
import { CorellaError } from '../core/errors.js';
import { problemsOf, type Problem } from '../fields/index.js';
import { productNames } from '../products/index.js';
import { observation, OBSERVATION_VERSION, type Observation } from './schema.js';

/** Each has its own stages and files. */
const MOST_PRODUCTS = 1000;

/** A problem of an observation, and its place in the file. */
export interface ObservationProblem extends Problem {
  /** "front.taps", "products.images.every"; with a number if a product occurs more than once. */
  readonly field: string;
  /** Line in the file, from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** All problems of an observation, one per line. */
export class ObservationError extends CorellaError {
  readonly problems: readonly ObservationProblem[];

  constructor(name: string, problems: readonly ObservationProblem[]) {
    const [first, ...others] = problems.map((problem) => ({ problem, where: placeOf(name, problem) }));
    const more = others.map(({ problem, where }) => `\n${where}: ${textOf(problem)}`);
    super({ where: first.where, what: `${textOf(first.problem)}${more.join('')}`, code: 'value.invalid' });
    this.name = 'ObservationError';
    this.problems = problems;
  }
}

const placeOf = (name: string, { line, column }: ObservationProblem): string =>
  line === undefined ? name : `${name}:${line}:${column ?? 1}`;
const textOf = ({ field, what, fix }: ObservationProblem): string =>
  `${field === '' ? '' : `${field}: `}${what}; ${fix}`;

/** A field's name in messages: products go by their own key, not by their position in the list. */
function fieldName(path: readonly PropertyKey[], input: unknown): string {
  const [first, at, ...rest] = path;
  const { products } = (input ?? {}) as { readonly products?: unknown };
  if (path.length < 2 || first !== 'products' || !Array.isArray(products)) return path.map(String).join('.');
  const nameOf = (given: unknown): string | undefined => {
    const own = productNames.filter(
      (name) => typeof given === 'object' && given !== null && Object.hasOwn(given, name),
    );
    return own.length === 1 ? own[0] : undefined;
  };
  const own = nameOf(products[Number(at)]);
  if (own === undefined) return path.map(String).join('.');
  const namesakes = products.flatMap((given, k) => (nameOf(given) === own ? [k] : []));
  const number = namesakes.length > 1 ? `[${namesakes.indexOf(Number(at))}]` : '';
  return ['products', `${own}${number}`, ...rest.filter((key) => key !== own).map(String)].join('.');
}

/** More than any observation needs; a value that contains itself is deeper. */
const MOST_LEVELS = 32;

/** Removes keys whose value is undefined, as JSON does. */
function plain(value: unknown, level = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (level > MOST_LEVELS)
    throw new RangeError(
      `more than ${MOST_LEVELS} levels inside each other, or something that contains itself`,
    );
  if (Array.isArray(value)) return value.map((inner) => plain(inner, level + 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [key, plain(inner, level + 1)]),
  );
}

function problemOfAll(
  what: string,
  fix: string,
  field = '',
): { readonly problems: readonly ObservationProblem[] } {
  return { problems: [{ path: field === '' ? [] : [field], field, what, fix }] };
}

/** The observation, or its problems. */
export function tryObservation(
  input: unknown,
): { readonly observation: Observation } | { readonly problems: readonly ObservationProblem[] } {
  let given: unknown;
  try {
    given = plain(input);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return problemOfAll(`has ${error.message}`, 'write the fields of docs/observation.md');
  }
  const version = (given as { readonly corella?: unknown } | null | undefined)?.corella;
  if (typeof version === 'number' && version !== OBSERVATION_VERSION)
    return problemOfAll(
      `version ${version} is not known`,
      `this program reads version ${OBSERVATION_VERSION}; a newer one may read it`,
      'corella',
    );
  const { products } = (given ?? {}) as { readonly products?: unknown };
  if (Array.isArray(products) && products.length > MOST_PRODUCTS)
    return problemOfAll(
      `${products.length} products are more than one run makes`,
      `take at most ${MOST_PRODUCTS}`,
      'products',
    );
  const checked = observation.safeParse(given);
  if (checked.success) return { observation: checked.data };
  return {
    problems: problemsOf(observation, checked.error.issues, given).map((problem) => ({
      ...problem,
      field: fieldName(problem.path, given),
    })),
  };
}

/** Checks an observation and converts its quantities to numbers; refused with every problem named. */
export function checkObservation(input: unknown, name = 'observation'): Observation {
  const tried = tryObservation(input);
  if ('problems' in tried) throw new ObservationError(name, tried.problems);
  return tried.observation;
}
