/**
 * Writes UVFITS: fringes stopped at the phase centre, values averaged over samples, the count of samples as weight.
 *
 * For the pair (A1, A2) the format keeps V₁₂ = ⟨x₁·conj(x₂)⟩ beside uvw = r₁ − r₂. We hold V_ij with i ≥ j and write
 * A1 = j + 1, A2 = i + 1 (the lower number first), so that V₁₂[p₁][p₂] = V_ji[p₁][p₂] = conj(V_ij[p₂][p₁])
 * (of an autocorrelation V_ii[p₁][p₂] itself).
 * Stopping the fringes takes V₁₂·e^(−2πi f (r₁ − r₂)·n/c) = V₁₂·e^(−2πi f WW).
 */
import { baselineIndex } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { refuse } from '../../../core/errors.js';
import { addSeconds, formatInstant, julianDate, type Instant } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot, type Vector3 } from '../../../core/vector.js';
import { skyFrame } from '../../../sky/frame.js';
import { refuseUneven } from '../../fits/even-channels.js';
import { storedIntegrationS, storedUvwM, fileProducts } from '../as-stored.js';
import {
  headerBytes,
  integerCard,
  logicalCard,
  paddedBytes,
  realCard,
  remarkCards,
  textCards,
} from '../../fits/fits.js';
import type { VisibilityHeader, VisibilityWriter, WhenItAppears } from '../../format.js';
import { firstCode } from '../../io/gather.js';
import { openOutput } from '../../io/output.js';
import { antennaTable } from './antennas.js';

/** 256·A1 + A2 has room for 255; above, ANTENNA1 and ANTENNA2 stand by themselves. */
const MOST_IN_BASELINE = 255;
/** Written at a time. */
const CHUNK_BYTES = 2 ** 26;

export async function createUvfits(
  path: string,
  header: VisibilityHeader,
  appears: WhenItAppears = 'finished',
): Promise<VisibilityWriter> {
  checkHeader(path, header);
  const { telescope, frequenciesHz, polarisations } = header;
  const stations = telescope.stations.length;
  const products = fileProducts[polarisations];
  const channels = frequenciesHz.length;
  const parameters = parameterNames(stations);
  const groupElements = parameters.length + 3 * products.length * channels;
  const baselines = (stations * (stations + 1)) / 2;
  const chunkGroups = Math.max(1, Math.min(baselines, Math.floor(CHUNK_BYTES / (4 * groupElements))));
  const chunk = new Float32Array(chunkGroups * groupElements);
  const output = await openOutput(path);
  /** The time alone: an integration kept for its sake would be memory that nothing frees. */
  let firstStart: Instant | undefined;
  /** The table that follows the groups, in whole FITS blocks. */
  let table: Uint8Array = new Uint8Array(0);
  let filled = 0;
  let end = 0;
  /** What the header counts: groups of finished integrations, how many those are, and where their groups end. */
  const finished = { groups: 0, integrations: 0, end: 0 };
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(chunk.buffer, 0, filled * 4);
    filled = 0;
    await output.writeAt(end, bytes.swap32());
    end += bytes.length;
  };
  const tableAt = (groupsEnd: number): number => paddedBytes(groupsEnd);
  const putTable = (groupsEnd: number): Promise<void> =>
    output.writeAt(groupsEnd, Buffer.concat([new Uint8Array(tableAt(groupsEnd) - groupsEnd), table]));
  const putHeader = (start: Instant): Promise<void> =>
    output.writeAt(0, primaryHeader(header, parameters, { start, groups: finished.groups }));
  try {
    // Its length is fixed now, its numbers after each integration.
    await output.write(
      primaryHeader(header, parameters, { start: { unixSeconds: 0, fraction: 0 }, groups: 0 }),
    );
    finished.end = output.sizeBytes;
  } catch (error) {
    await output.abandon();
    throw error;
  }

  return {
    append: async (integration) => {
      checkIntegration(path, header, integration);
      if (firstStart === undefined) {
        firstStart = integration.start;
        const feeds = header.feeds ?? 'linear';
        table = antennaTable(telescope, { start: firstStart, referenceFrequencyHz: frequenciesHz[0], feeds });
        await putHeader(firstStart);
      }
      end = finished.end;
      filled = 0;
      const groupsEnd = end + 4 * groupElements * baselines;
      // The new groups lie where the table is now. So that it is whole somewhere at every moment, a copy of it goes first to
      // where nothing else will be written; the header, whose count of groups is all that changes, is turned last.
      const copyAt = Math.max(tableAt(groupsEnd) + table.length, paddedBytes(output.sizeBytes));
      await output.resize(copyAt + table.length);
      await output.writeAt(copyAt, table);
      const middle = addSeconds(integration.start, integration.durationS / 2);
      const uvwS = stationUvwS(header, middle);
      const dates = dateParameters(julianDate(firstStart).midnightJd, middle);
      for (let j = 0; j < stations; j++) {
        for (let i = j; i < stations; i++) {
          if (filled === chunk.length) await flush();
          const asStored = storedUvwM(integration, header, i, j);
          const uvw = [0, 1, 2].map((axis) =>
            Math.fround(
              asStored ? asStored[axis] / SPEED_OF_LIGHT_M_PER_S : uvwS[3 * j + axis] - uvwS[3 * i + axis],
            ),
          );
          const pair = stations > MOST_IN_BASELINE ? [j + 1, i + 1, 1] : [256 * (j + 1) + i + 1];
          chunk.set([...uvw, ...dates, ...pair, storedIntegrationS(integration, i, j)], filled);
          filled += parameters.length;
          // Phased by the very number that the file keeps, so that a reader can undo it exactly; or by the one that
          // another file kept, of whatever precision, so that its own values come out.
          fillGroup(chunk.subarray(filled, filled + 3 * products.length * channels), integration, {
            header,
            i,
            j,
            delayS: asStored ? asStored[2] / SPEED_OF_LIGHT_M_PER_S : uvw[2],
          });
          filled += 3 * products.length * channels;
        }
      }
      await flush();
      await putTable(groupsEnd);
      Object.assign(finished, {
        groups: finished.groups + baselines,
        integrations: finished.integrations + 1,
        end: groupsEnd,
      });
      await putHeader(firstStart);
      await output.resize(tableAt(groupsEnd) + table.length);
      output.worthKeeping();
      if (appears === 'first-integration') await output.appear();
    },
    keep: async () => {
      if (firstStart === undefined || finished.integrations === 0) {
        await output.abandon();
        return 0;
      }
      await putTable(finished.end);
      await putHeader(firstStart);
      await output.resize(tableAt(finished.end) + table.length);
      await output.finish();
      return finished.integrations;
    },
    finish: async () => {
      try {
        if (firstStart === undefined) {
          refuse(path, 'no integration was written', 'give it at least one before finishing');
        }
        await output.finish();
      } catch (error) {
        await output.abandon();
        throw error;
      }
    },
    abandon: () => output.abandon(),
  };
}

