/** Settings of the products of a run. */
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
import type { Lateness } from './late.js';
import type { Steering } from './steering.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { MethodUsed } from '../compose/index.js';
import type { SkyDisc } from '../sky/discs.js';
import type { Telescope } from '../telescope/telescope.js';

export interface LiveImaging {
  /** From one image to the next. */
  readonly everyS: number;
  readonly by: 'visibilities' | 'direct';
  /** For images from visibilities, as chosen by method.ts; by default `w-term`. */
  readonly method?: 'w-term' | 'flat';
  readonly weight: 'natural' | 'uniform';
  /** If they change in time, evaluated at an instant. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Whatever the gains. By default images with gains are in Jy/beam, others in counts. */
  readonly unit?: 'Jy/beam' | 'counts';
  readonly image: ImageSettings;
  /** Method and error bound, if requested (method.ts). */
  readonly chosen?: MethodUsed;
  /** Whether autocorrelations are kept; by default direct images keep them. */
  readonly autos?: 'include' | 'leave-out';
  /** The van Vleck correction of images from visibilities. */
  readonly vanVleck?: RequestedVanVleck;
  /** Flags by channel, time and pair. */
  readonly rules?: readonly FlagRule[];
}

/** Products other than the files and the images, for one stream epoch. */
export interface FurtherProducts {
  /** Products that are made before the files and the images. */
  readonly first: readonly ComposedProduct[];
  readonly composed: readonly ComposedProduct[];
  /** At the end of the epoch: the products are completed. */
  finish(): Promise<void>;
  /** After a failure: finished products are kept. */
  keep(): Promise<void>;
}

export interface LiveSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  /** How voltages are channelised, or channels divided into finer ones. */
  readonly channels?: ChannelisePlan;
  readonly integrationS: number;
  readonly align: 'first-sample' | 'utc';
  readonly flaggedInputs?: Uint8Array;
  readonly imaging?: LiveImaging;
  /** Whether integrations are used: unused ones are not even made on a card. By default `kept`. */
  readonly integrations?: 'kept' | 'none';
  /** Flags, gains and integration lengths that may change during the run; by default those above apply. */
  readonly steering?: Steering;
  /** Kurtosis flagging of spectra before any product is made. */
  readonly kurtosis?: RequestedKurtosis;
  /** Fixed delays, or a tracked position. */
  readonly delays?: DelayRequest;
  /** Requested length of data, if known. */
  readonly forS?: number;
  /** For channelised input: the number of fine channels per channel. */
  readonly fineChannels?: number;
  /** Requantisation gain ratio: voltages are multiplied by it before rounding, and products are divided by it. */
  readonly gain?: Gain;
  /** Flags by channel, time and pair for files and images, and the channels to keep. */
  readonly flags?: FlagRulesSettings;
  /** Left out of models of further products. */
  readonly discs?: readonly SkyDisc[];
  /** The van Vleck correction. */
  readonly vanVleck?: RequestedVanVleck;
  /** Contents of files. */
  readonly values?: 'means' | 'sums';
  /** Made anew for each stream epoch. */
  readonly further?: (front: Front, source: Source) => Promise<FurtherProducts>;
  /** Keeps the imager from the rehearsal to the first stream epoch, and from each epoch to the next. */
  readonly imagers?: ImagerStore;
  /** Images are left out while packets wait. */
  readonly late?: Lateness;
  /** Called with spectra before the chain processes them. */
  readonly look?: (spectra: TimedSpectra) => Promise<void>;
}
