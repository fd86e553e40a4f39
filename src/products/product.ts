/** The composer's interface to a product: planned from its fields, made as a stage and a sink. */
import type { Backend } from '../backend/backend.js';
import type { CanonicalSpectra, Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Instant } from '../core/instant.js';
import type { Line, Message } from '../messages/index.js';
import type { CrossHandLack, GainsFile, Recording, VisibilityHeader } from '../formats/index.js';
import type { BeamItem, ComposedProduct, Front, FrontSpectra, MethodUsed } from '../compose/index.js';
import type {
  FlagRule,
  Calibrated,
  CalibratedAt,
  IntegrationClock,
  TimedSpectra,
  Emit,
  Stage,
  RequestedDelays,
  PictureOptions,
  SkyImage,
  ImagerStore,
  ImageSettings,
  Lateness,
  Rounded,
} from '../stages/index.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { SkyDisc } from '../sky/discs.js';
import type { SkyFiles } from '../sky/use-sky.js';
import type { Telescope } from '../telescope/telescope.js';
import type { FileEvent } from './recorders/files.js';
import type { Recorder } from './recorders/recorder.js';
import type { GainsInForce, SolvedGains } from './solve/index.js';

/** Properties of the observation for products. */
export interface Observed {
  /** The part of the recording that is used. */
  readonly recording: Recording;
  readonly telescope: Telescope;
  readonly front: Front;
  readonly spectra: FrontSpectra;
  readonly delays?: RequestedDelays;
  /** The tracked position. */
  readonly centre?: PhaseCentre;
  /** [a], 1 if an input is always flagged. */
  readonly flaggedInputs: Uint8Array;
  /** Flags by channel, time and pair. */
  readonly rules: readonly FlagRule[];
  /** Blank in images, and left out of models. */
  readonly discs: readonly SkyDisc[];
  /** Equaliser gains are not written to a file: data that are not divided by them now can never be. */
  readonly equaliserIsLost: boolean;
  /** For beams, if they are steered. */
  readonly places?: SteeredPlaces;
  /** If data arrive while they are observed. */
  readonly live?: LiveData;
  /** Gains that calibrate images and beams; if they are steered, without the inputs that are flagged. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Receives the solutions of this product, which calibrate the others. */
  readonly solutionsInto?: GainsInForce;
  /** If the X–Y phase of those gains is unknown. */
  readonly crossHands?: CrossHandLack;
  /** The beam of the sky model of those gains. */
  readonly gainsElement?: string;
  /** Gains with phases alone: images stay in counts. */
  readonly gainsAre?: 'relative';
}

/** What a product of live data is planned with besides. */
export interface LiveData {
  /** Where its integrations end, if an operator may change it or others share its cuts. */
  readonly clock?: IntegrationClock;
  readonly steering?: SteeredData;
  /** Images are left out while packets wait. */
  readonly late?: Lateness;
  /** Keeps imagers from the rehearsal to the first stream epoch, and from each epoch to the next. */
  readonly imagers?: ImagerStore;
  /** How images are made on this machine at their cadence; by default with the w term. */
  readonly imaging?: LiveMethod;
}

export interface LiveMethod {
  readonly image: ImageSettings;
  readonly method?: 'w-term' | 'flat';
  readonly chosen: MethodUsed;
}

/** What an operator may change, as it was when data began. */
export interface SteeredData {
  /** Whether files are written. */
  readonly recording: { at(moment: Instant): boolean };
  /** Increases when a new file must begin. */
  readonly fileNumber: { at(moment: Instant): number };
  readonly gains: { at(moment: Instant): Calibrated | CalibratedAt | undefined };
  /** The gains in force when data began, evaluated at an instant. */
  calibratedAt(start: Instant, moment?: Instant): Calibrated | undefined;
}

/** Beam positions, which may change during the run. */
interface SteeredPlaces {
  at(moment: Instant): readonly string[];
  /** In time order. */
  readonly steps: readonly { readonly from: Instant; readonly value: readonly string[] }[];
}

/** Settings for making a product. */
export interface Making {
  readonly backend: Backend;
  /** For the product's header: how it was made. */
  readonly history: readonly string[];
  /** Receives the items of a product without a path. */
  readonly emit?: Emit<ProductItem>;
  /** For data that arrive in real time: what takes too long for it is refused. */
  readonly realTime?: RealTimeCost;
  readonly listener?: ProductListener;
  /** For a product of live data: how it is written. */
  readonly recording?: LiveRecording;
}

