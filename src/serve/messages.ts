/** Messages between the server and its pages. Plain JSON: no type here needs Node or a browser. */

export type Severity = 'warning' | 'alarm';

export interface Alarm {
  readonly id: string;
  readonly severity: Severity;
  /** The fault. */
  readonly what: string;
  /** A sender, an input, a file, the machine. */
  readonly where: string;
  /** How to fix it. */
  readonly fix: string;
  readonly sinceUnixS: number;
  readonly acknowledged: boolean;
  /** The id of an alarm that explains this one, and is listed before it. */
  readonly because?: string;
}

export interface JournalEntry {
  readonly number: number;
  readonly time: string;
  /** Who requested it: an address, or the program itself. */
  readonly who: string;
  readonly what: string;
  /** The tick and the time when it takes effect; absent if it takes effect at no particular time. */
  readonly fromTick?: string;
  readonly from?: string;
  /** Its number, by which it can be cancelled until it takes effect. */
  readonly change?: number;
  /** The change that was cancelled. */
  readonly cancels?: number;
}

/** The answer to every steering command. */
export interface Steered {
  readonly accepted: true;
  readonly fromTick: string;
  readonly from: string;
  readonly journal: number;
  /** The number of the change, for `cancel`. */
  readonly change?: number;
}

/** A refusal as sent to clients. */
export interface Refused {
  readonly where: string;
  readonly what: string;
  readonly fix?: string;
}

export interface RecordingStatus {
  /** From the written data: `recording` means an integration within two integration times. */
  readonly state: 'none' | 'recording' | 'stalled' | 'stopped';
  readonly file?: string;
  readonly newestAgeS?: number;
  readonly written: number;
  readonly unwritten: number;
  readonly files: number;
}

export interface Status {
  readonly state: 'waiting' | 'observing' | 'silent' | 'stopping' | 'showing';
  /** Text: what is wrong, or that nothing is. */
  readonly word: string;
  readonly telescope: string;
  readonly title: string;
  readonly from: string;
  readonly backend: string;
  readonly version: string;
  readonly serverUnixS: number;
  readonly startedUnixS: number;
  readonly session?: number;
  readonly sessionStart?: string;
  /** In data time. */
  readonly newestSample?: string;
  /** Time since data arrived. */
  readonly dataAgeS?: number;
  /** Whether data time is the wall clock's. */
  readonly isNow: boolean;
  readonly image?: {
    readonly number: number;
    readonly ageS: number;
    readonly everyS: number;
    readonly unit: string;
  };
  readonly integration?: {
    readonly number: number;
    readonly everyS: number;
    readonly presentPercent: number;
  };
  /** Powers of beams arrived. */
  readonly beams?: true;
  readonly recording: RecordingStatus;
  readonly flaggedInputs: number;
  readonly gains: { readonly state: 'none' | 'held' | 'solving'; readonly ageS?: number };
  readonly alarms: { readonly warnings: number; readonly alarms: number };
  readonly clients: number;
  /** Whether flags, gains, integrations and recording may be changed. */
  readonly steerable: boolean;
  /** For a page of several machines: their number. */
  readonly machines?: number;
}

export interface PlanView {
  readonly telescope: {
    readonly name: string;
    readonly title: string;
    readonly latitudeDeg: number;
    readonly longitudeDeg: number;
  };
  readonly inputs: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly frequenciesHz: readonly number[];
  readonly channelWidthHz: number;
  readonly integrationS: number;
  readonly imageS?: number;
  readonly pixels?: number;
  readonly method?: 'visibilities' | 'direct';
  /** How images are made, and the largest error of a pixel relative to a source's peak. */
  readonly imaging?: {
    readonly method: 'direct' | 'w-term' | 'flat';
    readonly predictedError: number;
    /** The same for pixels and sources at 10° altitude and higher. */
    readonly predictedErrorAbove10Deg: number;
  };
}

export interface SenderRow {
  readonly name: string;
  readonly packetsPerS: number;
  readonly lostPercent: { readonly second: number; readonly minute: number; readonly run: number };
  /** Packets of the run by outcome; `missing` did not arrive in time. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly silentS: number;
  /** Behind the newest of all senders. */
  readonly behindMs?: number;
  readonly newestTick?: string;
  /** Probable cause of the losses. */
  readonly status: string;
}

