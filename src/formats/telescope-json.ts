/** A full telescope description inside another file, so that a recording is self-contained. */
import { z } from 'zod';
import { fixedDelaySchema } from '../telescope/description.js';
import { issueWords } from '../core/schema-words.js';
import { mounts, type Telescope } from '../telescope/telescope.js';

const finite = z.number();
const positive = z.number().positive();

/** Strict in required fields, lenient towards unknown ones: later versions may add some. */
export const telescopeSchema = z.object({
  name: z.string().min(1),
  title: z.string(),
  site: z.object({
    latitudeDeg: z.number().min(-90).max(90),
    longitudeDeg: z.number().min(-360).max(360),
    heightM: finite,
  }),
  stations: z
    .array(
      z.object({
        name: z.string(),
        eastM: finite,
        northM: finite,
        upM: finite,
        number: z.number().int().exactOptional(),
        diameterM: finite.exactOptional(),
        element: z.string().exactOptional(),
      }),
    )
    .min(1, 'a telescope needs a station'),
  polarisations: z.union([z.literal(1), z.literal(2)]),
  band: z.object({ lowHz: finite, highHz: finite }),
  recording: z.object({
    centreFrequencyHz: positive,
    sampleRateHz: positive,
    channels: z.number().int().positive(),
    bits: z.union([z.literal(4), z.literal(8)]),
  }),
  beamExponent: z.number().min(0),
  mount: z.enum(mounts).exactOptional(),
  feedAngleDeg: z.number().exactOptional(),
  delays: z.array(fixedDelaySchema).exactOptional(),
}) satisfies z.ZodType<Telescope>;

/** The first problem found by a schema: "telescope.stations.3.eastM: expected number". */
export function firstIssue(error: z.ZodError, json: unknown): string {
  const [issue] = error.issues;
  const key = issue.path.map(String).join('.');
  return `${key === '' ? 'it' : key} ${issueWords(issue, json)}`;
}
