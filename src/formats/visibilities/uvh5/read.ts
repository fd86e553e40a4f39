/**
 * Opens UVH5 and returns unphased integrations in the canonical order. The file stores conj(V₁₂) beside uvw = r₂ − r₁
 * in metres; with stopped fringes, conj(V₁₂) = file·e^(+2πi f w/c). Some correlators write V₁₂ beside r₁ − r₂: the
 * antenna positions show it.
 */
import type { Integration } from '../../../core/blocks.js';
import { preparing } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { addSeconds } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import type { Station } from '../../../telescope/telescope.js';
import type { OpenOptions, VisibilityFile } from '../../format.js';
import { feedsOf, gather, noFaults, type Gathering, type ValueFaults } from '../../io/gather.js';
import { openHdf5, type Hdf5Dataset, type Hdf5File } from '../../hdf5/read.js';
import { checkUvw, isUnplaced, placedByUvw, placesInUse, type UvwRow } from '../uvw-fit.js';
import { readUvh5Header, type TimeSlot, type Uvh5Header } from './header.js';

/** Rows are read a few megabytes at a time. */
const CHUNK_VALUES = 2 ** 19;

export const openUvh5 = (path: string, options: OpenOptions = {}): Promise<VisibilityFile> =>
  preparing(async (closers) => opened(closers.keep(await openHdf5(path)), options));

interface Data {
  readonly visibilities: Hdf5Dataset;
  readonly flags: Hdf5Dataset;
  readonly samples: Hdf5Dataset;
  readonly uvw: Hdf5Dataset;
}

function dataOf(file: Hdf5File, header: Uvh5Header): Data {
  const { path } = file;
  const values = header.channels.length * header.products.length;
  const one = (name: string, parts: 1 | 2): Hdf5Dataset => {
    const dataset = file.dataset(`Data/${name}`);
    const rowValues = dataset.shape.slice(1).reduce((product, length) => product * length, 1);
    if (dataset.shape[0] !== header.rows || rowValues !== values || dataset.parts !== parts) {
      refuse(
        path,
        `Data/${name} is [${dataset.shape.join('][')}] where ${header.rows} rows of ${values} values belong`,
        'it is damaged',
      );
    }
    return dataset;
  };
  const uvw = file.dataset('Header/uvw_array');
  if (uvw.shape[0] !== header.rows || uvw.shape[1] !== 3)
    refuse(path, 'Header/uvw_array does not fit its rows', 'it is damaged');
  return { visibilities: one('visdata', 2), flags: one('flags', 1), samples: one('nsamples', 1), uvw };
}

function opened(file: Hdf5File, options: OpenOptions): VisibilityFile {
  const { path } = file;
  const stated = readUvh5Header(file, options.target);
  const data = dataOf(file, stated);
  const { direction, assumed: oddUvw, stations } = directionOf(path, data, stated, options);
  const facts = stations ? { ...stated, telescope: { ...stated.telescope, stations } } : stated;
  const faults = noFaults();
  const header: Weighed = { ...facts, direction, weights: weightsOf(data, facts) };
  const { telescope, polarisations, channels, channelWidthHz, phaseCentre, object, history } = header;
  const isCounted = header.weights === 'counted';
  const assumed = [
    ...header.assumed,
    ...oddUvw,
    ...(isCounted ? [] : ['its nsamples are not set: every unflagged value has weight 1']),
  ];
  return {
    kind: 'visibilities',
    path,
    format: 'uvh5',
    telescope,
    header: {
      telescope,
      polarisations,
      feeds: feedsOf(header.products),
      frequenciesHz: Float64Array.from(channels, ({ frequencyHz }) => frequencyHz),
      channelWidthHz,
      phaseCentre,
      object,
      history,
      ...header.facts,
    },
    details: {
      ...header.details,
      storage: data.visibilities.storage,
      weights: isCounted ? 'in the file' : 'none usable: every unflagged value has weight 1',
      uvw: direction === 1 ? 'r2 - r1' : 'r1 - r2',
      ...ends(data, header),
    },
    integrationCount: header.slots.length,
    durationsS: Float64Array.from(header.slots, ({ durationS }) => durationS),
    ...(assumed.length > 0 && { assumed }),
    targets: header.targets,
    faults,
    integrations: async function* (memory = 'own'): AsyncGenerator<Integration> {
      Object.assign(faults, noFaults());
      const gatheringFor = gatherer(path, header, faults, memory);
      for (const slot of header.slots) {
        // Reading is synchronous; other tasks run between integrations.
        await Promise.resolve();
        yield integrationOf(data, header, slot, gatheringFor(slot));
      }
    },
    close: () => file.close(),
  };
}

