/** Observation files, YAML or JSON: every problem is reported with its line and column. */
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import { refuse } from '../core/errors.js';
import { checkObservation, ObservationError, tryObservation, type ObservationProblem } from './check.js';
import { canonicalJson } from './canonical.js';
import { type Observation, observation } from './schema.js';
import { meantForm, shapeOf, alternatives } from '../fields/index.js';
import { z } from 'zod';

interface ObservationFile {
  readonly observation: Observation;
  /** Where a field is written, like "run.yaml:4:3", for refusals; for an absent field, its nearest parent. */
  readonly at: (path: readonly PropertyKey[]) => string;
}

/** Reads an observation file. */
export async function readObservation(path: string): Promise<ObservationFile> {
  // The readers of all formats take longer to load than everything else here, and --help needs none of them.
  const { readText } = await import('../formats/index.js');
  return parseObservation(await readText(path), path);
}

/** Parses an observation from YAML or JSON text; errors call it `name`. */
export function parseObservation(text: string, name = 'observation'): ObservationFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (offset: number): { readonly line: number; readonly column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    throw new ObservationError(
      name,
      faults.map(({ message, pos }) => ({
        path: [],
        field: '',
        what: message.includes('call stack') ? 'lists or maps are nested too deeply' : message,
        fix: 'correct the YAML',
        ...placeOf(pos[0]),
      })),
    );
  if (document.contents === null) refuse(name, 'is empty', 'write an observation, beginning with corella: 1');
  const place = (path: readonly PropertyKey[], part: 'key' | 'value') =>
    placeOf(offsetOf(document, path, part));
  const tried = tryObservation(valueOf(document, name));
  if ('problems' in tried)
    throw new ObservationError(
      name,
      tried.problems.map((problem): ObservationProblem => ({
        ...problem,
        ...place(problem.path, problem.unknownKey ? 'key' : 'value'),
      })),
    );
  return {
    observation: tried.observation,
    at: (path) => {
      const { line, column } = place(path, 'value');
      return `${name}:${line}:${column}`;
    },
  };
}

/** Aliases are followed, as far as they are not many times as long as the file. */
function valueOf(document: Document, name: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return refuse(
      name,
      `its aliases (*NAME) cannot be followed (${error instanceof Error ? error.message : String(error)})`,
      'write out what they stand for',
    );
  }
}

/** The offset of a path in the text, or of its longest part that exists. */
function offsetOf(document: Document, path: readonly PropertyKey[], part: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const [k, step] of path.entries()) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      : undefined;
    const next: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(step)] : undefined;
    const isKey = pair && isNode(pair.key) && (part === 'key' ? k === path.length - 1 : !isNode(next));
    const shown = isKey ? pair.key : next;
    if (!isNode(shown)) break;
    offset = shown.range?.[0] ?? offset;
    node = next;
  }
  return offset;
}

/** An observation as text: keys in the order of the schema. */
export function writeObservation(given: Observation, format: 'yaml' | 'json' = 'yaml'): string {
  const ordered = inSchemaOrder(checkObservation(given));
  return format === 'json'
    ? `${JSON.stringify(ordered, null, 2)}\n`
    : stringify(ordered, { lineWidth: 110, flowCollectionPadding: true });
}

/** One line, equal for equal observations: for the history of a product. */
export const canonicalObservation = (given: Observation): string => canonicalJson(checkObservation(given));

const inSchemaOrder = (given: Observation): Observation => ordered(observation, given) as Observation;

function ordered(schema: z.core.$ZodType, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = alternatives(schema).find((form) => form instanceof z.ZodArray);
    return list ? value.map((one) => ordered(list.element, one)) : value;
  }
  const form = meantForm(schema, value);
  const shape = form && shapeOf(form);
  if (!shape || typeof value !== 'object' || value === null) return value;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(shape)
      .filter((key) => given[key] !== undefined)
      .map((key) => [key, ordered(shape[key], given[key])]),
  );
}
