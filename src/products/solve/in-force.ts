/** Solved gains in force. The gains of data depend only on when the data began, so that every run agrees. */
import { gainsCA } from '../../core/axes.js';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { calibratedAt, type Calibrated, type CalibratedAt } from '../../stages/index.js';
import type { NewSolution } from './solve.js';

/** Allows for rounding: starts may be computed by different formulae. */
const TOLERANCE_S = 1e-9;
/** Solutions kept: data never lag the newest by more. */
const MOST_STEPS = 256;

export interface InForceSettings {
  readonly channels: number;
  readonly inputs: number;
  /** Delay in data time between a solution's interval and its effect. */
  readonly lagS: number;
  /** Before the first solution; by default no input has a gain. */
  readonly before?: Calibrated | CalibratedAt;
  /** Whether data arrive in real time: then a solution may be late. */
  readonly data: 'arrive' | 'wait';
  readonly onSolution?: (solution: NewSolution, from: Instant) => void;
  /** Called for a solution that is not used, with the reason. */
  readonly onUnused?: (why: string) => void;
}

export class GainsInForce {
  private readonly steps: { readonly from: Instant; readonly calibrated: Calibrated }[] = [];
  private before: Calibrated | CalibratedAt;
  /** Solutions that took effect, and those that did not. */
  used = 0;
  unused = 0;

  constructor(private readonly settings: InForceSettings) {
    const { channels, inputs, before } = settings;
    this.before = before ?? {
      gains: gainsCA(new Float64Array(2 * channels * inputs).fill(Number.NaN), channels, inputs),
      solved: new Uint8Array(channels * inputs),
    };
  }

  /** Takes effect with the first data that begin `lagS` after its interval; `seconds` is its solving time. */
  put(made: NewSolution, seconds: number): void {
    const { lagS, data, onSolution } = this.settings;
    const { solution, until } = made;
    const when = `the interval that ended at ${formatInstant(until, 3)}`;
    if (solution.isLeftOut)
      this.leave(
        `the model explains ${(100 * (1 - solution.check.unexplained)).toFixed(0)} % of the sky's power in ${when}; the gains before it stay in force`,
      );
    else if (!solution.calibration.solved.includes(1))
      this.leave(`no input was solved in ${when}; the gains before it stay in force`);
    else if (data === 'arrive' && lagS > 0 && seconds > lagS)
      this.leave(
        `gains of ${when} took ${seconds.toFixed(1)} s to solve, longer than gains.lag of ${lagS} s; the gains before them stay in force`,
      );
    else {
      const from = addSeconds(until, lagS);
      const { gains, solved } = made.alone().calibration;
      this.steps.push({ from, calibrated: { gains, solved } });
      if (this.steps.length > MOST_STEPS) this.before = this.steps.shift()?.calibrated ?? this.before;
      this.used++;
      onSolution?.(made, from);
    }
  }

  leave(why: string): void {
    this.unused++;
    this.settings.onUnused?.(why);
  }

  /** For data that began at `start`. */
  readonly at: CalibratedAt = (moment, start = moment) => {
    for (let k = this.steps.length - 1; k >= 0; k--)
      if (secondsBetween(this.steps[k].from, start) >= -TOLERANCE_S) return this.steps[k].calibrated;
    return calibratedAt(this.before, moment, start);
  };
}
