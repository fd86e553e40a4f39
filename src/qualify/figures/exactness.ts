/** Sums of integers compared with the same sums in big integers, which cannot round or overflow. */
import { allocateSpectra, baselineCount, baselineIndex, elementsPerSpectra } from '../../core/axes.js';
import type { SpectraGap } from '../../core/gaps.js';
import { zeroGaps } from '../../core/gaps.js';
import { packNibbles } from '../../core/nibbles.js';
import { randomStream, type RandomStream } from '../../core/random.js';
import { correlate, type SpectraSet } from '../engines.js';
import { all, type Check, type Figure, type Rig } from '../figure.js';

type Kind = 'random' | 'extreme' | 'gappy';
type Block = SpectraSet['blocks'][number];
/** A number of the spectra: the real or the imaginary part of one input at one time. */
type Part = (c: number, a: number, t: number, part: 0 | 1) => number;

const CHANNELS = 3;
const STATIONS = 9;
const INPUTS = 2 * STATIONS;
const BLOCKS = [257, 64, 31] as const;

export const exactnessFigure: Figure = {
  name: 'exactness',
  title: 'Exact sums',
  about:
    'Spectra of 8 and 4 bits in blocks of odd lengths: random, all at the rails, and with boxes missing. Every sum and every count must equal what big integers give.',
  measure: async (rig) => {
    const checks: Check[] = [];
    for (const type of ['ci8', 'ci4'] as const)
      for (const kind of ['random', 'extreme', 'gappy'] as const)
        checks.push(...(await exact(rig, type, kind)));
    return { checks };
  },
};

async function exact({ backend }: Rig, type: 'ci8' | 'ci4', kind: Kind): Promise<Check[]> {
  const random = randomStream(11, 'exactness', type, kind);
  const made = BLOCKS.map((samples) => blockOf(type, kind, samples, random));
  const { visibilities, counts } = await correlate(backend, {
    type,
    channels: CHANNELS,
    stations: STATIONS,
    polarisations: 2,
    blocks: made.map(({ block }) => block),
  });
  const baselines = baselineCount(STATIONS);
  let sums = 0;
  let of = 0;
  let counted = 0;
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j <= i; j++) {
        const row = c * baselines + baselineIndex(i, j);
        const present = made.reduce((sum, { block }) => sum + bothPresent(block, c, i, j), 0);
        if (counts[row] === present) counted++;
        for (let pi = 0; pi < 2; pi++)
          for (let pj = 0; pj < 2; pj++) {
            const [re, im] = product(made, c, 2 * i + pi, 2 * j + pj);
            const at = 2 * (4 * row + 2 * pi + pj);
            of++;
            if (BigInt(visibilities[at]) === re && BigInt(visibilities[at + 1]) === im) sums++;
          }
      }
  const name = `${type === 'ci8' ? '8' : '4'} bits, ${kind}`;
  return [all(`${name}: sums`, sums, of), all(`${name}: counts`, counted, CHANNELS * baselines)];
}

interface Made {
  readonly block: Block;
  readonly part: Part;
}

function blockOf(type: 'ci8' | 'ci4', kind: Kind, samples: number, random: RandomStream): Made {
  const rail = type === 'ci8' ? 127 : 7;
  const numbers = allocateSpectra('ci8', CHANNELS, INPUTS, samples);
  for (let n = 0; n < numbers.length; n++)
    numbers[n] =
      kind === 'extreme' ? (random.below(4) === 0 ? rail : -rail) : random.below(2 * rail + 1) - rail;
  const gaps = kind === 'gappy' ? Array.from({ length: 12 }, () => gapIn(samples, random)) : [];
  // Gaps hold zeros; the plain sum below reads the same numbers.
  zeroGaps(numbers, { type: 'ci8', inputs: INPUTS, samples }, gaps);
  const spectra = allocateSpectra(type, CHANNELS, INPUTS, samples);
  if (elementsPerSpectra(type) === 2) spectra.set(numbers);
  else for (let n = 0; n < spectra.length; n++) spectra[n] = packNibbles(numbers[2 * n], numbers[2 * n + 1]);
  return {
    block: { spectra, samples, gaps },
    part: (c, a, t, part) => numbers[2 * ((c * INPUTS + a) * samples + t) + part],
  };
}

/** One or several stations, for some channels and some time. */
function gapIn(samples: number, random: RandomStream): SpectraGap {
  const station = random.below(STATIONS);
  const stations = 1 + random.below(Math.min(3, STATIONS - station));
  const firstChannel = random.below(CHANNELS);
  const firstSample = random.below(samples);
  return {
    firstChannel,
    endChannel: firstChannel + 1 + random.below(CHANNELS - firstChannel),
    firstInput: 2 * station,
    endInput: 2 * (station + stations),
    firstSample,
    endSample: firstSample + 1 + random.below(samples - firstSample),
  };
}

function bothPresent({ samples, gaps = [] }: Block, c: number, i: number, j: number): number {
  const missing = (station: number, t: number): boolean =>
    gaps.some(
      (gap) =>
        c >= gap.firstChannel &&
        c < gap.endChannel &&
        2 * station >= gap.firstInput &&
        2 * station < gap.endInput &&
        t >= gap.firstSample &&
        t < gap.endSample,
    );
  let count = 0;
  for (let t = 0; t < samples; t++) if (!missing(i, t) && !missing(j, t)) count++;
  return count;
}

/** Σ x·conj(y) by big integers. */
function product(made: readonly Made[], c: number, x: number, y: number): readonly [bigint, bigint] {
  let re = 0n;
  let im = 0n;
  for (const { block, part } of made)
    for (let t = 0; t < block.samples; t++) {
      const [a, b] = [BigInt(part(c, x, t, 0)), BigInt(part(c, x, t, 1))];
      const [d, e] = [BigInt(part(c, y, t, 0)), BigInt(part(c, y, t, 1))];
      re += a * d + b * e;
      im += b * d - a * e;
    }
  return [re, im];
}
