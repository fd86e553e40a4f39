/** One gpubox or MWAX file: its coarse channel, and the position of each integration. */
import { basename } from 'node:path';
import { preparing } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { FITS_BLOCK_BYTES, readUnit, type FitsHeader, type FitsUnit } from '../../fits/fits.js';
import { openInput, type InputFile } from '../../io/input.js';
import {
  fineChannelsPerCoarse,
  legacyChannel,
  RECEIVER_CHANNEL_HZ,
  type Correlator,
  type Layout,
} from './layout.js';
import type { Observation } from './metafits.js';

export interface Held {
  readonly dataStart: number;
  /** Undefined if the file has no weights: all are 1. */
  readonly weightsStart: number | undefined;
}

export interface Piece {
  readonly file: InputFile;
  readonly correlator: Correlator;
  readonly coarse: number;
  readonly channels: number;
  /** BSCALE of the stored values, and their type: floats, or integers (BITPIX 32). */
  readonly scale: number;
  readonly stored: 'float32' | 'int32';
  /** By milliseconds since 1970. */
  readonly held: ReadonlyMap<number, Held>;
  /** Integrations truncated at the file's end. */
  readonly truncated: number;
  /** Integrations at a time already in the file: the first counts. */
  readonly repeated: number;
}

interface PieceHeader {
  readonly file: InputFile;
  readonly header: FitsHeader;
  readonly end: number;
  readonly correlator: Correlator;
  /** The observation's number, GPS seconds of its start. */
  readonly obsId: number;
}

/** 1061315448_20130823175130_gpubox07_01.fits, or …_ch137_000.fits; anything may be in between. */
const gpuboxName = /gpubox(\d{1,2})(?!\d)/i;
const mwaxName = /_ch(\d{1,3})(?!\d)/i;
export const isPieceName = (name: string, obsId: number): boolean =>
  name.startsWith(`${obsId}_`) && /\.fits$/i.test(name) && (gpuboxName.test(name) || mwaxName.test(name));

/** The caller closes `file` of the result. */
export const openPiece = (path: string): Promise<PieceHeader> =>
  preparing(async (closers) => {
    const file = closers.keep(await openInput(path));
    const primary = (await readUnit(file, 0)) ?? refuse(path, 'is empty', 'copy it again');
    const { header } = primary;
    const named = /^(\d{10})_/.exec(basename(path))?.[1];
    const obsId = Number(header.values.get('OBSID') ?? named);
    if (!Number.isSafeInteger(obsId) || obsId <= 0)
      refuse(path, 'neither its header nor its name states its observation', 'copy it again');
    return {
      file,
      header,
      end: primary.end,
      correlator: header.has('CORR_VER') ? 'mwax' : 'legacy',
      obsId,
    };
  });

export function coarseChannelOf(
  { file, correlator }: PieceHeader,
  observation: Observation,
  centreHz?: number,
): number {
  const name = basename(file.path);
  const found = (correlator === 'legacy' ? gpuboxName : mwaxName).exec(name);
  let channel: number | undefined;
  if (centreHz !== undefined) channel = Math.round(centreHz / RECEIVER_CHANNEL_HZ);
  else if (found)
    channel = correlator === 'legacy' ? legacyChannel(observation, Number(found[1])) : Number(found[1]);
  else
    refuse(
      file.path,
      'its name does not state its coarse channel',
      `keep the telescope's name (…${correlator === 'legacy' ? 'gpubox07_00' : 'ch137_000'}.fits) or give its middle with source.frequency`,
    );
  if (channel === undefined || !observation.coarseChannels.includes(channel)) {
    refuse(
      file.path,
      `${found?.[0] ?? 'its channel'} is not among the coarse channels ${observation.coarseChannels.join(', ')}`,
      `check that ${observation.path} belongs to it`,
    );
  }
  return channel;
}

/** The number of fine channels in the file's first integration. */
export async function channelsOf(piece: PieceHeader, observation: Observation): Promise<number> {
  const { file, correlator } = piece;
  const first = await readUnit(file, piece.end);
  if (first === undefined) refuse(file.path, 'holds no integration', 'copy it again');
  const most = fineChannelsPerCoarse(observation);
  if (correlator === 'legacy') return first.header.whole('NAXIS2', 1, most);
  const channels = first.header.whole('NAXIS1', 8, 8 * most) / 8;
  if (!Number.isSafeInteger(channels))
    refuse(file.path, `rows of ${8 * channels} floats are no whole channels of 8`, 'copy it again');
  return channels;
}

/** Reads the file's headers, but no data. */
export async function indexPiece(
  piece: PieceHeader,
  coarse: number,
  channels: number,
  layout: Layout,
): Promise<Piece> {
  const { file, correlator } = piece;
  const held = new Map<number, Held>();
  let truncated = 0;
  let repeated = 0;
  let scale: number | undefined;
  let bitpix: number | undefined;
  let latest: number | undefined;
  for (let at = piece.end; at + FITS_BLOCK_BYTES <= file.sizeBytes;) {
    const unit = await readUnit(file, at);
    if (unit === undefined) break;
    at = unit.end;
    if (unit.dataStart + unit.dataBytes > file.sizeBytes) {
      truncated++;
      break;
    }
    const millis = millisOf(unit.header);
    if (correlator === 'mwax' && isWeights(unit, layout)) {
      const last = latest === undefined ? undefined : held.get(latest);
      // Weights without visibilities are ignored.
      if (latest === millis && last?.weightsStart === undefined && last)
        held.set(millis, { ...last, weightsStart: unit.dataStart });
      continue;
    }
    checkShape(unit, layout);
    const own = unit.header.real('BSCALE', 1);
    if (own !== (scale ??= own) || !(own > 0) || unit.header.real('BZERO', 0) !== 0)
      refuse(unit.header.where, `scales its values by BSCALE ${own}, others by ${scale}`, 'copy it again');
    const bits = unit.header.real('BITPIX');
    if (bits !== (bitpix ??= bits))
      refuse(unit.header.where, `has BITPIX ${bits} where others have ${bitpix}`, 'copy it again');
    if (held.has(millis)) {
      repeated++;
      latest = undefined;
      continue;
    }
    held.set(millis, { dataStart: unit.dataStart, weightsStart: undefined });
    latest = millis;
  }
  const stored = bitpix === 32 ? 'int32' : 'float32';
  return { file, correlator, coarse, channels, scale: scale ?? 1, stored, held, truncated, repeated };
}

const isWeights = ({ header }: FitsUnit, { pairs }: Layout): boolean =>
  header.real('NAXIS1', 0) === 4 && header.real('NAXIS2', 0) === pairs.length;

function checkShape({ header }: FitsUnit, { axes }: Layout): void {
  const found = [header.real('NAXIS1', 0), header.real('NAXIS2', 0)];
  if (
    ![-32, 32].includes(header.real('BITPIX')) ||
    found[0] !== axes[0] ||
    found[1] !== axes[1] ||
    header.real('NAXIS') !== 2
  ) {
    refuse(
      header.where,
      `holds ${found.join(' × ')} values where this observation has ${axes.join(' × ')} numbers of 32 bits an integration`,
      'check that the metafits belongs to it',
    );
  }
}

function millisOf(header: FitsHeader): number {
  return (
    1000 * header.whole('TIME', 0, 1e11) + (header.has('MILLITIM') ? header.whole('MILLITIM', 0, 999) : 0)
  );
}
