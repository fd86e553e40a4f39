/** The loudest lobe of a filter between two distances from a channel's centre, however many lie there. */
import { planFft } from '../core/fft.js';
import { powerOfTwoFrom } from '../core/round-up.js';

/** A lobe is a channel over the filter's length in spectra: with so many points on each its top is met within 0.05 dB. */
const POINTS_OF_LOBE = 16;

/**
 * Largest |Σ_n h[n] e^(2πi δ n/P)| for δ from `from` to `to` channels. Samples n = r + R m of one r are transformed together, at
 * F·R points round the ring of P channels; of those only the few that are asked for are added up over r.
 */
export function loudestLobe(taps: Float64Array, period: number, from: number, to: number): number {
  const perChannel = POINTS_OF_LOBE * Math.ceil(taps.length / period);
  const apart = powerOfTwoFrom(Math.max(1, period / (2 * to)));
  const fft = planFft(powerOfTwoFrom((perChannel * period) / apart));
  const perTurn = fft.length * apart;
  const first = Math.ceil((from * perTurn) / period);
  const count = Math.floor((to * perTurn) / period) + 1 - first;
  const sums = new Float64Array(2 * Math.max(0, count));
  const part = new Float64Array(2 * fft.length);
  for (let r = 0; r < apart; r++) {
    part.fill(0);
    for (let n = r, at = 0; n < taps.length; n += apart, at += 2) part[at] = taps[n];
    fft.inverse(part);
    for (let k = 0; k < count; k++) {
      const at = 2 * ((first + k) % fft.length);
      const turn = (2 * Math.PI * r * (first + k)) / perTurn;
      const [c, s] = [Math.cos(turn), Math.sin(turn)];
      sums[2 * k] += part[at] * c - part[at + 1] * s;
      sums[2 * k + 1] += part[at] * s + part[at + 1] * c;
    }
  }
  let most = 0;
  for (let k = 0; k < count; k++) most = Math.max(most, Math.hypot(sums[2 * k], sums[2 * k + 1]));
  return most;
}
