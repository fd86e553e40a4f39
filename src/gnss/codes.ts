/**
 * GPS C/A codes from IS-GPS-200: two shift registers of ten stages; a satellite's code is G1 plus G2 delayed by its own
 * number of chips.
 */
import { refuse } from '../core/errors.js';

export const L1_HZ = 1575.42e6;
export const CHIP_RATE_HZ = 1.023e6;
export const CHIPS = 1023;
/** A code lasts a millisecond. */
export const CODE_S = CHIPS / CHIP_RATE_HZ;

/** G2 delay in chips of PRN 1 to 36 (table 3-Ia). */
const G2_DELAYS = [
  5, 6, 7, 8, 17, 18, 139, 140, 141, 251, 252, 254, 255, 256, 257, 258, 469, 470, 471, 472, 473, 474, 509,
  512, 513, 514, 515, 516, 859, 860, 861, 862,
  // Reserved for other uses: no satellite sends these.
  863, 950, 947, 948,
];
export const prns: readonly number[] = Array.from({ length: 32 }, (_, k) => k + 1);
export const unused: readonly number[] = [33, 34, 35, 36];

/** Output bits of a register that starts with all ones; `feedback` lists the stages that are added, from 1. */
function register(feedback: readonly number[]): Uint8Array {
  const stages = new Array<number>(10).fill(1);
  return Uint8Array.from({ length: CHIPS }, () => {
    const output = stages[9];
    const next = feedback.reduce((sum, stage) => sum ^ stages[stage - 1], 0);
    stages.pop();
    stages.unshift(next);
    return output;
  });
}

const g1 = register([3, 10]);
const g2 = register([2, 3, 6, 8, 9, 10]);

/** chips : [1023], +1 for a bit of 0 and −1 for a bit of 1. */
export function caCode(prn: number): Int8Array {
  const delay = G2_DELAYS.at(prn - 1);
  if (prn < 1 || delay === undefined) refuse('gnss', `there is no C/A code of PRN ${prn}`, 'give 1 to 32');
  return Int8Array.from({ length: CHIPS }, (_, k) => 1 - 2 * (g1[k] ^ g2[(k + CHIPS - delay) % CHIPS]));
}