/**
 * The direction of uvw at the first time, from the positions: 1 as r₂ − r₁, −1 as r₁ − r₂. While fringes run or the
 * centre moves, uvw come from the positions at every time: where these are not set, or on request, from uvw.
 */
function directionOf(
  path: string,
  { uvw }: Data,
  header: Uvh5Header,
  options: OpenOptions,
): {
  readonly direction: 1 | -1;
  readonly assumed: readonly string[];
  readonly stations?: readonly Station[];
} {
  const { slots, stationOf, ant1, ant2, telescope } = header;
  const [{ middle, runs }] = slots;
  const pointed = runs
    .flatMap(({ first, end }): (UvwRow & { readonly row: number })[] => {
      const values = uvw.rows(first, end - first);
      return Array.from({ length: end - first }, (_, k) => {
        const [u, v, w] = values.subarray(3 * k, 3 * k + 3);
        const [s1, s2] = [stationOf.get(ant1[first + k]) ?? 0, stationOf.get(ant2[first + k]) ?? 0];
        return { s1, s2, uvwM: [-u, -v, -w] as const, row: first + k };
      });
    })
    .filter(({ row }) => header.uvwTowards(row) !== undefined);
  const stoppedAt = pointed.length > 0 ? header.uvwTowards(pointed[0].row) : undefined;
  if (stoppedAt === undefined) return { direction: 1, assumed: [] };
  const places = placesInUse(telescope, options.telescope);
  const moves = !pointed.every(({ row }) => header.atPhaseCentre(row));
  if (moves && places === telescope && options.uvw === 'file')
    return {
      direction: 1,
      stations: placedByUvw(path, places, { middle, stoppedAt, rows: pointed }),
      assumed: [
        'its antennas are placed by its uvw, as asked: antenna 2 − antenna 1, as the format defines them',
      ],
    };
  if (moves && isUnplaced(places, pointed))
    refuse(
      path,
      'all its antennas are at one place although its uvw are not 0: copies and images of it would have uvw of 0',
      'correct antenna_positions, or name the telescope whose stations they are with telescope: NAME; source.uvw: file places them by its uvw',
    );
  const { sign, assumed } = checkUvw(path, places, { middle, stoppedAt, rows: pointed, uvw: options.uvw });
  return {
    direction: sign,
    assumed:
      sign === 1
        ? assumed
        : [
            ...assumed,
            "by its antennas' positions its uvw are antenna 1 − antenna 2, against the format: they are negated and its values conjugated",
          ],
  };
}

interface Weighed extends Uvh5Header {
  readonly weights: 'counted' | 'unit';
  /** 1: conj(V₁₂) beside r₂ − r₁; −1: V₁₂ beside r₁ − r₂. */
  readonly direction: 1 | -1;
}

/**
 * Some correlators leave nsamples at zero or unset: every unflagged value then counts 1. A dead first station has many
 * zeros in a file with valid counts, so only the last row decides. If everything is flagged it does not matter.
 */
function weightsOf({ samples, flags }: Data, { slots, channels, products }: Uvh5Header): 'counted' | 'unit' {
  const chunkRows = Math.max(1, Math.floor(CHUNK_VALUES / (channels.length * products.length)));
  let isGood = false;
  for (const { runs } of slots)
    for (const { first, end } of runs)
      for (let row = first; row < end; row += chunkRows) {
        const rows = Math.min(chunkRows, end - row);
        if (samples.rows(row, rows).some((count) => count > 0)) return 'counted';
        isGood ||= flags.rows(row, rows).includes(0);
      }
  return isGood ? 'unit' : 'counted';
}

