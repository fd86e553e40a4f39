/**
 * Each antenna from its autocorrelation: its level, relative to the array and to its last hour, and its samples. Data
 * without autocorrelations have no levels, and samples are those of its pairs.
 */
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { toDate } from '../core/instant.js';
import { median } from '../core/median.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import { productCount } from '../core/product-counts.js';
import type { Calibrated } from '../stages/index.js';
import { inputName, type Telescope } from '../telescope/telescope.js';
import type { AntennaRow, Health, InputRow } from './messages.js';

/** A larger deviation is reported: half or twice the power. */
const OFF_DB = 3;
/** An input this far below the array is not connected. */
const DEAD_DB = 15;
const HOUR_S = 3600;
/** Number of levels for an hour's median. */
const KEPT = 240;

const decibels = (power: number): number => (power > 0 ? 10 * Math.log10(power) : NaN);
const known = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : Number(value.toFixed(2));

function hasAutos({ counts, stations }: Integration, channels: number): boolean {
  const baselines = baselineCount(stations);
  for (let c = 0; c < channels; c++)
    for (let s = 0; s < stations; s++) if (counts[c * baselines + baselineIndex(s, s)] > 0) return true;
  return false;
}

/** Samples of a station's pairs with others. */
function meanOfPairs({ counts, stations }: Integration, c: number, s: number): number {
  let sum = 0;
  for (let t = 0; t < stations; t++)
    if (t !== s) sum += counts[c * baselineCount(stations) + baselineIndex(Math.max(s, t), Math.min(s, t))];
  return sum / Math.max(1, stations - 1);
}

export class AntennaPowers {
  /** levels : [a], dB of the mean power over the band; NaN without data. */
  levels: Float64Array;
  /** bandpass : [a][c], dB. */
  readonly bandpass: Float32Array;
  /** present : [a], the fraction of samples received. */
  readonly present: Float64Array;
  flagged: Uint8Array;
  private readonly history: { readonly unixS: number; readonly levels: Float64Array }[] = [];
  private hour: Float64Array;
  private readonly inputs: number;

  constructor(
    readonly telescope: Telescope,
    private readonly channels: number,
  ) {
    this.inputs = telescope.stations.length * telescope.polarisations;
    this.levels = new Float64Array(this.inputs).fill(NaN);
    this.hour = new Float64Array(this.inputs).fill(NaN);
    this.bandpass = new Float32Array(this.inputs * channels).fill(NaN);
    this.present = new Float64Array(this.inputs);
    this.flagged = new Uint8Array(this.inputs);
  }

  private hasAutos = true;

  /** Returns the fraction of samples received, over all pairs that the data have. */
  integration(integration: Integration, spectrumRateHz: number): number {
    const { visibilities, counts, polarisations, durationS, flaggedInputs, stations } = integration;
    const baselines = baselineCount(stations);
    const full = Math.max(1, Math.round(durationS * spectrumRateHz));
    const all = counts.reduce((sum, count) => sum + count, 0);
    this.hasAutos = all === 0 || hasAutos(integration, this.channels);
    const levels = new Float64Array(this.inputs);
    for (let a = 0; a < this.inputs; a++) {
      const [s, p] = [Math.floor(a / polarisations), a % polarisations];
      let [sum, filled, counted] = [0, 0, 0];
      for (let c = 0; c < this.channels; c++) {
        const b = c * baselines + baselineIndex(s, s);
        const count = productCount(integration, b, p, p);
        const power = visibilities[2 * (b * polarisations ** 2 + p * (polarisations + 1))] / count;
        this.bandpass[a * this.channels + c] = count > 0 ? decibels(power) : NaN;
        counted += this.hasAutos ? count : meanOfPairs(integration, c, s);
        if (count > 0) {
          sum += power;
          filled++;
        }
      }
      levels[a] = filled > 0 ? decibels(sum / filled) : NaN;
      this.present[a] = counted / (full * this.channels);
    }
    this.levels = levels;
    this.flagged = flaggedInputs;
    this.remember(levels, toDate(integration.start).getTime() / 1000);
    const expected = counts.length - (this.hasAutos ? 0 : this.channels * stations);
    return all / expected / full;
  }

  private remember(levels: Float64Array, unixS: number): void {
    const last = this.history.at(-1);
    if (last && Math.abs(unixS - last.unixS) < HOUR_S / KEPT) return;
    this.history.push({ unixS, levels });
    while (this.history.length > KEPT || Math.abs(unixS - this.history[0].unixS) > HOUR_S)
      this.history.shift();
    this.hour = Float64Array.from({ length: this.inputs }, (_, a) =>
      median(this.history.map((one) => one.levels[a])),
    );
  }

  private health(a: number, offArray: number, offHour: number): Health {
    if (this.flagged[a] === 1) return 'flagged';
    if (!(this.present[a] > 0)) return 'missing';
    if (!this.hasAutos) return 'unknown';
    if (Number.isNaN(this.levels[a]) || offArray < -DEAD_DB) return 'dead';
    if (this.history.length > 8 && Math.abs(offHour) > OFF_DB) return 'changed';
    if (offArray < -OFF_DB) return 'weak';
    return offArray > OFF_DB ? 'strong' : 'good';
  }

  rows(calibrated: Calibrated | undefined): AntennaRow[] {
    const { stations, polarisations } = this.telescope;
    const middles = Array.from({ length: polarisations }, (_, p) =>
      median(this.levels.filter((_, a) => a % polarisations === p && this.flagged[a] === 0)),
    );
    const middle = Math.floor(this.channels / 2);
    const row = (a: number): InputRow => {
      const offArray = this.levels[a] - middles[a % polarisations];
      const offHour = this.levels[a] - this.hour[a];
      const at = middle * this.inputs + a;
      const isSolved = calibrated?.solved[at] === 1;
      const [re, im] = isSolved ? [calibrated.gains[2 * at], calibrated.gains[2 * at + 1]] : [NaN, NaN];
      return {
        input: a,
        polarisation: polarisations === 1 ? '' : 'XY'[a % 2],
        levelDb: known(this.levels[a]),
        offArrayDb: known(offArray),
        offHourDb: known(offHour),
        presentPercent: Number((100 * this.present[a]).toFixed(3)),
        flagged: this.flagged[a] === 1,
        gainDb: known(decibels(re * re + im * im)),
        gainPhaseDeg: known(Math.atan2(im, re) * DEGREES_PER_RADIAN),
        health: this.health(a, offArray, offHour),
      };
    };
    return stations.map(({ name, eastM, northM }, s) => ({
      name,
      eastM,
      northM,
      inputs: Array.from({ length: polarisations }, (_, p) => row(s * polarisations + p)),
    }));
  }

  /** Inputs whose level changed over the last hour, and by how much. */
  changed(): { readonly name: string; readonly db: number }[] {
    if (this.history.length <= 8) return [];
    return Array.from(this.levels, (level, a) => ({ a, db: level - this.hour[a] }))
      .filter(({ a, db }) => this.flagged[a] === 0 && Math.abs(db) > OFF_DB)
      .map(({ a, db }) => ({ name: inputName(this.telescope, a, this.telescope.polarisations), db }));
  }
}
