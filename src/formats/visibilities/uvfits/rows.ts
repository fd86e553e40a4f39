/** The groups of a UVFITS file: antennas, time, delay along the line of sight, and file position. */
import { refuse } from '../../../core/errors.js';
import { fromJulianDate, type Instant } from '../../../core/instant.js';
import { hasOneCrossHand } from '../../io/gather.js';
import type { InputFile } from '../../io/input.js';
import { rowsPerTime } from '../header-facts.js';
import { chooseTarget } from '../targets.js';
import type { Parameter, UvfitsLayout } from './layout.js';

/** A group's numbers, in the file's own precision. */
export type GroupValues = Float32Array | Float64Array;

export interface GroupReader {
  /** Antenna numbers as in the file. */
  antennas(group: GroupValues): readonly [number, number];
  /** (r₁ − r₂)/c along u, v and w, the last towards the phase centre. */
  uvwS(group: GroupValues): readonly [number, number, number];
  /** Julian Date as a whole number of days and the rest. */
  julian(group: GroupValues): readonly [number, number];
  /** As in the file; undefined if absent. */
  integrationS(group: GroupValues): number | undefined;
  /** 1 unless the file has several subarrays or frequency setups. */
  subarray(group: GroupValues): number;
  frequencySetup(group: GroupValues): number;
  source(group: GroupValues): number;
  readonly baselineForm: 'BASELINE' | 'ANTENNA1, ANTENNA2';
}

/** No integration of visibilities is longer. */
const MOST_INTEGRATION_S = 86_400;

/** A row's integration time; undefined if absent or impossible. */
export function rowLengthS(reader: GroupReader, group: GroupValues): number | undefined {
  const integrationS = reader.integrationS(group);
  return integrationS !== undefined && integrationS <= MOST_INTEGRATION_S ? integrationS : undefined;
}

const valueOf = ({ scale, zero, index }: Parameter, group: GroupValues): number =>
  group[index] * scale + zero;

export function groupReader(layout: UvfitsLayout, path: string): GroupReader {
  const { parameters } = layout;
  const named = (name: string): Parameter | undefined =>
    parameters.find((parameter) => parameter.name === name);
  const [uu, vv, ww] = ['UU', 'VV', 'WW'].map((axis) => {
    const parameter =
      parameters.find(({ name }) => name.startsWith(axis)) ?? refuse(path, `has no parameter ${axis}`);
    // UU-L and the like are in wavelengths of the reference frequency, all others in seconds.
    const perSecond = parameter.name.startsWith(`${axis}-L`) ? layout.channels[0].frequencyHz : 1;
    return (group: GroupValues) => valueOf(parameter, group) / perSecond;
  });
  const dates = parameters.filter(({ name }) => /^_?DATE$/.test(name));
  if (dates.length === 0) refuse(path, 'has no parameter DATE', 'export it with Julian Dates');
  const [first, second] = [named('ANTENNA1'), named('ANTENNA2')];
  const baseline = named('BASELINE');
  const optional = (name: string, otherwise: number): ((group: GroupValues) => number) => {
    const parameter = named(name);
    return parameter ? (group) => Math.round(valueOf(parameter, group)) : () => otherwise;
  };
  const inttim = named('INTTIM');
  const common = {
    uvwS: (group: GroupValues): readonly [number, number, number] => [uu(group), vv(group), ww(group)],
    julian: (group: GroupValues) =>
      sumDays(dates.flatMap(({ scale, zero, index }) => [zero, group[index] * scale])),
    integrationS: (group: GroupValues) => (inttim ? valueOf(inttim, group) : undefined),
    frequencySetup: optional('FREQSEL', 1),
    source: optional('SOURCE', 1),
  };
  if (first && second) {
    return {
      ...common,
      baselineForm: 'ANTENNA1, ANTENNA2',
      subarray: optional('SUBARRAY', 1),
      antennas: (group) => [Math.round(valueOf(first, group)), Math.round(valueOf(second, group))],
    };
  }
  if (!baseline)
    refuse(path, 'has neither a parameter BASELINE nor ANTENNA1 and ANTENNA2', 'export it again');
  return {
    ...common,
    baselineForm: 'BASELINE',
    // The hundredths of a baseline number give the subarray, from 0.
    subarray: (group) => {
      const value = valueOf(baseline, group);
      return value > 65_536 ? 1 : Math.round((value - Math.floor(value)) * 100) + 1;
    },
    antennas: (group) => antennasOf(Math.floor(valueOf(baseline, group) + 0.001)),
  };
}

