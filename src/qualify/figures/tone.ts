/**
 * A tone in the centre of every channel, one input for each: it must be strongest in that channel, and absent
 * elsewhere.
 */
import { channelFrequenciesHz, planChannelise } from '../../channelise/index.js';
import { channelise, type Channelised } from '../engines.js';
import { all, atLeast, atMost, type Check, type Figure, type Rig } from '../figure.js';
import { cosines, decibels, tones } from '../signals.js';

const TAPS = 8;
/** Arbitrary rate and band: channel labels are checked in Hz. */
const RATE_HZ = 1e6;
const CENTRE_HZ = 60e6;

export const toneFigure: Figure = {
  name: 'tone',
  title: 'A tone in every channel',
  about:
    'Every channel gets a tone at its centre by an input of its own, complex and real sampling. The loudest channel must be the one whose label says the tone’s frequency; the rest shows what leaks.',
  measure: async (rig) => ({
    checks: [...(await complexTones(rig)), ...(await realTones(rig))],
  }),
};

async function complexTones({ backend, quick }: Rig): Promise<Check[]> {
  const channels = quick ? 64 : 512;
  const offsetsHz = Array.from({ length: channels }, (_, c) => (c - channels / 2) * (RATE_HZ / channels));
  const samples = channels * (TAPS + 7);
  const made = await channelise(
    backend,
    { channels, taps: TAPS, inputs: channels, inputType: 'cf32', outputType: 'cf32' },
    tones(
      offsetsHz.map((hz) => hz / RATE_HZ),
      samples,
    ),
    samples,
  );
  return checksOf(
    `complex, ${channels} channels`,
    made,
    offsetsHz.map((hz) => CENTRE_HZ + hz),
  );
}

async function realTones({ backend, quick }: Rig): Promise<Check[]> {
  const channels = quick ? 32 : 256;
  // The channel at zero frequency is its own mirror image: a cosine there counts double.
  const cycles = Array.from({ length: channels }, (_, c) => c / (2 * channels));
  const samples = 2 * channels * (TAPS + 7);
  const made = await channelise(
    backend,
    { channels, taps: TAPS, inputs: channels, inputType: 'f32', outputType: 'cf32' },
    cosines(cycles, samples),
    samples,
  );
  return checksOf(
    `real, ${channels} channels`,
    made,
    cycles.map((perSample) => CENTRE_HZ - RATE_HZ / 4 + perSample * RATE_HZ),
  );
}

function checksOf(
  kind: string,
  { plan, spectra, samples }: Channelised,
  tonesHz: readonly number[],
): Check[] {
  const { channels, inputs } = plan;
  const power = (c: number, a: number): number => {
    let sum = 0;
    for (let t = 0; t < samples; t++) {
      const at = 2 * ((c * inputs + a) * samples + t);
      sum += spectra[at] ** 2 + spectra[at + 1] ** 2;
    }
    return sum;
  };
  const labelsHz = channelFrequenciesHz(planChannelise(plan), CENTRE_HZ, RATE_HZ);
  let right = 0;
  let labelled = 0;
  let quietest = Infinity;
  for (let a = 0; a < inputs; a++) {
    const powers = Array.from({ length: channels }, (_, c) => power(c, a));
    const loudest = powers.indexOf(Math.max(...powers));
    const next = Math.max(...powers.filter((_, c) => c !== loudest));
    if (loudest === a) right++;
    if (Math.abs(labelsHz[loudest] - tonesHz[a]) < 1e-6) labelled++;
    quietest = Math.min(quietest, decibels(powers[loudest] / next));
  }
  const levels = Array.from({ length: inputs }, (_, a) => power(a, a)).slice(1);
  const spread = decibels(Math.max(...levels) / Math.min(...levels));
  return [
    all(`${kind}: tones in the exact channel`, right, inputs),
    all(`${kind}: labels in Hz as the tones`, labelled, inputs),
    atLeast(`${kind}: loudest over the next`, quietest, 53, 'dB'),
    atMost(`${kind}: spread of the channels’ gains`, spread, 0.01, 'dB'),
  ];
}
