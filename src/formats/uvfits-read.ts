/**
 * Opens UVFITS and gives back unphased integrations in the canonical order. A group of the pair (A1, A2) holds
 * S = V₁₂·e^(−2πi f WW), so V₁₂ = S·e^(+2πi f WW), and V₂₁[p₂][p₁] = conj(V₁₂[p₁][p₂]).
 */
import type { Integration } from '../core/blocks.js';
import { CorellaError, refuse } from '../core/errors.js';
import { addSeconds, secondsBetween } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { SkyPosition } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { readUnit, type FitsUnit } from './fits.js';
import { readTable } from './fits-table.js';
import { recordingSeen } from './filed.js';
import type { VisibilityFile, VisibilityHeader } from './format.js';
import { feedsOf, gather, type Gathering } from './gather.js';
import { openInput, type InputFile } from './input.js';
import { readAntennas, type Antennas } from './uvfits-antennas.js';
import { planUvfits, type UvfitsLayout } from './uvfits-layout.js';
import {
  groupReader,
  indexGroups,
  readGroups,
  type GroupIndex,
  type GroupReader,
  type TimeSlot,
} from './uvfits-rows.js';

export async function openUvfits(path: string): Promise<VisibilityFile> {
  const file = await openInput(path);
  try {
    return await openGroups(file);
  } catch (error) {
    await file.close();
    if (error instanceof RangeError) {
      throw new CorellaError(
        {
          where: path,
          what: 'promises more than memory can hold',
          fix: 'its header is damaged: copy it again',
        },
        { cause: error },
      );
    }
    throw error;
  }
}

async function openGroups(file: InputFile): Promise<VisibilityFile> {
  const { path } = file;
  const primary = (await readUnit(file, 0)) ?? refuse(path, 'the file is empty', 'copy it again');
  const { header } = primary;
  const missingBytes = primary.dataStart + primary.dataBytes - file.sizeBytes;
  if (missingBytes > 0) {
    refuse(
      path,
      `truncated: its header promises ${header.real('GCOUNT', 1)} groups, of which ${missingBytes} bytes are missing`,
      'copy it again',
    );
  }
  const tables = await readTables(file, primary);
  const antennaUnit =
    tables.get('AIPS AN') ??
    refuse(path, 'has no AIPS AN table of antennas', 'export it with one, or copy it again');
  const antennas = await readAntennas(file, antennaUnit);
  const layout = planUvfits(primary, await ifOffsets(file, tables.get('AIPS FQ')));
  if (layout.groupCount === 0) refuse(path, 'holds no visibilities', 'check what wrote it');
  const equinox = header.real('EPOCH', header.real('EQUINOX', 2000));
  if (equinox !== 2000) {
    refuse(path, `gives its phase centre for the equinox ${equinox}`, 'export it in J2000');
  }
  const reader = groupReader(layout, path);
  const index = await indexGroups(file, layout, reader);
  const source = await sourceOf(file, tables.get('AIPS SU'), layout);
  const visibilityHeader: VisibilityHeader = {
    telescope: telescopeOf(antennas, layout, header.text('TELESCOP', 'unknown')),
    polarisations: layout.polarisations,
    feeds: feedsOf(layout.products),
    frequenciesHz: Float64Array.from(layout.channels, ({ frequencyHz }) => frequencyHz),
    channelWidthHz: layout.channelWidthHz,
    phaseCentre: source?.position ?? layout.phaseCentre,
    object: source?.name ?? header.text('OBJECT', 'unknown'),
    history: header.remarks,
  };
  const utcOffsetS = utcOffset(antennas, path);
  // Several sources stop their fringes at several places, and the header names the first alone.
  const stoppedAt = index.sources.length === 1 ? visibilityHeader.phaseCentre : undefined;
  return {
    kind: 'visibilities',
    path,
    format: 'uvfits',
    header: visibilityHeader,
    telescope: visibilityHeader.telescope,
    integrationCount: index.slots.length,
    details: {
      ...details({ primary, layout, antennas, index, reader }),
      firstGroup: await groupFacts(file, layout, 0),
      lastGroup: await groupFacts(file, layout, layout.groupCount - 1),
    },
    integrations: async function* () {
      for (let k = 0; k < index.slots.length; k++) {
        const slot = index.slots[k];
        const durationS = durationOf(index.slots, k);
        const start = addSeconds(slot.middle, -durationS / 2 - utcOffsetS);
        yield {
          start,
          durationS,
          ...(await gatherSlot(file, { layout, antennas, reader, slot, stoppedAt })),
        };
      }
    },
    close: () => file.close(),
  };
}

async function readTables(file: InputFile, primary: FitsUnit): Promise<Map<string, FitsUnit>> {
  const tables = new Map<string, FitsUnit>();
  for (let unit = await readUnit(file, primary.end); unit; unit = await readUnit(file, unit.end)) {
    const name = unit.header.text('EXTNAME', '').trim();
    if (!tables.has(name)) tables.set(name, unit);
  }
  return tables;
}

async function ifOffsets(file: InputFile, unit: FitsUnit | undefined): Promise<number[] | undefined> {
  if (!unit) return undefined;
  const table = await readTable(file, unit);
  return table.rowCount > 0 && table.has('IF FREQ') ? table.numbers('IF FREQ', 1)[0] : undefined;
}

/** Multi-source files keep directions in a table of their own and leave the RA and DEC axes at zero. */
async function sourceOf(file: InputFile, unit: FitsUnit | undefined, { phaseCentre }: UvfitsLayout) {
  if (!unit || phaseCentre.raDeg !== 0 || phaseCentre.decDeg !== 0) return undefined;
  const table = await readTable(file, unit);
  if (table.rowCount === 0 || !table.has('RAEPO') || !table.has('DECEPO')) return undefined;
  return {
    name: table.has('SOURCE') ? table.texts('SOURCE')[0] : 'unknown',
    position: { raDeg: table.numbers('RAEPO', 1)[0][0], decDeg: table.numbers('DECEPO', 1)[0][0] },
  };
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
  };
}

