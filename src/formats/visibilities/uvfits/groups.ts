/**
 * From rows of visibilities, anywhere in a FITS file, to unphased integrations in the canonical order: shared by UVFITS
 * and FITS-IDI. A row of the pair (A1, A2) holds S = V₁₂·e^(−2πi f WW), so V₁₂ = S·e^(+2πi f WW), and V₂₁[p₂][p₁] =
 * conj(V₁₂[p₁][p₂]).
 */
import { refuse } from '../../../core/errors.js';
import { addSeconds, instant, secondsBetween, type Instant } from '../../../core/instant.js';
import { formatSeconds, SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot } from '../../../core/vector.js';
import { skyFrame, type SkyPosition } from '../../../sky/frame.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { recordingSeen } from '../pass-through.js';
import { exchangeLines, orientationHere, splitTable, turnedToEast } from '../header-facts.js';
import { severalTargetsLine } from '../targets.js';
import { checkUvw, placesInUse, type Places, type UvwRow } from '../uvw-fit.js';
import { unitsFrom, type FitsUnit } from '../../fits/fits.js';
import type { UnusedAntenna, VisibilityFile, VisibilityHeader } from '../../format.js';
import {
  codesInOurOrder,
  feedsOf,
  gather,
  polarisationsOf,
  type Gathering,
  type StoredProduct,
  noFaults,
} from '../../io/gather.js';
import { openOn, withinMemory, type InputFile } from '../../io/input.js';
import type { Antennas } from './antennas.js';
import type { UvfitsLayout } from './layout.js';
import {
  readGroups,
  rowLengthS,
  type GroupIndex,
  type GroupReader,
  type GroupValues,
  type TimeSlot,
} from './rows.js';

/** Opens a file for `read`, which then owns it. */
export const openTaken = (
  path: string,
  read: (file: InputFile) => Promise<VisibilityFile>,
): Promise<VisibilityFile> => withinMemory(path, () => openOn(path, read));

/** All tables by name; some occur several times. */
export async function readTables(
  file: InputFile,
  primary: FitsUnit,
): Promise<ReadonlyMap<string, readonly FitsUnit[]>> {
  const tables = new Map<string, FitsUnit[]>();
  for await (const unit of unitsFrom(file, primary.end)) {
    const name = unit.header.text('EXTNAME', '').trim();
    tables.set(name, [...(tables.get(name) ?? []), unit]);
  }
  return tables;
}

export interface OpenedGroups {
  readonly file: InputFile;
  readonly format: string;
  readonly telescopeName: string;
  readonly layout: UvfitsLayout;
  readonly antennas: Antennas;
  readonly reader: GroupReader;
  readonly index: GroupIndex;
  /** Several, none selected. */
  readonly targets?: string | undefined;
  /** The phase centre of the first source. */
  readonly phaseCentre: SkyPosition;
  readonly object: string;
  readonly history: readonly string[];
  /** Replaces the file's station positions. */
  readonly places?: Telescope | undefined;
  /** Use its uvw whatever the positions are. */
  readonly uvw?: 'file' | undefined;
  /** Assumptions from the tables before the groups. */
  readonly assumed?: readonly string[];
  /** Header facts of some formats. */
  readonly facts: Pick<VisibilityHeader, 'units' | 'xOrientation' | 'instrument' | 'extraKeywords'>;
  readonly details: Readonly<Record<string, unknown>>;
}

