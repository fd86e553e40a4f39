/**
 * Independent noise in two inputs: the remaining correlation after an integration, compared with the radiometer
 * equation.
 */
import { planChannelise } from '../../channelise/index.js';
import { channelise, correlateSamples } from '../engines.js';
import { atMost, reported, type Check, type Figure, type Rig } from '../figure.js';
import { noise, voltagesOf } from '../signals.js';
import { noisePower, overlapFactor } from '../theory.js';

const CHANNELS = 64;
const STATIONS = 24;

export const noiseFigure: Figure = {
  name: 'noise',
  title: 'Noise as theory has it',
  about:
    'White noise, independent in every input. The scatter of the cross-correlations must be 1/√N times √(Σ ρ²), ρ the filter’s own correlation from one spectrum to the next, for 1, 4, 8 and 16 taps; that of neighbouring channels must be what the filter’s overlap says.',
  measure: async (rig) => {
    const checks: Check[] = [];
    for (const taps of [1, 4, 8, 16]) checks.push(...(await radiometer(rig, taps)));
    checks.push(await neighbours(rig));
    return { checks };
  },
};

async function radiometer({ backend, quick }: Rig, taps: number): Promise<Check[]> {
  const spectra = quick ? 128 : 512;
  const samples = CHANNELS * (spectra + taps - 1);
  const { integration, plan } = await correlateSamples(
    backend,
    {
      type: 'cf32',
      inputs: STATIONS,
      values: noise(2 * samples * STATIONS, 1, `radiometer ${taps}`),
      samples,
    },
    { channels: CHANNELS, taps, outputType: 'cf32' },
  );
  const { visibilities, counts } = integration;
  const baselines = counts.length / CHANNELS;
  const power = 2 * noisePower(plan);
  let sum = 0;
  let pairs = 0;
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j < i; j++) {
        const b = c * baselines + (i * (i + 1)) / 2 + j;
        // |V/N|²·N of unit noise has mean 1 if spectra are independent.
        sum += (visibilities[2 * b] ** 2 + visibilities[2 * b + 1] ** 2) / counts[b] / power ** 2;
        pairs++;
      }
  const measured = Math.sqrt(sum / pairs);
  const theory = Math.sqrt(overlapFactor(plan, spectra));
  // The standard deviation of |V|² of a complex Gaussian equals its mean. Pairs of channels are hardly correlated.
  const sigma = measured / (2 * Math.sqrt(pairs));
  return [
    reported(`T = ${taps}: scatter over 1/√N`, measured),
    atMost(`T = ${taps}: from theory (${theory.toFixed(4)})`, Math.abs(measured - theory) / sigma, 3, 'σ'),
  ];
}

/** ⟨x_c conj(x_c+1)⟩ over ⟨|x|²⟩, caused by the filter's overlap: Σ h² e^(−2πi n/P) / Σ h². */
async function neighbours({ backend, quick }: Rig): Promise<Check> {
  const taps = 8;
  const spectra = quick ? 512 : 4096;
  const samples = CHANNELS * (spectra + taps - 1);
  const options = { channels: CHANNELS, taps, inputs: 1, inputType: 'cf32', outputType: 'cf32' } as const;
  const made = await channelise(
    backend,
    options,
    voltagesOf('cf32', 1, samples, noise(2 * samples, 1, 'neighbours')),
    samples,
  );
  const { prototype, samplesPerSpectrum } = planChannelise({
    ...options,
    polarisations: 1,
    blockSamples: samples,
  });
  let [re, im, energy] = [0, 0, 0];
  prototype.forEach((tap, n) => {
    const angle = (2 * Math.PI * n) / samplesPerSpectrum;
    re += tap * tap * Math.cos(angle);
    im += tap * tap * Math.sin(angle);
    energy += tap * tap;
  });
  const theory = Math.hypot(re, im) / energy;
  let [crossRe, crossIm, power, count] = [0, 0, 0, 0];
  for (let c = 0; c + 1 < CHANNELS; c++)
    for (let t = 0; t < made.samples; t++) {
      const x = 2 * (c * made.samples + t);
      const y = 2 * ((c + 1) * made.samples + t);
      const s = made.spectra;
      crossRe += s[x] * s[y] + s[x + 1] * s[y + 1];
      crossIm += s[x + 1] * s[y] - s[x] * s[y + 1];
      power += s[x] ** 2 + s[x + 1] ** 2;
      count++;
    }
  const measured = Math.hypot(crossRe, crossIm) / power;
  return atMost(
    `neighbouring channels: correlation from theory (${theory.toFixed(4)})`,
    Math.abs(measured - theory) * Math.sqrt(count),
    3,
    'σ',
  );
}
