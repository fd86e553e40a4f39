/**
 * Högbom's minor cycle: repeatedly moves a fraction of the brightest pixel's flux to the model, and subtracts the beam
 * of that fraction from the residual.
 */
import type { PlaneML } from '../../core/axes.js';

export interface MinorCycle {
  readonly pixels: number;
  /** beam : [m][l], 1 in the middle; unknown outside its edges, where nothing is subtracted. */
  readonly beam: PlaneML;
  /** Both change. NaN pixels of the residual are ignored. */
  readonly residual: PlaneML;
  readonly model: PlaneML;
  /** mask : [m][l], components only where it is not 0. */
  readonly mask?: Uint8Array;
  /** The fraction of a peak in a component. */
  readonly gain: number;
  /** Peaks below it, of either sign, give no component. */
  readonly downTo: number;
  readonly mostIterations: number;
}

/** The number of components. */
export type MinorResult = number;

/** The textbook version: the whole residual is searched, and changed, for each component. */
export function hogbomPlain(cycle: MinorCycle): MinorResult {
  const { residual, model, gain, downTo, mostIterations } = cycle;
  for (let iteration = 0; iteration < mostIterations; iteration++) {
    const at = brightest(cycle);
    if (at < 0 || Math.abs(residual[at]) < downTo) return iteration;
    const flux = gain * residual[at];
    model[at] += flux;
    takeBeam(cycle, at, flux);
  }
  return mostIterations;
}

/** Pixels that are followed together; more would not fit in the processor's caches. */
const MOST_FOLLOWED = 1 << 16;
/** Relative to the peak: fainter pixels wait for the next round. */
const FOLLOWED_DOWN_TO = 0.25;

/**
 * The same, a round at a time: only pixels above a quarter of the peak are followed, then their components are
 * subtracted from all others at once. As long as no sidelobe lifts another pixel above them the components are the
 * same.
 */
export function hogbomFast(cycle: MinorCycle): MinorResult {
  let done = 0;
  while (done < cycle.mostIterations) {
    const at = brightest(cycle);
    const peak = at < 0 ? 0 : Math.abs(cycle.residual[at]);
    if (at < 0 || peak < cycle.downTo) break;
    const followed = above(cycle, Math.max(cycle.downTo, FOLLOWED_DOWN_TO * peak), peak);
    const taken = follow(cycle, followed.places, followed.cut, cycle.mostIterations - done);
    done += taken.iterations;
    for (const [place, flux] of taken.fluxes.entries()) {
      if (flux === 0) continue;
      cycle.model[followed.places[place]] += flux;
      takeBeam(cycle, followed.places[place], flux);
    }
  }
  return done;
}

/** −1 where there is none. */
function brightest({ residual, mask }: MinorCycle): number {
  let best = -1;
  let most = -1;
  for (let at = 0; at < residual.length; at++) {
    const value = Math.abs(residual[at]);
    if (value > most && mask?.[at] !== 0) {
      most = value;
      best = at;
    }
  }
  return best;
}

/** residual −= flux · beam, with the beam centred on a pixel. */
function takeBeam({ pixels, beam, residual }: MinorCycle, at: number, flux: number): void {
  const right = (at % pixels) - pixels / 2;
  const up = Math.floor(at / pixels) - pixels / 2;
  const firstColumn = Math.max(0, right);
  const endColumn = Math.min(pixels, pixels + right);
  for (let row = Math.max(0, up); row < Math.min(pixels, pixels + up); row++) {
    const to = row * pixels;
    const from = (row - up) * pixels - right;
    for (let column = firstColumn; column < endColumn; column++) {
      residual[to + column] -= flux * beam[from + column];
    }
  }
}

/** Pixels whose residual is at least `cut`, which is raised until they are few enough. */
function above(
  { residual, mask }: MinorCycle,
  cut: number,
  peak: number,
): { readonly places: Int32Array; readonly cut: number } {
  for (let level = cut; ; level = (level + peak) / 2) {
    const places: number[] = [];
    for (let at = 0; at < residual.length && places.length <= MOST_FOLLOWED; at++) {
      if (Math.abs(residual[at]) >= level && mask?.[at] !== 0) places.push(at);
    }
    if (places.length <= MOST_FOLLOWED || peak - level < 1e-3 * peak) {
      return { places: Int32Array.from(places), cut: level };
    }
  }
}

/** Components among the followed pixels until none is above the cut; fluxes : [place]. */
function follow(
  { pixels, beam, residual, gain }: MinorCycle,
  places: Int32Array,
  cut: number,
  mostIterations: number,
): { readonly fluxes: Float64Array; readonly iterations: number } {
  const columns = places.map((at) => at % pixels);
  const rows = places.map((at) => Math.floor(at / pixels));
  const values = Float64Array.from(places, (at) => residual[at]);
  const fluxes = new Float64Array(places.length);
  let best = indexOfBrightest(values);
  for (let iteration = 0; iteration < mostIterations; iteration++) {
    if (Math.abs(values[best]) < cut) return { fluxes, iterations: iteration };
    const flux = gain * values[best];
    fluxes[best] += flux;
    const right = columns[best] - pixels / 2;
    const up = rows[best] - pixels / 2;
    let most = -1;
    for (let k = 0; k < values.length; k++) {
      const column = columns[k] - right;
      const row = rows[k] - up;
      if (column >= 0 && column < pixels && row >= 0 && row < pixels) {
        values[k] -= flux * beam[row * pixels + column];
      }
      const value = Math.abs(values[k]);
      if (value > most) {
        most = value;
        best = k;
      }
    }
  }
  return { fluxes, iterations: mostIterations };
}

function indexOfBrightest(values: Float64Array): number {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (Math.abs(values[k]) > Math.abs(values[best])) best = k;
  return best;
}
