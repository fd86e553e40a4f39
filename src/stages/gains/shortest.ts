/** Which baselines are too short for a model of points, by default. */
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';

/** The Galaxy is smooth on scales of ten degrees and more: baselines of a few wavelengths see little else. */
const USUAL_WAVELENGTHS = 2;
/** Fewer stations cannot spare any. */
const LEAST_STATIONS = 32;
/** The fraction of baselines that must stay. */
const MOST_MUST_STAY = 0.75;

const wavelengthM = (frequenciesHz: Float64Array): number =>
  (2 * SPEED_OF_LIGHT_M_PER_S) / (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]);

/** The shortest baseline in metres: as requested, or by default for the array; 0 keeps all. */
export function shortestBaselineM(
  asked: { readonly value: number; readonly unit: 'm' | 'wl' } | undefined,
  stationsM: readonly Vector3[],
  frequenciesHz: Float64Array,
  sees: 'all the sky' | 'a part',
): number {
  if (asked) return asked.unit === 'm' ? asked.value : asked.value * wavelengthM(frequenciesHz);
  if (sees === 'a part' || stationsM.length < LEAST_STATIONS) return 0;
  const minimumM = USUAL_WAVELENGTHS * wavelengthM(frequenciesHz);
  let [stay, all] = [0, 0];
  stationsM.forEach((a, i) => {
    for (const b of stationsM.slice(0, i)) {
      all++;
      if (Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) >= minimumM) stay++;
    }
  });
  return stay >= MOST_MUST_STAY * all ? minimumM : 0;
}
