/**
 * Watches the level at rounding: the gain before it is set from a recording's first samples, and a level that falls
 * later, a strong carrier, or a band that slopes can leave channels below one level. Their powers show it.
 */
import { outputRail } from '../../channelise/index.js';
import type { SpectraType } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { median } from '../../core/median.js';
import { inputPower } from '../../core/product-counts.js';
import { powerOfRounded } from '../../core/rounded-noise.js';
import { VanVleck } from '../../core/van-vleck.js';

export interface Rounded {
  /** Channels of inputs that had signal. */
  readonly withSignal: number;
  /** Those of them below one level rms, in any time range, and the weakest's rms: 0 where nothing is left. */
  readonly weak: number;
  readonly weakestRms: number;
  /** The median input over its channels, in levels: the least and the most of all time ranges. */
  readonly leastRms: number;
  readonly mostRms: number;
  /** Inputs that are zero in all time ranges, and in some only: silent, or too weak for any level. */
  readonly zeroInputs: number;
  readonly zeroForATime: number;
}

/** Fewer samples do not determine the level. */
const ENOUGH = 16;

/** A time range: an integration as summed, before any gain is undone, or spectra that were measured. */
interface MeasuredRange {
  readonly inputs: number;
  readonly channels: number;
  readonly isFlagged: (input: number) => boolean;
  /** Σ|x|² over so many samples of an input's channel. */
  readonly power: (input: number, channel: number) => { readonly sum: number; readonly count: number };
}

export const measuredRange = (integration: Integration): MeasuredRange => ({
  inputs: integration.stations * integration.polarisations,
  channels: integration.channels,
  isFlagged: (a) => integration.flaggedInputs[a] === 1,
  power: (a, c) => inputPower(integration, c, a),
});

export class RoundingWatch {
  private readonly vanVleck: VanVleck;
  private readonly weakPower: number;
  private weak = new Uint8Array(0);
  private received = new Uint8Array(0);
  private zero = new Uint8Array(0);
  private leastPower = Infinity;
  private least = Infinity;
  private most = 0;

  constructor(type: Exclude<SpectraType, 'cf32'>) {
    const rail = outputRail[type];
    this.vanVleck = VanVleck.of(rail);
    this.weakPower = powerOfRounded(1, rail);
  }

  add({ inputs, channels, isFlagged, power }: MeasuredRange): void {
    if (this.weak.length === 0) {
      this.weak = new Uint8Array(inputs * channels);
      this.received = new Uint8Array(inputs * channels);
      this.zero = new Uint8Array(inputs);
    }
    const means: number[] = [];
    for (let a = 0; a < inputs; a++) {
      if (isFlagged(a)) continue;
      const powers = Array.from({ length: channels }, (_, c) => {
        const { sum, count } = power(a, c);
        return count < ENOUGH ? NaN : sum / count / 2;
      });
      const there = powers.filter((power) => !Number.isNaN(power));
      if (there.length === 0) continue;
      const mean = there.reduce((sum, power) => sum + power, 0) / there.length;
      this.zero[a] |= mean > 0 ? HEARD : ZERO;
      if (mean === 0) continue;
      means.push(mean);
      for (let c = 0; c < channels; c++) this.look(a * channels + c, powers[c]);
    }
    if (means.length === 0) return;
    const rms = this.rmsOf(median(means));
    this.least = Math.min(this.least, rms);
    this.most = Math.max(this.most, rms);
  }

  private look(at: number, power: number): void {
    if (Number.isNaN(power)) return;
    this.received[at] = 1;
    this.leastPower = Math.min(this.leastPower, power);
    if (power < this.weakPower) this.weak[at] = 1;
  }

  private rmsOf(power: number): number {
    return this.vanVleck.input(power)?.rms ?? Math.sqrt(power);
  }

  /** Undefined before the first time range with any signal. */
  found(): Rounded | undefined {
    const count = (flags: Uint8Array, value: number): number => flags.filter((one) => one === value).length;
    const inputs = { zeroInputs: count(this.zero, ZERO), zeroForATime: count(this.zero, ZERO | HEARD) };
    if (this.most === 0) return undefined;
    return {
      withSignal: count(this.received, 1),
      weak: count(this.weak, 1),
      weakestRms: this.rmsOf(this.leastPower),
      leastRms: this.least,
      mostRms: this.most,
      ...inputs,
    };
  }
}

const [ZERO, HEARD] = [1, 2];
