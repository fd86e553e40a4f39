/**
 * An MWA observation from its metafits: one row of TILEDATA per input gives its tile and polarisation, the tile's
 * position, its cable length and its flag; the primary header gives the rest.
 */
import { refuse } from '../../../core/errors.js';
import type { SkyPosition } from '../../../sky/frame.js';
import { loadTelescope } from '../../../telescope/load.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { readUnit, unitsFrom, type FitsHeader } from '../../fits/fits.js';
import { readTable, type FitsTable } from '../../fits/table.js';
import { withInput } from '../../io/input.js';

/** Cable delay relative to vacuum, per physical length: 1 over the velocity factor of the coaxial line. */
const CABLE_SLOWNESS = 1.204;

/** The correlator's fringe-stopping direction (GEODEL). */
const stoppedTowards = ['nowhere', 'zenith', 'tile pointing', 'phase centre'] as const;
export type StoppedTowards = (typeof stoppedTowards)[number];

export interface Observation {
  readonly path: string;
  readonly obsId: number;
  readonly telescope: Telescope;
  /** inputNumber : [a], the correlator's number of each input (column Input). */
  readonly inputNumbers: readonly number[];
  /** flagged : [a] */
  readonly flagged: readonly boolean[];
  /** cableM : [a], electrical lengths relative to one another. */
  readonly cableM: readonly number[];
  /** Receiver channels in ascending order; channel k is centred at k · 1.28 MHz. */
  readonly coarseChannels: readonly number[];
  readonly fineChannelHz: number;
  readonly integrationS: number;
  /** Planned number of integrations; 0 if absent. */
  readonly scans: number;
  /** Unix seconds when the receivers had settled; 0 if absent. */
  readonly goodFromUnixS: number;
  readonly phaseCentre: SkyPosition;
  readonly pointing: SkyPosition & { readonly azimuthDeg: number; readonly altitudeDeg: number };
  readonly object: string;
  readonly history: readonly string[];
  /** The correlator's corrections of the phases. */
  readonly applied: {
    readonly cables: 'applied' | 'not applied';
    readonly calibration: 'applied' | 'not applied';
    readonly stopped: StoppedTowards;
  };
  /** For display. */
  readonly mode: string;
  readonly project: string;
  readonly delayMode: string;
  readonly rawScale: number;
}

const MOST_INPUTS = 4096;

export const readMetafits = (path: string): Promise<Observation> =>
  withInput(
    path,
    async (file) => {
      const primary = (await readUnit(file, 0)) ?? refuse(path, 'is empty', 'copy it again');
      for await (const unit of unitsFrom(file, primary.end))
        if (unit.header.text('EXTNAME', '').trim() === 'TILEDATA')
          return observationOf(path, primary.header, await readTable(file, unit));
      return refuse(path, 'has no table TILEDATA', 'it is no MWA metafits: check where it came from');
    },
    'copy it from the archive, or name another with source.metafits',
  );

async function observationOf(path: string, header: FitsHeader, table: FitsTable): Promise<Observation> {
  const preset = await loadTelescope('mwa128');
  const inputs = readInputs(path, table);
  const stations = inputs
    .filter((_, a) => a % 2 === 0)
    .map(({ tile, eastM, northM, heightM }) => ({
      name: tile,
      eastM,
      northM,
      upM: heightM - preset.site.heightM,
    }));
  const fineChannelHz = 1000 * header.real('FINECHAN');
  const integrationS = header.real('INTTIME');
  if (!(fineChannelHz >= 100 && fineChannelHz <= 1.28e6) || !(integrationS > 0 && integrationS <= 3600)) {
    refuse(
      path,
      `gives channels of ${fineChannelHz} Hz over ${integrationS} s`,
      'FINECHAN or INTTIME is damaged: copy it again',
    );
  }
  const pointing = {
    ...position(header, 'RA', 'DEC'),
    azimuthDeg: header.real('AZIMUTH', 0),
    altitudeDeg: header.real('ALTITUDE', 90),
  };
  const stopped = stoppedTowards[header.real('GEODEL', 0)] as StoppedTowards | undefined;
  if (stopped === undefined)
    refuse(
      path,
      `card GEODEL = ${header.real('GEODEL')} is none we know`,
      'known are 0 (none), 1 (zenith), 2 (tile pointing) and 3 (tracking)',
    );
  return {
    path,
    obsId: header.whole('GPSTIME', 0, 1e11),
    telescope: {
      ...preset,
      name: 'MWA',
      title: `Murchison Widefield Array, ${stations.length} tiles`,
      stations,
    },
    inputNumbers: inputs.map(({ input }) => input),
    flagged: inputs.map(({ flag }) => flag !== 0),
    cableM: inputs.map(({ cableM }) => cableM),
    coarseChannels: coarseChannels(header),
    fineChannelHz,
    integrationS,
    scans: Math.max(0, Math.floor(header.real('NSCANS', 0))),
    goodFromUnixS: header.real('GOODTIME', 0),
    phaseCentre:
      header.has('RAPHASE') && header.has('DECPHASE') ? position(header, 'RAPHASE', 'DECPHASE') : pointing,
    pointing,
    object: header.text('CALIBSRC', '') || header.text('FILENAME', 'unknown'),
    history: header.remarks,
    applied: {
      cables: header.real('CABLEDEL', 0) === 0 ? 'not applied' : 'applied',
      calibration: header.real('CALIBDEL', 0) === 0 ? 'not applied' : 'applied',
      stopped,
    },
    mode: header.text('MODE', 'unknown'),
    project: header.text('PROJECT', 'unknown'),
    delayMode: header.text('DELAYMOD', 'NODELAYS'),
    rawScale: header.real('RAWSCALE', 1),
  };
}

