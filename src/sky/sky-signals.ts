/**
 * Signals of the sky in one chunk, as received at the origin: a complex spectrum for X and Y of each source, drawn anew
 * for every chunk. White noise has no memory, so neighbouring chunks are independent, and every antenna receives the
 * same spectrum with an exact delay, bin by bin.
 */
import { isComplexVoltage } from '../core/axes.js';
import { planFft } from '../core/fft.js';
import { addSamples } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { Vector3 } from '../core/vector.js';
import { elementJones } from './beam.js';
import { skyFrame } from './frame.js';
import { type FeedJones, throughFeed } from './feeds.js';
import { binFrequencyHz } from './frequency-grid.js';
import { isOn, type PulsedInterferer } from './interferers.js';
import { preparePulsedNoise, type PulsedNoise } from './pulsars.js';
import type { SimulationPlan } from './simulation-plan.js';
import type { Source, StokesFractions } from './source.js';

/** spectra[p] : complex, over the grid's rising bins, √Jy. */
export interface SkySignal {
  readonly spectra: readonly Float64Array[];
  directionEnu: Vector3 | undefined;
  /** Above the horizon. */
  isUp: boolean;
}

/** Refills the same signals for each chunk. */
interface SkySignals {
  readonly signals: readonly SkySignal[];
  fill(chunk: number): void;
}

/**
 * The inverse transform has no 1/N: N bins of variance S/N add up to samples of power S, and a DFT of L samples then
 * has ⟨|X|²⟩ = L·S. Half of it in each part.
 */
export const rmsPerPart = (fluxJy: number, chunkSamples: number): number =>
  Math.sqrt(fluxJy / (2 * chunkSamples));

/** `memory`: whether other threads read the spectra. */
export function prepareSkySignals(plan: SimulationPlan, memory: 'own' | 'shared'): SkySignals {
  const { grid, polarisations, sources, interferers, telescope } = plan;
  const empty = (): SkySignal => ({
    spectra: Array.from({ length: polarisations }, () =>
      memory === 'own'
        ? new Float64Array(2 * grid.bins)
        : new Float64Array(new SharedArrayBuffer(16 * grid.bins)),
    ),
    directionEnu: undefined,
    isUp: true,
  });
  const stars = sources.map((source) => ({
    source,
    signal: empty(),
    noise: source.pulse
      ? preparePulsedNoise({
          name: source.name,
          pulse: source.pulse,
          grid,
          seed: plan.seed,
          fluxJy: (frequencyHz) => source.fluxJy(frequencyHz),
        })
      : steadyNoise(source, plan),
  }));
  const pulses = interferers
    .filter((interferer) => interferer.kind === 'pulsed')
    .map((interferer, index) => ({ signal: empty(), draw: preparePulses(plan, interferer, index) }));

  function fill(chunk: number): void {
    // One direction for the whole chunk, that of its middle: the sky rotates by 4 µrad in 50 ms.
    const middle = addSamples(plan.start, (chunk + 0.5) * grid.chunkSamples, plan.sampleRateHz);
    const frame = skyFrame(telescope.site, middle);
    for (const { source, signal, noise } of stars) {
      const axes = frame.tangentAxes(source.position(frame));
      signal.directionEnu = axes.n;
      signal.isUp = axes.n.z > 0;
      if (signal.isUp) drawStar(signal.spectra, source, noise.draw(chunk), elementJones(telescope, axes));
    }
    for (const { signal, draw } of pulses) draw(signal, chunk);
  }
  return { signals: [...stars, ...pulses].map(({ signal }) => signal), fill };
}

/** Its spectrum does not change with time. */
function steadyNoise(source: Source, { grid, seed }: SimulationPlan): PulsedNoise {
  /** Rms of each part, before the beam. */
  const rms = Float64Array.from({ length: grid.bins }, (_, j) =>
    rmsPerPart(source.fluxJy(binFrequencyHz(grid, j)), grid.chunkSamples),
  );
  const spectra = [new Float64Array(2 * grid.bins), new Float64Array(2 * grid.bins)] as const;
  return {
    draw: (chunk) => {
      const stream = randomStream(seed, 'source', source.name, chunk);
      for (let j = 0; j < rms.length; j++)
        for (const spectrum of spectra)
          for (let part = 0; part < 2; part++) spectrum[2 * j + part] = rms[j] * stream.gaussian();
      return spectra;
    },
  };
}

