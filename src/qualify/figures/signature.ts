/** Every input has its own value: each baseline, product, sign and channel must be in its place. */
import { allocateSpectra, baselineCount, baselineIndex } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { correlate } from '../engines.js';
import { all, type Check, type Figure, type Rig } from '../figure.js';

const STATIONS = 13;
const CHANNELS = 6;
const SAMPLES = 96;

export const signatureFigure: Figure = {
  name: 'signature',
  title: 'Every baseline by its signature',
  about:
    'Every input holds a constant complex number of its own in every channel, so that each product of two inputs is known from every other by its value: order of baselines, of polarisations and of channels, and the sign of the phase.',
  measure: async (rig) => ({ checks: [await signatures(rig, 1), await signatures(rig, 2)] }),
};

async function signatures({ backend }: Rig, polarisations: 1 | 2): Promise<Check> {
  const inputs = STATIONS * polarisations;
  const spectra = allocateSpectra('ci8', CHANNELS, inputs, SAMPLES);
  const random = randomStream(7, 'signature', polarisations);
  const value = Array.from({ length: CHANNELS * inputs }, () => ({
    re: random.below(255) - 127,
    im: random.below(255) - 127,
  }));
  value.forEach(({ re, im }, row) => {
    for (let t = 0; t < SAMPLES; t++) {
      spectra[2 * (row * SAMPLES + t)] = re;
      spectra[2 * (row * SAMPLES + t) + 1] = im;
    }
  });
  const { visibilities } = await correlate(backend, {
    type: 'ci8',
    channels: CHANNELS,
    stations: STATIONS,
    polarisations,
    blocks: [{ spectra, samples: SAMPLES }],
  });
  const baselines = baselineCount(STATIONS);
  let right = 0;
  let of = 0;
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j <= i; j++)
        for (let pi = 0; pi < polarisations; pi++)
          for (let pj = 0; pj < polarisations; pj++) {
            const x = value[c * inputs + i * polarisations + pi];
            const y = value[c * inputs + j * polarisations + pj];
            const product =
              (c * baselines + baselineIndex(i, j)) * polarisations ** 2 + pi * polarisations + pj;
            const re = SAMPLES * (x.re * y.re + x.im * y.im);
            const im = SAMPLES * (x.im * y.re - x.re * y.im);
            of++;
            if (visibilities[2 * product] === re && visibilities[2 * product + 1] === im) right++;
          }
  return all(
    `${polarisations === 1 ? 'one polarisation' : 'two polarisations'}: products in place`,
    right,
    of,
  );
}
