/**
 * What a format must offer. Each format is one file that exports a `Format`, and one line in registry.ts;
 * everything else (commands, inspect, convert) works through these interfaces.
 */
import type { SpectraCAT, SpectraType, VoltageType } from '../core/axes.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Instant } from '../core/instant.js';
import type { SkyPosition } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';

/** What any opened file can say of itself; `details` is the format's own header, for inspect. */
export interface FileFacts {
  readonly path: string;
  readonly format: string;
  readonly telescope?: Telescope;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Time-domain voltages. Files may be larger than memory: only blocks are ever read. */
export interface VoltageRecording extends FileFacts {
  readonly kind: 'voltages';
  readonly type: VoltageType;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly samples: number;
  readonly sampleRateHz: number;
  /** Sky frequency of the middle of the band (docs/conventions.md, time and frequency). */
  readonly centreFrequencyHz: number;
  readonly start: Instant;
  /** Successive blocks of at most `blockSamples` samples; the memory of one is used again for the next. */
  blocks(blockSamples: number): AsyncIterable<VoltageBlock>;
  close(): Promise<void>;
}

/** One stretch of already channelised data in the canonical order. */
export interface CanonicalSpectra {
  readonly samples: number;
  readonly spectra: SpectraCAT;
  readonly gaps: readonly SpectraGap[];
  readonly start: Instant;
}

export interface SpectraRecording extends FileFacts {
  readonly kind: 'spectra';
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly samples: number;
  /** Spectra per second. */
  readonly spectrumRateHz: number;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly start: Instant;
  blocks(blockSamples: number): AsyncIterable<CanonicalSpectra>;
  close(): Promise<void>;
}

export interface VisibilityHeader {
  readonly telescope: Telescope;
  readonly polarisations: 1 | 2;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  /** Where the file's fringes are stopped; inside the house they never are. */
  readonly phaseCentre: SkyPosition;
  /** What was observed, for people: a source's name or "zenith". */
  readonly object: string;
  /** What made this file: command, version, recording. */
  readonly history: readonly string[];
}

export interface VisibilityFile extends FileFacts {
  readonly kind: 'visibilities';
  readonly header: VisibilityHeader;
  readonly telescope: Telescope;
  readonly integrationCount: number;
  /** Unphased and in the canonical order, whatever the file holds. */
  integrations(): AsyncIterable<Integration>;
  close(): Promise<void>;
}

/** Appends integration by integration; the name appears only when `finish` succeeds. */
export interface VisibilityWriter {
  append(integration: Integration): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

export type OpenedFile = VoltageRecording | SpectraRecording | VisibilityFile;

export interface Format {
  /** The word users type: "uvfits". */
  readonly name: string;
  readonly title: string;
  /** With the dot, lower case. */
  readonly extensions: readonly string[];
  /** Decides by content first: `head` is the file's first 4096 bytes or fewer. */
  recognise(path: string, head: Uint8Array): boolean;
  open(path: string): Promise<OpenedFile>;
  createVisibilities?(path: string, header: VisibilityHeader): Promise<VisibilityWriter>;
}
