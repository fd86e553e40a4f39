/** Equaliser gains in a file: a row for each input, a number for each channel. */
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { readText, writeFileWhole } from '../../formats/index.js';
import type { EqualiserGains } from './equaliser-gains.js';

/** Beyond these the squares of gains, which means are divided by, exceed the range of a float. */
const [LEAST, MOST] = [1e-12, 1e12];
const schema = z.object({ levels: z.array(z.array(z.number().min(LEAST).max(MOST))) });

export async function readEqualiser(path: string, inputs: number, channels: number): Promise<EqualiserGains> {
  const text = await readText(path);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    refuse(path, 'is not JSON', "give a file of equaliser gains, or write 'measured'");
  }
  const checked = schema.safeParse(json);
  if (!checked.success)
    return refuse(
      path,
      `holds no equaliser gains: rows of positive numbers (${LEAST} to ${MOST}), a row for each input`,
      'write {"levels": [[…], …]}, a number for each channel',
    );
  const rows = checked.data.levels;
  const odd = rows.findIndex((row) => row.length !== channels);
  if (rows.length !== inputs || odd >= 0)
    refuse(
      path,
      odd >= 0
        ? `has ${rows[odd].length} gains of input ${odd} for ${channels} channels`
        : `has gains of ${rows.length} inputs for ${inputs}`,
      'measure them for this recording and this number of channels',
    );
  return { inputs, channels, from: 'given', factors: Float64Array.from(rows.flat()) };
}

export async function writeEqualiser(
  path: string,
  { inputs, channels, factors }: EqualiserGains,
): Promise<void> {
  const levels = Array.from({ length: inputs }, (_, a) =>
    Array.from(factors.subarray(a * channels, (a + 1) * channels)),
  );
  const about = 'gains before rounding over the nominal one: a row for each input, a number for each channel';
  await writeFileWhole(path, `${JSON.stringify({ about, levels })}\n`);
}
