/** Delays of channelised data: a phase for every channel, input and spectrum. */
import type { Backend } from '../../backend/backend.js';
import { cpuTurner } from './cpu/prepare.js';
import { cudaTurner } from './cuda/prepare.js';
import type { Turner, TurningPlan } from './plan.js';
import { referenceTurner } from './reference.js';

export { planTurning, type Turner, type TurningOptions, type TurningPlan } from './plan.js';

/** Compiles and allocates a phase rotator of spectra on a backend; close it afterwards. */
export function prepareTurner(plan: TurningPlan, backend: Backend): Promise<Turner> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(referenceTurner(plan));
    case 'cpu':
      return Promise.resolve(cpuTurner(plan, backend));
    case 'cuda':
      return cudaTurner(plan, backend);
  }
}
