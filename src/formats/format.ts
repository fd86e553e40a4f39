/**
 * What a format must provide. Each format is one file that exports a `Format`, and one line in registry.ts; everything
 * else (commands, inspect, convert) uses these interfaces.
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

/** Metadata of any open file; `details` is the format's own header, for inspect. */
interface FileFacts {
  readonly path: string;
  readonly format: string;
  readonly telescope?: Telescope;
  /** The processing history of a recording, line by line, if stored. */
  readonly history?: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

/** A recording with less data than its header states: truncated when copied, or stopped early. */
export interface EndsEarly {
  /** The header keyword that states the length. */
  readonly said: string;
  readonly promisedBytes: number;
  readonly heldBytes: number;
  /** Per input, after the last sample in `samples`. */
  readonly missingSamples: number;
}

/** What the user knows and a file's header may lack; each kind of file lists the options it reads. */
export interface OpenOptions {
  readonly sampleRateHz?: number;
  readonly centreFrequencyHz?: number;
  /** Allowed for every file: it replaces the station positions. */
  readonly telescope?: Telescope;
  readonly polarisations?: 1 | 2;
  /** Inputs in the file, if not in its header (Mark 5B, plain binary). */
  readonly inputs?: number;
  /** Bits per sample, if not in the header (Mark 5B). */
  readonly bits?: number;
  /** The sample type of plain binary; unsigned bytes are 0 to 255 and become −128 … 127. */
  readonly type?: StreamType;
  /** Bytes to skip before plain binary starts. */
  readonly skipBytes?: number;
  /** Start time, if not in the file (plain binary, SigMF without core:datetime). */
  readonly start?: Instant;
  /** Any time within 500 days of the recording, for formats that store only part of the date (Mark 5B). */
  readonly near?: Instant;
  /** Which of a beam's two tunings (LWA DRX). */
  readonly tuning?: 1 | 2;
  /** The file that describes an MWA observation, if not beside the data. */
  readonly metafits?: string;
  /** Whether known cable lengths are removed from the phases (MWA); kept by default. */
  readonly cables?: 'keep' | 'remove';
  /** Which product a SKA-Low station's dump stores for a pair (1, 2): not in its file. */
  readonly storedPair?: 'V12' | 'V21';
  /** Which column of visibilities (Measurement Sets); by default DATA. */
  readonly column?: string;
  /** `file`: use its uvw although they contradict its antenna positions (UVFITS, FITS-IDI, UVH5, Measurement Sets). */
  readonly uvw?: 'file';
  /** Which of a file's targets, by name or number, if it has several; 'all' of them. */
  readonly target?: string;
  /** The sideband of the voltages: `lower` is inverted (high-side mixing, second Nyquist zone). By default upper. */
  readonly sideband?: 'upper' | 'lower';
  /** The thread whose seconds are used for all threads (VDIF): some recorders write wrong ones for the others. */
  readonly secondsOfThread?: number;
}

/** Options that apply to some files only. */
export type ReadingOption = Exclude<keyof OpenOptions, 'telescope'>;

/** A kind of file that a format reads: most formats have one. */
export interface FileKind {
  /** The name for users: "LWA DRX". */
  readonly title: string;
  readonly holds: 'recordings' | 'visibilities';
  /** The options that it reads; any other option is refused. */
  readonly reads: readonly ReadingOption[];
}

/** Counts of frames read so far; complete after all blocks are read. */
export interface FrameTally {
  /** Whole and valid. */
  frames: number;
  /** Marked invalid by the recorder, or damaged beyond use. */
  invalid: number;
  /** Arrived after their block was delivered: their samples are missing. */
  late: number;
  /** Repeated the samples of an earlier frame: dropped. */
  doubled: number;
  /** Outside the recording's time range. */
  outside: number;
  /** Bytes that belong to no frame. */
  spareBytes: number;
  /** Values at the one level a block cannot hold (−128 or −8 in spectra), changed to the next. */
  saturated: number;
}

/** A fact given by neither the file nor the user; a placeholder is used: a band from 0 Hz, the first day of 1970. */
export type UnknownFact = 'frequency' | 'start';

/** Recordings only: voltages and spectra. */
interface RecordingFacts extends FileFacts {
  readonly unknownFacts?: readonly UnknownFact[];
  /** Assumptions where the file is incomplete, one display line each. */
  readonly assumed?: readonly string[];
  readonly endsEarly?: EndsEarly;
  readonly tally?: Readonly<FrameTally>;
  /** If the file has a checksum: reads all data and fails on a mismatch. */
  verify?(): Promise<void>;
}

/** Time-domain voltages. Files may be larger than memory: only blocks are read. */
export interface VoltageRecording extends RecordingFacts, VoltageSource, KnownLength {}
export interface SpectraRecording extends RecordingFacts, SpectraSource, KnownLength {}

export interface VisibilityHeader {
  readonly telescope: Telescope;
  readonly polarisations: 1 | 2;
  /** What polarisations 0 and 1 are: X and Y by default, or R and L. */
  readonly feeds?: 'linear' | 'circular';
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  /** The phase centre of the file's fringe stopping; internally fringes are never stopped. */
  readonly phaseCentre: SkyPosition;
  /** The file's fringes are running (drift scan); UVH5 copies keep them so. Stopped by default. */
  readonly fringes?: 'running';
  /** The observed object, for display: a source's name or "zenith". */
  readonly object: string;
  /** How this file was made: command, version, recording. */
  readonly history: readonly string[];
  /** The unit of the values, in UVH5's terms ("uncalib", "Jy", "K str") or the file's own; undefined if unknown. */
  readonly units?: string;
  /** Where X points: east by default; a file without it gives 'unknown', and so do copies of it. */
  readonly xOrientation?: 'east' | 'north' | 'unknown';
  /** Whether products are of the feeds as mounted, or rotated to the sky; undefined if not stated. */
  readonly feedFrame?: 'feeds' | 'sky';
  /** If different from the telescope's name. */
  readonly instrument?: string;
  /** Antennas of the file's table that are in no pair. */
  readonly unusedAntennas?: readonly UnusedAntenna[];
  /** Header entries beyond those of the format, from other programs. */
  readonly extraKeywords?: Readonly<Record<string, KeywordValue>>;
  /** AIPS codes of the stored products, descending, if not all: YY alone, XX and YY, XY alone. */
  readonly products?: readonly number[];
  /** Rows per time, if some pairs are missing: the maximum, and whether all times have as many. */
  readonly rows?: { readonly most: number; readonly times: 'alike' | 'different' };
}

export type KeywordValue = string | number | boolean;

export interface UnusedAntenna {
  readonly station: Station;
  /** In the table, including used antennas. */
  readonly place: number;
}

export interface VisibilityFile extends FileFacts, Closable {
  readonly kind: 'visibilities';
  readonly header: VisibilityHeader;
  readonly telescope: Telescope;
  readonly integrationCount: number;
  /** The duration of each, if known when the file is opened. */
  readonly durationsS?: Float64Array;
  /** Assumptions about what the file lacks, one display line each. */
  readonly assumed?: readonly string[];
  /** The names of its targets, if there are several and none was selected. */
  readonly targets?: string;
  /** Counted anew at each reading of the integrations; complete at their end. */
  readonly faults?: ValueFaults;
  /**
   * Unphased and in the canonical order, whatever the file stores. With memory `reused`, each integration is valid
   * until the next is requested: a large one may then overwrite the one before.
   */
  integrations(memory?: 'own' | 'reused'): AsyncIterable<Integration>;
}

/**
 * `means` over samples, in floats with fringes stopped; or whole `sums` bit for bit from the correlator, in integers
 * with fringes running. Formats without such integers refuse them.
 */
export type StoredValues = 'means' | 'sums';

/** A file's name appears when it is finished or, for viewers that follow its growth, with its first integration. */
export type WhenItAppears = 'finished' | 'first-integration';

export interface VisibilityFileOptions {
  readonly values?: StoredValues;
  readonly appears?: WhenItAppears;
  /**
   * For whole sums: the largest real or imaginary part, if known. Above 2³¹ − 1 they are stored in doubles, which hold
   * integers up to 2⁵³ exactly.
   */
  readonly largestSum?: number;
}

/** Appends integrations; the file is complete after each. If the process is killed, `repair` makes it readable. */
export interface VisibilityWriter {
  append(integration: Integration): Promise<void>;
  finish(): Promise<void>;
  /**
   * Ends early, also after a failed append; returns the number of finished integrations. With none, no file remains.
   */
  keep(): Promise<number>;
  /** Removes the file. */
  abandon(): Promise<void>;
}

/** Voltages, or data recorded as spectra. */
export type Recording = VoltageRecording | SpectraRecording;
export { sampleRateOf } from '../core/sources.js';
export type { CanonicalSpectra } from '../core/blocks.js';

export type OpenedFile = Recording | VisibilityFile;

export interface Format {
  /** The name that users type: "uvfits". */
  readonly name: string;
  readonly title: string;
  /** With the dot, in lower case. */
  readonly extensions: readonly string[];
  readonly kinds: readonly FileKind[];
  /** Decides by content: `head` is the file's first 4096 bytes or fewer; `names` are its items if it is HDF5. */
  recognise(path: string, head: Uint8Array, names?: Hdf5Look): boolean;
  /** For frames without a magic number, if no format recognised the file: `start` is its first 128 KiB or fewer. */
  recogniseFrames?(start: Uint8Array): boolean;
  open(path: string, options?: OpenOptions): Promise<OpenedFile>;
  createVisibilities?(
    path: string,
    header: VisibilityHeader,
    options?: VisibilityFileOptions,
  ): Promise<VisibilityWriter>;
  /** Files that can be read while they are written, and may appear with the first integration. */
  readonly grows?: true;
  /** Files that can store whole sums, `values: 'sums'`. */
  readonly holdsSums?: true;
  /** Repairs a file of ours whose writer was killed; returns the number of integrations, 0 if none was finished. */
  repair?(path: string): Promise<number>;
}
