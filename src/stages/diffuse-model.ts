/** A diffuse sky in the model: grid cells of it as points, finer than the array resolves. */
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { ModelComponent } from '../calibrate/index.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { skyCells } from '../sky/diffuse/cells.js';
import { fluxOfTemperature, type DiffuseSky } from '../sky/diffuse/diffuse.js';
import type { SkyFrame } from '../sky/frame.js';

/**
 * Grid cells across the fringe of the longest baseline that is modelled: the sum of points then approximates the sky's
 * integral.
 */
const CELLS_A_FRINGE = 3;
/** Finer ones would cost more and add nothing: the diffuse sky is unknown on their scale. */
const FINEST_DEG = 1;
const COARSEST_DEG = 4;
const DEGREES = 180 / Math.PI;

export interface DiffuseModel {
  readonly components: readonly ModelComponent[];
  /** modelled : [b], 0 where a baseline is so long that the grid cells are too coarse: nothing is modelled there. */
  readonly modelled: Uint8Array;
}

/** How a component's beam is found, as for any source of the model. */
type BeamTo = (directionEnu: Vector3) => Pick<ModelComponent, 'beam' | 'stationBeams'>;

/**
 * `alike`: the correlation of X and Y for an unpolarised grid cell, −1 to 1; undefined where feeds are at right angles.
 */
export function diffuseModel(
  diffuse: DiffuseSky,
  frame: SkyFrame,
  stationsM: readonly Vector3[],
  frequenciesHz: Float64Array,
  beamTo: BeamTo,
  alike?: (directionEnu: Vector3) => number,
): DiffuseModel {
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  const lengths = new Float64Array(baselineCount(stationsM.length));
  stationsM.forEach((a, i) => {
    stationsM.slice(0, i).forEach((b, j) => {
      const metres = Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
      lengths[baselineIndex(i, j)] = (metres * highestHz) / SPEED_OF_LIGHT_M_PER_S;
    });
  });
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const wantedDeg = DEGREES / (CELLS_A_FRINGE * longest);
  const cells = skyCells(Math.min(COARSEST_DEG, Math.max(FINEST_DEG, wantedDeg)));
  const mostWavelengths = DEGREES / (CELLS_A_FRINGE * cells.cellDeg);
  const temperatures = diffuse.temperaturesK(cells, frame, frequenciesHz);
  const channels = frequenciesHz.length;
  const components = cells.directionsEnu.map((directionEnu, cell) => ({
    directionEnu,
    fluxJy: frequenciesHz.map((frequencyHz, c) =>
      fluxOfTemperature(temperatures[cell * channels + c], frequencyHz, cells.solidAnglesSr[cell]),
    ),
    ...beamTo(directionEnu),
    fractionU: alike?.(directionEnu),
  }));
  return {
    components,
    // Rounding must not drop the longest baseline.
    modelled: Uint8Array.from(lengths, (length) => Number(length <= mostWavelengths * (1 + 1e-9))),
  };
}

/** Which of X, Y and their common part make XX and YY; and XX, XY, YX, YY. */
const parallel = [[0, 0], [1, 1]] as const; // prettier-ignore
const crossed = [[0, 0], [2, 1], [1, 2], [1, 1]] as const; // prettier-ignore

/** Grid cells per batch: their voltages at all stations stay in the cache. */
const TOGETHER = 128;

/**
 * The visibilities that perfect antennas measure of it, [c][b][p] complex, zero where it is not modelled. An
 * unpolarised grid cell is a voltage √S·b_i·e^(+2πi f r_i·ŝ/c) at each input, X and Y apart, and pairs are sums of
 * products over cells: the same as modelVisibilities, for tens of thousands of points.
 */
export function diffuseVisibilities(
  { components, modelled }: DiffuseModel,
  stationsM: readonly Vector3[],
  frequenciesHz: Float64Array,
  polarisations: 1 | 2,
  products: 'parallel' | 'all' = 'parallel',
): Float64Array {
  const stations = stationsM.length;
  const baselines = modelled.length;
  const kinds = products === 'all' ? crossed : parallel.slice(0, polarisations);
  const sums = new Float64Array(2 * frequenciesHz.length * baselines * kinds.length);
  // [X, Y, and the part of X correlated with Y][s][cell] complex
  const responses = new Float64Array(2 * 3 * stations * TOGETHER);
  frequenciesHz.forEach((frequencyHz, c) => {
    for (let first = 0; first < components.length; first += TOGETHER) {
      const cells = components.slice(first, first + TOGETHER);
      cells.forEach((cell, q) => {
        fillResponses(responses, cell, q, stationsM, frequencyHz, c, polarisations);
      });
      for (const [k, [p, q]] of kinds.entries()) {
        const place = (kind: number, s: number): number => 2 * (kind * stations + s) * TOGETHER;
        for (let i = 0, b = 0; i < stations; i++)
          for (let j = 0; j <= i; j++, b++) {
            if (modelled[b] === 0) continue;
            const at = 2 * ((c * baselines + b) * kinds.length + k);
            addProduct(sums, at, responses, place(p, i), place(q, j), cells.length);
          }
      }
    }
  });
  return sums;
}

function fillResponses(
  responses: Float64Array,
  { directionEnu, fluxJy, beam = 1, stationBeams, fractionU = 0 }: ModelComponent,
  q: number,
  stationsM: readonly Vector3[],
  frequencyHz: number,
  c: number,
  polarisations: number,
): void {
  const size = Math.sqrt(fluxJy[c]);
  for (const [s, place] of stationsM.entries()) {
    const angle = (2 * Math.PI * frequencyHz * dot(place, directionEnu)) / SPEED_OF_LIGHT_M_PER_S;
    const [cos, sin] = [size * Math.cos(angle), size * Math.sin(angle)];
    const own = stationBeams?.[s] ?? beam;
    for (let p = 0; p < polarisations; p++) {
      const re = typeof own === 'number' ? own : (p === 0 ? own.x : own.y)[c];
      const im = typeof own === 'number' ? 0 : ((p === 0 ? own.xIm : own.yIm)?.[c] ?? 0);
      const at = 2 * ((p * stationsM.length + s) * TOGETHER + q);
      responses[at] = re * cos - im * sin;
      responses[at + 1] = re * sin + im * cos;
      if (p > 0) continue;
      const alike = 2 * ((2 * stationsM.length + s) * TOGETHER + q);
      responses[alike] = fractionU * responses[at];
      responses[alike + 1] = fractionU * responses[at + 1];
    }
  }
}

/** sums[at] += Σ x·conj(y) over so many complex numbers. */
function addProduct(
  sums: Float64Array,
  at: number,
  responses: Float64Array,
  x: number,
  y: number,
  count: number,
): void {
  let re = 0;
  let im = 0;
  for (let k = 0; k < 2 * count; k += 2) {
    const a = responses[x + k];
    const b = responses[x + k + 1];
    const c = responses[y + k];
    const d = responses[y + k + 1];
    re += a * c + b * d;
    im += b * c - a * d;
  }
  sums[at] += re;
  sums[at + 1] += im;
}
