/** The X-engine: corner-turned spectra in, visibilities and sample counts out. */
import type { Backend } from '../backend/backend.js';
import { prepareCpuCorrelator } from './cpu/prepare.js';
import { prepareCudaCorrelator } from './cuda/prepare.js';
import type { Correlator } from './correlator.js';
import type { CorrelatePlan } from './plan.js';
import { prepareTiledCorrelator } from './tiled.js';

export type { CorrelationResult, Correlator } from './correlator.js';
export { MOST_INTEGER_SAMPLES, planCorrelation, type CorrelateOptions, type CorrelatePlan } from './plan.js';

/** Compiles and allocates a correlator on a backend; close it afterwards. */
export function prepareCorrelator(plan: CorrelatePlan, backend: Backend): Promise<Correlator> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(prepareTiledCorrelator(plan));
    case 'cpu':
      return Promise.resolve(prepareCpuCorrelator(plan, backend));
    case 'cuda':
      return prepareCudaCorrelator(plan, backend);
  }
}
