/**
 * What an image loses at its edge by channel width and integration time: along a baseline the phase changes across
 * both, and the sum shrinks by sinc(turns). The mean over baselines is the loss of a source's peak.
 */
import type { Integration } from '../core/blocks.js';
import { addSeconds } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { pairGeometry } from '../image/index.js';
import { skyFrame } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { stationPositions } from './geometry.js';

/** Parts of a source's peak, 0 to 1. */
export interface Smearing {
  readonly bandwidth: number;
  readonly time: number;
}

interface SmearingOptions {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly centre: PhaseCentre;
  /** Of the field, in direction cosines. */
  readonly halfWidth: number;
  /**
   * Whether the correlator stopped the fringes during integration. Where they ran, everything away from the celestial
   * pole is smeared, wherever the image's centre is.
   */
  readonly fringes: 'stopped' | 'running';
}

export function smearingOf(
  { start, durationS }: Pick<Integration, 'start' | 'durationS'>,
  options: SmearingOptions,
): Smearing {
  const { telescope, frequenciesHz, channelWidthHz, centre, fringes } = options;
  const middleHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  const stationsM = stationPositions(telescope);
  const [begin, middle, end] = [0, 0.5, 1].map((part) => {
    const frame = skyFrame(telescope.site, addSeconds(start, part * durationS));
    return pairGeometry({ stationsM, axes: frame.tangentAxes(centre.position(frame)), frequenciesHz }).uvwM;
  });
  const edge = Math.min(1, options.halfWidth);
  const n = Math.sqrt(1 - edge * edge);
  let bandwidth = 0;
  let time = 0;
  for (const [l, m] of [
    [edge, 0],
    [-edge, 0],
    [0, edge],
    [0, -edge],
  ]) {
    let across = 0;
    let during = 0;
    for (let at = 0; at < middle.length; at += 3) {
      const path = (uvw: Float64Array, depth: number): number =>
        uvw[at] * l + uvw[at + 1] * m + uvw[at + 2] * depth;
      across += sinc((path(middle, n - 1) * channelWidthHz) / SPEED_OF_LIGHT_M_PER_S);
      const depth = fringes === 'stopped' ? n - 1 : n;
      during += sinc(((path(end, depth) - path(begin, depth)) * middleHz) / SPEED_OF_LIGHT_M_PER_S);
    }
    const pairs = Math.max(1, middle.length / 3);
    bandwidth = Math.max(bandwidth, 1 - across / pairs);
    time = Math.max(time, 1 - during / pairs);
  }
  return { bandwidth, time };
}

const sinc = (turns: number): number =>
  Math.abs(turns) < 1e-9 ? 1 : Math.sin(Math.PI * turns) / (Math.PI * turns);