/** The first and the last stored number. */
function ends({ visibilities, uvw }: Data, { rows }: Uvh5Header): Record<string, unknown> {
  const last = visibilities.rows(rows - 1, 1);
  return {
    firstVisibility: [...visibilities.rows(0, 1).subarray(0, 2)],
    lastVisibility: [...last.subarray(last.length - 2)],
    firstUvwM: [...uvw.rows(0, 1)],
  };
}

/** The memory of an integration: new for each, or used again. */
function gatherer(
  path: string,
  header: Weighed,
  faults: ValueFaults,
  memory: 'own' | 'reused',
): (slot: TimeSlot) => Gathering {
  const { channels, products, polarisations, telescope } = header;
  let before: { readonly gathering: Gathering; readonly atCentre: boolean } | undefined;
  return (slot) => {
    const atCentre = slot.runs.every((run) => {
      for (let row = run.first; row < run.end; row++) if (!header.atPhaseCentre(row)) return false;
      return true;
    });
    if (memory === 'reused' && before?.atCentre === atCentre) {
      before.gathering.clear();
      return before.gathering;
    }
    const gathering = gather({
      path,
      channels: channels.length,
      stations: telescope.stations.length,
      polarisations,
      products,
      values: header.values,
      faults,
      ...(atCentre && { stoppedAt: header.phaseCentre }),
    });
    before = { gathering, atCentre };
    return gathering;
  };
}

function integrationOf(data: Data, header: Weighed, slot: TimeSlot, gathering: Gathering): Integration {
  const { channels, products, stationOf, direction } = header;
  const productCount = products.length;
  const rowValues = channels.length * productCount;
  const chunkRows = Math.max(1, Math.floor(CHUNK_VALUES / rowValues));
  const frequenciesHz = Float64Array.from(channels, ({ frequencyHz }) => frequencyHz);
  const places = Int32Array.from(channels, ({ place }) => place);
  const isCounted = header.weights === 'counted';
  const rowOf = new Float64Array(2 * rowValues);
  const weightsOfRow = new Float64Array(rowValues);
  for (const run of slot.runs) {
    for (let first = run.first; first < run.end; first += chunkRows) {
      const rows = Math.min(chunkRows, run.end - first);
      const values = data.visibilities.rows(first, rows);
      const flags = data.flags.rows(first, rows);
      const samples = data.samples.rows(first, rows);
      const uvw = data.uvw.rows(first, rows);
      for (let k = 0; k < rows; k++) {
        const row = first + k;
        const s1 = stationOf.get(header.ant1[row]) ?? 0;
        const s2 = stationOf.get(header.ant2[row]) ?? 0;
        gathering.row(s1, s2, {
          uvwM: [-direction * uvw[3 * k], -direction * uvw[3 * k + 1], -direction * uvw[3 * k + 2]],
          integrationS: header.integrationS[row],
        });
        const wM = header.phased(row) ? uvw[3 * k + 2] : 0;
        for (let c = 0, to = 0; c < places.length; c++) {
          const phase = (2 * Math.PI * frequenciesHz[c] * wM) / SPEED_OF_LIGHT_M_PER_S;
          const cos = wM === 0 ? 1 : Math.cos(phase);
          const sin = wM === 0 ? 0 : Math.sin(phase);
          const from = k * rowValues + places[c] * productCount;
          for (let at = from; at < from + productCount; at++, to++) {
            const re = values[2 * at];
            const im = values[2 * at + 1];
            rowOf[2 * to] = re * cos - im * sin;
            rowOf[2 * to + 1] = -direction * (re * sin + im * cos);
            weightsOfRow[to] = flags[at] !== 0 ? -Math.abs(samples[at]) : isCounted ? samples[at] : 1;
          }
        }
        gathering.fill(rowOf, weightsOfRow);
      }
    }
  }
  const { middle, durationS } = slot;
  return gathering.finish({ start: addSeconds(middle, -durationS / 2), durationS });
}
