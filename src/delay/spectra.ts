/**
 * Delays as a channeliser needs them, run of spectra by run of spectra: over a run every input's whole-sample delay is
 * constant, and the remainder is a phase that is linear in time and in frequency.
 */
import { refuse } from '../core/errors.js';
import type { DelayModel, DelayPiece } from './models.js';

/** Numbers of an input in `RunDelays.turns`. */
export const TURN_NUMBERS = 4;

/** For the spectra of one run; k counts them from its first. */
export interface RunDelays {
  /** [a], samples by which the window begins before the spectrum's own tick. */
  readonly shiftSamples: Int32Array;
  /**
   * [a][p, p′, s, s′]: channel c is rotated by p + k·p′ + (c − zeroChannel)·(s + k·s′) whole turns, counterclockwise.
   */
  readonly turns: Float64Array;
}

interface SpectrumDelayOptions {
  readonly delayModel: DelayModel;
  readonly samplesPerSpectrum: number;
  readonly taps: number;
  readonly sampleRateHz: number;
  /** The recording's own zero: the centre of a complex band, the lower edge of a real one. */
  readonly zeroHz: number;
  /** Larger delays are refused. */
  readonly mostDelaySamples: number;
}

export interface SpectrumDelays {
  readonly mostDelaySamples: number;
  /** The delays of the spectra from `first` up to `until`; spectrum 0 opens with the stream's first sample. */
  from(first: number): { readonly delays: RunDelays; readonly until: number };
}

/**
 * Whole samples change at most at every 64th spectrum of a piece, so that runs stay long with many inputs; more often
 * where the delay would drift by more than a 64th of a sample meanwhile.
 */
const MOST_SPECTRA = 64;
const MOST_DRIFT_SAMPLES = 1 / 64;

/** Delays of each input for spectra, by time ranges. */
export function spectrumDelays(options: SpectrumDelayOptions): SpectrumDelays {
  const { delayModel, samplesPerSpectrum, taps, sampleRateHz, zeroHz, mostDelaySamples } = options;
  const { inputs } = delayModel;
  const tickOf = (spectrum: number): bigint => BigInt(spectrum) * BigInt(samplesPerSpectrum);
  /** The first spectrum whose tick is not before. */
  const spectrumOf = (tick: bigint): number => {
    const size = BigInt(samplesPerSpectrum);
    return Number(tick > 0n ? (tick + size - 1n) / size : tick / size);
  };
  // A spectrum has the delay of its window's middle.
  const middle = (taps * samplesPerSpectrum - 1) / 2;
  const delayAt = (piece: DelayPiece, spectrum: number): number =>
    piece.delayS +
    ((Number(tickOf(Math.floor(spectrum)) - piece.fromTick) +
      (spectrum - Math.floor(spectrum)) * samplesPerSpectrum +
      middle) /
      sampleRateHz) *
      piece.delayRate;

  /** Whole samples of the group of spectra that `spectrum` belongs to, and the first spectrum with another number. */
  function coarseAt(
    piece: DelayPiece,
    spectrum: number,
  ): { readonly coarse: number; readonly until: number } {
    const drift = Math.abs(piece.delayRate) * samplesPerSpectrum;
    if (drift === 0) return { coarse: Math.round(piece.delayS * sampleRateHz), until: Infinity };
    const size = 2 ** Math.max(0, Math.floor(Math.log2(Math.min(MOST_SPECTRA, MOST_DRIFT_SAMPLES / drift))));
    const first = spectrumOf(piece.fromTick);
    const group = Math.floor((spectrum - first) / size);
    const samplesAt = (n: number): number => delayAt(piece, first + n * size + (size - 1) / 2) * sampleRateHz;
    const coarse = Math.round(samplesAt(group));
    const left = 0.5 - (samplesAt(group) - coarse) * Math.sign(piece.delayRate);
    let groups = Math.max(1, Math.ceil(left / (drift * size)));
    while (groups > 1 && Math.round(samplesAt(group + groups - 1)) !== coarse) groups--;
    return { coarse, until: first + (group + groups) * size };
  }

  return {
    mostDelaySamples,
    from: (first) => {
      const tick = tickOf(first);
      const next = delayModel.nextAfter(tick);
      let until = next === undefined ? Infinity : spectrumOf(next);
      const shiftSamples = new Int32Array(inputs);
      const turns = new Float64Array(TURN_NUMBERS * inputs);
      for (let a = 0; a < inputs; a++) {
        const piece = delayModel.at(a, tick);
        const { coarse, until: own } = coarseAt(piece, first);
        if (Math.abs(coarse) > mostDelaySamples) {
          refuse(
            'delays',
            `input ${a} is to be delayed by ${coarse} samples, and ${mostDelaySamples} were planned for`,
            'plan for the longest delay',
          );
        }
        until = Math.min(until, own);
        const delayS = delayAt(piece, first);
        const sinceS = (Number(tick - piece.fromTick) + middle) / sampleRateHz;
        const phase = (piece.phaseRad + sinceS * piece.phaseRateRadS) / (2 * Math.PI) - zeroHz * delayS;
        shiftSamples[a] = coarse;
        turns[TURN_NUMBERS * a] = phase - Math.round(phase);
        turns[TURN_NUMBERS * a + 1] =
          ((piece.phaseRateRadS / (2 * Math.PI) - zeroHz * piece.delayRate) * samplesPerSpectrum) /
          sampleRateHz;
        turns[TURN_NUMBERS * a + 2] = -(delayS * sampleRateHz - coarse) / samplesPerSpectrum;
        turns[TURN_NUMBERS * a + 3] = -piece.delayRate;
      }
      return { delays: { shiftSamples, turns }, until };
    },
  };
}

/** The tracked part of an input's delay, without its fixed delay. */
interface TrackedDelay {
  readonly delayS: number;
  readonly phaseRad: number;
}

/** At so many ticks from the origin of the delay function, integer or not : [a]. */
export function trackedDelays(delayModel: DelayModel, tickRateHz: number, tick: number): TrackedDelay[] {
  const whole = BigInt(Math.floor(tick));
  const restS = (tick - Math.floor(tick)) / tickRateHz;
  return Array.from({ length: delayModel.inputs }, (_, a) => {
    const piece = delayModel.at(a, whole);
    // Their distance is small, so that products keep their precision.
    const sinceS = Number(whole - piece.fromTick) / tickRateHz;
    const delayS = piece.delayS + sinceS * piece.delayRate;
    const phaseRad = withinTurn(piece.phaseRad + sinceS * piece.phaseRateRadS);
    return {
      delayS: delayS + restS * piece.delayRate - delayModel.fixedS[a],
      phaseRad: phaseRad + restS * piece.phaseRateRadS,
    };
  });
}

const withinTurn = (angleRad: number): number =>
  angleRad - 2 * Math.PI * Math.round(angleRad / (2 * Math.PI));
