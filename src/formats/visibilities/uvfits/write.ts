/**
 * Writes UVFITS: fringes stopped at the phase centre, values averaged over samples, the count of samples as weight.
 *
 * For the pair (A1, A2) the format stores V₁₂ = ⟨x₁·conj(x₂)⟩ beside uvw = r₁ − r₂. We hold V_ij with i ≥ j and write
 * A1 = j + 1, A2 = i + 1 (the lower number first), so that V₁₂[p₁][p₂] = V_ji[p₁][p₂] = conj(V_ij[p₂][p₁]) (of an
 * autocorrelation V_ii[p₁][p₂] itself). Fringe stopping gives V₁₂·e^(−2πi f (r₁ − r₂)·n/c) = V₁₂·e^(−2πi f WW).
 */
import { baselineIndex } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import { addSeconds, formatInstant, julianDate, type Instant } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { checkIntegration, storedIntegrationS, storedUvwM, writtenProducts } from '../pass-through.js';
import {
  headerBytes,
  integerCard,
  logicalCard,
  paddedBytes,
  realCard,
  refuseUneven,
  remarkCards,
  textCards,
} from '../../fits/fits.js';
import type { KeywordValue, VisibilityHeader, VisibilityWriter, WhenItAppears } from '../../format.js';
import { openOutput } from '../../io/output.js';
import { cardsOf, stationNumbers } from '../header-facts.js';
import { antennaTable, numberShift } from './antennas.js';
import { fillGroup, stationUvwS } from './groups-out.js';

/** 256·A1 + A2 allows 255 antennas; above that, ANTENNA1 and ANTENNA2 are separate. */
const MOST_IN_BASELINE = 255;
/** Bytes per write. */
const CHUNK_BYTES = 2 ** 26;

export async function createUvfits(
  path: string,
  header: VisibilityHeader,
  appears: WhenItAppears = 'finished',
): Promise<VisibilityWriter> {
  checkHeader(path, header);
  const { telescope, frequenciesHz } = header;
  const stations = telescope.stations.length;
  const products = writtenProducts(header);
  const channels = frequenciesHz.length;
  const shift = numberShift(telescope.stations, header.unusedAntennas);
  const numbers = stationNumbers(telescope.stations).map((number) => number + shift);
  const highest = numbers.reduce((x, y) => Math.max(x, y));
  const parameters = parameterNames(highest);
  const groupElements = parameters.length + 3 * products.length * channels;
  const baselines = (stations * (stations + 1)) / 2;
  const chunkGroups = Math.max(1, Math.min(baselines, Math.floor(CHUNK_BYTES / (4 * groupElements))));
  const chunk = new Float32Array(chunkGroups * groupElements);
  const output = await openOutput(path);
  /** Only the time: holding the integration would keep its memory allocated. */
  let firstStart: Instant | undefined;
  /** The table after the groups, in whole FITS blocks. */
  let table: Uint8Array = new Uint8Array(0);
  let filled = 0;
  let end = 0;
  /** The header's counts: groups of finished integrations, their number, and where their groups end. */
  const finished = { groups: 0, integrations: 0, end: 0 };
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(chunk.buffer, 0, filled * 4);
    filled = 0;
    await output.writeAt(end, bytes.swap32());
    end += bytes.length;
  };
  const putTable = (groupsEnd: number): Promise<void> =>
    output.writeAt(groupsEnd, Buffer.concat([new Uint8Array(paddedBytes(groupsEnd) - groupsEnd), table]));
  const putHeader = (start: Instant): Promise<void> =>
    output.writeAt(0, primaryHeader(header, parameters, { start, groups: finished.groups }));
  try {
    // Its length is fixed now; its numbers change after each integration.
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
        table = antennaTable(telescope, {
          ...header,
          start: firstStart,
          referenceFrequencyHz: frequenciesHz[0],
        });
        await putHeader(firstStart);
      }
      end = finished.end;
      filled = 0;
      const groups = integration.pairs ? integration.pairs.reduce((sum, one) => sum + one, 0) : baselines;
      if (groups === 0) refuse(path, 'an integration holds no pair', 'leave it out');
      const groupsEnd = end + 4 * groupElements * groups;
      // The new groups overwrite the table's place. So that a complete table always exists, a copy is first written
      // where nothing else goes; the header, of which only the group count changes, is updated last.
      const copyAt = Math.max(paddedBytes(groupsEnd) + table.length, paddedBytes(output.sizeBytes));
      await output.resize(copyAt + table.length);
      await output.writeAt(copyAt, table);
      const middle = addSeconds(integration.start, integration.durationS / 2);
      const uvwS = stationUvwS(header, middle);
      const dates = dateParameters(julianDate(firstStart).midnightJd, middle);
      for (let j = 0; j < stations; j++) {
        for (let i = j; i < stations; i++) {
          if (integration.pairs?.[baselineIndex(i, j)] === 0) continue;
          if (filled === chunk.length) await flush();
          const passThrough = storedUvwM(integration, header, i, j);
          const uvw = [0, 1, 2].map((axis) =>
            Math.fround(
              passThrough
                ? passThrough[axis] / SPEED_OF_LIGHT_M_PER_S
                : uvwS[3 * j + axis] - uvwS[3 * i + axis],
            ),
          );
          const [one, two] = [numbers[j], numbers[i]];
          const pair = highest > MOST_IN_BASELINE ? [one, two, 1] : [256 * one + two];
          chunk.set([...uvw, ...dates, ...pair, storedIntegrationS(integration, i, j)], filled);
          filled += parameters.length;
          // Phased with exactly the number that the file stores, so that a reader can undo it exactly; or with another
          // file's number, of any precision, so that its values are reproduced.
          fillGroup(chunk.subarray(filled, filled + 3 * products.length * channels), integration, {
            header,
            i,
            j,
            delayS: passThrough ? passThrough[2] / SPEED_OF_LIGHT_M_PER_S : uvw[2],
          });
          filled += 3 * products.length * channels;
        }
      }
      await flush();
      await putTable(groupsEnd);
      Object.assign(finished, {
        groups: finished.groups + groups,
        integrations: finished.integrations + 1,
        end: groupsEnd,
      });
      await putHeader(firstStart);
      await output.resize(paddedBytes(groupsEnd) + table.length);
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
      await output.resize(paddedBytes(finished.end) + table.length);
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

