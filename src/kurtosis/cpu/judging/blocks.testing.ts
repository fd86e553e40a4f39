/** Random sums of powers to be judged: noise, and all that interferes with it. */
import type { SpectraGap } from '../../../core/gaps.js';
import { randomStream, type RandomStream } from '../../../core/random.js';
import { planKurtosis, windowEdges, type KurtosisOptions, type KurtosisPlan } from '../../plan.js';
import { presentIn, type Presence } from '../../present.js';

export interface SummedBlock {
  readonly samples: number;
  readonly edges: Int32Array;
  readonly sums: Float64Array;
  readonly presence: Presence | undefined;
}

const pick = <Value>(random: RandomStream, ...values: readonly Value[]): Value =>
  values[random.below(values.length)];
const between = (random: RandomStream, first: number, last: number): number =>
  first + random.below(last - first + 1);

/** A telescope, its settings and some blocks that follow on each other, all by one seed. */
export function randomBlocks(
  seed: number,
  given: Partial<KurtosisOptions> & { readonly windows?: number } = {},
): { readonly plan: KurtosisPlan; readonly blocks: readonly SummedBlock[] } {
  const random = randomStream(seed, 'sums');
  const { windows, ...fixed } = given;
  const polarisations = pick(random, 1, 2);
  const inputs = fixed.inputs ?? polarisations * pick(random, 1, 2, 3, 8, 9, 16, 19, 33);
  const channels = fixed.channels ?? pick(random, 1, 3, 8, 9, 12, 24, 40, 64);
  const isFlagged = random.uniform() < 0.4;
  const plan = planKurtosis({
    type: pick(random, 'ci8', 'ci8', 'ci4', 'cf32'),
    ...{ channels, inputs, polarisations: inputs % 2 === 0 ? polarisations : 1 },
    spectraPerWindow: pick(random, 32, 64, 256),
    sigmas: pick(random, 2, 3, 3, 4),
    bursts: pick(random, 'keep', 'take'),
    takes: pick(random, 'inputs', 'stations'),
    realChannels: Math.min(channels, pick(random, 0, 0, 1, 2)),
    flaggedInputs: Uint8Array.from({ length: inputs }, () => +(isFlagged && random.uniform() < 0.15)),
    ...fixed,
  });
  /** Channels that are hit for good, and by how much. */
  const carriers = new Map(
    Array.from({ length: pick(random, 0, 0, 1, 3) }, () => [
      random.below(channels),
      pick(random, -0.05, -0.3, 0.06, 0.15, 0.5, 5),
    ]),
  );
  const blocks = Array.from({ length: between(random, 1, 3) }, () =>
    randomBlock(random, plan, carriers, windows),
  );
  return { plan, blocks };
}

function randomBlock(
  random: RandomStream,
  plan: KurtosisPlan,
  carriers: ReadonlyMap<number, number>,
  givenWindows: number | undefined,
): SummedBlock {
  const { channels, inputs, type, spectraPerWindow } = plan;
  const chance = (likely: number): boolean => random.uniform() < likely;
  const wanted = givenWindows ?? pick(random, 1, 2, 3, 4, 5, 8, 13, 20);
  const odd = chance(0.5) ? between(random, -11, 11) : 0;
  const samples = Math.max(24, spectraPerWindow * wanted + odd);
  const edges = windowEdges(plan, samples);
  const windows = edges.length - 1;
  const presence = presentIn(plan, edges, chance(0.3) ? randomGaps(random, plan, samples) : []);
  const present = new Uint32Array(windows * channels * inputs);
  for (let at = 0; at < present.length; at++) {
    const w = Math.floor(at / (channels * inputs));
    present[at] = edges[w + 1] - edges[w];
  }
  for (const [n, place] of presence?.places.entries() ?? []) present[place] -= presence?.lost[n] ?? 0;
  const level = { ci8: 800, ci4: 12, cf32: 0.18 }[type] * pick(random, 1, 1, 1, 0.05, 4, 0.3);
  const bias = chance(0.1) ? 0.05 : 0;
  const spread = chance(0.2) ? pick(random, 0.3, 1.5) : 1;
  const burst = chance(0.35) ? { w: random.below(windows), by: pick(random, 0.05, 0.12, 0.3, 2) } : undefined;
  const dead = chance(0.2) ? random.below(inputs) : -1;
  const halfLoud = chance(0.3) ? 0.01 : 0;
  const areAlike = chance(0.15);
  let sweep = chance(0.3) ? random.below(channels) : NaN;
  const sums = new Float64Array(2 * present.length);
  for (let w = 0; w < windows; w++) {
    for (let c = 0; c < channels; c++) {
      const shape = c < plan.realChannels ? 0.5 : 1;
      let added = bias + (areAlike ? 0.15 * (random.uniform() - 0.5) : 0);
      if (chance(0.9)) added += carriers.get(c) ?? 0;
      if (burst?.w === w && chance(0.9)) added += burst.by;
      if (Math.abs(c - sweep) < 1) added += 1.5;
      const heardBy = chance(0.1) ? random.uniform() : 1;
      for (let a = 0; a < inputs; a++) {
        const at = (w * channels + c) * inputs + a;
        const m = present[at];
        if (m === 0) continue;
        // About as wide as a kurtosis of so many is, and as skew.
        const noise = (2 / Math.sqrt(m * shape)) * spread * random.gaussian();
        let kurtosis = 1 + noise + 0.3 * noise * noise + (chance(heardBy) ? added : 0);
        if (chance(0.002)) kurtosis += pick(random, -0.6, 1, 3);
        let s1 = a === dead ? 0 : level * m * (1 + 0.05 * random.gaussian());
        if (chance(0.001)) s1 *= pick(random, 0, 1e-4, 100);
        let s2 = ((s1 * s1) / m) * (1 + (Math.max(-0.9, kurtosis) * (m - 1)) / (m * shape + 1));
        if (chance(halfLoud)) [s1, s2] = [30 * s1, 900 * s2];
        if (type !== 'cf32') [s1, s2] = [Math.round(s1), Math.round(s2)];
        else if (chance(0.0002)) s1 = s2 = pick(random, NaN, Infinity, 1e160);
        sums.set([s1, s2], 2 * at);
      }
    }
    sweep++;
  }
  return { samples, edges, sums, presence };
}

/** At multiples of 16: limits of every other count take their time. */
const randomGaps = (
  random: RandomStream,
  { channels, inputs }: KurtosisPlan,
  samples: number,
): readonly SpectraGap[] =>
  Array.from({ length: between(random, 1, 4) }, () => {
    const [firstInput, firstChannel] = [random.below(inputs), random.below(channels)];
    const firstSample = 16 * random.below(Math.ceil(samples / 16));
    const length = 16 * between(random, 1, pick(random, 1, 12));
    return {
      ...{ firstInput, endInput: between(random, firstInput + 1, inputs) },
      ...{ firstChannel, endChannel: between(random, firstChannel + 1, channels) },
      ...{ firstSample, endSample: Math.min(samples, firstSample + length) },
    };
  });
