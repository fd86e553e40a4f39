/** A diffuse sky in the model: cells of it as points, finer than the array resolves. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { ModelComponent } from '../../calibrate/index.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { skyCells } from '../../sky/diffuse/cells.js';
import { fluxOfTemperature, type DiffuseSky } from '../../sky/diffuse/diffuse.js';
import type { SkyFrame } from '../../sky/frame.js';

/** Cells across the fringe of the longest baseline that is modelled: a sum of points is the sky's integral then. */
const CELLS_A_FRINGE = 3;
/** Finer ones would cost more than they tell: nothing is known of the diffuse sky on their scale. */
const FINEST_DEG = 1;
const COARSEST_DEG = 4;
const DEGREES = 180 / Math.PI;

export interface DiffuseModel {
  readonly components: readonly ModelComponent[];
  /** modelled : [b], 0 where a baseline is so long that cells are too coarse for it: nothing is modelled there. */
  readonly modelled: Uint8Array;
}

/** How a component's beam is found, as of any source of the model. */
type BeamTo = (directionEnu: Vector3) => Pick<ModelComponent, 'beam' | 'stationBeams'>;

export function diffuseModel(
  diffuse: DiffuseSky,
  frame: SkyFrame,
  stationsM: readonly Vector3[],
  frequenciesHz: Float64Array,
  beamTo: BeamTo,
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
  }));
  return {
    components,
    // Rounding must not drop the longest of all.
    modelled: Uint8Array.from(lengths, (length) => Number(length <= mostWavelengths * (1 + 1e-9))),
  };
}

/** Adds `from` to model : [c][b][value], `values` numbers a baseline, where a baseline is modelled. */
export function addDiffuse(
  model: Float64Array,
  from: Float64Array,
  modelled: Uint8Array,
  values: number,
): void {
  for (let row = 0; row * values < model.length; row++) {
    if (modelled[row % modelled.length] === 0) continue;
    for (let at = row * values; at < (row + 1) * values; at++) model[at] += from[at];
  }
}
