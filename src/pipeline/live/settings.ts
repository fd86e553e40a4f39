/** What a night shall make. */
import type { Front } from '../compose/front.js';
import type { RequestedVanVleck } from '../stages/van-vleck.js';
import type { RequestedKurtosis } from '../stages/kurtosis.js';
import type { TimedSpectra } from '../stages/spectra.js';
import type { Steering } from './steering.js';
import type { Backend } from '../../backend/backend.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import type { Source } from '../../core/sources.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { Calibrated, ImageSettings } from '../sky-image.js';
import type { CardChain } from './card-chain.js';

export interface LiveImaging {
  /** From one image to the next. */
  readonly everyS: number;
  readonly road: 'visibilities' | 'direct';
  readonly weight: 'natural' | 'uniform';
  readonly calibrated?: Calibrated;
  readonly image: ImageSettings;
}

export interface LiveSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  /** How voltages become channels. */
  readonly channels?: ChannelisePlan;
  readonly integrationS: number;
  readonly align: 'first-sample' | 'utc';
  readonly flaggedInputs?: Uint8Array;
  readonly imaging?: LiveImaging;
  /** Whether anyone keeps integrations: on a card they are not even made for nobody. Kept unless said. */
  readonly integrations?: 'kept' | 'for nobody';
  /** Where packets of spectra go straight to a card. Closed with the night. */
  readonly card?: CardChain;
  /** Flags, gains and integrations that may change on the way; else they are as above for the whole night. */
  readonly steering?: Steering;
  /** Interference is taken out of spectra before anything is made of them. */
  readonly kurtosis?: RequestedKurtosis;
  /** How a session's samples become spectra; by `channels` and `kurtosis` alone unless given. */
  readonly front?: (source: Source) => Front;
  /** The correction for rounding to few bits. */
  readonly vanVleck?: RequestedVanVleck;
  /** What files hold. */
  readonly values?: 'means' | 'sums';
  /** Sees spectra on their way. */
  readonly look?: (spectra: TimedSpectra) => Promise<void>;
}
