/** Gains on disk: JSON, checked when read, complete enough to be used alone. */
import { z } from 'zod';
import { gainsCA, type GainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, parseInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import { readJson } from '../io/input.js';
import { writeFileWhole } from '../io/output.js';
import { firstIssue } from '../telescope-json.js';

/** Gains at one time. */
export interface GainsAt {
  /** Central time of the data they were solved from. */
  readonly time: Instant;
  readonly gains: GainsCA;
  /** The same shape: each input's response to the other polarisation, if full polarisation was solved. */
  readonly leakage?: GainsCA;
  /** solved : [c][a], 1 where the gain is known. */
  readonly solved: Uint8Array;
  readonly solutions: readonly SolutionFacts[];
  /** Absent if unspecified: the phase between X and Y is then unknown. */
  readonly crossHand?: CrossHandFacts;
}

/** The phase ψ between X and Y, which is included in the Y gains: how it was found, NaN where it was not. */
export interface CrossHandFacts {
  readonly how: (typeof crossHandHows)[number];
  /** phaseRad : [c] */
  readonly phaseRad: Float64Array;
}

export const crossHandHows = ['unknown', 'model', 'v-zero', 'given', 'earlier'] as const;

/** known : [c], 1 where X and Y share a phase reference. */
export const crossHandKnown = ({ crossHand }: GainsAt, channels: number): Uint8Array =>
  Uint8Array.from({ length: channels }, (_, c) =>
    crossHand && !Number.isNaN(crossHand.phaseRad[c]) ? 1 : 0,
  );

export interface GainsFile extends GainsAt {
  readonly telescope: string;
  readonly stations: readonly string[];
  readonly polarisations: 1 | 2;
  readonly frequenciesHz: Float64Array;
  readonly referenceStation: number;
  /** The unit of the data they were solved from: they convert such data to Jy, and no others. */
  readonly dataUnits?: DataUnits;
  /** `relative`: calibrated data are not in Jy, because the source fluxes were unknown. */
  readonly fluxScale?: FluxScale;
  /** The name of the element beam used for the model. */
  readonly element?: string;
  /** Later solutions in time order; between two, amplitude and phase are interpolated linearly. */
  readonly later?: readonly GainsAt[];
  readonly sources: readonly string[];
  readonly history: readonly string[];
  /** What was assumed or exchanged in reading it, one display line each. */
  readonly assumed?: readonly string[];
}

export const allDataUnits = ['Jy', 'uncalibrated'] as const;
export type DataUnits = (typeof allDataUnits)[number];
export const fluxScales = ['relative'] as const;
type FluxScale = (typeof fluxScales)[number];

interface SolutionFacts {
  readonly channel: number;
  readonly polarisation: number;
  readonly iterations: number;
  readonly converged: boolean;
  /** NaN without data. */
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
/** ψ per channel, null where unknown. */
const crossHandSchema = z.object({
  how: z.enum(crossHandHows),
  phaseDeg: z.array(z.number().nullable()),
});
/** [c][a] as [re, im], null where unsolved. */
const gainTable = z.array(z.array(z.tuple([z.number(), z.number()]).nullable()));
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
  dataUnits: z.enum(allDataUnits).exactOptional(),
  fluxScale: z.enum(fluxScales).exactOptional(),
  element: z.string().exactOptional(),
  sources: z.array(z.string()),
  gains: gainTable,
  /** From the other polarisation; null where the gain is. */
  leakage: gainTable.exactOptional(),
  solutions: z.array(solutionSchema),
  crossHand: crossHandSchema.exactOptional(),
  later: z
    .array(
      z.object({
        time: z.string(),
        gains: gainTable,
        leakage: gainTable.exactOptional(),
        solutions: z.array(solutionSchema),
        crossHand: crossHandSchema.exactOptional(),
      }),
    )
    .exactOptional(),
  history: z.array(z.string()),
});

const CONVENTION =
  'V_ij = g_i M_ij conj(g_j); gains[channel][station * polarisations + polarisation] = [re, im]';
const MATRICES =
  'V_ij = G_i M_ij G_j^H with G = [[gX, dX], [dY, gY]], rows recorded, columns of the sky; g in gains, d in leakage, ' +
  'each [channel][station * 2 + polarisation] = [re, im]';

