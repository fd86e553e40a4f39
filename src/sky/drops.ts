/** Packets that never arrive: which, by seed alone, so that no cutting into blocks changes them. */
import type { VoltageGap } from '../core/gaps.js';
import { randomStream } from '../core/random.js';

/** Samples of one station, all its polarisations, that travel and get lost together. */
const PACKET_SAMPLES = 512;

interface Drops {
  readonly seed: number;
  /** The chance of each packet to be lost. */
  readonly dropFraction: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
}

/** Gaps among `samples` samples from `firstSample` of the recording, counted from there; neighbours joined. */
export function droppedGaps(drops: Drops, firstSample: number, samples: number): VoltageGap[] {
  if (drops.dropFraction === 0) return [];
  const gaps: VoltageGap[] = [];
  const openSince = new Array<number>(drops.stations).fill(-1);
  const close = (station: number, endSample: number): void => {
    if (openSince[station] < 0) return;
    gaps.push({
      firstInput: station * drops.polarisations,
      endInput: (station + 1) * drops.polarisations,
      firstSample: openSince[station],
      endSample,
    });
    openSince[station] = -1;
  };
  const end = firstSample + samples;
  for (let packet = Math.floor(firstSample / PACKET_SAMPLES); packet * PACKET_SAMPLES < end; packet++) {
    const here = Math.max(0, packet * PACKET_SAMPLES - firstSample);
    const stream = randomStream(drops.seed, 'drop', packet);
    for (let station = 0; station < drops.stations; station++) {
      if (stream.uniform() >= drops.dropFraction) close(station, here);
      else if (openSince[station] < 0) openSince[station] = here;
    }
  }
  for (let station = 0; station < drops.stations; station++) close(station, samples);
  return gaps;
}