export function visibilitiesOf(of: OpenedGroups): VisibilityFile {
  const { file, reader, index, phaseCentre } = of;
  const { antennas, unused } = usedAntennas(of.antennas, index, file.path);
  const { xOrientation } = of.facts;
  // X that points north is our Y, also a single one.
  const products = of.layout.products.map((product) => turnedToEast(product, xOrientation));
  const layout = { ...of.layout, products, polarisations: polarisationsOf(products) };
  const allRows = (antennas.stations.length * (antennas.stations.length + 1)) / 2;
  const header: VisibilityHeader = {
    telescope: telescopeOf(antennas, layout, of.telescopeName),
    ...of.facts,
    ...(xOrientation && { xOrientation: orientationHere(xOrientation) }),
    ...(unused.length > 0 && { unusedAntennas: unused }),
    ...((index.rows.most !== allRows || index.rows.times !== 'alike') && { rows: index.rows }),
    polarisations: layout.polarisations,
    ...codesFor(of, antennas, products),
    feeds: feedsOf(layout.products),
    ...(antennas.feedFrame && { feedFrame: antennas.feedFrame }),
    frequenciesHz: Float64Array.from(layout.channels, ({ frequencyHz }) => frequencyHz),
    channelWidthHz: layout.channelWidthHz,
    phaseCentre,
    object: of.object,
    history: of.history,
  };
  const utcOffsetS = utcOffset(antennas, file.path);
  const uvw = uvwOf(of, antennas, header);
  const faults = noFaults();
  // Several sources have several phase centres, and the header gives only the first.
  const stoppedAt = index.sources.length === 1 ? phaseCentre : undefined;
  return {
    kind: 'visibilities',
    path: file.path,
    format: of.format,
    header,
    telescope: header.telescope,
    integrationCount: index.slots.length,
    durationsS: Float64Array.from(index.slots, (_, k) => durationOf(index.slots, k)),
    ...assumptionsOf(of, uvw.assumed),
    ...(of.targets !== undefined && { targets: of.targets }),
    details: of.details,
    faults,
    integrations: async function* () {
      Object.assign(faults, noFaults());
      for (let k = 0; k < index.slots.length; k++) {
        const slot = index.slots[k];
        const durationS = durationOf(index.slots, k);
        const middle = inUtc(slot.middle, utcOffsetS);
        const gathering = gather({
          path: file.path,
          channels: layout.channels.length,
          stations: antennas.stations.length,
          polarisations: layout.polarisations,
          products,
          values: 'mean',
          faults,
          ...(stoppedAt && { stoppedAt }),
        });
        const delayBetween =
          uvw.isFlat && stoppedAt
            ? delaysBy(placesInUse(header.telescope, of.places), middle, stoppedAt, uvw.sign)
            : undefined;
        await gatherSlot(gathering, slot, { file, layout, antennas, reader }, delayBetween);
        yield gathering.finish({ start: addSeconds(middle, -durationS / 2), durationS });
      }
    },
    close: () => file.close(),
  };
}

/** A reading of another clock, not elapsed seconds: plain subtraction. */
const inUtc = ({ unixSeconds, fraction }: Instant, utcOffsetS: number): Instant =>
  instant(unixSeconds - utcOffsetS, fraction);

/** How far the file's uvw agree with its positions; rows of unlisted antennas are reported when read. */
function uvwOf(
  { file, index, places, uvw }: OpenedGroups,
  antennas: Antennas,
  { telescope, phaseCentre }: VisibilityHeader,
): ReturnType<typeof checkUvw> {
  const sample = sampleOf(file.path, index, antennas);
  if (!sample) return { sign: 1, assumed: [] };
  return checkUvw(file.path, placesInUse(telescope, places), {
    ...sample,
    stoppedAt: phaseCentre,
    definedSign: 1,
    uvw,
    flat: index.sources.length === 1 ? 'computed' : 'kept',
  });
}

/** The rows of one time, with the stations of their antennas. */
export function sampleOf(
  path: string,
  { sample }: GroupIndex,
  antennas: Antennas,
): { readonly middle: Instant; readonly rows: readonly UvwRow[] } | undefined {
  if (!sample) return undefined;
  const stationOf = new Map(antennas.numbers.map((number, s) => [number, s]));
  const metres = SPEED_OF_LIGHT_M_PER_S;
  return {
    middle: inUtc(sample.middle, utcOffset(antennas, path)),
    rows: sample.rows.flatMap(({ numbers: [one, two], uvwS: [u, v, w] }) => {
      const [s1, s2] = [stationOf.get(one), stationOf.get(two)];
      return s1 === undefined || s2 === undefined
        ? []
        : [{ s1, s2, uvwM: [u * metres, v * metres, w * metres] as const }];
    }),
  };
}

/** w of pairs of stations at one time from their positions, in seconds; the sign is that of the file's u and v. */
function delaysBy(
  { site, stations }: Places,
  middle: Instant,
  stoppedAt: SkyPosition,
  sign: 1 | -1,
): (s1: number, s2: number) => number {
  const { n } = skyFrame(site, middle).tangentAxes(stoppedAt);
  const deepM = stations.map(({ eastM, northM, upM }) => dot(n, { x: eastM, y: northM, z: upM }));
  return (s1, s2) => (sign * (deepM[s1] - deepM[s2])) / SPEED_OF_LIGHT_M_PER_S;
}