/** Two independent signals, as X and Y receive them. */
function drawStar(
  spectra: readonly Float64Array[],
  source: Source,
  [first, second]: readonly [Float64Array, Float64Array],
  jones: FeedJones,
): void {
  const { x1, y1Re, y1Im, y2 } = mixOf(coherency(source.stokes, jones));
  for (let j = 0; j < first.length; j += 2) {
    const [firstRe, firstIm] = [first[j], first[j + 1]];
    spectra[0][j] = x1 * firstRe;
    spectra[0][j + 1] = x1 * firstIm;
    if (spectra.length === 1) continue;
    spectra[1][j] = y1Re * firstRe - y1Im * firstIm + y2 * second[j];
    spectra[1][j + 1] = y1Re * firstIm + y1Im * firstRe + y2 * second[j + 1];
  }
}

/** Noise switched on and off in time, then transformed to the same bins as the other signals. */
function preparePulses(
  plan: SimulationPlan,
  interferer: PulsedInterferer,
  index: number,
): (signal: SkySignal, chunk: number) => void {
  const { grid } = plan;
  const { chunkSamples, bins, shift } = grid;
  const fft = planFft(chunkSamples);
  const values = new Float64Array(2 * chunkSamples);
  const complex = isComplexVoltage(plan.type);
  const rms = Math.sqrt(complex ? interferer.bandFluxJy / 2 : interferer.bandFluxJy);
  return (signal, chunk) => {
    const stream = randomStream(plan.seed, 'pulsed', index, chunk);
    for (let t = 0; t < chunkSamples; t++) {
      const level = isOn(interferer, chunk * chunkSamples + t, plan.sampleRateHz) ? rms : 0;
      values[2 * t] = level * stream.gaussian();
      values[2 * t + 1] = complex ? level * stream.gaussian() : 0;
    }
    fft.forward(values);
    for (const spectrum of signal.spectra) {
      for (let j = 0; j < bins; j++) {
        const bin = (j + shift) % chunkSamples;
        spectrum[2 * j] = values[2 * bin] / chunkSamples;
        spectrum[2 * j + 1] = values[2 * bin + 1] / chunkSamples;
      }
    }
    signal.directionEnu = interferer.directionEnu;
  };
}

/** Per unit of I: XX = ⟨|X|²⟩, YY = ⟨|Y|²⟩, XY = ⟨X·conj(Y)⟩ (docs/conventions.md, polarisation). */
interface Coherency {
  readonly xx: number;
  readonly yy: number;
  readonly xyRe: number;
  readonly xyIm: number;
}

/** For a source through the Jones matrix of an element. */
export function coherency(stokes: StokesFractions, jones: FeedJones): Coherency {
  const { i, q, u, v } = throughFeed(jones, { i: 1, ...stokes });
  return { xx: i - q, yy: i + q, xyRe: u, xyIm: -v };
}

/**
 * How to mix two independent unit signals n₁, n₂ into X = x1·n₁ and Y = y1·n₁ + y2·n₂ with that coherency:
 * the Cholesky factor of [[XX, XY], [conj XY, YY]].
 */
interface Mix {
  readonly x1: number;
  readonly y1Re: number;
  readonly y1Im: number;
  readonly y2: number;
}

export function mixOf({ xx, yy, xyRe, xyIm }: Coherency): Mix {
  // A source polarised entirely along Y leaves only rounding in X, and XY is 0 too.
  if (xx <= 1e-14 * yy) return { x1: 0, y1Re: 0, y1Im: 0, y2: Math.sqrt(yy) };
  const x1 = Math.sqrt(xx);
  // For fully polarised sources this is 0 except for rounding; the root must not receive −1e-17.
  const rest = Math.max(0, yy - (xyRe ** 2 + xyIm ** 2) / xx);
  return { x1, y1Re: xyRe / x1, y1Im: -xyIm / x1, y2: Math.sqrt(rest) };
}