/** (re, im, weight) for each channel and product of one baseline. */
function fillGroup(
  target: Float32Array,
  integration: Integration,
  pair: {
    readonly header: VisibilityHeader;
    readonly i: number;
    readonly j: number;
    readonly delayS: number;
  },
): void {
  const { i, j, delayS, header } = pair;
  const { stations, polarisations, counts, flaggedInputs, asStored } = integration;
  const source = asStored ? asStored.means : integration.visibilities;
  const products = fileProducts[polarisations];
  const baselines = (stations * (stations + 1)) / 2;
  const b = baselineIndex(i, j);
  let at = 0;
  for (let c = 0; c < integration.channels; c++) {
    const count = counts[c * baselines + b];
    const phase = 2 * Math.PI * header.frequenciesHz[c] * delayS;
    const scale = asStored ? 1 : count > 0 ? 1 / count : 0;
    const cos = Math.cos(phase) * scale;
    const sin = Math.sin(phase) * scale;
    for (const [p1, p2] of products) {
      const [pi, pj, sign] = i === j ? [p1, p2, 1] : [p2, p1, -1];
      const from = ((c * baselines + b) * polarisations + pi) * polarisations + pj;
      const re = source[2 * from];
      const im = sign * source[2 * from + 1];
      const flagged =
        flaggedInputs[i * polarisations + p2] === 1 || flaggedInputs[j * polarisations + p1] === 1;
      // V₁₂·(cos − i sin)
      target[at] = re * cos + im * sin;
      target[at + 1] = im * cos - re * sin;
      target[at + 2] = asStored ? asStored.weights[from] : flagged ? -count : count;
      at += 3;
    }
  }
}

/** uvw of each station, seconds : [s][u, v, w] */
function stationUvwS({ telescope, phaseCentre }: VisibilityHeader, middle: Instant): Float64Array {
  const { l, m, n } = skyFrame(telescope.site, middle).tangentAxes(phaseCentre);
  const uvw = new Float64Array(3 * telescope.stations.length);
  telescope.stations.forEach(({ eastM, northM, upM }, s) => {
    const place: Vector3 = { x: eastM, y: northM, z: upM };
    [l, m, n].forEach((axis, k) => {
      uvw[3 * s + k] = dot(place, axis) / SPEED_OF_LIGHT_M_PER_S;
    });
  });
  return uvw;
}

/** The day's fraction in two single-precision numbers: together they hold better than a nanosecond. */
function dateParameters(midnightJd: number, middle: Instant): [number, number] {
  const { midnightJd: day, dayFraction } = julianDate(middle);
  const days = day - midnightJd + dayFraction;
  const coarse = Math.fround(days);
  return [coarse, Math.fround(day - midnightJd - coarse + dayFraction)];
}

