/** Opens UVFITS: visibilities as random groups, followed by tables of antennas, frequencies and sources. */
import { refuse } from '../../../core/errors.js';
import { readUnit, type FitsHeader, type FitsUnit } from '../../fits/fits.js';
import type { KeywordValue, OpenOptions, VisibilityFile } from '../../format.js';
import type { InputFile } from '../../io/input.js';
import type { SkyPosition } from '../../../sky/frame.js';
import { readAntennas, type Antennas } from './antennas.js';
import { readBands } from './bands.js';
import { keywordsOf, orientationOf, unitsOf } from '../header-facts.js';
import { fitsTurned } from '../uvw-fit.js';
import { openTaken, readTables, sampleOf, visibilitiesOf, type OpenedGroups } from './groups.js';
import { planUvfits, type UvfitsLayout } from './layout.js';
import { groupReader, indexTarget, readGroups, type GroupIndex } from './rows.js';
import { readSources, sourceOf } from './sources.js';

export const openUvfits = (path: string, options: OpenOptions = {}): Promise<VisibilityFile> =>
  openTaken(path, (file) => openGroups(file, options));

async function openGroups(
  file: InputFile,
  { target, telescope: places, uvw }: OpenOptions,
): Promise<VisibilityFile> {
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
    tables.get('AIPS AN')?.[0] ??
    refuse(
      path,
      'has no AIPS AN table of antennas',
      'if corella was killed while it wrote it, corella recover repairs it; otherwise export it with one, or copy it again',
    );
  const stated = await readAntennas(file, antennaUnit);
  const layout = planUvfits(primary, await readBands(file, tables.get('AIPS FQ')?.[0]));
  if (layout.groupCount === 0) refuse(path, 'holds no visibilities', 'check what wrote it');
  const equinox = equinoxOf(header);
  if (equinox !== 2000) {
    refuse(path, `gives its phase centre for the equinox ${equinox}`, 'export it in J2000');
  }
  const reader = groupReader(layout, path);
  const sources = await readSources(file, tables.get('AIPS SU')?.[0]);
  const { index, several } = await indexTarget(file, layout, reader, target, (id) => sources?.get(id)?.name);
  const { source, assumed } = sourceOf(file.path, sources, {
    headerPlace: layout.phaseCentre,
    id: layout.parameters.some(({ name }) => name === 'SOURCE') ? index.sources[0] : undefined,
  });
  const highestHz = layout.channels[layout.channels.length - 1].frequencyHz;
  const phaseCentre = source?.position ?? layout.phaseCentre;
  const turned = places ? undefined : await leftHanded(file, antennaUnit, { stated, index, phaseCentre });
  const antennas = turned ?? stated;
  return visibilitiesOf({
    file,
    format: 'uvfits',
    telescopeName: header.text('TELESCOP', 'unknown'),
    layout,
    antennas,
    reader,
    index,
    targets: several,
    places,
    uvw,
    phaseCentre,
    object: source?.name ?? header.text('OBJECT', 'unknown'),
    history: header.remarks,
    assumed: [
      ...(layout.assumed ?? []),
      ...assumed,
      ...(turned
        ? [
            "the Y of its antennas' positions has the sign of a left-handed frame, by its uvw (no XYZHAND): it is turned",
          ]
        : []),
    ],
    facts: factsOf(header, antennas, layout.phaseCentre),
    details: {
      object: header.text('OBJECT', 'unknown'),
      dateObs: header.text('DATE-OBS', ''),
      instrument: header.text('INSTRUME', ''),
      unit: header.text('BUNIT', ''),
      groups: layout.groupCount,
      parameters: layout.parameters.map(({ name }) => name),
      products: layout.products.map(({ label }) => label),
      weights: layout.weighted ? 'in the file' : 'none: every value has weight 1',
      baselineForm: reader.baselineForm,
      antennaNumbers: antennas.numbers,
      antennaPositions: antennas.positions,
      frame: antennas.frame,
      timeSystem: antennas.timeSystem === '' ? 'unspecified: UTC is assumed' : antennas.timeSystem,
      integrationTime:
        index.slots[0].integrationS === undefined
          ? 'unspecified: the spacing of times is used'
          : 'in the file',
      sources: index.sources,
      longestDelayS: index.longestDelayS,
      // WW is in single precision, which limits the accuracy of unphasing.
      phaseErrorTurns: index.longestDelayS * 2 ** -24 * highestHz,
      history: header.remarks,
      firstGroup: await groupFacts(file, layout, 0),
      lastGroup: await groupFacts(file, layout, layout.groupCount - 1),
    },
  });
}