/** The JSON, as bytes. */
export function encodeGains(file: GainsFile): Uint8Array {
  const inputs = file.stations.length * file.polarisations;
  const channels = file.frequenciesHz.length;
  const numbersOf = (values: GainsCA, solved: Uint8Array) =>
    Array.from({ length: channels }, (_, c) =>
      Array.from({ length: inputs }, (_unused, a) => {
        const at = c * inputs + a;
        return solved[at] === 1 ? ([values[2 * at], values[2 * at + 1]] as [number, number]) : null;
      }),
    );
  const tableOf = ({ gains, leakage, solved, solutions, crossHand }: GainsAt) => {
    gainsCA(gains, channels, inputs);
    if (leakage) gainsCA(leakage, channels, inputs);
    return {
      ...(crossHand && {
        crossHand: {
          how: crossHand.how,
          phaseDeg: Array.from(crossHand.phaseRad, (phase) =>
            Number.isNaN(phase) ? null : phase * DEGREES_PER_RADIAN,
          ),
        },
      }),
      solutions: solutions.map(({ channel, polarisation, iterations, converged, residual }) => ({
        channel,
        polarisation,
        iterations,
        converged,
        residual: Number.isNaN(residual) ? null : residual,
      })),
      gains: numbersOf(gains, solved),
      ...(leakage && { leakage: numbersOf(leakage, solved) }),
    };
  };
  const { solutions, gains, leakage, crossHand } = tableOf(file);
  const json: z.infer<typeof schema> = {
    format: 'corella-gains',
    version: 1,
    convention: leakage ? MATRICES : CONVENTION,
    telescope: file.telescope,
    stations: [...file.stations],
    polarisations: file.polarisations,
    frequenciesHz: Array.from(file.frequenciesHz),
    time: formatInstant(file.time, 9),
    referenceStation: file.referenceStation,
    dataUnits: file.dataUnits,
    ...(file.fluxScale && { fluxScale: file.fluxScale }),
    element: file.element,
    sources: [...file.sources],
    solutions,
    ...(crossHand && { crossHand }),
    history: [...file.history],
    gains,
    ...(leakage && { leakage }),
    later: file.later?.map((one) => ({ time: formatInstant(one.time, 9), ...tableOf(one) })),
  };
  return new TextEncoder().encode(`${JSON.stringify(json)}\n`);
}

/** Writes gains.json, complete or not at all. */
export const writeGains = (path: string, file: GainsFile): Promise<void> =>
  writeFileWhole(path, encodeGains(file));

type Table = Pick<z.infer<typeof schema>, 'gains' | 'leakage' | 'solutions' | 'crossHand'> & {
  readonly time: string;
};

/** Reads gains.json; refuses other content. */
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
  if (json.referenceStation >= json.stations.length) {
    refuse(
      path,
      `its reference is station ${json.referenceStation} of 0 to ${json.stations.length - 1}`,
      'it is damaged: make it again with corella calibrate',
    );
  }
  const gainsAt = (table: Table): GainsAt => {
    const gains = new Float64Array(2 * channels * inputs).fill(Number.NaN);
    const solved = new Uint8Array(channels * inputs);
    for (const [what, rows] of [
      ['gains', table.gains],
      ['leakage', table.leakage ?? table.gains],
    ] as const)
      if (rows.length !== channels || rows.some((row) => row.length !== inputs)) {
        refuse(
          path,
          `does not hold ${channels} channels × ${inputs} inputs of ${what}`,
          'make it again with corella calibrate',
        );
      }
    const leakage = table.leakage && new Float64Array(2 * channels * inputs).fill(Number.NaN);
    table.leakage?.flat().forEach((one, at) => one && leakage?.set(one, 2 * at));
    const { crossHand } = table;
    if (crossHand && crossHand.phaseDeg.length !== channels)
      refuse(path, `its crossHand is not of ${channels} channels`, 'make it again with corella calibrate');
    table.gains.flat().forEach((gain, at) => {
      // A gain of zero cannot be divided by, so it counts as unsolved, and so does one with unknown leakage.
      if (gain === null || (gain[0] === 0 && gain[1] === 0)) return;
      if (leakage && Number.isNaN(leakage[2 * at])) return;
      solved[at] = 1;
      gains.set(gain, 2 * at);
    });
    return {
      solutions: table.solutions.map((one) => ({ ...one, residual: one.residual ?? Number.NaN })),
      time: parseInstant(table.time, path),
      gains: gainsCA(gains, channels, inputs),
      ...(leakage && { leakage: gainsCA(leakage, channels, inputs) }),
      solved,
      ...(crossHand && {
        crossHand: {
          how: crossHand.how,
          phaseRad: Float64Array.from(crossHand.phaseDeg, (phase) =>
            phase === null ? Number.NaN : phase / DEGREES_PER_RADIAN,
          ),
        },
      }),
    };
  };
  const [first, ...later] = inOrderOfTime([gainsAt(json), ...(json.later ?? []).map(gainsAt)], path);
  return {
    telescope: json.telescope,
    stations: json.stations,
    polarisations: json.polarisations,
    referenceStation: json.referenceStation,
    dataUnits: json.dataUnits,
    ...(json.fluxScale && { fluxScale: json.fluxScale }),
    element: json.element,
    sources: json.sources,
    history: json.history,
    frequenciesHz: Float64Array.from(json.frequenciesHz),
    ...first,
    ...(json.later && { later }),
  };
}

/** Joined files may be in any order; two solutions of one time are ambiguous. */
export function inOrderOfTime(series: readonly GainsAt[], path: string): readonly GainsAt[] {
  const sorted = [...series].sort((one, other) => secondsBetween(other.time, one.time));
  sorted.forEach(({ time }, k) => {
    if (k > 0 && secondsBetween(sorted[k - 1].time, time) <= 0)
      refuse(path, `holds gains of ${formatInstant(time, 9)} twice`, 'keep those that hold');
  });
  return sorted;
}
