/**
 * The same data on this backend and on the reference: identical bits for whole numbers, else within the stated step.
 */
import { solveCase } from '../solve-case.js';
import { openBackend } from '../../backend/select.js';
import { channelise, correlate } from '../engines.js';
import { all, atMost, type Check, type Figure, type Rig } from '../figure.js';
import { digitise, noise, voltagesOf } from '../signals.js';

const CHANNELS = 64;
const TAPS = 8;
const INPUTS = 12;

export const backendsFigure: Figure = {
  name: 'backends',
  title: 'This backend beside the reference',
  about:
    'Random data through the kernels of this backend and of the slow, plain reference: correlation must be the same bit for bit; 8-bit spectra may differ by one level where a value is on the edge of two; gains and float spectra by rounding alone.',
  measure: async (rig) => {
    const reference = await openBackend('reference');
    try {
      const other: Rig = { ...rig, backend: reference };
      return { checks: [...(await spectra(rig, other)), await sums(rig, other), await gains(rig, other)] };
    } finally {
      await reference.close();
    }
  },
};

async function spectra(rig: Rig, other: Rig): Promise<Check[]> {
  const samples = CHANNELS * (TAPS + 255);
  const voltages = voltagesOf('ci8', INPUTS, samples, digitise(noise(2 * INPUTS * samples, 20, 'backends')));
  const run = (of: Rig, outputType: 'ci8' | 'cf32') =>
    channelise(
      of.backend,
      { channels: CHANNELS, taps: TAPS, inputs: INPUTS, inputType: 'ci8', outputType },
      voltages,
      samples,
    );
  const [ours, theirs] = [await run(rig, 'ci8'), await run(other, 'ci8')];
  const [floats, plain] = [await run(rig, 'cf32'), await run(other, 'cf32')];
  let [most, differing, off, largest] = [0, 0, 0, 0];
  for (let n = 0; n < ours.spectra.length; n++) {
    const apart = Math.abs(ours.spectra[n] - theirs.spectra[n]);
    most = Math.max(most, apart);
    if (apart > 0) differing++;
    off = Math.max(off, Math.abs(floats.spectra[n] - plain.spectra[n]));
    largest = Math.max(largest, Math.abs(plain.spectra[n]));
  }
  return [
    atMost('8-bit spectra: largest difference', most, 1, 'levels'),
    atMost('8-bit spectra: values that differ', (1e6 * differing) / ours.spectra.length, 100, 'in a million'),
    atMost('float spectra: largest difference', off / largest, 1e-6, 'of the largest'),
  ];
}

async function sums(rig: Rig, other: Rig): Promise<Check> {
  const samples = 777;
  const values = digitise(noise(2 * 5 * INPUTS * samples, 60, 'sums'));
  const set = {
    type: 'ci8',
    channels: 5,
    stations: INPUTS / 2,
    polarisations: 2,
    blocks: [{ spectra: values as never, samples }],
  } as const;
  const [ours, theirs] = [await correlate(rig.backend, set), await correlate(other.backend, set)];
  const same = ours.visibilities.filter((value, n) => Object.is(value, theirs.visibilities[n])).length;
  return all('correlation: numbers bit for bit', same, theirs.visibilities.length);
}

async function gains(rig: Rig, other: Rig): Promise<Check> {
  const [ours, theirs] = [await solveCase(rig.backend), await solveCase(other.backend)];
  const off = ours.reduce((most, value, n) => Math.max(most, Math.abs(value - theirs[n])), 0);
  return atMost('gains: largest difference', off, 1e-6);
}