/** 256·A1 + A2, or 65536 + 2048·A1 + A2 if 256 are too few. */
export function antennasOf(baseline: number): readonly [number, number] {
  if (baseline <= 65_536) return [Math.floor(baseline / 256), baseline % 256];
  const rest = baseline - 65_536;
  return [Math.floor(rest / 2048), rest % 2048];
}

/** Whole days and the rest are summed separately: a Julian Date in one double resolves only 40 µs. */
export function sumDays(terms: readonly number[]): readonly [number, number] {
  let days = 0;
  let rest = 0;
  for (const term of terms) {
    const whole = Math.floor(term);
    days += whole;
    rest += term - whole;
  }
  const carry = Math.floor(rest);
  return [days + carry, rest - carry];
}

/** Rows that are contiguous in the file and in time. */
export interface Run {
  readonly firstGroup: number;
  readonly groups: number;
}

export interface TimeSlot {
  readonly middle: Instant;
  /** The longest of its rows': some files give each baseline its own. */
  readonly integrationS: number | undefined;
  readonly runs: readonly Run[];
}

/** Bytes per read. */
const CHUNK_BYTES = 2 ** 22;

/** Every group of a run in turn; the array is reused for the next. */
export async function* readGroups(
  file: InputFile,
  layout: UvfitsLayout,
  run: Run,
): AsyncGenerator<{ readonly firstGroup: number; readonly groups: number; readonly values: GroupValues }> {
  const elementBytes = layout.elementBytes ?? 4;
  const groupBytes = elementBytes * layout.groupElements;
  const chunkGroups = Math.max(1, Math.min(run.groups, Math.floor(CHUNK_BYTES / groupBytes)));
  const bytes = new Uint8Array(chunkGroups * groupBytes);
  for (let done = 0; done < run.groups; done += chunkGroups) {
    const groups = Math.min(chunkGroups, run.groups - done);
    const part = bytes.subarray(0, groups * groupBytes);
    const firstGroup = run.firstGroup + done;
    await file.readExactly(part, layout.dataStart + firstGroup * groupBytes);
    const elements = groups * layout.groupElements;
    const buffer = Buffer.from(part.buffer, 0, part.length);
    const values =
      elementBytes === 8
        ? new Float64Array(buffer.swap64().buffer, 0, elements)
        : new Float32Array(buffer.swap32().buffer, 0, elements);
    yield { firstGroup, groups, values };
  }
}

export interface GroupIndex {
  readonly slots: readonly TimeSlot[];
  readonly sources: readonly number[];
  /** The largest |WW| in the file. */
  readonly longestDelayS: number;
  /** Numbers of the antennas in its pairs. */
  readonly antennas: ReadonlySet<number>;
  /** Rows of each time. */
  readonly rows: { readonly most: number; readonly times: 'alike' | 'different' };
  /** Rows of one time and the first source, with uvw if any have them. */
  readonly sample?: {
    readonly middle: Instant;
    readonly rows: readonly {
      readonly numbers: readonly [number, number];
      readonly uvwS: readonly [number, number, number];
    }[];
  };
  /** Rows with an invalid integration time: not a number, or more than a day. */
  readonly oddLengths: number;
  /** Antenna pairs as in the rows, if their order distinguishes XY from YX; else empty. */
  readonly pairs: ReadonlyMap<string, readonly [number, number]>;
}

/** Enough to check whether uvw and positions agree. */
const SAMPLE_ROWS = 5000;