function position(header: FitsHeader, raCard: string, decCard: string): SkyPosition {
  const [raDeg, decDeg] = [header.real(raCard), header.real(decCard)];
  if (Math.abs(raDeg) > 360 || Math.abs(decDeg) > 90)
    refuse(header.where, `${raCard} = ${raDeg} and ${decCard} = ${decDeg} are no place in the sky`);
  return { raDeg, decDeg };
}

function coarseChannels(header: FitsHeader): number[] {
  const text = header.text('CHANNELS');
  const channels = [
    ...new Set(text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))),
  ];
  const odd = channels.find((channel) => !Number.isSafeInteger(channel) || channel < 1 || channel > 255);
  if (odd !== undefined)
    refuse(header.where, `card CHANNELS = '${text}' is no list of receiver channels`, 'copy it again');
  return channels.sort((x, y) => x - y);
}

interface InputRow {
  readonly input: number;
  readonly tile: string;
  readonly flag: number;
  readonly cableM: number;
  readonly eastM: number;
  readonly northM: number;
  readonly heightM: number;
}

/** Rows by a = tile · 2 + polarisation: tiles in the order of column Antenna, X before Y. */
function readInputs(path: string, table: FitsTable): InputRow[] {
  if (table.rowCount < 2 || table.rowCount % 2 !== 0 || table.rowCount > MOST_INPUTS)
    refuse(path, `lists ${table.rowCount} inputs`, 'it should list two for every tile: copy it again');
  const number = (column: string): number[] => table.numbers(column, 1).map(([value]) => value);
  const [input, antenna, flag] = [number('INPUT'), number('ANTENNA'), number('FLAG')];
  const [east, north, height] = [number('EAST'), number('NORTH'), number('HEIGHT')];
  const [tile, pol, length] = [table.texts('TILENAME'), table.texts('POL'), table.texts('LENGTH')];
  const rows = new Array<InputRow | undefined>(table.rowCount);
  for (let row = 0; row < table.rowCount; row++) {
    const where = `${path}, TILEDATA row ${row}`;
    const a = 2 * antenna[row] + 'XY'.indexOf(pol[row]);
    if (!['X', 'Y'].includes(pol[row]) || !(a >= 0 && a < table.rowCount) || rows[a] !== undefined) {
      refuse(
        where,
        `antenna ${antenna[row]} ${pol[row]} does not fit ${table.rowCount / 2} tiles of X and Y`,
        'copy the metafits again',
      );
    }
    const place = [east[row], north[row], height[row]];
    if (!place.every((metres) => Math.abs(metres) < 1e6))
      refuse(where, `${tile[row]} stands at ${place.join(', ')} m`, 'copy the metafits again');
    rows[a] = {
      input: input[row],
      tile: tile[row],
      flag: flag[row],
      cableM: electricalM(length[row], where),
      eastM: east[row],
      northM: north[row],
      heightM: height[row],
    };
  }
  return rows.map((row, a) => row ?? refuse(path, `lacks input ${'XY'[a % 2]} of antenna ${a >> 1}`));
}

/** "EL_-656.14" is an electrical length; a bare number is a cable's physical length, in which signals are slower. */
function electricalM(text: string, where: string): number {
  const digits = text.replace(/^EL_/, '');
  const lengthM = digits.trim() === '' ? Number.NaN : Number(digits);
  const metres = digits === text ? CABLE_SLOWNESS * lengthM : lengthM;
  if (!(Math.abs(metres) < 1e5))
    refuse(where, `cable length '${text}' is no length`, 'copy the metafits again');
  return metres;
}
