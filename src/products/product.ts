/** What a product is to the composer: planned from its fields, made as a stage with a sink behind it. */
import type { Backend } from '../backend/backend.js';
import type { CanonicalSpectra, Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Instant } from '../core/instant.js';
import type { Message } from '../messages/index.js';
import type { CrossHandLack, GainsFile, Recording, VisibilityHeader } from '../formats/index.js';
import type { BeamItem, ComposedProduct, Front, FrontSpectra } from '../compose/index.js';
import type {
  FlagRule,
  Level,
  InputLevels,
  Calibrated,
  CalibratedAt,
  IntegrationClock,
  TimedSpectra,
  Emit,
  Stage,
  RequestedDelays,
  PictureOptions,
  SkyImage,
} from '../stages/index.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import type { GainsInForce, SolvedGains } from './solve/index.js';

/** What products know of the observation. */
export interface Observed {
  /** The part of the recording that is used. */
  readonly recording: Recording;
  readonly telescope: Telescope;
  readonly front: Front;
  readonly spectra: FrontSpectra;
  readonly delays?: RequestedDelays;
  /** What is tracked. */
  readonly centre?: PhaseCentre;
  /** [a], 1 where an input is flagged all the time. */
  readonly flaggedInputs: Uint8Array;
  /** Flags by channel, time and pair. */
  readonly rules: readonly FlagRule[];
  readonly level?: Level;
  readonly equaliser?: InputLevels;
  /** Equaliser gains that no file has: what is not divided by them now never can be. */
  readonly equaliserIsLost: boolean;
  /** Of beams, where they are steered. */
  readonly places?: SteeredPlaces;
  /** Gains that calibrate images and beams. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Takes the solutions of this product, which calibrate the others. */
  readonly solutionsInto?: GainsInForce;
  /** What those gains do not say of X and Y together. */
  readonly crossHands?: CrossHandLack;
  /** The beam through which their model was seen. */
  readonly gainsElement?: string;
}

/** Where beams point, as it changes on the way. */
interface SteeredPlaces {
  at(moment: Instant): readonly string[];
  /** In the order of time. */
  readonly steps: readonly { readonly from: Instant; readonly value: readonly string[] }[];
}

/** Where and how a product is made. */
export interface Making {
  readonly backend: Backend;
  /** For the product's header: how it was made. */
  readonly history: readonly string[];
  /** Takes the items of a product without a path, which are written nowhere. */
  readonly emit?: Emit<ProductItem>;
  /** Takes beams as they are made, for a page; its arrays are filled anew by the next. */
  readonly onBeams?: (seen: SeenBeams) => void;
}

export interface SeenBeams {
  readonly item: Exclude<BeamItem, { readonly kind: 'rest' }>;
  /** Of its first value. */
  readonly start: Instant;
  readonly isCoherent: boolean;
  /** Of powers: I, or XX, comes first. */
  readonly planes: number;
}

/** An item of a product without a path. Its arrays hold until the promise of whoever takes it resolves. */
export type ProductItem =
  | {
      readonly kind: 'visibilities';
      readonly integration: Integration;
      /** What a file of them would say. */
      readonly header: VisibilityHeader;
    }
  | {
      readonly kind: 'images';
      readonly image: SkyImage;
      /** What a file or a picture of it would say. */
      readonly about: PictureOptions;
    }
  | { readonly kind: 'spectra'; readonly spectra: CanonicalSpectra }
  | { readonly kind: 'beams'; readonly beams: BeamItem }
  | { readonly kind: 'gains'; readonly gains: GainsFile; readonly solved: SolvedGains };

/** Where the items of a product without a path go; without someone who takes them it is refused. */
export const handingOver = <Item>(
  { emit }: { readonly emit?: (item: Item) => Promise<void> },
  name: string,
): ((item: Item) => Promise<void>) => emit ?? refuse(`products.${name}`, 'has no path', 'name a file');

/** A product while data come. */
export interface MadeProduct {
  readonly composed: ComposedProduct;
  /** Takes pieces that other machines made, in the order of time, instead of data; of products that are cut in time. */
  take?(part: ProductPart): Promise<void>;
  /** The data are at their end: the product appears. */
  finish(): Promise<void>;
  /** Ends early: what is finished appears; a sentence on how much that is. */
  keep(): Promise<string>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** A piece of a product that is cut in time, as one of many machines makes it. */
export interface ProductPart {
  /** Spectra by their number in the recording. */
  readonly first: number;
  readonly end: number;
  /** Of spectra. */
  readonly gaps?: readonly SpectraGap[];
  /** Of an image: when it begins, how long it lasts, and the moment of its geometry. */
  readonly image?: { readonly start: Instant; readonly durationS: number; readonly moment: Instant };
  readonly values: ArrayBufferView;
}

/**
 * How many machines make a product. `both`: from integrations, whose sums are cut in time and in channels, and merged before
 * the product is made of them. `whole`: the same, and the product needs all integrations at once. `time`: each machine
 * makes whole pieces of it, of all channels.
 */
export type ProductParts =
  | { readonly cut: 'both' | 'whole' }
  | {
      readonly cut: 'time';
      readonly kind: 'spectra' | 'images';
      /** Of images: for which moment the plan was made that one machine would have at each image's place. */
      readonly moments?: () => readonly Instant[];
      /** The front's range says which pieces. */
      readonly make: (
        front: Front,
        machine: { readonly backend: Backend; readonly plannedFor?: Instant },
        emit: Emit<ProductPart>,
      ) => Stage<TimedSpectra, unknown>;
    };

/** A product that was checked, with what its plan says. */
export interface PlannedProduct<Facts extends object = object> {
  readonly name: string;
  /** Where its integrations or images end. */
  readonly clock: IntegrationClock;
  /** Files that it writes. */
  readonly paths: readonly string[];
  /** About how large they become. */
  readonly sizeBytes?: number;
  /** What is not as one would expect. */
  readonly warnings?: readonly Message[];
  /** Whether gains calibrate it. */
  readonly isCalibrated: boolean;
  readonly parts: ProductParts;
  /** What is known of it by now: from the plan, and of the data that came. */
  readonly facts: () => Facts;
  /** Refuses other places from a moment on, as they would have been refused at the start; of beams. */
  readonly refusePlaces?: (places: readonly string[], at: Instant) => void;
  make(making: Making): Promise<MadeProduct>;
}
