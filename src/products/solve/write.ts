/** Writes solved gains: JSON and CalH5, and cable lengths if requested. */
import { present } from '../../core/present.js';
import { writeFile } from 'node:fs/promises';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { gainPaths, writeGainFiles, type GainsFile } from '../../formats/index.js';
import type { Product } from '../registry.js';
import type { SolvedGains } from './solve.js';

/** Files of a gains product. */
export const pathsOfGains = ({
  gains,
  'delays-out': delaysOut,
}: Pick<Product<'gains'>, 'delays-out'> & { readonly gains: string }): readonly string[] =>
  present(...gainPaths(gains), delaysOut);

/** As in a file: the first time, and later ones. */
export function gainsFileOf(solved: SolvedGains, history: readonly string[]): GainsFile {
  const { plan, first, times, sources } = solved;
  const series = times.map(({ time, calibration }) => ({ time, ...calibration }));
  return {
    telescope: plan.telescope.name,
    stations: plan.telescope.stations.map(({ name }) => name),
    polarisations: first.integration.polarisations,
    frequenciesHz: plan.header.frequenciesHz,
    ...series[0],
    ...(series.length > 1 && { later: series.slice(1) }),
    dataUnits: plan.header.units === 'Jy' ? 'Jy' : 'uncalibrated',
    element: plan.element,
    sources: sources.map(({ source }) => source.name),
    history,
  };
}

export async function writeSolvedGains(
  path: string,
  solved: SolvedGains,
  history: readonly string[],
): Promise<void> {
  const { plan, first, delays } = solved;
  const { channelWidthHz, feeds } = plan.header;
  const { 'delays-out': delaysOut } = plan.asked;
  if (delaysOut !== undefined) await writeCables(delaysOut, delays);
  await writeGainFiles(path, gainsFileOf(solved, history), {
    telescope: plan.telescope,
    channelWidthHz,
    durationS: first.integration.durationS,
    feeds,
  });
}

/** A delays.json with cable delays, for front.delays.fixed to correct. */
const writeCables = (
  path: string,
  delays: readonly { readonly name: string; readonly delayS: number }[],
): Promise<void> =>
  writeFile(
    path,
    `${JSON.stringify({ fixed: delays.map(({ name, delayS }) => ({ input: name, cableM: delayS * SPEED_OF_LIGHT_M_PER_S })) }, undefined, 2)}\n`,
  );
