/** Gains on disk: JSON, checked when read, complete enough to be used alone. */
import { z } from 'zod';
import { gainsCA, type GainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, parseInstant, type Instant } from '../../core/instant.js';
import { readJson } from '../io/input.js';
import { writeFileWhole } from '../io/output.js';
import { firstIssue } from '../telescope-json.js';

export interface GainsFile {
  readonly telescope: string;
  readonly stations: readonly string[];
  readonly polarisations: 1 | 2;
  readonly frequenciesHz: Float64Array;
  /** Middle of the data they were solved from. */
  readonly time: Instant;
  readonly referenceStation: number;
  readonly gains: GainsCA;
  /** solved : [c][a], 1 where the gain is known. */
  readonly solved: Uint8Array;
  readonly solutions: readonly SolutionFacts[];
  readonly sources: readonly string[];
  readonly history: readonly string[];
}

export interface SolutionFacts {
  readonly channel: number;
  readonly polarisation: number;
  readonly iterations: number;
  readonly converged: boolean;
  /** NaN where there was no data. */
  readonly residual: number;
}

const solutionSchema = z.object({
  channel: z.number().int().nonnegative(),
  polarisation: z.number().int().min(0).max(1),
  iterations: z.number().int().nonnegative(),
  converged: z.boolean(),
  /** JSON has no NaN. */
  residual: z.number().nullable(),
});
const schema = z.object({
  format: z.literal('corella-gains'),
  version: z.literal(1),
  convention: z.string(),
  telescope: z.string(),
  stations: z.array(z.string()).min(1),
  polarisations: z.union([z.literal(1), z.literal(2)]),
  frequenciesHz: z.array(z.number().positive()).min(1),
  time: z.string(),
  referenceStation: z.number().int().nonnegative(),
  sources: z.array(z.string()),
  /** [c][a] as [re, im], null where unsolved. */
  gains: z.array(z.array(z.tuple([z.number(), z.number()]).nullable())),
  solutions: z.array(solutionSchema),
  history: z.array(z.string()),
});

const CONVENTION =
  'V_ij = g_i M_ij conj(g_j); gains[channel][station * polarisations + polarisation] = [re, im]';

/** The JSON, as bytes. */
export function encodeGains(file: GainsFile): Uint8Array {
  const inputs = file.stations.length * file.polarisations;
  gainsCA(file.gains, file.frequenciesHz.length, inputs);
  const json: z.infer<typeof schema> = {
    format: 'corella-gains',
    version: 1,
    convention: CONVENTION,
    telescope: file.telescope,
    stations: [...file.stations],
    polarisations: file.polarisations,
    frequenciesHz: Array.from(file.frequenciesHz),
    time: formatInstant(file.time, 9),
    referenceStation: file.referenceStation,
    sources: [...file.sources],
    solutions: file.solutions.map(({ channel, polarisation, iterations, converged, residual }) => ({
      channel,
      polarisation,
      iterations,
      converged,
      residual: Number.isNaN(residual) ? null : residual,
    })),
    history: [...file.history],
    gains: Array.from({ length: file.frequenciesHz.length }, (_, c) =>
      Array.from({ length: inputs }, (_unused, a) => {
        const at = c * inputs + a;
        return file.solved[at] === 1
          ? ([file.gains[2 * at], file.gains[2 * at + 1]] as [number, number])
          : null;
      }),
    ),
  };
  return new TextEncoder().encode(`${JSON.stringify(json)}\n`);
}

export const writeGains = (path: string, file: GainsFile): Promise<void> =>
  writeFileWhole(path, encodeGains(file));

export async function readGains(path: string): Promise<GainsFile> {
  const found = await readJson(path, 'make gains with corella calibrate');
  const checked = schema.safeParse(found);
  if (!checked.success) {
    refuse(
      path,
      `is not a gains file (${firstIssue(checked.error, found)})`,
      'make one with corella calibrate',
    );
  }
  const json = checked.data;
  const channels = json.frequenciesHz.length;
  const inputs = json.stations.length * json.polarisations;
  const gains = new Float64Array(2 * channels * inputs).fill(Number.NaN);
  const solved = new Uint8Array(channels * inputs);
  if (json.gains.length !== channels || json.gains.some((row) => row.length !== inputs)) {
    refuse(
      path,
      `does not hold ${channels} channels × ${inputs} inputs of gains`,
      'make it again with corella calibrate',
    );
  }
  if (json.referenceStation >= json.stations.length) {
    refuse(
      path,
      `its reference is station ${json.referenceStation} of 0 to ${json.stations.length - 1}`,
      'it is damaged: make it again with corella calibrate',
    );
  }
  json.gains.flat().forEach((gain, at) => {
    // Nothing can be divided by a gain of zero: it is as good as unsolved.
    if (gain === null || (gain[0] === 0 && gain[1] === 0)) return;
    solved[at] = 1;
    gains.set(gain, 2 * at);
  });
  return {
    ...json,
    solutions: json.solutions.map((one) => ({ ...one, residual: one.residual ?? Number.NaN })),
    frequenciesHz: Float64Array.from(json.frequenciesHz),
    time: parseInstant(json.time, path),
    gains: gainsCA(gains, channels, inputs),
    solved,
  };
}
