/** Sums of powers one by one: slow and simple. */
import { hostSpectra } from '../backend/host-spectra.js';
import type { SpectraCAT, SpectraType } from '../core/axes.js';
import type { SpectraBlock } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { zeroGaps } from '../core/gaps.js';
import type { PowerEngine } from './flagger.js';
import type { KurtosisPlan } from './plan.js';

/** |x|² of value n. */
const power = {
  ci8: (spectra, n) => spectra[2 * n] ** 2 + spectra[2 * n + 1] ** 2,
  // Sign-extended nibbles, the real part above.
  ci4: (spectra, n) => ((spectra[n] << 24) >> 28) ** 2 + ((spectra[n] << 28) >> 28) ** 2,
  cf32: (spectra, n) => spectra[2 * n] ** 2 + spectra[2 * n + 1] ** 2,
} satisfies Record<SpectraType, (spectra: SpectraCAT, n: number) => number>;

export function referencePowers({ type, channels, inputs }: KurtosisPlan): PowerEngine {
  const powerOf = power[type];
  // eslint-disable-next-line @typescript-eslint/require-await -- an async function turns refusals into rejections
  const sums = async (given: SpectraBlock, edges: Int32Array): Promise<Float64Array> => {
    const block = hostSpectra('kurtosis', given);
    const spectra = block.view();
    const made = new Float64Array((edges.length - 1) * channels * inputs * 2);
    let at = 0;
    for (let w = 0; w + 1 < edges.length; w++) {
      for (let row = 0; row < channels * inputs; row++) {
        let [s1, s2] = [0, 0];
        for (let t = edges[w]; t < edges[w + 1]; t++) {
          const p = powerOf(spectra, row * block.samples + t);
          s1 += p;
          s2 += p * p;
        }
        made[at++] = s1;
        made[at++] = s2;
      }
    }
    return made;
  };
  // eslint-disable-next-line @typescript-eslint/require-await -- as above
  const take: PowerEngine['take'] = async (given, gaps) => {
    const block = hostSpectra('kurtosis', given);
    zeroGaps(block.view(), { type, inputs, samples: block.samples }, gaps);
    block.addGaps(gaps);
  };
  return { begin: (given, edges) => () => sums(given, edges), mostBegun: 1, take, close: nothingToClose };
}
