/** The X-engine for blocks of the cpu backend. */
import { copyToHost } from '../backend/cpu/on-host.js';
import type { Correlator } from './correlator.js';
import type { CorrelatePlan } from './plan.js';
import { prepareReferenceCorrelator } from './reference.js';

export function prepareCpuCorrelator(plan: CorrelatePlan): Correlator {
  const reference = prepareReferenceCorrelator(plan);
  return {
    ...reference,
    accumulate: async (block) => reference.accumulate(await copyToHost('correlate', block)),
  };
}
