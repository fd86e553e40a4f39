/** Tied-array beams: corner-turned spectra in, voltages or powers of weighted sums of stations out. */
import type { Backend } from '../backend/backend.js';
import type { Beamformer } from './beamformer.js';
import { prepareCpuBeamformer } from './cpu/prepare.js';
import { prepareCudaBeamformer, prepareCudaIncoherent } from './cuda/prepare.js';
import { hostIncoherent, type Incoherent } from './incoherent.js';
import type { BeamPlan } from './plan.js';
import { referenceBeamformer } from './reference.js';

export type { Beamformer, BeamVoltages } from './beamformer.js';
export {
  planBeams,
  type BeamOptions,
  type BeamPlan,
  type Bins,
  type Detection,
  type WeightType,
} from './plan.js';
export { detections, voltagesLength } from './plan.js';
export { inverseGains, uniformStep, type InverseGains } from './weights.js';
export { nullDepths, nulledWeights, taperEfficiency, type NullOptions, type Towards } from './nulls.js';
export type { Incoherent } from './incoherent.js';
export { addBeamCounts, type CountOptions } from './counts.js';

/** Compiles and allocates a beamformer on a backend; close it afterwards. */
export function prepareBeamformer(plan: BeamPlan, backend: Backend): Promise<Beamformer> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(referenceBeamformer(plan));
    case 'cpu':
      return Promise.resolve(prepareCpuBeamformer(plan, backend));
    case 'cuda':
      return prepareCudaBeamformer(plan, backend);
  }
}

/** The sum of powers of stations, on a backend; close it afterwards. */
export const prepareIncoherent = (plan: BeamPlan, backend: Backend): Promise<Incoherent> =>
  backend.kind === 'cuda' ? prepareCudaIncoherent(plan, backend) : Promise.resolve(hostIncoherent(plan));
