/** Integrations of point sources, summed explicitly, for the tests of this module. */
import { baselineCount, baselineIndex, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, type Instant } from '../../core/instant.js';
import { settleCounts } from '../../core/product-counts.js';
import { randomStream } from '../../core/random.js';
import { skyFrame, type SkyPosition } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';

const C_M_PER_S = 299_792_458;

/** Two polarisations, on level ground. */
export function arrayOf(stations: number, radiusM: number): Telescope {
  const random = randomStream(stations, 'array');
  return {
    name: 'test',
    title: 'test',
    polarisations: 2,
    beamExponent: 0,
    site: { latitudeDeg: -30.7, longitudeDeg: 21.4, heightM: 1050 },
    stations: Array.from({ length: stations }, (_, s) => ({
      name: `s${s}`,
      eastM: radiusM * random.gaussian(),
      northM: radiusM * random.gaussian(),
      upM: 0,
    })),
    band: { lowHz: 1e6, highHz: 2e9 },
    recording: { centreFrequencyHz: 1e8, sampleRateHz: 1e6, channels: 1, bits: 8 },
  };
}

export interface Seen {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly start: Instant;
  readonly durationS?: number;
  /** One unpolarised point source. */
  readonly at: SkyPosition;
  readonly fluxJy: number;
  /** Voltage gain of a station's input; by default 1. */
  readonly voltage?: (station: number, channel: number, polarisation: number) => number;
  /** Samples in a product; by default 1, 0 is missing. */
  readonly weight?: (channel: number, i: number, j: number, pi: number, pj: number) => number;
}

/** x_i conj(x_j) with running fringes, as from a correlator. */
export function pointSeen(seen: Seen): Integration {
  const { telescope, frequenciesHz, start, durationS = 1, fluxJy } = seen;
  const { voltage = () => 1, weight = () => 1 } = seen;
  const stations = telescope.stations.length;
  const [channels, baselines] = [frequenciesHz.length, baselineCount(stations)];
  const { x, y, z } = skyFrame(telescope.site, addSeconds(start, durationS / 2)).directionEnu(seen.at);
  const pathsM = telescope.stations.map(({ eastM, northM, upM }) => eastM * x + northM * y + upM * z);
  const sums = new Float64Array(8 * channels * baselines);
  const weights = new Float64Array(4 * channels * baselines);
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++)
        for (const [pi, pj] of [
          [0, 0],
          [0, 1],
          [1, 0],
          [1, 1],
        ]) {
          // prettier-ignore
          const at = 4 * (c * baselines + baselineIndex(i, j)) + 2 * pi + pj;
          weights[at] = weight(c, i, j, pi, pj);
          if (pi !== pj) continue;
          const angle = (2 * Math.PI * frequenciesHz[c] * (pathsM[i] - pathsM[j])) / C_M_PER_S;
          const size = weights[at] * fluxJy * voltage(i, c, pi) * voltage(j, c, pj);
          sums[2 * at] = size * Math.cos(angle);
          sums[2 * at + 1] = size * Math.sin(angle);
        }
  const shape = { channels, stations, polarisations: 2 } as const;
  return {
    start,
    durationS,
    ...shape,
    ...settleCounts(shape, weights),
    visibilities: visibilitiesCBPP(sums, channels, baselines, 2),
  };
}
