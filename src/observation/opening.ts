/** The recording and the telescope of an observation, opened and checked against each other. */
import { refuse } from '../core/errors.js';
import { parseInstant } from '../core/instant.js';
import {
  notingFiles,
  openFile,
  type OpenFileOptions,
  type Recording,
  type UnknownFact,
} from '../formats/index.js';
import { widenedSource, partOfRecording } from '../stages/index.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import type { Telescope } from '../telescope/telescope.js';
import { NO_TELESCOPE, unplaced } from '../telescope/unplaced.js';
import type { SourcePart } from './parts/source.js';
import type { Observation } from './schema.js';

export interface OpenedRecording {
  /** As in its file. */
  readonly opened: Recording;
  /** The part that is used, with the sample type for channelising. */
  readonly recording: Recording;
  readonly telescope: Telescope;
  /** Files that were read. */
  readonly paths: readonly string[];
}

/** The user's values for facts that a file lacks. */
export async function readingOptionsOf(
  source: SourcePart,
  telescope: string | undefined,
): Promise<OpenFileOptions> {
  const { polarisations } = source;
  return {
    format: source.format,
    telescope:
      telescope === undefined || telescope === NO_TELESCOPE
        ? undefined
        : await loadTelescope(telescope, polarisations),
    sampleRateHz: source.rate,
    centreFrequencyHz: source.frequency,
    inputs: source.inputs,
    polarisations,
    bits: source['sample-bits'],
    type: source['sample-type'],
    skipBytes: source.skip,
    start: source.start === undefined ? undefined : parseInstant(source.start, 'source.start'),
    near: source.near === undefined ? undefined : parseInstant(source.near, 'source.near'),
    tuning: source.tuning,
    metafits: source.metafits,
    sideband: source.sideband,
    cables: source['remove-cables'] === true ? 'remove' : undefined,
    storedPair: source['stored-pair'],
    secondsOfThread: source['seconds-of'],
    column: source.column,
    uvw: source.uvw,
    target: source.target,
  };
}

/** Facts that a recording lacks, and how to give them. */
export const unknownFactWords = {
  frequency: ['its sky frequency', "give its band's centre with source.frequency, like 58MHz"],
  start: ['when it was recorded', 'give the time with source.start'],
} as const satisfies Record<UnknownFact, readonly [what: string, fix: string]>;

export async function openRecording(
  { source, telescope: name, stations, front = {} }: Observation,
  { ofSky }: { readonly ofSky: boolean },
): Promise<OpenedRecording> {
  const path = [source.recording ?? []].flat().join(',');
  if (path === '') refuse('source', 'names no recording', 'give source.recording');
  const options = await readingOptionsOf(source, name);
  const { opened, paths } = await notingFiles(() => openFile(path, options));
  try {
    if (opened.kind === 'visibilities')
      return refuse(
        path,
        'holds visibilities; this command reads voltages or spectra',
        'calibrate or image it',
      );
    if (ofSky)
      for (const one of opened.unknownFacts ?? []) {
        const [what, fix] = unknownFactWords[one];
        refuse(path, `does not say ${what}`, fix);
      }
    const isUnknown = !ofSky && name === undefined && !opened.telescope;
    const telescope = await telescopeOf(opened, isUnknown ? NO_TELESCOPE : name, stations);
    return { opened, recording: usedPart(opened, source, front['float-taps'] === true), telescope, paths };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * From source.from to source.to (the front end cuts it to source.duration, since its filter needs more samples); float
 * taps widen 8-bit samples to 16 bits.
 */
function usedPart(opened: Recording, { from, to, duration }: SourcePart, isWidened: boolean): Recording {
  const first = from === undefined ? undefined : parseInstant(from, 'source.from');
  if (to !== undefined && duration !== undefined)
    refuse('source.duration', 'source.to says already where it ends', 'leave one of them out');
  const last = to === undefined ? undefined : parseInstant(to, 'source.to');
  const part = first || last ? partOfRecording(opened, { from: first, to: last }) : opened;
  // For channelised data the support table refuses it.
  return isWidened && part.kind === 'voltages' ? widenedSource(part) : part;
}

/** The telescope named by the user, otherwise the file's own; refused if it does not fit the file's inputs. */
export async function telescopeOf(
  opened: Recording,
  name: string | undefined,
  stations?: number,
): Promise<Telescope> {
  if (name === NO_TELESCOPE) {
    if (opened.telescope)
      refuse(
        opened.path,
        `states where its stations are (${opened.telescope.name})`,
        `leave out telescope: ${NO_TELESCOPE}`,
      );
    return unplaced(opened.inputs / opened.polarisations, opened.polarisations);
  }
  const { polarisations, inputs } = opened;
  const whole =
    name === undefined
      ? (opened.telescope ??
        refuse(
          opened.path,
          'does not state where its stations are',
          'give telescope: NAME of a known one, or the path of a description; telescope: none where they are unknown (a laboratory, a single dish)',
        ))
      : await loadTelescope(name, polarisations);
  const telescope = stations === undefined ? whole : selectStations(whole, stations);
  if (inputs !== telescope.stations.length * polarisations || polarisations !== telescope.polarisations)
    refuse(
      opened.path,
      `has ${inputs} inputs, ${inputs / polarisations} × ${polarisations}, where ${telescope.name} has ${telescope.stations.length} stations × ${telescope.polarisations}`,
      'name the telescope that made it',
    );
  return telescope;
}
