/**
 * Writes a Measurement Set as casacore makes them from UVFITS: fringes stopped at the phase centre, V₁₂ beside uvw = r₁
 * − r₂ in metres, antenna 1 the lower. A process of its own writes the set under a temporary name, from the first
 * integration on, and it is renamed when finished.
 */
import { rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { baselineIndex } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { refuse } from '../../../core/errors.js';
import { addSeconds, type Instant } from '../../../core/instant.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import type { VisibilityHeader, VisibilityWriter } from '../../format.js';
import { isMeasurementSet, requireRoom } from '../../io/output.js';
import { checkIntegration, storedIntegrationS, storedUvwM, writtenProducts } from '../pass-through.js';
import { antennaTableOf } from '../header-facts.js';
import { fillGroup, stationUvwS } from '../uvfits/groups-out.js';
import { EAST_ANGLES, mountWords } from './feeds.js';
import { buildCasacore } from './library.js';
import { ownWordsOf, placesOf } from './own-words.js';
import { casacoreCodes } from './read.js';
import { MJD_TO_UNIX_S } from './rows.js';
import { startWriting, type WritingProcess } from './writing-process.js';

/** Tables and their headers, and a tile of each column, of which casacore makes whole ones. */
const TABLES_BYTES = 4 * 2 ** 20;
/** Rows that are written at once. */
const AT_ONCE_BYTES = 64 * 2 ** 20;

export async function createMs(path: string, header: VisibilityHeader): Promise<VisibilityWriter> {
  await buildCasacore(path);
  if (existsSync(path) && !isMeasurementSet(path))
    refuse(path, 'is there and is no Measurement Set', 'choose another name');
  // Absolute and without a leading dot, which casacore would take for a subtable.
  const growing = `${resolve(path)}.${process.pid}-${Date.now().toString(16)}.growing`;
  const { telescope, frequenciesHz } = header;
  const table = antennaTableOf(telescope.stations, header.unusedAntennas);
  const unusedPlaces = new Set((header.unusedAntennas ?? []).map(({ place }) => place));
  /** The antenna-table row of each station. */
  const rowOf = table.map((_, row) => row).filter((row) => !unusedPlaces.has(row));
  const places = placesOf({ site: telescope.site, stations: table });
  const positions = Float64Array.from(places.flatMap(({ x, y, z }) => [x, y, z]));
  const written = writtenProducts(header);
  const codes = written.map(({ code }) =>
    Number(Object.entries(casacoreCodes).find(([, ours]) => ours === code)?.[0]),
  );
  /** casacore's codes ascend: XX, XY, YX, YY. */
  const order = codes.map((_, q) => q).sort((x, y) => codes[x] - codes[y]);
  const isEast = header.feeds !== 'circular' && header.xOrientation !== 'unknown';
  const facts = [
    ...[telescope.name, table.map(({ name }) => name).join('\n'), table.length, positions],
    Float64Array.from(table, ({ diameterM }) => diameterM ?? 0),
    ...[frequenciesHz.length, frequenciesHz, header.channelWidthHz, codes.length],
    Int32Array.from(order, (q) => codes[q]),
    ...[
      header.object,
      header.phaseCentre.raDeg * RADIANS_PER_DEGREE,
      header.phaseCentre.decDeg * RADIANS_PER_DEGREE,
    ],
    ...[ownWordsOf(header), header.history.join('\n')],
    // Without a unit other programs take DATA as uncalibrated; the unit of calibrated values may be unknown.
    header.units === 'uncalib' ? '' : (header.units ?? ''),
    Float64Array.from(isEast ? EAST_ANGLES : [0, 0]),
    telescope.mount ? mountWords[telescope.mount] : 'UNKNOWN',
  ];
  const channels = frequenciesHz.length;
  const perRow = channels * codes.length;
  const group = new Float32Array(3 * perRow);
  let finished = 0;
  let first: Instant | undefined;
  let writing: WritingProcess | undefined;
  let isAppending = false;
  const secondsOf = ({ unixSeconds, fraction }: Instant): number => unixSeconds + MJD_TO_UNIX_S + fraction;
  const abandon = async (): Promise<void> => {
    await writing?.end();
  };
  const appear = async (): Promise<void> => {
    await writing?.call('ms_close');
    // An existing set stays complete until the new one is.
    const before = `${growing}.before`;
    const isReplacing = isMeasurementSet(path);
    if (isReplacing) await rename(path, before);
    await rename(growing, path).catch(async (error: unknown) => {
      if (isReplacing) await rename(before, path);
      throw error;
    });
    if (isReplacing) await rm(before, { recursive: true });
    await writing?.end();
  };

  const begin = async (): Promise<WritingProcess> => {
    const begun = (writing = startWriting(path, growing));
    await begun.call('ms_create', ...facts);
    return begun;
  };
  const append = async (integration: Integration): Promise<void> => {
    checkIntegration(path, header, integration);
    const { stations, pairs } = integration;
    const middle = addSeconds(integration.start, integration.durationS / 2);
    const uvwS = stationUvwS(header, middle);
    const rows: (readonly [number, number])[] = [];
    for (let j = 0; j < stations; j++)
      for (let i = j; i < stations; i++) if (pairs?.[baselineIndex(i, j)] !== 0) rows.push([i, j]);
    if (rows.length === 0) refuse(path, 'an integration holds no pair', 'leave it out');
    const rowBytes = 12 * perRow;
    // casacore ends its process where the disk is full: the set is closed before.
    await requireRoom(path, TABLES_BYTES + 2 * rowBytes * rows.length);
    isAppending = true;
    const begun = writing ?? (await begin());
    const middleS = secondsOf(middle);
    const atOnce = Math.max(1, Math.floor(AT_ONCE_BYTES / rowBytes));
    for (let from = 0; from < rows.length; from += atOnce)
      await begun.call('ms_append', ...rowsOf(integration, rows.slice(from, from + atOnce), middleS, uvwS));
    first ??= integration.start;
    await begun.call('ms_span', secondsOf(first), middleS + integration.durationS / 2);
    finished++;
    isAppending = false;
  };
  /** What ms_append takes. */
  const rowsOf = (
    integration: Integration,
    rows: readonly (readonly [number, number])[],
    middleS: number,
    uvwS: Float64Array,
  ): readonly unknown[] => {
    const data = new Float32Array(2 * perRow * rows.length);
    const weights = new Float32Array(perRow * rows.length);
    const uvw = new Float64Array(3 * rows.length);
    rows.forEach(([i, j], row) => {
      const stored = storedUvwM(integration, header, i, j);
      for (let axis = 0; axis < 3; axis++)
        uvw[3 * row + axis] = stored
          ? stored[axis]
          : (uvwS[3 * j + axis] - uvwS[3 * i + axis]) * SPEED_OF_LIGHT_M_PER_S;
      fillGroup(group, integration, { header, i, j, delayS: uvw[3 * row + 2] / SPEED_OF_LIGHT_M_PER_S });
      for (let c = 0; c < channels; c++)
        order.forEach((q, k) => {
          const from = 3 * (c * codes.length + q);
          const to = perRow * row + c * codes.length + k;
          data[2 * to] = group[from];
          data[2 * to + 1] = group[from + 1];
          weights[to] = group[from + 2];
        });
    });
    return [
      rows.length,
      middleS,
      Float64Array.from(rows, ([i, j]) => storedIntegrationS(integration, i, j)),
      Int32Array.from(rows, ([, j]) => rowOf[j]),
      Int32Array.from(rows, ([i]) => rowOf[i]),
      ...[uvw, channels, codes.length, data, weights, 1],
    ];
  };
  return {
    append,
    finish: async () => {
      if (finished === 0) {
        await abandon();
        refuse(path, 'no integration was written', 'give it at least one before finishing');
      }
      await appear();
    },
    keep: async () => {
      // Rows of a failed integration may already be in the set.
      if (finished === 0 || isAppending) {
        await abandon();
        return 0;
      }
      await appear();
      return finished;
    },
    abandon,
  };
}
