/** Seeded spectra with interference in them, for the shared cases. */
import { allocateSpectra, type SpectraCAT, type SpectraType } from '../core/axes.js';
import { zeroGaps, type SpectraGap } from '../core/gaps.js';
import type { RandomStream } from '../core/random.js';

export interface NoiseShape {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  readonly samples: number;
}

const levels = { ci8: 20, ci4: 2.5, cf32: 0.3 } satisfies Record<SpectraType, number>;
const rails = { ci8: 127, ci4: 7, cf32: Infinity } satisfies Record<SpectraType, number>;

/** The strength relative to noise of input a in channel c at time t; a carrier is a constant instead. */
export type Strength = (
  c: number,
  a: number,
  t: number,
) => { readonly noise: number; readonly carrier: number };

/** From silence to saturation, pulses in one channel, carriers in another and a dead input. */
export const allKinds: Strength = (c, a, t) => ({
  noise: a === 5 ? 0 : (0.02 + 0.2 * a) * (c === 3 && t % 20 < 2 ? 3 : 1),
  carrier: c === 4 && a > 30 ? 0.5 : 0,
});

/** spectra : [c][a][t] of noise, with interference by `strength`. */
export function noisySpectra(
  { type, channels, inputs, samples }: NoiseShape,
  random: RandomStream,
  strength: Strength = () => ({ noise: 1, carrier: 0 }),
): SpectraCAT {
  const spectra = allocateSpectra(type, channels, inputs, samples);
  const [level, rail] = [levels[type], rails[type]];
  const fit = (value: number): number =>
    type === 'cf32' ? value : Math.max(-rail, Math.min(rail, Math.round(value)));
  let at = 0;
  for (let c = 0; c < channels; c++)
    for (let a = 0; a < inputs; a++)
      for (let t = 0; t < samples; t++, at++) {
        const { noise, carrier } = strength(c, a, t);
        const re = fit(level * (noise * random.gaussian() + carrier * Math.cos(t)));
        const im = fit(level * (noise * random.gaussian() + carrier * Math.sin(t)));
        if (type === 'ci4') spectra[at] = ((re & 15) << 4) | (im & 15);
        else {
          spectra[2 * at] = re;
          spectra[2 * at + 1] = im;
        }
      }
  return spectra;
}

/** Zeroes samples inside gaps, as a block's contract requires. */
export function without(spectra: SpectraCAT, shape: NoiseShape, gaps: readonly SpectraGap[]): SpectraCAT {
  zeroGaps(spectra, shape, gaps);
  return spectra;
}