function codesFor(
  { file, index }: OpenedGroups,
  { numbers }: Antennas,
  products: readonly StoredProduct[],
): Pick<VisibilityHeader, 'products'> {
  const placeOf = new Map(numbers.map((number, place) => [number, place]));
  const pairs = [...index.pairs.values()].map(([one, two]): [number, number] => [
    placeOf.get(one) ?? 0,
    placeOf.get(two) ?? 0,
  ]);
  const codes = codesInOurOrder(file.path, products, pairs);
  return codes ? { products: codes } : {};
}

/** The antennas in the data: memory grows with the square of their number, and tables list whole telescopes. */
function usedAntennas(
  antennas: Antennas,
  index: GroupIndex,
  path: string,
): { readonly antennas: Antennas; readonly unused: readonly UnusedAntenna[] } {
  const nowhere = antennas.placeless.find((number) => index.antennas.has(number));
  if (nowhere !== undefined)
    refuse(
      path,
      `antenna ${nowhere} is in the data but has no position: its STABXYZ is (0, 0, 0)`,
      'correct its AN table, or export it without that antenna',
    );
  const isUsed = antennas.numbers.map((number) => index.antennas.has(number));
  const { stations, unused } = splitTable(antennas.stations, (row) => isUsed[row]);
  const numbers = antennas.numbers.filter((_, row) => isUsed[row]);
  // If there are none, the rows report each by number.
  return stations.length === 0
    ? { antennas, unused: [] }
    : { antennas: { ...antennas, stations, numbers }, unused };
}

/** Unknown facts, and the assumptions made. */
function assumptionsOf(of: OpenedGroups, oddUvw: readonly string[]): Pick<VisibilityFile, 'assumed'> {
  const { antennas, index, layout, targets } = of;
  const { slots } = index;
  const unknown = slots.findIndex(({ integrationS }) => !(integrationS !== undefined && integrationS > 0));
  const assumed = [
    ...(of.assumed ?? []),
    ...oddUvw,
    ...(index.oddLengths > 0
      ? [
          `${index.oddLengths} rows have an INTTIM above a day, or not a number: their length is treated as unknown`,
        ]
      : []),
    ...(unknown >= 0
      ? [
          `the integration time of ${index.oddLengths > 0 ? 'some of its rows' : 'its data'} is unknown (no INTTIM): assumed to be ${
            slots.length > 1
              ? `the spacing of its times, ${formatSeconds(durationOf(slots, unknown))} at first`
              : '1 s, since it has one time'
          }`,
        ]
      : []),
    ...(antennas.timeSystem === '' ? ['its time system is unknown (no TIMSYS): UTC is assumed'] : []),
    ...exchangeLines(layout.products, of.facts.xOrientation),
    ...(layout.weighted ? [] : ['it has no weights: every value has weight 1']),
    ...(targets === undefined ? [] : [severalTargetsLine(targets)]),
  ];
  return assumed.length > 0 ? { assumed } : {};
}

function telescopeOf(antennas: Antennas, layout: UvfitsLayout, name: string): Telescope {
  const seen: NonNullable<Antennas['own']> = {
    title: antennas.arrayName === '' ? name : antennas.arrayName,
    ...recordingSeen(layout.channels, layout.channelWidthHz),
  };
  return {
    name: name.trim(),
    site: antennas.site,
    stations: antennas.stations,
    polarisations: layout.polarisations,
    ...(antennas.own ?? seen),
    ...(antennas.mount && { mount: antennas.mount }),
    ...(antennas.feedAngleDeg !== undefined && { feedAngleDeg: antennas.feedAngleDeg }),
  };
}

function utcOffset({ timeSystem, taiMinusUtcS }: Antennas, path: string): number {
  if (['', 'UTC', 'UT', 'GMT'].includes(timeSystem)) return 0;
  if (!['IAT', 'TAI'].includes(timeSystem))
    refuse(path, `counts time in '${timeSystem}' (TIMSYS)`, 'export it with times in UTC or IAT');
  if (taiMinusUtcS > 0) return taiMinusUtcS;
  return refuse(path, `has times in ${timeSystem} without IATUTC`, 'add IATUTC to its AN table');
}