/** Receives what a product makes, for a page and the log; arrays are reused for the next. */
export interface ProductListener {
  /** With all channels; its arrays belong to the product. */
  integration?(integration: Integration): Promise<void> | void;
  image?(sky: SkyImage): void;
  /** No data were left for an image. */
  noImage?(why: string): void;
  beams?(seen: SeenBeams): void;
  /** After each integration, if samples are rounded here: what was found so far. */
  rounded?(found: () => Rounded | undefined): void;
}

export interface LiveRecording {
  /** The product's recorder, opened once for all stream epochs. */
  readonly opened: <One extends Recorder>(open: () => One) => One;
  readonly overwrite: boolean;
  readonly sky: SkyFiles;
  readonly onFile: (event: FileEvent) => void;
  readonly onFault: (line: Line) => void;
}

/** Seconds of this machine's work for a second of data, measured once in a run. */
export interface RealTimeCost {
  secondsPerBeam?: number;
}

export interface SeenBeams {
  readonly item: Exclude<BeamItem, { readonly kind: 'rest' }>;
  /** Of its first value. */
  readonly start: Instant;
  readonly isCoherent: boolean;
  /** Of powers: I, or XX, is first. */
  readonly planes: number;
}

/** An item of a product without a path. Its arrays are valid until the receiver's promise resolves. */
export type ProductItem =
  | {
      readonly kind: 'visibilities';
      readonly integration: Integration;
      /** The header that a file would have. */
      readonly header: VisibilityHeader;
    }
  | {
      readonly kind: 'images';
      readonly image: SkyImage;
      /** The annotations that a file or picture would have. */
      readonly about: PictureOptions;
    }
  | { readonly kind: 'spectra'; readonly spectra: CanonicalSpectra }
  | { readonly kind: 'beams'; readonly beams: BeamItem }
  | { readonly kind: 'gains'; readonly gains: GainsFile; readonly solved: SolvedGains };

/** Emits the items of a product without a path; refused without a receiver. */
export const handingOver = <Item>(
  { emit }: { readonly emit?: (item: Item) => Promise<void> },
  name: string,
): ((item: Item) => Promise<void>) => emit ?? refuse(`products.${name}`, 'has no path', 'name a file');

/** A product during the run. */
export interface MadeProduct {
  readonly composed: ComposedProduct;
  /** Receives pieces made by other machines, in time order, instead of data; for products that are cut in time. */
  take?(part: ProductPart): Promise<void>;
  /** End of the data: completes the product. */
  finish(): Promise<void>;
  /** Early end: keeps what is finished; returns a sentence on how much that is. */
  keep(): Promise<string>;
  /** Leaves no files behind. */
  abandon(): Promise<void>;
}

/** A piece of a product that is cut in time, made by one of several machines. */
export interface ProductPart {
  /** Spectra by their number in the recording. */
  readonly first: number;
  readonly end: number;
  /** In spectra. */
  readonly gaps?: readonly SpectraGap[];
  /** For an image: its start, its length, and the instant of its geometry. */
  readonly image?: { readonly start: Instant; readonly durationS: number; readonly moment: Instant };
  readonly values: ArrayBufferView;
}

/**
 * How several machines share a product. `both`: from integrations, whose sums are cut in time and in channels and
 * merged before the product is made. `whole`: the same, but the product needs all integrations at once. `time`: each
 * machine makes whole pieces of it, with all channels.
 */
export type ProductParts =
  | { readonly cut: 'both' | 'whole' }
  | {
      readonly cut: 'time';
      readonly kind: 'spectra' | 'images';
      /** For images: the instants that a single machine would have used for the plans of each image. */
      readonly moments?: () => readonly Instant[];
      /** The front end's range selects the pieces. */
      readonly make: (
        front: Front,
        machine: { readonly backend: Backend; readonly plannedFor?: Instant },
        emit: Emit<ProductPart>,
      ) => Stage<TimedSpectra, unknown>;
    };

/** A checked product, with the facts of its plan. */
export interface PlannedProduct<Facts extends object = object> {
  readonly name: string;
  /** Cuts its integrations or images. */
  readonly clock: IntegrationClock;
  /** Files to write. */
  readonly paths: readonly string[];
  /** Approximate size of the files. */
  readonly sizeBytes?: number;
  /** Unexpected properties. */
  readonly warnings?: readonly Message[];
  /** Whether gains calibrate it. */
  readonly isCalibrated: boolean;
  readonly parts: ProductParts;
  /** Facts so far: from the plan, and from the data. */
  readonly facts: () => Facts;
  /** For beams: refuses other positions from an instant on, if they would have been refused at the start. */
  readonly refusePlaces?: (places: readonly string[], at: Instant) => void;
  make(making: Making): Promise<MadeProduct>;
}
