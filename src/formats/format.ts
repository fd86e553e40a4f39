/**
 * What a format must offer. Each format is one file that exports a `Format`, and one line in registry.ts;
 * everything else (commands, inspect, convert) works through these interfaces.
 */
import type { Integration } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import type { Instant } from '../core/instant.js';
import type { KnownLength, SpectraSource, VoltageSource } from '../core/sources.js';
import type { SkyPosition } from '../sky/frame.js';
import type { Hdf5Look } from './hdf5/look.js';
import type { ValueFaults } from './io/gather.js';
import type { StreamType } from './recordings/unsigned.js';
import type { Station, Telescope } from '../telescope/telescope.js';

/** What any opened file can say of itself; `details` is the format's own header, for inspect. */
interface FileFacts {
  readonly path: string;
  readonly format: string;
  readonly telescope?: Telescope;
  /** How a recording came to be, line by line, where it says. */
  readonly history?: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

/** A recording that holds less than its header promises: cut short in copying, or ended before it was full. */
export interface EndsEarly {
  /** The header's word for what it promises. */
  readonly said: string;
  readonly promisedBytes: number;
  readonly heldBytes: number;
  /** Of each input, after the last one that `samples` counts. */
  readonly missingSamples: number;
}

/** What the user knows and a file's header may not say; each kind of file says which of them it reads. */
export interface OpenOptions {
  readonly sampleRateHz?: number;
  readonly centreFrequencyHz?: number;
  /** Taken with every file: who computes with one may put the stations elsewhere. */
  readonly telescope?: Telescope;
  readonly polarisations?: 1 | 2;
  /** Inputs in the file, where its header does not count them (Mark 5B, plain binary). */
  readonly inputs?: number;
  /** Bits a sample, where the header does not tell (Mark 5B). */
  readonly bits?: number;
  /** What plain binary holds; unsigned bytes count from 0 to 255 and become −128 … 127. */
  readonly type?: StreamType;
  /** Bytes to skip before plain binary starts. */
  readonly skipBytes?: number;
  /** When it starts, where nothing tells (plain binary, SigMF without core:datetime). */
  readonly start?: Instant;
  /** Any moment within 500 days of the recording, for formats that keep only part of the date (Mark 5B). */
  readonly near?: Instant;
  /** Which of a beam's two tunings (LWA DRX). */
  readonly tuning?: 1 | 2;
  /** The file that describes an MWA observation, where it is not beside the data. */
  readonly metafits?: string;
  /** Whether known cable lengths are taken out of the phases (MWA); kept unless said. */
  readonly cables?: 'keep' | 'remove';
  /** Which product a SKA-Low station's dump holds for its pair (1, 2): its file does not say. */
  readonly storedPair?: 'V12' | 'V21';
  /** Which of its columns of visibilities (Measurement Sets): DATA unless said. */
  readonly column?: string;
  /** `file`: its uvw are used although they contradict its antennas' positions (UVFITS, FITS-IDI, UVH5, Measurement Sets). */
  readonly uvw?: 'file';
  /** Which of a file's targets, by name or number, where it holds several; 'all' of them. */
  readonly target?: string;
  /** Which sideband voltages hold: `lower` was recorded inverted (high-side mixing, second Nyquist zone). Upper unless said. */
  readonly sideband?: 'upper' | 'lower';
  /** The thread whose seconds hold for all threads (VDIF): some recorders write others wrongly. */
  readonly secondsOfThread?: number;
}

/** Those that mean something to some files alone. */
export type ReadingOption = Exclude<keyof OpenOptions, 'telescope'>;

/** A kind of file that a format knows: most know one. */
export interface FileKind {
  /** As users know it: "LWA DRX". */
  readonly title: string;
  readonly holds: 'recordings' | 'visibilities';
  /** What is taken from the user; anything else is refused. */
  readonly reads: readonly ReadingOption[];
}

/** What reading a recording has met so far; complete once its blocks have been read to the end. */
export interface FrameTally {
  /** Whole and valid. */
  frames: number;
  /** Marked invalid by the recorder, or damaged beyond use. */
  invalid: number;
  /** Arrived after their block had been handed on: their samples are missing. */
  late: number;
  /** Brought samples that an earlier one had brought: left out. */
  doubled: number;
  /** Outside the recording's first and last time. */
  outside: number;
  /** Bytes that belong to no frame. */
  spareBytes: number;
  /** Values at the one level a block cannot hold (−128 or −8 in spectra), moved to the next. */
  saturated: number;
}

/** What neither a file nor the user told; a stand-in is there instead: a band from 0 Hz, the first day of 1970. */
export type UnknownFact = 'frequency' | 'start';

/** Of recordings alone, voltages and spectra. */
interface RecordingFacts extends FileFacts {
  readonly unknownFacts?: readonly UnknownFact[];
  /** What the file tells in part and was taken to be so, each in a line for people. */
  readonly assumed?: readonly string[];
  readonly endsEarly?: EndsEarly;
  readonly tally?: Readonly<FrameTally>;
  /** Where the file tells a checksum: reads all its data and refuses those that do not match. */
  verify?(): Promise<void>;
}

/** Time-domain voltages. Files may be larger than memory: only blocks are ever read. */
export interface VoltageRecording extends RecordingFacts, VoltageSource, KnownLength {}
export interface SpectraRecording extends RecordingFacts, SpectraSource, KnownLength {}

export interface VisibilityHeader {
  readonly telescope: Telescope;
  readonly polarisations: 1 | 2;
  /** What polarisations 0 and 1 are: X and Y unless said, or R and L. */
  readonly feeds?: 'linear' | 'circular';
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  /** Where the file's fringes are stopped; inside the house they never are. */
  readonly phaseCentre: SkyPosition;
  /** The file leaves its fringes running, as drift scans do; copies in UVH5 do as well. Stopped unless said. */
  readonly fringes?: 'running';
  /** What was observed, for people: a source's name or "zenith". */
  readonly object: string;
  /** What made this file: command, version, recording. */
  readonly history: readonly string[];
  /** What values are in, in UVH5's words ("uncalib", "Jy", "K str") or the file's own; undefined where nobody said. */
  readonly units?: string;
  /** Where X points: east unless said; a file that does not say makes it 'unknown', and so do copies of it. */
  readonly xOrientation?: 'east' | 'north' | 'unknown';
  /** Whether products are of the feeds as they are mounted, or rotated to the sky; undefined where it is not stated. */
  readonly feedFrame?: 'feeds' | 'sky';
  /** Where that is not the telescope's name. */
  readonly instrument?: string;
  /** Antennas of the file's table that are in none of its pairs. */
  readonly unusedAntennas?: readonly UnusedAntenna[];
  /** What others wrote into the header beside what the format asks for. */
  readonly extraKeywords?: Readonly<Record<string, KeywordValue>>;
  /** AIPS codes of what is stored, falling, where that is not everything: YY alone, XX and YY, XY alone. */
  readonly products?: readonly number[];
  /** Rows a time, where not every pair is there: the most of them, and whether all times have as many. */
  readonly rows?: { readonly most: number; readonly times: 'alike' | 'different' };
}

export type KeywordValue = string | number | boolean;

export interface UnusedAntenna {
  readonly station: Station;
  /** In the table, used ones counted. */
  readonly place: number;
}

export interface VisibilityFile extends FileFacts, Closable {
  readonly kind: 'visibilities';
  readonly header: VisibilityHeader;
  readonly telescope: Telescope;
  readonly integrationCount: number;
  /** How long each lasts, where opening the file shows it. */
  readonly durationsS?: Float64Array;
  /** What the file does not say and was taken to be so, each in a line for people. */
  readonly assumed?: readonly string[];
  /** The names of its targets, where they are several that nobody chose among. */
  readonly targets?: string;
  /** Counted anew while integrations are read; complete at their end. */
  readonly faults?: ValueFaults;
  /**
   * Unphased and in the canonical order, whatever the file holds. With memory `reused` the caller is done with each
   * before it asks for the next: a large one may then take the place of the one before.
   */
  integrations(memory?: 'own' | 'reused'): AsyncIterable<Integration>;
}

/**
 * `means` over samples, in floats with fringes stopped; or whole `sums` bit for bit as the correlator left them, in
 * integers with fringes running. Formats that have no such integers refuse them.
 */
export type StoredValues = 'means' | 'sums';

/** A file's name appears when it is finished, or, for whoever watches it grow, with its first integration. */
export type WhenItAppears = 'finished' | 'first-integration';

export interface VisibilityFileOptions {
  readonly values?: StoredValues;
  readonly appears?: WhenItAppears;
  /**
   * Of whole sums: the largest real or imaginary part that may come, where it is known. Beyond 2³¹ − 1 they are kept in doubles,
   * which hold whole numbers up to 2⁵³ exactly.
   */
  readonly largestSum?: number;
}

/** Appends integration by integration; the file is whole after each, and whoever is killed leaves a file that `mend` makes whole. */
export interface VisibilityWriter {
  append(integration: Integration): Promise<void>;
  finish(): Promise<void>;
  /** Ends early, after an append that failed too: the integrations that were finished are the file; how many. With none, nothing is left. */
  keep(): Promise<number>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** Voltages, or what arrived channelised already. */
export type Recording = VoltageRecording | SpectraRecording;
export { sampleRateOf } from '../core/sources.js';
export type { CanonicalSpectra } from '../core/blocks.js';

export type OpenedFile = Recording | VisibilityFile;

export interface Format {
  /** The word users type: "uvfits". */
  readonly name: string;
  readonly title: string;
  /** With the dot, lower case. */
  readonly extensions: readonly string[];
  readonly kinds: readonly FileKind[];
  /** Decides by content: `head` is the file's first 4096 bytes or fewer; `names` what is in it where it is HDF5. */
  recognise(path: string, head: Uint8Array, names?: Hdf5Look): boolean;
  /** For frames without a mark of their own, where no format has recognised the file: `start` is its first 128 KiB or fewer. */
  recogniseFrames?(start: Uint8Array): boolean;
  open(path: string, options?: OpenOptions): Promise<OpenedFile>;
  createVisibilities?(
    path: string,
    header: VisibilityHeader,
    options?: VisibilityFileOptions,
  ): Promise<VisibilityWriter>;
  /** Files that can be read while they are written, and may appear with the first integration. */
  readonly grows?: true;
  /** Files that keep whole sums, `values: 'sums'`. */
  readonly holdsSums?: true;
  /** Makes a file of ours whole whose writer was killed: how many integrations it holds, 0 where none was finished. */
  mend?(path: string): Promise<number>;
}
