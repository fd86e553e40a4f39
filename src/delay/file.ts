/**
 * delays.json: delays that the user knows. `fixed` ones always apply, given as the delay to apply or as the cable to
 * correct; `pieces` begin at their times, as in the live control.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { issueWords } from '../core/schema-words.js';
import { CorellaError, refuse } from '../core/errors.js';
import { parseInstant, secondsBetween, type Instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { fixedDelaySchema } from '../telescope/description.js';
import { inputName, type FixedDelay, type Telescope } from '../telescope/telescope.js';
import { checkPiece, type DelayModels, type DelayPiece } from './models.js';
import type { TickClock } from './tracking.js';

const inputSchema = z.union([z.number(), z.string()]);
const fileSchema = z.strictObject({
  fixed: z.array(fixedDelaySchema).default([]),
  pieces: z
    .array(
      z.strictObject({
        from: z.string(),
        inputs: z.array(
          z.strictObject({
            input: inputSchema,
            delayS: z.number(),
            delayRate: z.number().default(0),
            phaseRad: z.number().default(0),
            phaseRateRadS: z.number().default(0),
          }),
        ),
      }),
    )
    .default([]),
});

/** A piece, and when it begins. */
interface TimedPiece extends Omit<DelayPiece, 'fromTick'> {
  readonly from: Instant;
  readonly input: number;
}

export interface DelayFile {
  /** [a], to be applied: for a cable it is minus its length over c. */
  readonly fixedS: Float64Array<ArrayBuffer>;
  /** In the order of their times. */
  readonly pieces: readonly TimedPiece[];
}

type Inputs = Pick<Telescope, 'stations' | 'polarisations'>;

/** The same of a file. */
export async function readDelayFile(path: string, telescope: Inputs): Promise<DelayFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CorellaError(
      { where: path, what: `cannot be read (${reason})`, fix: 'check the path' },
      { cause },
    );
  }
  return parseDelayFile(text, path, telescope);
}

/** Parses the text of a delays.json; refuses errors. */
export function parseDelayFile(text: string, path: string, telescope: Inputs): DelayFile {
  const { fixed, pieces } = checkedJson(text, path);
  const fixedS = fixedDelaysS(fixed, path, telescope);
  const timed = pieces.flatMap(({ from, inputs: words }): TimedPiece[] => {
    const moment = parseInstant(from, path);
    const named = new Set<number>();
    return words.flatMap(({ input, ...delay }) =>
      inputsOf(input, path, telescope).map((a) => {
        if (named.has(a)) twice(path, telescope, a, from);
        named.add(a);
        checkPiece(`${path}, ${inputName(telescope, a, telescope.polarisations)}`, delay);
        return { ...delay, from: moment, input: a };
      }),
    );
  });
  return { fixedS, pieces: timed.sort((x, y) => -secondsBetween(x.from, y.from)) };
}

/** [a], to be applied; `where` is the source, for errors. */
export function fixedDelaysS(
  fixed: readonly FixedDelay[],
  where: string,
  telescope: Inputs,
): Float64Array<ArrayBuffer> {
  const fixedS = new Float64Array(telescope.stations.length * telescope.polarisations);
  const seen = new Set<number>();
  for (const one of fixed) {
    const delayS = 'delayS' in one ? one.delayS : -one.cableM / SPEED_OF_LIGHT_M_PER_S;
    for (const a of inputsOf(one.input, where, telescope)) {
      if (seen.has(a)) twice(where, telescope, a, 'fixed');
      seen.add(a);
      fixedS[a] = delayS;
    }
  }
  return fixedS;
}

/**
 * All of a file's pieces, at the ticks of a recording. Pieces from before the recording are in force from its start.
 */
export function loadPieces(models: DelayModels, { pieces }: DelayFile, clock: TickClock): void {
  for (const { from, input, ...piece } of pieces)
    models.load(input, { ...piece, fromTick: clock.tickOf(from) });
}

function checkedJson(text: string, path: string): z.infer<typeof fileSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CorellaError({ where: path, what: `is not JSON (${reason})`, fix: 'correct it' }, { cause });
  }
  const parsed = fileSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return refuse(
    path,
    `${issue.path.length === 0 ? 'its content' : issue.path.join('.')} ${issueWords(issue, json)}`,
    'write {"fixed": [{"input": "NAME:X", "delayS": …} or {"input": …, "cableM": …}], ' +
      '"pieces": [{"from": "UTC", "inputs": [{"input": …, "delayS": …, "delayRate": …}]}]}',
  );
}

const feedNumbers: Readonly<Partial<Record<string, 0 | 1>>> = { X: 0, Y: 1, R: 0, L: 1 };

/** A number, "stand17:Y", or "stand17" for all of a station's. */
function inputsOf(
  input: number | string,
  path: string,
  { stations, polarisations }: Inputs,
): readonly number[] {
  const inputs = stations.length * polarisations;
  if (typeof input === 'number') {
    if (!Number.isSafeInteger(input) || input < 0 || input >= inputs)
      refuse(path, `there is no input ${input}`, `inputs run from 0 to ${inputs - 1}`);
    return [input];
  }
  const [name, letter] = input.split(':') as [string, string?];
  const s = stations.findIndex((station) => station.name === name);
  if (s < 0) refuse(path, `'${name}' is no station here`, "give an input's number or a station's name");
  if (letter === undefined) return Array.from({ length: polarisations }, (_, p) => s * polarisations + p);
  const p = feedNumbers[letter.toUpperCase()];
  if (p === undefined || p >= polarisations)
    return refuse(
      path,
      `'${input}' names no polarisation`,
      'write NAME:X or NAME:Y, of circular feeds R or L',
    );
  return [s * polarisations + p];
}

function twice(path: string, telescope: Inputs, input: number, where: string): never {
  const name = inputName(telescope, input, telescope.polarisations);
  return refuse(path, `${name} is named twice (${where})`, 'give each input once');
}
