/**
 * A telescope's JSON description: the presets and a user's own have the same schema. Lengths in metres, angles in
 * degrees, frequencies in hertz, as in the keys.
 */
import { z } from 'zod';
import { issueWords } from '../core/schema-words.js';
import { refuse } from '../core/errors.js';
import { mounts } from './telescope.js';

const positive = z.number().positive();

const input = z.union([z.number().int().min(0), z.string().min(1)]);
/** A delay to apply, or a cable to correct for. */
export const fixedDelaySchema = z.union([
  z.strictObject({ input, delayS: z.number() }),
  z.strictObject({ input, cableM: z.number() }),
]);

const schema = z
  .strictObject({
    name: z.string().regex(/^[\w.-]+$/, 'use letters, digits, dots, dashes and underscores'),
    title: z.string().min(1),
    site: z.strictObject({
      latitudeDeg: z.number().min(-90).max(90),
      longitudeDeg: z.number().min(-180).max(360),
      heightM: z.number().min(-500).max(10_000),
    }),
    /** A CSV of stations, named relative to the description. */
    positions: z.string().min(1),
    polarisations: z.union([z.literal(1), z.literal(2)], { error: 'is neither 1 nor 2' }),
    band: z.strictObject({ lowHz: positive, highHz: positive }),
    recording: z.strictObject({
      centreFrequencyHz: positive,
      sampleRateHz: positive,
      channels: z.number().int().min(2),
      bits: z.union([z.literal(4), z.literal(8)]),
    }),
    beamExponent: z.number().min(0).max(100),
    /** Orientation of its feeds, and the position angle of X. */
    mount: z.enum(mounts).optional(),
    feedAngleDeg: z.number().min(-180).max(180).optional(),
    /** Beams by station if they differ, named as for --element; "*" is all others. */
    elements: z.record(z.string().min(1), z.string().min(1)).optional(),
    /** Fixed delays and cables, as "fixed" in delays.json. */
    delays: z.array(fixedDelaySchema).optional(),
    /** Origin of the numbers, for users. */
    notes: z.array(z.string()).optional(),
  })
  .superRefine(({ band, recording }, context) => {
    const { centreFrequencyHz } = recording;
    if (band.lowHz >= band.highHz) {
      context.addIssue({ code: 'custom', path: ['band', 'lowHz'], message: 'is not below highHz' });
    } else if (centreFrequencyHz < band.lowHz || centreFrequencyHz > band.highHz) {
      context.addIssue({
        code: 'custom',
        path: ['recording', 'centreFrequencyHz'],
        message: `is outside the band, ${band.lowHz} to ${band.highHz} Hz`,
      });
    }
  });

type Description = z.infer<typeof schema>;

/** `path` is only for messages, which name the file, the line and the key. */
export function parseDescription(text: string, path: string): Description {
  const json = parseJson(text, path);
  const checked = schema.safeParse(json);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const key = issue.path.join('.');
  refuse(
    `${path}, line ${lineOfKey(text, issue.path)}`,
    `${key === '' ? 'the description' : `"${key}"`} ${issueWords(issue, json)}`,
    'correct the description; `lwasv.json` among the presets is an example',
  );
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // The engine gives a character's position, or none if the text ends too early.
    const at = /position (\d+)/.exec(reason);
    const line = lineAt(text, at ? Number(at[1]) : text.length);
    refuse(`${path}, line ${line}`, `not valid JSON (${reason})`, 'correct the syntax there');
  }
}

const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length;

/** The line of the deepest key present; a missing key is reported at the line of its parent. */
function lineOfKey(text: string, path: readonly PropertyKey[]): number {
  let position = 0;
  for (const key of path) {
    const found = text.indexOf(JSON.stringify(String(key)), position);
    if (found < 0) break;
    position = found;
  }
  return lineAt(text, position);
}
