/** What the server and its pages say to each other. Plain JSON: no type here needs Node or a browser. */

export type Severity = 'warning' | 'alarm';

export interface Alarm {
  readonly id: string;
  readonly severity: Severity;
  /** What is wrong. */
  readonly what: string;
  /** A sender, an input, a file, the machine. */
  readonly where: string;
  /** How to go on. */
  readonly fix: string;
  readonly sinceUnixS: number;
  readonly acknowledged: boolean;
  /** The id of an alarm that explains this one, and is listed before it. */
  readonly because?: string;
}

export interface JournalEntry {
  readonly number: number;
  readonly time: string;
  /** Who asked: an address, or the program itself. */
  readonly who: string;
  readonly what: string;
  /** From which tick, and when that is; absent of what has no moment. */
  readonly fromTick?: string;
  readonly from?: string;
  /** Its number, by which it can be cancelled until it takes effect. */
  readonly change?: number;
  /** The change that was cancelled. */
  readonly cancels?: number;
}

/** Every command that steers is answered so. */
export interface Steered {
  readonly accepted: true;
  readonly fromTick: string;
  readonly from: string;
  readonly journal: number;
  /** The number of the change, for `cancel`. */
  readonly change?: number;
}

/** What a refusal looks like on the wire. */
export interface Refused {
  readonly where: string;
  readonly what: string;
  readonly fix?: string;
}

export interface RecordingStatus {
  /** Made from what was written: `recording` means an integration within two integration times. */
  readonly state: 'none' | 'recording' | 'stalled' | 'stopped';
  readonly file?: string;
  readonly newestAgeS?: number;
  readonly written: number;
  readonly unwritten: number;
  readonly files: number;
}

export interface Status {
  readonly state: 'waiting' | 'observing' | 'silent' | 'stopping' | 'showing';
  /** For people: what is wrong, or that nothing is. */
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
  /** Of the data, as they tell it. */
  readonly newestSample?: string;
  /** Since data came. */
  readonly dataAgeS?: number;
  /** Whether the data's time is the wall clock's. */
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
  /** Of a page for several machines: how many. */
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
  readonly road?: 'visibilities' | 'direct';
  /** How images are made, and the most that a pixel may be off, over a source's peak. */
  readonly imaging?: {
    readonly method: 'direct' | 'w-term' | 'flat';
    readonly predictedError: number;
    /** The same for pixels and sources 10° above the horizon and higher. */
    readonly predictedErrorAbove10Deg: number;
  };
}

export interface SenderRow {
  readonly name: string;
  readonly packetsPerS: number;
  readonly lostPercent: { readonly second: number; readonly minute: number; readonly night: number };
  /** Packets of the night by what became of them; `missing` never came in time. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly silentS: number;
  /** Behind the newest of all senders. */
  readonly behindMs?: number;
  readonly newestTick?: string;
  /** Who answers for what is lost. */
  readonly verdict: string;
}

export interface SendersView {
  readonly senders: readonly SenderRow[];
  readonly packets: number;
  readonly bytesPerS: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly kernelDrops?: number;
  readonly resyncs: number;
  readonly skippedBlocks: number;
  /** Arrival less packet time. */
  readonly clockErrorS?: { readonly mean: number; readonly spread: number };
  readonly lateness: { readonly upToMs: readonly number[]; readonly blocks: readonly number[] };
  /** Of a simulated sky: what is lost on request. */
  readonly losses?: { readonly percent: number; readonly silent: readonly string[] };
}

export type Health = 'good' | 'flagged' | 'missing' | 'dead' | 'weak' | 'strong' | 'changed';

export interface InputRow {
  readonly input: number;
  readonly polarisation: string;
  readonly levelDb: number | null;
  /** Against the array's median, and against its own last hour. */
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
  /** What the model leaves of the sky's power, noise taken away. */
  readonly unexplained?: number;
  /** The residual that noise alone would leave. */
  readonly noiseResidual?: number;
  readonly solvedInputs?: number;
  readonly sources?: readonly string[];
  readonly everyS?: number;
  /** Of the night so far: one row a solve. */
  readonly history: readonly {
    readonly unixS: number;
    readonly residual: number | null;
    /** [input], middle of the band; null where unsolved. */
    readonly amplitudes: readonly (number | null)[];
    readonly phasesDeg: readonly (number | null)[];
  }[];
}