export interface SendersView {
  readonly senders: readonly SenderRow[];
  readonly packets: number;
  readonly bytesPerS: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly kernelDrops?: number;
  readonly resyncs: number;
  readonly skippedBlocks: number;
  /** Arrival time minus packet time. */
  readonly clockErrorS?: { readonly mean: number; readonly spread: number };
  readonly lateness: { readonly upToMs: readonly number[]; readonly blocks: readonly number[] };
  /** For a simulated sky: its requested losses. */
  readonly losses?: { readonly percent: number; readonly silent: readonly string[] };
}

/** `unknown`: data come, and their power is not among them. */
export type Health = 'good' | 'flagged' | 'missing' | 'dead' | 'weak' | 'strong' | 'changed' | 'unknown';

export interface InputRow {
  readonly input: number;
  readonly polarisation: string;
  readonly levelDb: number | null;
  /** Relative to the array's median, and to its own last hour. */
  readonly offArrayDb: number | null;
  readonly offHourDb: number | null;
  readonly presentPercent: number;
  readonly flagged: boolean;
  readonly gainDb: number | null;
  readonly gainPhaseDeg: number | null;
  readonly health: Health;
}

export interface AntennaRow {
  readonly name: string;
  readonly eastM: number;
  readonly northM: number;
  readonly inputs: readonly InputRow[];
}

export interface GainsView {
  readonly state: 'none' | 'held' | 'solving';
  readonly from?: string;
  readonly ageS?: number;
  readonly residual?: number;
  /** Fraction of the sky's power that the model does not explain, after subtracting noise. */
  readonly unexplained?: number;
  /** The residual expected from noise alone. */
  readonly noiseResidual?: number;
  readonly solvedInputs?: number;
  readonly sources?: readonly string[];
  readonly everyS?: number;
  /** Of the run so far: one row per solve. */
  readonly history: readonly {
    readonly unixS: number;
    readonly residual: number | null;
    /** [input], centre of the band; null if unsolved. */
    readonly amplitudes: readonly (number | null)[];
    readonly phasesDeg: readonly (number | null)[];
  }[];
}

export interface ChainView {
  readonly ring?: { readonly waiting: number; readonly blocks: number };
  /** Median and 99th percentile of the last minute, from the last sample to this stage. */
  readonly latencies: readonly { readonly stage: string; readonly p50S: number; readonly p99S: number }[];
  readonly load: readonly { readonly resource: string; readonly ratio: number; readonly word: string }[];
  readonly loopMs: { readonly p50: number; readonly p99: number };
  readonly memoryBytes: number;
  readonly diskFreeBytes?: number;
  readonly diskHours?: number;
  readonly clients: number;
  readonly droppedMessages: number;
  readonly check?: CheckView;
}

/** For two to eight stations: the latest integrations. NaN is null. */
export interface FringesView {
  readonly startUnixS: number;
  /** Middles of the integrations, relative to that time. */
  readonly timesS: readonly (number | null)[];
  readonly frequencyHz: number;
  readonly frequenciesHz: readonly number[];
  /** For the hydrogen line, if it is in the band. */
  readonly velocitiesKmPerS?: readonly (number | null)[];
  /** The source whose fringe is expected. */
  readonly source?: string;
  readonly baselines: readonly {
    readonly name: string;
    readonly product: string;
    readonly lengthM?: number;
    readonly amplitudes: readonly (number | null)[];
    readonly phasesDeg: readonly (number | null)[];
    readonly expectedDeg?: readonly (number | null)[];
    readonly lags?: {
      readonly lagsS: readonly (number | null)[];
      readonly amplitudes: readonly (number | null)[];
      readonly peakS?: number;
    };
  }[];
  readonly closures: readonly {
    readonly name: string;
    readonly product: string;
    readonly phasesDeg: readonly (number | null)[];
    readonly meanDeg: number;
    readonly errorDeg: number;
  }[];
  readonly powers: readonly {
    readonly name: string;
    readonly powers: readonly (number | null)[];
    readonly spectrum: readonly (number | null)[];
  }[];
}

/** A block of live data compared with the reference, and the imaging methods with each other. */
export interface CheckView {
  readonly time: string;
  readonly ageS: number;
  readonly samples: number;
  readonly products: number;
  /** Number of values that differ from the reference, out of `products`. */
  readonly differing: number;
  readonly largest: number;
  readonly exact: boolean;
  /** Largest difference between the images of both methods, relative to the brightest pixel. */
  readonly methodsDiffer?: number;
  readonly checked: number;
  readonly failed: number;
}

/** A minute since 1970: the fraction of samples received, and whether it was written. */
export interface MinuteView {
  readonly minute: number;
  readonly presentPercent: number;
  readonly written: number;
  readonly integrations: number;
  /** Covered by integrations that began in this minute. */
  readonly seconds: number;
}

