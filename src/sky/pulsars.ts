/**
 * Pulsating sources: noise that is on for a part of each period, dispersed by interstellar electrons between
 * frequencies and within a channel.
 */
import { planFft } from '../core/fft.js';
import { realNumber, refuse } from '../core/errors.js';
import { randomStream } from '../core/random.js';
import { DISPERSION_S_MHZ2 } from '../core/units.js';
import type { FrequencyGrid } from './frequency-grid.js';
import { isNamed, refuseUnlessNamed } from './polarise.js';
import type { Pulse, Source } from './source.js';

/** The same sources, some of which pulsate. `where`: the field or option, for errors. */
export const pulsate = (
  sources: readonly Source[],
  pulses: readonly { readonly name: string; readonly pulse: Pulse }[],
  where: string,
): readonly Source[] =>
  pulses.reduce<readonly Source[]>((all, { name, pulse }) => {
    realNumber(where, 'DM in pc/cm³', pulse.dm, 0, 1e5);
    realNumber(where, 'width in periods', pulse.width, 1e-4, 1);
    realNumber(where, 'period in seconds', pulse.periodS, 1e-6, 1e6);
    refuseUnlessNamed(all, name, where);
    return all.map((source) => (isNamed(source, name) ? { ...source, pulse } : source));
  }, sources);

/** Longest transform; two of them are kept for each pulsar. */
const MOST_LENGTH = 2 ** 22;
/** Samples beyond the longest delay, for ringing at the band edges. */
const MARGIN = 256;

/**
 * A source's spectra of any chunk: [X-like, Y-like], complex over the grid's rising bins, independent of each other.
 */
export interface PulsedNoise {
  draw(chunk: number): readonly [Float64Array, Float64Array];
}

interface PulsedNoiseSettings {
  readonly name: string;
  readonly pulse: Pulse;
  /** Mean over a period, at a frequency. */
  readonly fluxJy: (frequencyHz: number) => number;
  readonly grid: FrequencyGrid;
  readonly seed: number;
}

/**
 * Noise at the rate of the band, from its lowest frequency up, is switched on and off, and then filtered by the
 * interstellar medium, exp(2πi·D·DM·(f − f₁)²/(f·f₁²)) for a delay of D·DM·(1/f² − 1/f₁²) relative to the top of the
 * band f₁: by overlap-save, so that a chunk contains signals sent long before it. A pulse begins at the top of the band
 * at the start of the recording.
 */
export function preparePulsedNoise({ name, pulse, fluxJy, grid, seed }: PulsedNoiseSettings): PulsedNoise {
  const { bins, stepHz, lowestHz, chunkSamples } = grid;
  const rateHz = bins * stepHz;
  const topHz = lowestHz + rateHz;
  const perDelay = DISPERSION_S_MHZ2 * 1e12 * pulse.dm;
  const longest = Math.ceil(perDelay * (1 / lowestHz ** 2 - 1 / topHz ** 2) * rateHz) + MARGIN;
  let length = 2 * bins;
  while (length < 4 * (longest + MARGIN)) length *= 2;
  if (!(length <= MOST_LENGTH))
    refuse(
      `pulsar ${name}`,
      `a DM of ${pulse.dm} spreads a pulse over ${(longest / rateHz).toPrecision(3)} s of this band`,
      'give a smaller DM, a narrower band (source.rate) or a higher frequency',
    );
  /** Samples of a segment that include all earlier signals that reach them. */
  const useful = Math.floor((length - longest - MARGIN) / bins) * bins;
  const fft = planFft(length);
  const small = planFft(bins);
  const filter = new Float64Array(2 * length);
  for (let k = 0; k < length; k++) {
    const frequencyHz = lowestHz + (k * rateHz) / length;
    const turns = (perDelay * (frequencyHz - topHz) ** 2) / (frequencyHz * topHz ** 2);
    const size = Math.sqrt(fluxJy(frequencyHz) / (2 * pulse.width)) / length;
    filter[2 * k] = size * Math.cos(2 * Math.PI * (turns % 1));
    filter[2 * k + 1] = size * Math.sin(2 * Math.PI * (turns % 1));
  }
  const streams = [new Float64Array(2 * length), new Float64Array(2 * length)] as const;
  const spectra = [new Float64Array(2 * bins), new Float64Array(2 * bins)] as const;
  let segment = -1;

  /** Both streams, starting `longest` samples before the segment's first. */
  function fill(wanted: number): void {
    const first = wanted * useful - longest;
    for (let chunk = Math.floor(first / bins); chunk * bins < first + length; chunk++) {
      const random = randomStream(seed, 'pulsar', name, chunk);
      for (let t = 0; t < bins; t++) {
        const sample = chunk * bins + t;
        const turns = sample / (rateHz * pulse.periodS);
        const level = turns - Math.floor(turns) < pulse.width ? 1 : 0;
        const at = sample - first;
        for (const stream of streams)
          for (let part = 0; part < 2; part++) {
            const value = level * random.gaussian();
            if (at >= 0 && at < length) stream[2 * at + part] = value;
          }
      }
    }
    for (const stream of streams) {
      fft.forward(stream);
      for (let k = 0; k < length; k++) {
        const [re, im] = [stream[2 * k], stream[2 * k + 1]];
        stream[2 * k] = re * filter[2 * k] - im * filter[2 * k + 1];
        stream[2 * k + 1] = re * filter[2 * k + 1] + im * filter[2 * k];
      }
      fft.inverse(stream);
    }
    segment = wanted;
  }

  // A DFT of a chunk, in the scale of `rmsPerPart`: bins of variance S/N.
  const scale = 1 / Math.sqrt(bins * chunkSamples);
  return {
    draw: (chunk) => {
      const wanted = Math.floor((chunk * bins) / useful);
      if (wanted !== segment) fill(wanted);
      const from = 2 * (chunk * bins - wanted * useful + longest);
      for (const [n, spectrum] of spectra.entries()) {
        spectrum.set(streams[n].subarray(from, from + 2 * bins));
        small.forward(spectrum);
        for (let k = 0; k < spectrum.length; k++) spectrum[k] *= scale;
      }
      return spectra;
    },
  };
}