export interface ChainView {
  readonly ring?: { readonly waiting: number; readonly blocks: number };
  /** Median and 99th percentile of the last minute, from the last sample to here. */
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

/** Of two to eight stations: the latest integrations. NaN is null. */
export interface FringesView {
  readonly startUnixS: number;
  /** Middles of the integrations, from there. */
  readonly timesS: readonly (number | null)[];
  readonly frequencyHz: number;
  readonly frequenciesHz: readonly number[];
  /** Of hydrogen, where the band holds its line. */
  readonly velocitiesKmPerS?: readonly (number | null)[];
  /** Whose fringe is expected. */
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

/** A block of live data against the reference, and one road against the other. */
export interface CheckView {
  readonly time: string;
  readonly ageS: number;
  readonly samples: number;
  readonly products: number;
  /** Values that differ from the reference's, of products. */
  readonly differing: number;
  readonly largest: number;
  readonly exact: boolean;
  /** Largest difference of the two roads' images, of the brightest pixel. */
  readonly roadsDiffer?: number;
  readonly checked: number;
  readonly failed: number;
}

/** A minute since 1970, with the share of samples that were there, and whether it was written. */
export interface MinuteView {
  readonly minute: number;
  readonly presentPercent: number;
  readonly written: number;
  readonly integrations: number;
  /** Covered by integrations that began in it. */
  readonly seconds: number;
}

export interface NightView {
  readonly startedUnixS: number;
  readonly minutes: readonly MinuteView[];
  /** Of a night of several machines. */
  readonly machines?: readonly {
    readonly machine: string;
    readonly minutes: readonly MinuteView[];
    /** What others have and it has not, minutes in a row together. */
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

/** What a machine says of itself, each second. */
export interface MachineWord {
  readonly machine: string;
  readonly version: string;
  /** Where its own page is. */
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
  /** Of this process: one that was started again has another. */
  readonly startedUnixS: number;
  /** Its latest. */
  readonly minutes: readonly MinuteView[];
}

/** A machine of a night, as the page for all shows it. */
export interface MachineRow extends Omit<MachineWord, 'minutes'> {
  /** Since its last word. */
  readonly silentS: number;
  /** When its last word came, where it has gone. */
  readonly awaySinceUnixS?: number;
  /** How often it went and came back. */
  readonly returns: number;
  /** Why its images are not part of the whole. */
  readonly trouble?: string;
}

/** In front of every binary message: its numbers follow as float32. */
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
  readonly time: string;
  readonly durationS: number;
  readonly number: number;
  readonly ageS: number;
  readonly everyS: number;
  /** Direction cosine from pixel to pixel; row 0 in the south, column 0 in the west. */
  readonly pixelSize: number;
  /** Half width of what is shown, as a direction cosine: 1 is the rim of the projection. */
  readonly halfWidth: number;
  /** l, m and n of the image, each as [east, north, up]; round the zenith with north up unless given. */
  readonly axes?: SkyAxes;
  readonly unit: string;
  readonly road: string;
  /** Of a picture that was made again, with weights of its own. */
  readonly weight?: string;
  /** Machines whose channels are not in it. */
  readonly without?: readonly string[];
  readonly low: number;
  readonly high: number;
  readonly peak: number;
  readonly sources: readonly SkySource[];
  /** Circles of their half-power width. */
  readonly beams?: readonly {
    readonly name: string;
    readonly l: number;
    readonly m: number;
    readonly radius: number;
  }[];
}

/** Mean powers of beams since the last: [b][c], channels rising in frequency as in the plan. */
export interface BeamsHead extends Head {
  readonly time: string;
  readonly product: number;
  readonly names: readonly string[];
  /** How many there are; the first ones are shown. */
  readonly of: number;
}

interface ColourRange {
  readonly low: number;
  readonly high: number;
  readonly peak: number;
}

/** The same spectra to an image by visibilities, directly, and what is between them. */
export interface RoadsHead extends Head {
  readonly time: string;
  readonly pixelSize: number;
  readonly halfWidth: number;
  /** Of the brightest pixel. */
  readonly difference: number;
  readonly range: ColourRange;
  readonly offRange: ColourRange;
}

/** What a page asks for. */
export interface Ask {
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  /** Stations whose baseline's waterfall is wanted. */
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
  'night',
  'alarms',
  'journal',
  'roads',
  'machines',
] as const;
export type Topic = (typeof TOPICS)[number];
