/** What a product is to the composer: planned from its fields, made as a stage with a sink behind it. */
import type { Backend } from '../backend/backend.js';
import type { Recording } from '../formats/index.js';
import type { ComposedProduct } from '../pipeline/compose/compose.js';
import type { Front, FrontSpectra } from '../pipeline/compose/front.js';
import type { FlagRule } from '../pipeline/flags/rules.js';
import type { Level } from '../pipeline/levels.js';
import type { InputLevels } from '../pipeline/levels/input-levels.js';
import type { Calibrated, CalibratedAt } from '../pipeline/sky-image.js';
import type { IntegrationClock } from '../pipeline/stages/clock.js';
import type { RequestedDelays } from '../pipeline/tracking.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';

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
  /** Gains that calibrate images and beams. */
  readonly calibrated?: Calibrated | CalibratedAt;
}

/** Where and how a product is made. */
export interface Making {
  readonly backend: Backend;
  /** For the product's header: how it was made. */
  readonly history: readonly string[];
}

/** A product while data come. */
export interface MadeProduct {
  readonly composed: ComposedProduct;
  /** The data are at their end: the product appears. */
  finish(): Promise<void>;
  /** Ends early: what is finished appears; a sentence on how much that is. */
  keep(): Promise<string>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** A product that was checked, with what its plan says. */
export interface PlannedProduct<Facts extends object = object> {
  readonly name: string;
  /** Where its integrations or images end. */
  readonly clock: IntegrationClock;
  /** Files that it writes. */
  readonly paths: readonly string[];
  /** About how large they become. */
  readonly sizeBytes?: number;
  /** Whether gains calibrate it. */
  readonly isCalibrated: boolean;
  /** What is known of it by now: from the plan, and of the data that came. */
  readonly facts: () => Facts;
  make(making: Making): Promise<MadeProduct>;
}
