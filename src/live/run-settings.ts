/** What a live run gets, and what it gives back. */
import type { Backend } from '../backend/backend.js';
import type { Closable } from '../core/closing.js';
import type { Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import type { Observation, ObservedItem, ProductOutcome } from '../observation/index.js';
import type { ReceiveAccount } from '../receive/index.js';
import type { TimedSpectra } from '../stages/index.js';
import type { FileEvent } from '../products/index.js';
import type { ShownRun } from './shown.js';
import type { GainsEvents, LiveGains } from './gains.js';
import type { NightEvent, NightSummary } from './run-epochs.js';
import type { InputSettings, OpenedInput, Say, StreamAccount } from './opened-input.js';
import type { LivePlan } from './plan.js';
import type { Steering } from './steering.js';
import type { LiveWatcher } from './run-epochs.js';

/** The page that shows and steers a run. */
export interface LivePage {
  /** The input, observed by the page. */
  readonly input: OpenedInput;
  readonly watcher: LiveWatcher;
  /** Called with spectra before the chain processes them. */
  readonly look: (spectra: TimedSpectra) => Promise<void>;
  readonly gainsEvents: GainsEvents;
  begin(begun: BegunRun): void;
  /** Data that do not come in blocks of samples. */
  arrived(start: Instant, durationS: number): void;
  file(event: FileEvent): void;
}

/** How many are in files, and how many were lost to a full disk or a removed file. */
export interface WrittenIntegrations {
  readonly written: number;
  readonly unwritten: number;
}

/** Known once the first data arrive. */
interface BegunRun {
  readonly shown: ShownRun;
  /** Steering that only keeps the gains. */
  readonly isSteered: boolean;
  readonly channelWidthHz: number;
  readonly spectrumRateHz: number;
  /** To name on the sky; by default all. */
  readonly sources?: string;
  readonly gains?: LiveGains;
  /** If integrations reach a file or a program. */
  readonly files?: WrittenIntegrations;
  /** Path of the picture, if there is one. */
  readonly picture?: string;
}

/** The page, if there is one, and what to close at the end. */
interface OpenedPage extends Closable {
  readonly page?: LivePage;
}

export interface OpenPageSettings {
  readonly observation: Observation;
  readonly backend: Backend;
  readonly stop: () => void;
}

export interface LiveRunSettings {
  readonly version: string;
  /** Folder for products without an absolute path. */
  readonly into?: string;
  readonly say: Say;
  readonly onStart?: (source: Source, description: string, backend: string) => void;
  /** Opens the input instead of the observation's source: a simulated sky. */
  readonly openInput?: (settings: InputSettings) => Promise<OpenedInput>;
  readonly onEvent: (event: NightEvent) => void;
  readonly onFile: (event: FileEvent) => void;
  /** Called before waiting for data, with all defaults resolved. */
  readonly onResolved?: (observation: Observation) => Promise<void>;
  /** Called with the first samples. */
  readonly onPlan?: (plan: LivePlan) => void;
  /** Receives the items of products without a path, which are otherwise only shown on a page. */
  readonly onItem?: (item: ObservedItem) => Promise<void>;
  /** Called with the first samples, for a program that makes changes during the run. */
  readonly onSteering?: (steering: Steering, plan: LivePlan) => void;
  /** Ends the run: data already received are processed. */
  readonly stop?: AbortSignal;
  readonly openPage?: (input: OpenedInput, settings: OpenPageSettings) => Promise<OpenedPage>;
}

export interface LiveOutcome {
  readonly observation: Observation;
  readonly summary: NightSummary;
  /** Set once samples have arrived. */
  readonly plan?: LivePlan;
  readonly packets?: ReceiveAccount;
  /** For a receiver's frames. */
  readonly stream?: StreamAccount;
  /** By a signal or on the page. */
  readonly isStopped: boolean;
  /** Products that ended before the others, and why. */
  readonly failures: readonly string[];
  /** Outcomes of products made as for recordings: beams, spectra, gains. */
  readonly products: readonly ProductOutcome[];
}
