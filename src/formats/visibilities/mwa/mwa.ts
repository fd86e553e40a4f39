/**
 * Visibilities of the Murchison Widefield Array, from the MWAX correlator and from the one before it (gpubox files). A
 * file holds one coarse channel and needs the observation's metafits, found beside it or given. The metafits represents
 * the whole observation: opening it joins the files beside it in time and frequency.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Integration } from '../../../core/blocks.js';
import { preparing } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { addSeconds, instant, type Instant } from '../../../core/instant.js';
import { readUnit } from '../../fits/fits.js';
import type { FileKind, Format, OpenOptions, VisibilityFile } from '../../format.js';
import { refuseUnread } from '../../reading-options.js';
import { gather, noFaults, type Gathering } from '../../io/gather.js';
import { withInput, withinMemory } from '../../io/input.js';
import { details } from './details.js';
import { firstFineHz, planLayout, products, type Layout } from './layout.js';
import { readMetafits, type Observation } from './metafits.js';
import { latenessM } from './phases.js';
import { channelsOf, coarseChannelOf, indexPiece, isPieceName, openPiece, type Piece } from './pieces.js';
import { addPiece, pieceReader, type PieceReader } from './read.js';

const headText = (head: Uint8Array): string => new TextDecoder('latin1').decode(head.subarray(0, 2880));
const isMetafits = (text: string): boolean =>
  /^SIMPLE {2}= +T/.test(text) && text.includes('GPSTIME =') && text.includes('FILENAME=');
const isPiece = (text: string): boolean =>
  /^SIMPLE {2}= +T/.test(text) && /TIME {4}=/.test(text) && text.includes('MILLITIM=');

const kinds = {
  data: {
    title: 'files of the MWA correlators',
    holds: 'visibilities',
    reads: ['centreFrequencyHz', 'metafits', 'cables'],
  },
  metafits: { title: 'MWA metafits', holds: 'visibilities', reads: ['cables'] },
} as const satisfies Record<string, FileKind>;

export const mwa: Format = {
  name: 'mwa',
  title: 'MWA correlator FITS (MWAX, gpubox) with metafits',
  extensions: ['.metafits'],
  kinds: [kinds.data, kinds.metafits],
  recognise: (_path, head) => {
    const text = headText(head);
    return isPiece(text) || isMetafits(text);
  },
  open: (path, options = {}) =>
    withinMemory(path, async () => {
      const isObservation = await describesObservation(path);
      refuseUnread(path, options, [isObservation ? kinds.metafits : kinds.data], Object.values(kinds));
      return isObservation ? openObservation(path, options) : openOne(path, options);
    }),
};

const describesObservation = (path: string): Promise<boolean> =>
  withInput(path, async (file) => {
    const primary = await readUnit(file, 0);
    return primary !== undefined && primary.header.has('GPSTIME') && primary.header.has('CHANNELS');
  });

/** Beside the data, with the observation's number, as the archive names it. */
async function findMetafits(path: string, obsId: number): Promise<string> {
  const folder = dirname(path);
  const names = await readdir(folder);
  const found = [`${obsId}.metafits`, `${obsId}_metafits.fits`, `${obsId}_metafits_ppds.fits`].find((name) =>
    names.includes(name),
  );
  if (found !== undefined) return join(folder, found);
  return refuse(
    path,
    `${obsId}.metafits, which has the positions of its tiles, is not beside it`,
    'copy it there from the archive, or name it with source.metafits',
  );
}

async function openOne(path: string, options: OpenOptions): Promise<VisibilityFile> {
  const piece = await openPiece(path);
  await piece.file.close();
  const observation = await readMetafits(options.metafits ?? (await findMetafits(path, piece.obsId)));
  if (observation.obsId !== piece.obsId) {
    refuse(
      path,
      `belongs to observation ${piece.obsId}, not to ${observation.obsId} as ${observation.path} does`,
      `give ${piece.obsId}.metafits`,
    );
  }
  return openPieces(path, [path], observation, options);
}

async function openObservation(path: string, options: OpenOptions): Promise<VisibilityFile> {
  const observation = await readMetafits(path);
  const folder = dirname(path);
  const names = (await readdir(folder)).filter((name) => isPieceName(name, observation.obsId)).sort();
  if (names.length === 0) {
    refuse(
      path,
      'no correlator files of its observation are beside it',
      `put ${observation.obsId}_…gpubox01_00.fits or …ch131_000.fits and the others in its folder`,
    );
  }
  return openPieces(
    path,
    names.map((name) => join(folder, name)),
    observation,
    options,
  );
}

