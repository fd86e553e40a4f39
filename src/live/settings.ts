/** What a night shall make. */
import type { ComposedProduct, Front, Gain } from '../compose/index.js';
import type {
  FlagRule,
  FlagRulesSettings,
  RequestedVanVleck,
  RequestedKurtosis,
  TimedSpectra,
  Calibrated,
  CalibratedAt,
  ImagerStore,
  ImageSettings,
  DelayRequest,
} from '../stages/index.js';
import type { Source } from '../core/sources.js';
import type { Steering } from './steering.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { MethodUsed } from '../compose/index.js';
import type { Telescope } from '../telescope/telescope.js';

export interface LiveImaging {
  /** From one image to the next. */
  readonly everyS: number;
  readonly road: 'visibilities' | 'direct';
  /** Of images from visibilities, as chosen by method.ts; `w-term` unless given. */
  readonly method?: 'w-term' | 'flat';
  readonly weight: 'natural' | 'uniform';
  /** Where they change in time, as they are at a moment. */
  readonly calibrated?: Calibrated | CalibratedAt;
  readonly image: ImageSettings;
  /** How they are made and how far they may be off, where that was asked (method.ts). */
  readonly chosen?: MethodUsed;
  /** Whether autocorrelations are kept; by default direct images keep them. */
  readonly autos?: 'include' | 'leave-out';
  /** The correction for rounding to few bits, of images from visibilities. */
  readonly vanVleck?: RequestedVanVleck;
  /** Flags by channel, time and pair. */
  readonly rules?: readonly FlagRule[];
}

/** Products beside the files and the images, for one stream epoch. */
export interface FurtherProducts {
  /** Those that come before the files and the images. */
  readonly first: readonly ComposedProduct[];
  readonly composed: readonly ComposedProduct[];
  /** The epoch is at its end: they appear. */
  finish(): Promise<void>;
  /** It failed: what is finished appears. */
  keep(): Promise<void>;
}

export interface LiveSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  /** How voltages become channels, or channels finer ones. */
  readonly channels?: ChannelisePlan;
  readonly integrationS: number;
  readonly align: 'first-sample' | 'utc';
  readonly flaggedInputs?: Uint8Array;
  readonly imaging?: LiveImaging;
  /** Whether anyone keeps integrations: on a card they are not even made for nobody. Kept unless said. */
  readonly integrations?: 'kept' | 'for nobody';
  /** Flags, gains and integrations that may change on the way; else they are as above for the whole night. */
  readonly steering?: Steering;
  /** Interference is taken out of spectra before anything is made of them. */
  readonly kurtosis?: RequestedKurtosis;
  /** Fixed delays, or a place that is tracked. */
  readonly delays?: DelayRequest;
  /** How much of the data is asked for, where that is known. */
  readonly forS?: number;
  /** Of what comes channelised: each channel made into so many. */
  readonly fineChannels?: number;
  /** What voltages are multiplied by before rounding, over the nominal gain; products are divided by it again. */
  readonly gain?: Gain;
  /** Flags by channel, time and pair, of files and images; and the channels that are kept. */
  readonly flags?: FlagRulesSettings;
  /** The correction for rounding to few bits. */
  readonly vanVleck?: RequestedVanVleck;
  /** What files hold. */
  readonly values?: 'means' | 'sums';
  /** Made anew for each stream epoch. */
  readonly further?: (front: Front, source: Source) => Promise<FurtherProducts>;
  /** Keeps the imager from the rehearsal to the first stream epoch, and from one to the next. */
  readonly imagers?: ImagerStore;
  /** Sees spectra on their way. */
  readonly look?: (spectra: TimedSpectra) => Promise<void>;
}