/**
 * VLBI files before about 2010 have left-handed positions and no XYZHAND. Only their uvw show it, and only where they
 * leave no doubt.
 */
async function leftHanded(
  file: InputFile,
  unit: FitsUnit,
  of: { readonly stated: Antennas; readonly index: GroupIndex; readonly phaseCentre: SkyPosition },
): Promise<Antennas | undefined> {
  const { stated, index, phaseCentre } = of;
  const sample = unit.header.has('XYZHAND') ? undefined : sampleOf(file.path, index, stated);
  if (!sample) return undefined;
  const turned = await readAntennas(file, unit, true);
  return fitsTurned(stated, turned, { ...sample, stoppedAt: phaseCentre }) ? turned : undefined;
}

/** A year; some programs write 'J2000', such as ehtim. */
function equinoxOf(header: FitsHeader): number {
  const keyword = header.has('EPOCH') ? 'EPOCH' : 'EQUINOX';
  const value = header.values.get(keyword);
  const year = typeof value === 'string' ? /^[JB]?(\d{4}(?:\.\d*)?)$/i.exec(value.trim()) : null;
  return year ? Number(year[1]) : header.real(keyword, 2000);
}

function factsOf(header: FitsHeader, antennas: Antennas, centre: SkyPosition): OpenedGroups['facts'] {
  const units = unitsOf(header.text('BUNIT', ''));
  const instrument = header.text('INSTRUME', '').trim();
  const extraKeywords = {
    ...keywordsOf(header.values),
    ...pointingOf(header, antennas, centre),
    ...remarksOf(header),
  };
  const { feedsDeg } = antennas;
  return {
    units,
    xOrientation: header.has('XORIENT')
      ? orientationOf(header.text('XORIENT'))
      : feedsDeg === undefined
        ? 'unknown'
        : // Other feed rotations have no name here.
          Math.abs(feedsDeg - 90) < 1e-3
          ? 'east'
          : Math.abs(feedsDeg) < 1e-3
            ? 'north'
            : 'unknown',
    ...(instrument !== '' && instrument !== header.text('TELESCOP', '').trim() && { instrument }),
    ...(Object.keys(extraKeywords).length > 0 && { extraKeywords }),
  };
}

/** The pointing in others' files; our own cards repeat the phase centre unless preserved from another file. */
function pointingOf(
  header: FitsHeader,
  { own }: Antennas,
  { raDeg, decDeg }: SkyPosition,
): Readonly<Record<string, KeywordValue>> {
  const [ra, dec] = ['OBSRA', 'OBSDEC'].map((name) => header.values.get(name));
  if (own && ra === raDeg && dec === decDeg) return {};
  return { ...(typeof ra === 'number' && { OBSRA: ra }), ...(typeof dec === 'number' && { OBSDEC: dec }) };
}

const remarksOf = ({ comments }: FitsHeader): Readonly<Record<string, KeywordValue>> =>
  comments.length === 0 ? {} : { COMMENT: comments.join('\n') };

/** A group as in the file: its parameters in order, scaled, and its first and last (re, im, weight). */
async function groupFacts(file: InputFile, layout: UvfitsLayout, firstGroup: number): Promise<object> {
  for await (const { values } of readGroups(file, layout, { firstGroup, groups: 1 })) {
    const data = values.subarray(layout.dataOffset);
    const parts = layout.weighted ? [0, 1, 2] : [0, 1];
    // If COMPLEX is not the first axis, the parts are not adjacent.
    const triple = (at: number): number[] => parts.map((part) => data[at + part * layout.partStride]);
    return {
      parameters: layout.parameters.map(({ scale, zero, index }) => values[index] * scale + zero),
      firstVisibility: triple(0),
      lastVisibility: triple(data.length - 1 - (parts.length - 1) * layout.partStride),
    };
  }
  return {};
}
