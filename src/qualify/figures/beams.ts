/** Tied-array beams of known waves and of noise, with the kernel of this backend. */
import {
  inverseGains,
  nulledWeights,
  planBeams,
  prepareBeamformer,
  voltagesLength,
  type WeightType,
} from '../../beamform/index.js';
import { spectraCAT, type SpectraCAT } from '../../core/axes.js';
import { closingAfter } from '../../core/closing.js';
import { randomStream } from '../../core/random.js';
import { atMost, type Check, type Figure, type Rig } from '../figure.js';
import { decibels, digitise, noise } from '../signals.js';

const [STATIONS, CHANNELS, BEAMS, AMPLITUDE] = [48, 16, 5, 100];
const LEVELS = [4, 8, 16, 32] as const;
const frequenciesHz = Float64Array.from({ length: CHANNELS }, (_, c) => 50e6 + c * 1e6);
/** [b][s], up to some hundred nanoseconds: stations within 100 m. */
const random = randomStream(20260601, 'beams');
const delaysS = Float64Array.from({ length: BEAMS * STATIONS }, () => 150e-9 * random.gaussian());
const none = inverseGains(undefined, new Uint8Array(CHANNELS * STATIONS).fill(1));

export const beamsFigure: Figure = {
  name: 'beams',
  title: 'Beams',
  about:
    'Waves with the delays of five directions at 48 stations, over 15 MHz, as floats and rounded to 8 bits, and noise of 4 to 32 levels rms, through the beamformer. A beam must have the amplitude and the phase of its own wave, its power must follow the power put in, and a null must receive nothing.',
  measure: async (rig) => ({
    checks: [
      ...(await waves(rig, 'ci8', 2e-3, 0.5)),
      ...(await waves(rig, 'cf32', 1e-5, 0.01)),
      await linearity(rig),
      await nulls(rig),
    ],
  }),
};

/** A wave from the direction of each beam in turn: [c][a][t]. */
function wavesOf(type: 'ci8' | 'cf32', of: Float64Array, many: number): SpectraCAT {
  const values = new (type === 'ci8' ? Int8Array : Float32Array)(2 * CHANNELS * STATIONS * many);
  for (let c = 0; c < CHANNELS; c++)
    for (let s = 0; s < STATIONS; s++)
      for (let t = 0; t < many; t++) {
        const angle = 2 * Math.PI * ((frequenciesHz[c] * of[t * STATIONS + s]) % 1);
        const at = 2 * ((c * STATIONS + s) * many + t);
        const parts = [AMPLITUDE * Math.cos(angle), AMPLITUDE * Math.sin(angle)];
        values.set(type === 'ci8' ? parts.map(Math.round) : parts, at);
      }
  return spectraCAT(values, type, CHANNELS, STATIONS, many);
}

/** voltages : [c][b][t], divided by the sum of the weights. */
const beamsOf = (
  { backend }: Rig,
  type: 'ci8' | 'cf32',
  weights: WeightType | Float32Array,
  spectra: SpectraCAT,
  samples: number,
): Promise<Float64Array> =>
  closingAfter(async (closers) => {
    const kind = typeof weights === 'string' ? weights : 'cf32';
    const plan = planBeams({
      stations: STATIONS,
      polarisations: 1,
      channels: CHANNELS,
      type,
      beams: BEAMS,
      weights: kind,
    });
    const block = closers.keep(
      backend.allocateSpectra({ type, channels: CHANNELS, inputs: STATIONS, capacity: samples }),
    );
    await block.write(spectra, samples);
    const former = closers.keep(await prepareBeamformer(plan, backend));
    let scales: Float64Array = new Float64Array(BEAMS).fill(1);
    if (typeof weights === 'string') scales = former.steer(frequenciesHz, delaysS, none);
    else former.setWeights(weights);
    const length = voltagesLength(plan, samples);
    const voltages = plan.sums === 'ci32' ? new Int32Array(length) : new Float32Array(length);
    await former.voltages(block, voltages);
    return Float64Array.from(voltages, (one, n) => {
      const b = Math.floor(n / (2 * samples)) % BEAMS;
      return one / (scales[b] * STATIONS);
    });
  });

async function waves(rig: Rig, weights: WeightType, amplitude: number, phaseDeg: number): Promise<Check[]> {
  const made = await beamsOf(rig, weights, weights, wavesOf(weights, delaysS, BEAMS), BEAMS);
  let [size, phase] = [0, 0];
  for (let c = 0; c < CHANNELS; c++)
    for (let b = 0; b < BEAMS; b++) {
      const at = 2 * ((c * BEAMS + b) * BEAMS + b);
      size = Math.max(size, Math.abs(Math.hypot(made[at], made[at + 1]) / AMPLITUDE - 1));
      phase = Math.max(phase, Math.abs(Math.atan2(made[at + 1], made[at])));
    }
  const of = weights === 'ci8' ? '8-bit spectra and weights' : 'floats';
  return [
    atMost(`${of}: amplitude of a beam's own wave, largest error`, size, amplitude),
    atMost(
      `${of}: phase of a beam's own wave over 15 MHz, largest error`,
      (180 / Math.PI) * phase,
      phaseDeg,
      '°',
    ),
  ];
}

async function linearity(rig: Rig): Promise<Check> {
  const samples = rig.quick ? 256 : 2048;
  const unit = noise(2 * CHANNELS * STATIONS * samples, 1, 'beams');
  const powers: number[] = [];
  for (const level of LEVELS) {
    const values = digitise(unit.map((value) => level * value));
    const spectra = spectraCAT(values, 'ci8', CHANNELS, STATIONS, samples);
    let power = 0;
    for (const one of await beamsOf(rig, 'ci8', 'ci8', spectra, samples)) power += one * one;
    powers.push(decibels(power / level ** 2));
  }
  const mean = powers.reduce((sum, one) => sum + one, 0) / powers.length;
  const off = Math.max(...powers.map((one) => Math.abs(one - mean)));
  return atMost('noise of 4 … 32 rms: largest departure from a line', off, 0.05, 'dB');
}

async function nulls(rig: Rig): Promise<Check> {
  const nullsS = Float64Array.from({ length: 2 * STATIONS }, () => 150e-9 * random.gaussian());
  const { weights } = nulledWeights(
    {
      stations: STATIONS,
      polarisations: 1,
      beams: BEAMS,
      frequenciesHz,
      factors: new Float64Array(STATIONS).fill(1),
    },
    ...([delaysS, nullsS, none] as const),
  );
  const made = await beamsOf(rig, 'cf32', weights, wavesOf('cf32', nullsS, 2), 2);
  const most = made.reduce((largest, one) => Math.max(largest, Math.abs(one)), 0) / AMPLITUDE;
  return atMost('floats: response in a null', decibels(most ** 2), -100, 'dB');
}
