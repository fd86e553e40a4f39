/** Tied-array beams: corner-turned spectra in, voltages or powers of weighted sums of stations out. */
import type { Backend } from '../backend/backend.js';
import { refuse } from '../core/errors.js';
import type { Beamformer } from './beamformer.js';
import { prepareCpuBeamformer } from './cpu/prepare.js';
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
export {
  halfToEven,
  inverseGains,
  steeredWeights,
  uniformStep,
  type InverseGains,
  type Steered,
  type SteeringOptions,
} from './weights.js';
export { addIncoherent } from './incoherent.js';
export { addBeamCounts, type CountOptions } from './counts.js';

/** Compiles and allocates a beamformer on a backend; close it afterwards. */
export function prepareBeamformer(plan: BeamPlan, backend: Backend): Promise<Beamformer> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(referenceBeamformer(plan));
    case 'cpu':
      return Promise.resolve(prepareCpuBeamformer(plan, backend));
    case 'cuda':
      return refuse('beams', 'are not made on a card', 'choose --backend cpu');
  }
}
