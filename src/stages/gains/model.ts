/** What gains are solved with beside sources: the diffuse sky, station beams, the baselines to use. */
import { refuse } from '../../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { beamOfElements, hasElements, parseElements } from '../../sky/beams/mixed.js';
import { beamOfTelescope, findBeam } from '../../sky/beams/registry.js';
import { withFeed } from '../../sky/beams/with-feed.js';
import type { DiffuseSky } from '../../sky/diffuse/diffuse.js';
import { galaxy } from '../../sky/diffuse/galaxy.js';
import { readDiffuseMap } from '../../sky/diffuse/map.js';
import type { Telescope } from '../../telescope/telescope.js';
import { stationPositions } from '../geometry.js';
import type { CalibrateSettings } from '../calibrate.js';

export function diffuseSky(text: string, where = 'gains.diffuse'): DiffuseSky {
  if (text === galaxy.name) return galaxy;
  if (/\.csv$/i.test(text)) return readDiffuseMap(text);
  return refuse(where, `'${text}' is no diffuse sky`, "give galaxy, or the path of a map's CSV");
}

/** At the band's middle, where it is in wavelengths. */
export interface BaselineLength {
  readonly value: number;
  readonly unit: 'm' | 'wl';
}

export function baselineLength(text: string, where = 'gains.min-baseline'): BaselineLength {
  const match = /^((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(m|wl|λ)?$/i.exec(text.trim());
  if (!match)
    return refuse(where, `'${text}' is not understood`, 'write metres or wavelengths, like 12m or 5wl');
  return { value: Number(match[1]), unit: (match.at(2) ?? 'm').toLowerCase() === 'm' ? 'm' : 'wl' };
}

/** The requested beam, else the telescope's own; undefined where neither is known. */
export const elementBeam = (element: string | undefined, telescope: Telescope): ElementBeam | undefined => {
  const find = (name: string): ElementBeam => withFeed(findBeam(name), telescope);
  if (element?.includes('=') === true)
    return beamOfElements(parseElements(element, telescope), telescope, find);
  if (element !== undefined) return find(element);
  if (hasElements(telescope)) {
    const each = telescope.stations.map((station) => station.element);
    return beamOfElements(each, telescope, find);
  }
  const own = beamOfTelescope(telescope);
  return own && withFeed(own, telescope);
};

/** For models, which use the telescope's beamExponent in any case. */
export const modelElement = (element: string | undefined, telescope: Telescope): ElementBeam | undefined =>
  element === undefined && !hasElements(telescope) ? undefined : elementBeam(element, telescope);

export type SolvingModel = Pick<CalibrateSettings, 'element' | 'diffuse'> &
  Required<Pick<CalibrateSettings, 'minimumBaselineM'>>;

/** The same for every solver; 0 m keeps all baselines. */
export function solvingModel(
  { element, diffuse, minBaseline }: ModelParts,
  telescope: Telescope,
  frequenciesHz: Float64Array,
): SolvingModel {
  const sees = telescope.beamExponent > 0 && element === undefined ? 'all the sky' : 'a part';
  return {
    minimumBaselineM: shortestBaselineM(minBaseline, stationPositions(telescope), frequenciesHz, sees),
    element,
    diffuse,
  };
}

interface ModelParts {
  readonly element?: ElementBeam;
  readonly diffuse?: DiffuseSky;
  readonly minBaseline?: BaselineLength;
}

/** The Galaxy is smooth on scales of ten degrees and more: baselines of a few wavelengths see little else. */
const USUAL_WAVELENGTHS = 2;
/** Fewer stations cannot spare any. */
const LEAST_STATIONS = 32;
/** The fraction of baselines that must stay. */
const MOST_MUST_STAY = 0.75;

const wavelengthM = (frequenciesHz: Float64Array): number =>
  (2 * SPEED_OF_LIGHT_M_PER_S) / (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]);

/** The shortest baseline in metres: as requested, or by default for the array; 0 keeps all. */
function shortestBaselineM(
  asked: BaselineLength | undefined,
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