export interface ObservationView {
  readonly startedUnixS: number;
  readonly minutes: readonly MinuteView[];
  /** For an observation with several machines. */
  readonly machines?: readonly {
    readonly machine: string;
    readonly minutes: readonly MinuteView[];
    /** Data that only other machines have, consecutive minutes joined. */
    readonly missing: readonly MissingMinutes[];
  }[];
  readonly files: readonly { readonly path: string; readonly integrations: number; readonly state: string }[];
  readonly sessions: readonly { readonly session: number; readonly start: string }[];
}

export interface MissingMinutes {
  readonly fromMinute: number;
  readonly endMinute: number;
  readonly seconds: number;
}

/** A machine's status message, sent every second. */
export interface MachineWord {
  readonly machine: string;
  readonly version: string;
  /** Address of its own page. */
  readonly page: string;
  readonly bandHz?: readonly [number, number];
  readonly state: string;
  readonly word: string;
  readonly newestSample?: string;
  readonly dataAgeS?: number;
  readonly imageAgeS?: number;
  readonly presentPercent?: number;
  readonly recording: string;
  readonly steerable: boolean;
  /** Start of this process: changes with a restart. */
  readonly startedUnixS: number;
  /** The most recent minutes. */
  readonly minutes: readonly MinuteView[];
}

/** A machine of an observation, as shown on the joint page. */
export interface MachineRow extends Omit<MachineWord, 'minutes'> {
  /** Time since its last message. */
  readonly silentS: number;
  /** Time of its last message, if it is absent. */
  readonly awaySinceUnixS?: number;
  /** How often it was absent and returned. */
  readonly returns: number;
  /** Why its images are excluded from the whole. */
  readonly trouble?: string;
}

/** The head of every binary message; its values follow as float32. */
export interface Head {
  readonly topic: string;
  readonly shape: readonly number[];
  readonly [more: string]: unknown;
}

export interface SkySource {
  readonly name: string;
  readonly l: number;
  readonly m: number;
  readonly altitudeDeg: number;
  readonly azimuthDeg: number;
}

type Enu = readonly [east: number, north: number, up: number];
export interface SkyAxes {
  readonly l: Enu;
  readonly m: Enu;
  readonly n: Enu;
}

export interface SkyHead extends Head {
  /** The file that is shown. */
  readonly file?: string;
  readonly time: string;
  readonly durationS: number;
  readonly number: number;
  readonly ageS: number;
  readonly everyS: number;
  /** Direction cosine per pixel; row 0 in the south, column 0 in the west. */
  readonly pixelSize: number;
  /** Half width of the shown area, as a direction cosine: 1 is the edge of the projection. */
  readonly halfWidth: number;
  /** l, m and n of the image, each as [east, north, up]; by default centred at the zenith with north up. */
  readonly axes?: SkyAxes;
  readonly unit: string;
  readonly method: string;
  /** For a re-image, its weights. */
  readonly weight?: string;
  /** Machines whose channels are missing. */
  readonly without?: readonly string[];
  readonly low: number;
  readonly high: number;
  readonly peak: number;
  readonly sources: readonly SkySource[];
  /** Circles with the diameter of their half-power width. */
  readonly beams?: readonly {
    readonly name: string;
    readonly l: number;
    readonly m: number;
    readonly radius: number;
  }[];
}

/** Mean powers of beams since the last message: [b][c], channels in rising frequency as in the plan. */
export interface BeamsHead extends Head {
  readonly time: string;
  readonly product: number;
  readonly names: readonly string[];
  /** Total number; the first ones are shown. */
  readonly of: number;
}

export interface ColourRange {
  readonly low: number;
  readonly high: number;
  readonly peak: number;
}

/** Images of the same spectra from visibilities and directly, and their difference. */
export interface MethodsHead extends Head {
  readonly time: string;
  readonly pixelSize: number;
  readonly halfWidth: number;
  /** Relative to the brightest pixel. */
  readonly difference: number;
  readonly range: ColourRange;
  readonly offRange: ColourRange;
}

/** A page's request. */
export interface Ask {
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  /** Stations whose baseline's waterfall is requested. */
  readonly pair?: readonly [number, number];
}

export const TOPICS = [
  'status',
  'plan',
  'sky',
  'sources',
  'antennas',
  'bandpass',
  'beams',
  'baseline',
  'fringes',
  'gains',
  'chain',
  'observation',
  'alarms',
  'journal',
  'methods',
  'machines',
] as const;
export type Topic = (typeof TOPICS)[number];
