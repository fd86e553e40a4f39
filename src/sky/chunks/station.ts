/**
 * One chunk of a station's inputs, made in the frequency domain:
 *
 *   x_a(t) = Σ_f e^(2πi (f − f₀) t) · g_a(f) · ( noise_a(f) + Σ_sources s(f) · e^(+2πi f r_a·ŝ/c) )
 *
 * exact at every frequency, fractional sample delays included. Each chunk is periodic; all antennas have the same
 * period, so chunk edges align to within the delays (../simulation-plan.ts gives the resulting loss).
 */
import { elementsPerVoltage, isComplexVoltage, type VoltagesAT } from '../../core/axes.js';
import { planFft } from '../../core/fft.js';
import { randomStream } from '../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import type { Station } from '../../telescope/telescope.js';
import { gainRamp, gainTurns } from '../input-gains.js';
import type { ToneInterferer } from '../interferers.js';
import { quantise } from '../quantise.js';
import type { SimulationPlan } from '../simulation-plan.js';
import { rmsPerPart, type SkySignal } from '../sky-signals.js';
import { addTone, addTurned, turn } from '../turn.js';

/** What a station's inputs depend on beside the sky's signals: plain data, which can be passed to another thread. */
export interface StationPlan extends Omit<SimulationPlan, 'telescope' | 'interferers'> {
  readonly stations: readonly Station[];
  readonly tones: readonly ToneInterferer[];
}

export const stationPlan = ({ telescope, interferers, ...plan }: SimulationPlan): StationPlan => ({
  ...plan,
  // Their functions cannot be passed.
  sources: [],
  stations: telescope.stations,
  tones: interferers.filter((interferer) => interferer.kind === 'tone'),
});

/** How much earlier than at the origin a wavefront arrives; 0 for signals that reach all stations at once. */
const earlyS = (station: Station, direction: Vector3 | undefined): number =>
  direction === undefined
    ? 0
    : (station.eastM * direction.x + station.northM * direction.y + station.upM * direction.z) /
      SPEED_OF_LIGHT_M_PER_S;

/** Makes a station's rows of voltages : [a][t], chunkSamples samples each; returns how many numbers were clipped. */
type MakeStation = (chunk: number, station: number) => number;

export function prepareStations(
  plan: StationPlan,
  signals: readonly SkySignal[],
  voltages: VoltagesAT,
): MakeStation {
  const { grid, polarisations, centreFrequencyHz, stations, tones } = plan;
  const { chunkSamples, bins } = grid;
  const fft = planFft(chunkSamples);
  const noiseRms = rmsPerPart(plan.systemFluxJy, chunkSamples);
  const rowElements = chunkSamples * elementsPerVoltage(plan.type);
  const spectrum = new Float64Array(2 * bins);
  const signal = new Float64Array(2 * chunkSamples);

  function receive(station: Station, p: number): void {
    for (const { spectra, directionEnu, isUp } of signals) {
      if (!isUp) continue;
      const delayS = earlyS(station, directionEnu);
      addTurned(spectrum, spectra[p], { first: grid.lowestHz * delayS, step: grid.stepHz * delayS });
    }
  }

  function addNoise(chunk: number, a: number): void {
    if (noiseRms === 0) return;
    randomStream(plan.seed, 'noise', a, chunk).addGaussians(spectrum, noiseRms);
  }

  function toSamples(): void {
    // The zero frequency of a real signal is one real number where every other bin is complex: left out.
    if (!isComplexVoltage(plan.type)) spectrum.fill(0, 0, 2);
    const unwrapped = 2 * (chunkSamples - grid.shift);
    signal.fill(0);
    signal.set(spectrum.subarray(0, unwrapped), 2 * grid.shift);
    signal.set(spectrum.subarray(Math.min(unwrapped, 2 * bins)), 0);
    fft.inverse(signal);
  }

  /** In the time domain, since a tone must be continuous from one chunk to the next. */
  function addCarrier(tone: ToneInterferer, station: Station, a: number, chunk: number): void {
    const gain = plan.inputGains[a];
    const step = (tone.frequencyHz - grid.zeroHz) / plan.sampleRateHz;
    const first =
      step * chunk * chunkSamples +
      tone.frequencyHz * earlyS(station, tone.directionEnu) +
      gainTurns(gain, centreFrequencyHz, tone.frequencyHz);
    // Twice the real part of a real signal is recorded, and (2A cos)² averages to 2A².
    const power = isComplexVoltage(plan.type) ? tone.bandFluxJy : tone.bandFluxJy / 2;
    addTone(signal, gain.amplitude * Math.sqrt(power), { first, step });
  }

  return (chunk, s) => {
    const station = stations[s];
    const recorded = Math.min(chunkSamples, plan.samples - chunk * chunkSamples);
    let clipped = 0;
    for (let p = 0; p < polarisations; p++) {
      const a = s * polarisations + p;
      const gain = plan.inputGains[a];
      spectrum.fill(0);
      receive(station, p);
      addNoise(chunk, a);
      turn(spectrum, gain.amplitude, gainRamp(gain, centreFrequencyHz, grid.lowestHz, grid.stepHz));
      toSamples();
      for (const tone of tones) addCarrier(tone, station, a, chunk);
      clipped += quantise(signal, recorded, plan, voltages, a * rowElements);
    }
    return clipped;
  };
}