/** As in the file, else the interval to the next integration, else to the previous; a single one lasts 1 s. */
function durationOf(slots: readonly TimeSlot[], k: number): number {
  const { integrationS, middle } = slots[k];
  if (integrationS !== undefined && integrationS > 0) return integrationS;
  const next = slots.at(k + 1);
  if (next) return secondsBetween(middle, next.middle);
  return k > 0 ? secondsBetween(slots[k - 1].middle, middle) : 1;
}

/** `delayBetween`: w from the positions, if not in the file. */
async function gatherSlot(
  gathering: Gathering,
  slot: TimeSlot,
  { file, layout, antennas, reader }: Pick<OpenedGroups, 'file' | 'layout' | 'antennas' | 'reader'>,
  delayBetween: ((s1: number, s2: number) => number) | undefined,
): Promise<void> {
  const stationOf = new Map(antennas.numbers.map((number, s) => [number, s]));
  const memory = groupMemory(layout);
  for (const run of slot.runs) {
    for await (const chunk of readGroups(file, layout, run)) {
      for (let k = 0; k < chunk.groups; k++) {
        const where = `${file.path}, group ${chunk.firstGroup + k}`;
        const group = chunk.values.subarray(k * layout.groupElements, (k + 1) * layout.groupElements);
        const [number1, number2] = reader.antennas(group);
        const s1 = stationOf.get(number1);
        const s2 = stationOf.get(number2);
        if (s1 === undefined || s2 === undefined) {
          refuse(
            where,
            `antenna ${s1 === undefined ? number1 : number2} is not in the AN table`,
            'correct NOSTA or the baseline numbers',
          );
        }
        const [uS, vS, fileWS] = reader.uvwS(group);
        const wS = delayBetween ? delayBetween(s1, s2) : fileWS;
        const metres = SPEED_OF_LIGHT_M_PER_S;
        gathering.row(s1, s2, {
          uvwM: [uS * metres, vS * metres, wS * metres],
          integrationS: rowLengthS(reader, group),
        });
        addGroup(gathering, group, layout, wS, memory);
      }
    }
  }
}

/** Memory for one group, used again, and where its values are: [channel][product]. */
interface GroupMemory {
  readonly values: Float64Array;
  readonly weights: Float64Array;
  readonly frequenciesHz: Float64Array;
  readonly places: Int32Array;
  /** −1 where the file has no weights. */
  readonly weightPlaces: Int32Array;
}

function groupMemory(layout: UvfitsLayout): GroupMemory {
  const { channels, products, dataOffset, weightStart, weighted } = layout;
  const each = channels.flatMap((channel) => products.map((product) => ({ channel, product })));
  return {
    values: new Float64Array(2 * each.length),
    weights: new Float64Array(each.length),
    frequenciesHz: Float64Array.from(channels, ({ frequencyHz }) => frequencyHz),
    places: Int32Array.from(each, ({ channel, product }) => dataOffset + channel.offset + product.offset),
    weightPlaces: Int32Array.from(each, ({ channel, product }) =>
      weighted ? weightStart + channel.weightOffset + product.weightOffset : -1,
    ),
  };
}

/** Unphases one group. */
function addGroup(
  gathering: Gathering,
  group: GroupValues,
  { partStride, products }: UvfitsLayout,
  delayS: number,
  { values, weights, frequenciesHz, places, weightPlaces }: GroupMemory,
): void {
  const count = products.length;
  for (let c = 0, k = 0; c < frequenciesHz.length; c++) {
    const phase = 2 * Math.PI * frequenciesHz[c] * delayS;
    const cos = Math.cos(phase);
    const sin = Math.sin(phase);
    for (const end = k + count; k < end; k++) {
      const re = group[places[k]];
      const im = group[places[k] + partStride];
      values[2 * k] = re * cos - im * sin;
      values[2 * k + 1] = im * cos + re * sin;
      weights[k] = weightPlaces[k] < 0 ? 1 : group[weightPlaces[k]];
    }
  }
  gathering.fill(values, weights);
}
