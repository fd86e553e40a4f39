/** Shared by UVFITS, UVH5 and Measurement Sets: products, and the metadata preserved from an integration's original file. */
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, refuseLeapSecond } from '../../core/instant.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { VisibilityHeader } from '../format.js';
import { firstCode, storedProducts } from '../io/gather.js';

/** What is written of each pair: polarisations of (antenna 1, antenna 2) here, and the product's code. */
interface WrittenProduct {
  readonly p1: 0 | 1;
  readonly p2: 0 | 1;
  readonly code: number;
  /** "XX", "RL". */
  readonly label: string;
}

/** In the order of codes −5, −6, −7, −8: XX, YY, XY, YX; −1 to −4 of circular feeds. */
const allProducts = [
  [0, 0],
  [1, 1],
  [0, 1],
  [1, 0],
] as const;

export function writtenProducts(
  header: Pick<VisibilityHeader, 'polarisations' | 'feeds' | 'products'>,
): readonly WrittenProduct[] {
  const first = firstCode[header.feeds ?? 'linear'];
  const labelOf = (code: number): string => storedProducts[code]?.label ?? String(code);
  if (header.polarisations === 1) {
    const code = header.products?.[0] ?? first;
    return [{ p1: 0, p2: 0, code, label: labelOf(code) }];
  }
  const all = allProducts.map(([p1, p2], k) => ({ p1, p2, code: first - k, label: labelOf(first - k) }));
  return header.products ? all.filter(({ code }) => header.products?.includes(code)) : all;
}

/** The integration time of a pair: as in the original file, otherwise that of all pairs. */
export const storedIntegrationS = ({ passThrough, durationS }: Integration, i: number, j: number): number => {
  const own = passThrough?.integrationS?.[baselineIndex(i, j)] ?? Number.NaN;
  return Number.isNaN(own) ? durationS : own;
};

/**
 * uvw of the original file, for the pair (A1, A2) = (j, i) that we write: r_j − r_i in metres. Undefined if that file
 * had none, or another phase centre: our own geometry is then used.
 */
export function storedUvwM(
  { passThrough }: Integration,
  { phaseCentre }: VisibilityHeader,
  i: number,
  j: number,
): readonly [number, number, number] | undefined {
  const stopped = passThrough?.stopped;
  if (stopped === undefined) return undefined;
  const { raDeg, decDeg } = stopped.phaseCentre;
  if (raDeg !== phaseCentre.raDeg || decDeg !== phaseCentre.decDeg) return undefined;
  const [u, v, w] = stopped.uvwM.subarray(3 * baselineIndex(i, j), 3 * baselineIndex(i, j) + 3);
  if (Number.isNaN(w)) return undefined;
  // r_i − r_j is stored in lower-triangle order, and negated only between two antennas. 0 − x avoids −0.
  return i === j ? [u, v, w] : [0 - u, 0 - v, 0 - w];
}

/** All that a visibility file states about its observation. */
export function recordingSeen(
  channels: readonly { readonly frequencyHz: number }[],
  channelWidthHz: number,
): Pick<Telescope, 'band' | 'recording' | 'beamExponent'> {
  const lowHz = channels[0].frequencyHz - channelWidthHz / 2;
  const highHz = channels[channels.length - 1].frequencyHz + channelWidthHz / 2;
  return {
    band: { lowHz, highHz },
    recording: {
      centreFrequencyHz: (lowHz + highHz) / 2,
      sampleRateHz: highHz - lowHz,
      channels: channels.length,
      bits: 8,
    },
    // The element beam is unknown: isotropic over the sky.
    beamExponent: 0,
  };
}

/** Refuses an integration of another shape than the file's, and one whose middle the file's dates cannot hold. */
export function checkIntegration(path: string, header: VisibilityHeader, integration: Integration): void {
  refuseLeapSecond(path, addSeconds(integration.start, integration.durationS / 2));
  const shape = (...numbers: number[]): string => numbers.join(' × ');
  const given = shape(integration.stations, integration.channels, integration.polarisations);
  const wanted = shape(header.telescope.stations.length, header.frequenciesHz.length, header.polarisations);
  if (given !== wanted)
    refuse(
      path,
      `an integration of ${given} stations × channels × polarisations where the file has ${wanted}`,
      'one file holds one arrangement',
    );
}