/** The day fraction as two single-precision numbers: together they resolve better than a nanosecond. */
function dateParameters(midnightJd: number, middle: Instant): [number, number] {
  const { midnightJd: day, dayFraction } = julianDate(middle);
  const days = day - midnightJd + dayFraction;
  const coarse = Math.fround(days);
  return [coarse, Math.fround(day - midnightJd - coarse + dayFraction)];
}

const parameterNames = (highestNumber: number): readonly string[] => [
  'UU',
  'VV',
  'WW',
  'DATE',
  'DATE',
  ...(highestNumber > MOST_IN_BASELINE ? ['ANTENNA1', 'ANTENNA2', 'SUBARRAY'] : ['BASELINE']),
  'INTTIM',
];

function primaryHeader(
  header: VisibilityHeader,
  parameters: readonly string[],
  known: { readonly start: Instant; readonly groups: number },
): Uint8Array {
  const { phaseCentre, frequenciesHz, telescope } = header;
  const channels = frequenciesHz.length;
  const spacingHz =
    channels > 1 ? (frequenciesHz[channels - 1] - frequenciesHz[0]) / (channels - 1) : header.channelWidthHz;
  const codes = writtenProducts(header).map(({ code }) => code);
  const axes = [
    ['COMPLEX', 3, 1, 1],
    ['STOKES', codes.length, codes[0], codes.length > 1 ? codes[1] - codes[0] : -1],
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
    // Wide enough for any count: the header keeps its length when this is filled in.
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
    ...textCards('INSTRUME', header.instrument ?? telescope.name),
    ...textCards('OBJECT', header.object),
    realCard('OBSRA', numberOr(header.extraKeywords?.OBSRA, phaseCentre.raDeg)),
    realCard('OBSDEC', numberOr(header.extraKeywords?.OBSDEC, phaseCentre.decDeg)),
    realCard('EPOCH', 2000),
    ...textCards('RADESYS', 'ICRS'),
    // pyuvdata accepts only lower-case frames, and reads this card first. AIPS and casacore use EPOCH.
    ...textCards('PHSFRAME', 'icrs'),
    realCard('BSCALE', 1),
    realCard('BZERO', 0),
    ...textCards('BUNIT', (header.units ?? 'uncalib').replace('uncalib', 'UNCALIB')),
    realCard('CHWIDTH', header.channelWidthHz, 'width of a channel, Hz'),
    ...(header.xOrientation === 'unknown' ? [] : textCards('XORIENT', 'EAST', 'X dipoles lie east-west')),
    ...commentCards(header.extraKeywords?.COMMENT),
    ...cardsOf(header.extraKeywords).flatMap(([keyword, value]) => keywordCards(keyword, value)),
    ...header.history.flatMap((line) => remarkCards('HISTORY', line)),
    // AIPS reads the sort order here: time, then baseline.
    ...remarkCards('HISTORY', "AIPS   SORT ORDER = 'TB'"),
  ]);
}

const numberOr = (value: KeywordValue | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

const commentCards = (text: KeywordValue | undefined): string[] =>
  typeof text === 'string' ? text.split('\n').flatMap((line) => remarkCards('COMMENT', line)) : [];

const keywordCards = (keyword: string, value: KeywordValue): string[] => {
  if (typeof value === 'string') return textCards(keyword, value);
  if (typeof value === 'boolean') return [logicalCard(keyword, value)];
  if (!Number.isFinite(value)) return textCards(keyword, String(value));
  return [Number.isSafeInteger(value) ? integerCard(keyword, value) : realCard(keyword, value)];
};

function checkHeader(path: string, header: VisibilityHeader): void {
  const { telescope, frequenciesHz, polarisations } = header;
  const codes = writtenProducts(header).map(({ code }) => code);
  if (codes.length === 0) refuse(path, 'has no product to write', 'keep at least one');
  if (codes.some((code, k) => k > 1 && code - codes[k - 1] !== codes[1] - codes[0]))
    refuse(
      path,
      `products ${codes.join(', ')} are not evenly numbered, as UVFITS needs them`,
      'write UVH5, or choose others',
    );
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
