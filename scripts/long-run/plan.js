// Parameters of the compressed long run: four F-engines, two channels, blocks of 40 ms.
import { speadFeng } from '../../dist/packets/spead/feng.js';

/** Spectra per second, and ticks per spectrum. */
const SPECTRUM_RATE_HZ = 6400;
const TICKS = 8;
export const SLOTS_PER_BLOCK = 4;
export const runPlan = speadFeng.plan({
  antennas: [0, 1, 2, 3],
  firstChannel: 0,
  channelsPerHeap: 2,
  spectraPerHeap: 64,
  ticksPerSpectrum: TICKS,
  packetBytes: 512,
  polarisations: 2,
  bits: 8,
  clockRateHz: { numerator: BigInt(SPECTRUM_RATE_HZ * TICKS), denominator: 1n },
});
export const BLOCK_S = (SLOTS_PER_BLOCK * 64) / SPECTRUM_RATE_HZ;