function utcOffset({ timeSystem, taiMinusUtcS }: Antennas, path: string): number {
  if (!['IAT', 'TAI'].includes(timeSystem)) return 0;
  if (taiMinusUtcS > 0) return taiMinusUtcS;
  return refuse(path, `counts time in ${timeSystem} but says no IATUTC`, 'add IATUTC to its AN table');
}

/** As the file says, else the distance to the next integration, else to the one before; a lone one lasts 1 s. */
function durationOf(slots: readonly TimeSlot[], k: number): number {
  const { integrationS, middle } = slots[k];
  if (integrationS !== undefined && integrationS > 0) return integrationS;
  const next = slots.at(k + 1);
  if (next) return secondsBetween(middle, next.middle);
  return k > 0 ? secondsBetween(slots[k - 1].middle, middle) : 1;
}

interface Gathered {
  readonly layout: UvfitsLayout;
  readonly antennas: Antennas;
  readonly reader: GroupReader;
  readonly slot: TimeSlot;
  readonly stoppedAt: SkyPosition | undefined;
}

async function gatherSlot(file: InputFile, of: Gathered): Promise<Omit<Integration, 'start' | 'durationS'>> {
  const { layout, antennas, reader, slot, stoppedAt } = of;
  const gathering = gather({
    channels: layout.channels.length,
    stations: antennas.stations.length,
    polarisations: layout.polarisations,
    products: layout.products,
    values: 'mean',
    ...(stoppedAt && { stoppedAt }),
  });
  const stationOf = new Map(antennas.numbers.map((number, s) => [number, s]));
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
        const [uS, vS, wS] = reader.uvwS(group);
        const metres = SPEED_OF_LIGHT_M_PER_S;
        gathering.row(s1, s2, {
          uvwM: [uS * metres, vS * metres, wS * metres],
          integrationS: reader.integrationS(group),
        });
        addGroup(gathering, { group, layout, delayS: wS, where });
      }
    }
  }
  return gathering.finish();
}

/** Sets the fringes of one group going again. */
function addGroup(
  gathering: Gathering,
  row: {
    readonly group: Float32Array;
    readonly layout: UvfitsLayout;
    readonly delayS: number;
    readonly where: string;
  },
): void {
  const { group, layout, delayS } = row;
  const { partStride } = layout;
  layout.channels.forEach(({ frequencyHz, offset }, c) => {
    const phase = 2 * Math.PI * frequencyHz * delayS;
    const cos = Math.cos(phase);
    const sin = Math.sin(phase);
    for (const product of layout.products) {
      const at = layout.dataOffset + offset + product.offset;
      const weight = layout.weighted ? group[at + 2 * partStride] : 1;
      const re = group[at];
      const im = group[at + partStride];
      if (weight > 0 && !Number.isFinite(re + im + weight)) {
        refuse(
          row.where,
          `channel ${c}, ${product.label} is not a number`,
          'flag it (weight 0) or export it again',
        );
      }
      gathering.add(c, product, re * cos - im * sin, im * cos + re * sin, weight);
    }
  });
}

/** A group as the file has it: its parameters in their order, scaled, and its first and last (re, im, weight). */
async function groupFacts(file: InputFile, layout: UvfitsLayout, firstGroup: number): Promise<object> {
  for await (const { values } of readGroups(file, layout, { firstGroup, groups: 1 })) {
    const data = values.subarray(layout.dataOffset);
    const parts = layout.weighted ? [0, 1, 2] : [0, 1];
    // Of an axis order other than COMPLEX first the parts lie apart.
    const triple = (at: number): number[] => parts.map((part) => data[at + part * layout.partStride]);
    return {
      parameters: layout.parameters.map(({ scale, zero, index }) => values[index] * scale + zero),
      firstVisibility: triple(0),
      lastVisibility: triple(data.length - 1 - (parts.length - 1) * layout.partStride),
    };
  }
  return {};
}

function details(of: {
  readonly primary: FitsUnit;
  readonly layout: UvfitsLayout;
  readonly antennas: Antennas;
  readonly index: GroupIndex;
  readonly reader: GroupReader;
}): Record<string, unknown> {
  const { primary, layout, antennas, index, reader } = of;
  const { header } = primary;
  const highestHz = layout.channels[layout.channels.length - 1].frequencyHz;
  return {
    object: header.text('OBJECT', 'unknown'),
    dateObs: header.text('DATE-OBS', ''),
    instrument: header.text('INSTRUME', ''),
    unit: header.text('BUNIT', ''),
    groups: layout.groupCount,
    parameters: layout.parameters.map(({ name }) => name),
    products: layout.products.map(({ label }) => label),
    weights: layout.weighted ? 'in the file' : 'none: every value counts 1',
    baselineForm: reader.baselineForm,
    antennaNumbers: antennas.numbers,
    antennaPositions: antennas.positions,
    frame: antennas.frame,
    timeSystem: antennas.timeSystem === '' ? 'not said: taken as UTC' : antennas.timeSystem,
    integrationTime:
      index.slots[0].integrationS === undefined ? 'not said: taken from the spacing of times' : 'in the file',
    sources: index.sources,
    longestDelayS: index.longestDelayS,
    // WW is kept in single precision, which limits how well fringes can be set going again.
    phaseErrorTurns: index.longestDelayS * 2 ** -24 * highestHz,
    history: header.remarks,
  };
}
