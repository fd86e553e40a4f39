/** Lost samples in gaps of every shape: the counts must equal a plain count. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { VoltageGap } from '../../core/gaps.js';
import { productCount } from '../../core/product-counts.js';
import { randomStream, type RandomStream } from '../../core/random.js';
import { correlateSamples } from '../engines.js';
import { all, type Check, type Figure, type Rig } from '../figure.js';
import { digitise, noise } from '../signals.js';

/** XX, XY, YX, YY. */
const PRODUCTS = [[0, 0], [0, 1], [1, 0], [1, 1]] as const; // prettier-ignore
const STATIONS = 5;
const INPUTS = 2 * STATIONS;
const CHANNELS = 16;
const TAPS = 4;
const SPECTRA = 150;
const SAMPLES = CHANNELS * (SPECTRA + TAPS - 1);

const kinds: Readonly<Record<string, (random: RandomStream) => VoltageGap[]>> = {
  'nothing lost': () => [],
  'single samples': (random) => Array.from({ length: 30 }, () => gap(random, 1, 1)),
  packets: (random) => Array.from({ length: 20 }, () => gap(random, 2, 64)),
  'whole stations': () => [{ firstInput: 2, endInput: 4, firstSample: 0, endSample: SAMPLES }],
  'all stations at once': () => [{ firstInput: 0, endInput: INPUTS, firstSample: 500, endSample: 700 }],
  'begin and end': () => [
    { firstInput: 0, endInput: 2, firstSample: 0, endSample: 1 },
    { firstInput: 6, endInput: 8, firstSample: SAMPLES - 1, endSample: SAMPLES },
  ],
  overlapping: (random) => Array.from({ length: 25 }, () => gap(random, 2 + 2 * random.below(3), 300)),
};

export const lossFigure: Figure = {
  name: 'loss',
  title: 'Loss becomes weight',
  about:
    'Voltages with gaps through F- and X-engine. A spectrum is missing for an input when any sample under its window is missing; the weight of every product must be the number of spectra that both its inputs have.',
  measure: async (rig) => {
    const checks: Check[] = [];
    for (const [kind, make] of Object.entries(kinds)) checks.push(await count(rig, kind, make));
    return { checks };
  },
};

function gap(random: RandomStream, inputs: number, length: number): VoltageGap {
  const firstInput = Math.min(INPUTS - inputs, random.below(INPUTS));
  const firstSample = random.below(SAMPLES - length);
  return { firstInput, endInput: firstInput + inputs, firstSample, endSample: firstSample + length };
}

async function count(
  { backend }: Rig,
  kind: string,
  make: (random: RandomStream) => readonly VoltageGap[],
): Promise<Check> {
  const gaps = make(randomStream(19, 'loss', kind));
  const values = digitise(noise(2 * INPUTS * SAMPLES, 20, 'loss'));
  // missing : [a][t]
  const missing = new Uint8Array(INPUTS * SAMPLES);
  for (const { firstInput, endInput, firstSample, endSample } of gaps)
    for (let a = firstInput; a < endInput; a++)
      for (let t = firstSample; t < endSample; t++) {
        missing[a * SAMPLES + t] = 1;
        values[2 * (a * SAMPLES + t)] = 0;
        values[2 * (a * SAMPLES + t) + 1] = 0;
      }
  const { integration } = await correlateSamples(
    backend,
    {
      type: 'ci8',
      inputs: INPUTS,
      polarisations: 2,
      values,
      samples: SAMPLES,
      gaps,
    },
    { channels: CHANNELS, taps: TAPS, outputType: 'ci8' },
  );
  const present = (input: number, spectrum: number): boolean => {
    for (let n = 0; n < TAPS * CHANNELS; n++)
      if (missing[input * SAMPLES + spectrum * CHANNELS + n] === 1) return false;
    return true;
  };
  const has = Array.from({ length: INPUTS }, (_, a) =>
    Array.from({ length: SPECTRA }, (_row, k) => present(a, k)),
  );
  const baselines = baselineCount(STATIONS);
  let right = 0;
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j <= i; j++)
        for (const [p, q] of PRODUCTS) {
          const wanted = has[2 * i + p].filter((there, k) => there && has[2 * j + q][k]).length;
          if (productCount(integration, c * baselines + baselineIndex(i, j), p, q) === wanted) right++;
        }
  return all(`${kind}: weights`, right, CHANNELS * baselines * PRODUCTS.length);
}