/** One pass over the file: groups the rows of each time, in any order, and stores runs rather than rows. */
export async function indexGroups(
  file: InputFile,
  layout: UvfitsLayout,
  reader: GroupReader,
  /** Skips groups of other sources. */
  onlySource?: number,
): Promise<GroupIndex> {
  const slots = new Map<
    number,
    { middle: Instant; integrationS: number | undefined; runs: { firstGroup: number; groups: number }[] }
  >();
  const sources = new Set<number>();
  const antennas = new Set<number>();
  const pairs = new Map<string, readonly [number, number]>();
  const isOrderKnown = hasOneCrossHand(layout.products);
  let sample:
    { tick: number; middle: Instant; rows: NonNullable<GroupIndex['sample']>['rows'][number][] } | undefined;
  /** Pairs whose uvw are 0, for files that have no others. */
  let unset: typeof sample;
  let longestDelayS = 0;
  let oddLengths = 0;
  let lastTick = Number.NaN;
  let origin = Number.NaN;
  for await (const { firstGroup, groups, values } of readGroups(file, layout, {
    firstGroup: 0,
    groups: layout.groupCount,
  })) {
    for (let k = 0; k < groups; k++) {
      const group = values.subarray(k * layout.groupElements, (k + 1) * layout.groupElements);
      const row = firstGroup + k;
      const [days, fraction] = reader.julian(group);
      checkGroup(file.path, row, { days, reader, group });
      if (onlySource !== undefined && reader.source(group) !== onlySource) {
        lastTick = Number.NaN;
        continue;
      }
      if (Number.isNaN(origin)) origin = days;
      // Microseconds since the first day: rows of one integration agree to better than that.
      const tick = Math.round((days - origin + fraction) * 86_400e6);
      const uvwS = reader.uvwS(group);
      longestDelayS = Math.max(longestDelayS, Math.abs(uvwS[2]));
      sources.add(reader.source(group));
      const pair = reader.antennas(group);
      if (pair[0] !== pair[1] && sources.size === 1) {
        const isUnset = uvwS.every((part) => part === 0);
        const middle = fromJulianDate(days, fraction);
        if (isUnset) unset ??= { tick, middle, rows: [] };
        else sample ??= { tick, middle, rows: [] };
        const rows = isUnset ? unset : sample;
        if (rows?.tick === tick && rows.rows.length < SAMPLE_ROWS) rows.rows.push({ numbers: pair, uvwS });
      }
      const integrationS = rowLengthS(reader, group);
      if (integrationS === undefined && reader.integrationS(group) !== undefined) oddLengths++;
      for (const number of pair) antennas.add(number);
      if (isOrderKnown) pairs.set(pair.join(), pair);
      const slot = slots.get(tick);
      if (slot === undefined) {
        slots.set(tick, {
          middle: fromJulianDate(days, fraction),
          integrationS,
          runs: [{ firstGroup: row, groups: 1 }],
        });
      } else {
        if ((integrationS ?? 0) > (slot.integrationS ?? 0)) slot.integrationS = integrationS;
        if (tick === lastTick) slot.runs[slot.runs.length - 1].groups++;
        else slot.runs.push({ firstGroup: row, groups: 1 });
      }
      lastTick = tick;
    }
  }
  const inOrder = [...slots.entries()].sort(([x], [y]) => x - y).map(([, slot]) => slot);
  return {
    slots: inOrder,
    sources: [...sources],
    longestDelayS,
    oddLengths,
    antennas,
    rows: rowsPerTime(inOrder.map(({ runs }) => runs.reduce((sum, { groups }) => sum + groups, 0))),
    pairs,
    ...((sample ?? unset) && { sample: sample ?? unset }),
  };
}

/** The groups of one source, or of all. */
export async function indexTarget(
  file: InputFile,
  layout: UvfitsLayout,
  reader: GroupReader,
  target: string | undefined,
  nameOf: (id: number) => string | undefined,
): Promise<{ readonly index: GroupIndex; readonly several?: string | undefined }> {
  const index = await indexGroups(file, layout, reader);
  const present = index.sources.map((id) => ({ id, name: nameOf(id)?.trim() ?? String(id) }));
  const { only, several } = chooseTarget(file.path, present, target);
  if (!only || present.length === 1) return { index, several };
  return { index: await indexGroups(file, layout, reader, only.id) };
}

function checkGroup(
  path: string,
  row: number,
  { days, reader, group }: { days: number; reader: GroupReader; group: GroupValues },
): void {
  const where = `${path}, group ${row}`;
  if (!(days > 2_400_000 && days < 2_500_000)) {
    refuse(
      where,
      `its DATE parameters sum to ${days}, no Julian Date`,
      'correct PSCAL and PZERO or export it again',
    );
  }
  const subarray = reader.subarray(group);
  if (Number.isNaN(subarray)) refuse(where, 'its BASELINE is no number', 'export it again');
  if (subarray !== 1) refuse(where, 'belongs to a second subarray', 'export subarrays to separate files');
  if (reader.frequencySetup(group) > 1) {
    refuse(where, 'belongs to a second frequency setup', 'export frequency setups to separate files');
  }
  const [, , delayS] = reader.uvwS(group);
  if (!(Math.abs(delayS) < 1)) refuse(where, `its WW is ${delayS} s`, 'UU, VV and WW must be in seconds');
  const integrationS = reader.integrationS(group);
  if (integrationS !== undefined && integrationS < 0)
    refuse(where, `its INTTIM is ${integrationS} s`, 'correct it: seconds above 0, or 0 where it is unknown');
}
