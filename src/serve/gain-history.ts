/** Gains of the run, for the page and the alarms. */
import { toDate } from '../core/instant.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { LiveGains, Solved, Steering } from '../live/index.js';
import type { GainsView, Status } from './messages.js';

const MOST = 720;
const rounded = (value: number): number | null => (Number.isFinite(value) ? Number(value.toFixed(4)) : null);

/** Omitted if the sky cannot be separated from noise, or the noise is unknown. */
const finite = (name: 'unexplained' | 'noiseResidual', value: number): Partial<GainsView> =>
  Number.isFinite(value) ? { [name]: value } : {};

export class GainHistory {
  private readonly history: GainsView['history'][number][] = [];
  private steering: Steering | undefined;
  private gains: LiveGains | undefined;
  private sinceUnixS: number | undefined;
  private inputs = 0;

  follow(steering: Steering, gains: LiveGains | undefined, inputs: number): void {
    this.steering = steering;
    this.gains = gains;
    this.inputs = inputs;
    if (steering.gains.latest) this.sinceUnixS = Date.now() / 1000;
  }

  /** Called when other gains take effect; solved ones add a row. */
  changed(solved?: Solved): void {
    this.sinceUnixS = Date.now() / 1000;
    if (!solved) return;
    const { gains, solved: marks } = solved.calibrated;
    const channels = marks.length / this.inputs;
    const middle = Math.floor(channels / 2) * this.inputs;
    const parts = Array.from({ length: this.inputs }, (_, a) =>
      marks[middle + a] === 1 ? [gains[2 * (middle + a)], gains[2 * (middle + a) + 1]] : [NaN, NaN],
    );
    this.history.push({
      unixS: toDate(solved.time).getTime() / 1000,
      residual: rounded(solved.residual),
      amplitudes: parts.map(([re, im]) => rounded(Math.hypot(re, im))),
      phasesDeg: parts.map(([re, im]) => rounded(Math.atan2(im, re) * DEGREES_PER_RADIAN)),
    });
    if (this.history.length > MOST) this.history.shift();
  }

  brief(): Status['gains'] {
    if (this.gains?.isDue === true) return { state: 'solving', ...this.age() };
    return this.steering?.gains.latest ? { state: 'held', ...this.age() } : { state: 'none' };
  }

  private age(): { readonly ageS?: number } {
    return this.steering?.gains.latest && this.sinceUnixS !== undefined
      ? { ageS: Date.now() / 1000 - this.sinceUnixS }
      : {};
  }

  /** Number of inputs without a gain in any channel. */
  get unsolved(): number | undefined {
    const solved = this.steering?.latestGains?.solved;
    if (!solved || this.inputs === 0) return undefined;
    const has = new Uint8Array(this.inputs);
    solved.forEach((mark, at) => {
      if (mark === 1) has[at % this.inputs] = 1;
    });
    return has.reduce((sum, one) => sum + (1 - one), 0);
  }

  get residual(): number | undefined {
    return this.gains?.latest?.residual;
  }

  forRules(): { readonly ageS: number; readonly everyS?: number; readonly unsolved: number } | undefined {
    const { ageS } = this.age();
    const everyS = this.gains?.everyS;
    const { unsolved } = this;
    if (ageS === undefined || unsolved === undefined) return undefined;
    return { ageS, unsolved, ...(everyS !== undefined && { everyS }) };
  }

  view(): GainsView {
    const latest = this.gains?.latest;
    return {
      ...this.brief(),
      ...(latest && {
        residual: latest.residual,
        ...finite('unexplained', latest.check.unexplained),
        ...finite('noiseResidual', latest.check.noiseResidual),
        solvedInputs: latest.solvedInputs,
        sources: latest.sources,
      }),
      ...(this.gains?.everyS !== undefined && { everyS: this.gains.everyS }),
      history: this.history,
    };
  }
}
