/** Gains requested during a run: solved once or periodically, held, loaded, or none; in effect at a reported tick. */
import type { Backend } from '../backend/backend.js';
import type { Integration } from '../core/blocks.js';
import { CorellaError } from '../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import type { Source } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  checkModel,
  MOST_UNEXPLAINED,
  type ModelCheck,
  through,
  type Calibrated,
  prepareCalibrate,
  type CalibratedIntegration,
  type CalibrateSettings,
  type Stage,
} from '../stages/index.js';
import type { From, Steering } from './steering.js';

export interface LiveGainsSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly polarisations: 1 | 2;
  readonly sources: readonly Source[];
  readonly minimumAltitudeDeg: number;
  /** Called before the first solution: further settings of the solver, as in corella calibrate. */
  readonly model?: () => Pick<CalibrateSettings, 'element' | 'diffuse' | 'minimumBaselineM'>;
}

export interface Solved {
  /** Middle of the data that were used. */
  readonly time: Instant;
  readonly calibrated: Calibrated;
  /** Mean over channels and polarisations; NaN if nothing was solved. */
  readonly residual: number;
  /** How much of the sky the model explains, as in corella calibrate. */
  readonly check: ModelCheck;
  readonly solvedInputs: number;
  readonly sources: readonly string[];
}

/** Summary of a solution for display. */
export function solvedOf({
  integration,
  calibration,
  sources,
  check,
}: CalibratedIntegration & { readonly check: ModelCheck }): Solved {
  const residuals = calibration.solutions.map(({ residual }) => residual).filter(Number.isFinite);
  const inputs = integration.flaggedInputs.length;
  return {
    calibrated: calibration,
    check,
    time: addSeconds(integration.start, integration.durationS / 2),
    residual: residuals.reduce((sum, one) => sum + one, 0) / residuals.length,
    solvedInputs: Array.from({ length: inputs }, (_, a) => a).filter((a) =>
      calibration.solved.some((mark, at) => mark === 1 && at % inputs === a),
    ).length,
    sources: sources.map(({ source }) => source.name),
  };
}

export interface GainsEvents {
  /** The tick is unknown for gains that take effect by data time (gains.solve). */
  readonly solved: (solved: Solved, from: Pick<From, 'at'> & Partial<Pick<From, 'tick'>>) => void;
  readonly failed: (why: string) => void;
}

export class LiveGains {
  private stage: Stage<Integration, CalibratedIntegration> | undefined;
  private dueAt: Instant | undefined;
  everyS: number | undefined;
  latest: Solved | undefined;

  constructor(
    private readonly settings: LiveGainsSettings,
    private readonly steering: Steering,
    private readonly events: GainsEvents,
  ) {}

  get isDue(): boolean {
    return this.dueAt !== undefined;
  }

  /** From the integration that begins at `from`; repeated every `everyS` if given. */
  solve(from: From, everyS?: number): void {
    this.dueAt = from.at;
    this.everyS = everyS;
  }

  /** Keeps the current gains. */
  hold(): void {
    this.dueAt = undefined;
    this.everyS = undefined;
  }

  /** Other gains are in force, not solved ones. */
  replaced(): void {
    this.hold();
    this.latest = undefined;
  }

  async integration(integration: Integration): Promise<void> {
    if (!this.dueAt) return;
    if (secondsBetween(this.dueAt, integration.start) < -1e-9) return;
    this.dueAt = this.everyS === undefined ? undefined : addSeconds(integration.start, this.everyS);
    try {
      if (!this.stage) {
        const { model, ...settings } = this.settings;
        this.stage = await prepareCalibrate({ ...settings, ...model?.() });
      }
      const made = await through(this.stage, integration);
      const { calibration, plan } = made;
      const solved = solvedOf({ ...made, check: checkModel(integration, calibration, plan) });
      if (solved.solvedInputs === 0) {
        this.events.failed('no input could be solved');
        return;
      }
      const { unexplained } = solved.check;
      if (unexplained > MOST_UNEXPLAINED) {
        this.events.failed(
          `the model explains ${(100 * (1 - unexplained)).toFixed(0)} % of the sky's power: its gains would misplace the sky; name the sources that are up (\`sources\`)`,
        );
        return;
      }
      const by = { who: 'corella', authenticated: true };
      const { from } = this.steering.make({ gains: { solved: true, calibrated: calibration } }, by);
      this.latest = solved;
      this.events.solved(solved, from);
    } catch (error) {
      if (!(error instanceof CorellaError)) throw error;
      this.events.failed(`${error.what}${error.fix === undefined ? '' : `; ${error.fix}`}`);
    }
  }

  close(): Promise<void> {
    return this.stage?.close() ?? Promise.resolve();
  }
}