const parameterNames = (stations: number): readonly string[] => [
  'UU',
  'VV',
  'WW',
  'DATE',
  'DATE',
  ...(stations > MOST_IN_BASELINE ? ['ANTENNA1', 'ANTENNA2', 'SUBARRAY'] : ['BASELINE']),
  'INTTIM',
];

function primaryHeader(
  header: VisibilityHeader,
  parameters: readonly string[],
  known: { readonly start: Instant; readonly groups: number },
): Uint8Array {
  const { phaseCentre, frequenciesHz, polarisations, telescope } = header;
  const channels = frequenciesHz.length;
  const spacingHz =
    channels > 1 ? (frequenciesHz[channels - 1] - frequenciesHz[0]) / (channels - 1) : header.channelWidthHz;
  const axes = [
    ['COMPLEX', 3, 1, 1],
    ['STOKES', polarisations ** 2, firstCode[header.feeds ?? 'linear'], -1],
    ['FREQ', channels, frequenciesHz[0], spacingHz],
    ['RA', 1, phaseCentre.raDeg, 1],
    ['DEC', 1, phaseCentre.decDeg, 1],
  ] as const;
  const { midnightJd } = julianDate(known.start);
  return headerBytes([
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', -32),
    integerCard('NAXIS', axes.length + 1),
    integerCard('NAXIS1', 0, 'no image: random groups'),
    ...axes.map(([, length], k) => integerCard(`NAXIS${k + 2}`, length)),
    logicalCard('EXTEND', true),
    logicalCard('GROUPS', true),
    integerCard('PCOUNT', parameters.length),
    // Room for any count: the header keeps its length when this is filled in.
    integerCard('GCOUNT', known.groups),
    ...axes.flatMap(([name, , value, step], k) => [
      ...textCards(`CTYPE${k + 2}`, name),
      realCard(`CRVAL${k + 2}`, value),
      realCard(`CDELT${k + 2}`, step),
      realCard(`CRPIX${k + 2}`, 1),
      realCard(`CROTA${k + 2}`, 0),
    ]),
    ...parameters.flatMap((name, k) => [
      ...textCards(`PTYPE${k + 1}`, name),
      realCard(`PSCAL${k + 1}`, 1),
      realCard(`PZERO${k + 1}`, k === 3 ? midnightJd : 0),
    ]),
    ...textCards('DATE-OBS', formatInstant(known.start, 6).slice(0, -1)),
    ...textCards('TELESCOP', telescope.name),
    ...textCards('INSTRUME', telescope.name),
    ...textCards('OBJECT', header.object),
    realCard('OBSRA', phaseCentre.raDeg),
    realCard('OBSDEC', phaseCentre.decDeg),
    realCard('EPOCH', 2000),
    // In small letters, as pyuvdata writes it and alone can read it; AIPS and casacore go by EPOCH.
    ...textCards('RADESYS', 'icrs'),
    realCard('BSCALE', 1),
    realCard('BZERO', 0),
    ...textCards('BUNIT', header.unit?.toUpperCase() ?? 'UNCALIB'),
    realCard('CHWIDTH', header.channelWidthHz, 'width of a channel, Hz'),
    ...textCards('XORIENT', 'EAST', 'X dipoles lie east-west'),
    ...header.history.flatMap((line) => remarkCards('HISTORY', line)),
    // AIPS reads the sort order here: time, then baseline.
    ...remarkCards('HISTORY', "AIPS   SORT ORDER = 'TB'"),
  ]);
}

function checkHeader(path: string, { telescope, frequenciesHz, polarisations }: VisibilityHeader): void {
  if (frequenciesHz.length === 0 || telescope.stations.length === 0) {
    refuse(path, 'has no channel or no station', 'give at least one of each');
  }
  if (telescope.stations.length > 65_535) {
    refuse(path, `${telescope.stations.length} stations are more than UVFITS can number`, 'write fewer');
  }
  refuseUneven(path, frequenciesHz, 'write evenly spaced channels to UVFITS');
  if (polarisations > telescope.polarisations) {
    refuse(path, `${polarisations} polarisations of a telescope with ${telescope.polarisations}`);
  }
}

function checkIntegration(path: string, header: VisibilityHeader, integration: Integration): void {
  const told = [integration.stations, integration.channels, integration.polarisations].join(' × ');
  const wanted = [header.telescope.stations.length, header.frequenciesHz.length, header.polarisations].join(
    ' × ',
  );
  if (told !== wanted) {
    refuse(
      path,
      `an integration of ${told} stations × channels × polarisations where the file has ${wanted}`,
      'one file holds one arrangement',
    );
  }
}