function openPieces(
  path: string,
  paths: readonly string[],
  observation: Observation,
  options: OpenOptions,
): Promise<VisibilityFile> {
  const cables = options.cables ?? 'keep';
  if (cables === 'remove' && observation.applied.cables === 'applied') {
    refuse(path, 'the correlator has already removed the delays of cables', 'leave out source.remove-cables');
  }
  return preparing(async (closers) => {
    const pieces: Piece[] = [];
    let layout: Layout | undefined;
    for (const one of paths) {
      const piece = await openPiece(one);
      closers.keep(piece.file);
      const [first] = pieces as readonly (Piece | undefined)[];
      const channels = await channelsOf(piece, observation);
      if (first && (first.channels !== channels || first.correlator !== piece.correlator)) {
        refuse(
          one,
          `has ${channels} fine channels of the ${piece.correlator} correlator, ${first.file.path} ${first.channels} of the ${first.correlator}`,
          'join files of one kind',
        );
      }
      layout ??= planLayout(piece.correlator, observation, channels);
      const coarse = coarseChannelOf(piece, observation, options.centreFrequencyHz);
      pieces.push(await indexPiece(piece, coarse, channels, layout));
    }
    if (layout === undefined) return refuse(path, 'holds no file', 'copy it again');
    const close = (): Promise<void> => closers.close();
    return visibilityFile({ path, observation, pieces, layout, cables, close });
  });
}

interface Joined {
  readonly path: string;
  readonly observation: Observation;
  readonly pieces: readonly Piece[];
  readonly layout: Layout;
  readonly cables: 'keep' | 'remove';
  readonly close: () => Promise<void>;
}

async function visibilityFile(joined: Joined): Promise<VisibilityFile> {
  const { path, observation, pieces, layout, cables } = joined;
  const [{ correlator, channels }] = pieces;
  // Missing channels between present ones are kept, so that the band stays evenly spaced.
  const present = pieces.map(({ coarse }) => coarse);
  const [lowest, highest] = [Math.min(...present), Math.max(...present)];
  const band = observation.coarseChannels.filter((coarse) => coarse >= lowest && coarse <= highest);
  const frequenciesHz = Float64Array.from({ length: band.length * channels }, (_, c) => {
    const coarse = band[Math.floor(c / channels)];
    return firstFineHz(correlator, observation, coarse) + (c % channels) * observation.fineChannelHz;
  });
  const times = [...new Set(pieces.flatMap(({ held }) => [...held.keys()]))].sort((x, y) => x - y);
  if (times.length === 0) refuse(path, 'holds no whole integration', 'it was cut short: copy it again');
  const { telescope, applied, integrationS } = observation;
  const samples = Math.max(1, Math.round(integrationS * observation.fineChannelHz));

  const faults = noFaults();
  const newGathering = (): Gathering =>
    gather({
      channels: frequenciesHz.length,
      stations: telescope.stations.length,
      polarisations: 2,
      products,
      values: 'mean',
      faults,
    });
  const readAt = async (millis: number, reader: PieceReader, gathering: Gathering): Promise<Integration> => {
    const start = instantOf(millis);
    const lateM = latenessM(observation, cables, start);
    for (const piece of pieces) {
      const read = await reader(piece, millis);
      if (read === undefined) continue;
      const firstChannel = band.indexOf(piece.coarse) * channels;
      addPiece(gathering, read, {
        layout,
        flagged: observation.flagged,
        samples,
        firstChannel,
        frequenciesHz,
        lateM,
      });
    }
    return gathering.finish({ start, durationS: integrationS });
  };

  return {
    kind: 'visibilities',
    path,
    format: 'mwa',
    telescope,
    details: await details({ observation, pieces, layout, band, times, cables }),
    header: {
      telescope,
      polarisations: 2,
      frequenciesHz,
      channelWidthHz: observation.fineChannelHz,
      phaseCentre: { raDeg: observation.phaseCentre.raDeg, decDeg: observation.phaseCentre.decDeg },
      object: observation.object,
      feedFrame: 'feeds',
      history: [
        ...observation.history,
        `${basename(path)}: MWA observation ${observation.obsId}, ${correlator} correlator, ${pieces.length} files`,
        cables === 'remove'
          ? `cable lengths of ${basename(observation.path)} removed from the phases`
          : `cable delays ${applied.cables} by the correlator, and left as recorded`,
      ],
    },
    integrationCount: times.length,
    // 0.7 GB each for the whole band of 128 tiles: worth reusing.
    faults,
    integrations: async function* (memory = 'own') {
      Object.assign(faults, noFaults());
      const reader = pieceReader(layout);
      let gathering: Gathering | undefined;
      for (const millis of times) {
        if (memory === 'reused') gathering?.clear();
        else gathering = undefined;
        gathering ??= newGathering();
        yield await readAt(millis, reader, gathering);
      }
    },
    close: joined.close,
  };
}

const instantOf = (millis: number): Instant =>
  addSeconds(instant(Math.floor(millis / 1000)), (millis % 1000) / 1000);
