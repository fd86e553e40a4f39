/** The F-engine: voltages in, corner-turned spectra out. */
import type { Backend } from '../backend/backend.js';
import type { SpectraShape } from '../core/blocks.js';
import { prepareCpuChanneliser } from './cpu/prepare.js';
import { prepareCudaChanneliser } from './cuda/prepare.js';
import type { Channeliser } from './channeliser.js';
import type { ChannelisePlan } from './plan.js';
import { prepareReferenceChanneliser } from './reference.js';

export type { Channeliser } from './channeliser.js';
export type { FilterWindow } from './filter.js';
export { filterNames, namedFilters, type FilterName, type NamedFilter } from './named-filters.js';
export { rounding, type Rounding } from './rounding.js';
export { filterResponse, type FilterResponse, type ResponseOptions } from './response.js';
export {
  channelFrequenciesHz,
  channelWidthHz,
  outputRail,
  planChannelise,
  spectrumTime,
  type ChanneliseOptions,
  type ChannelisePlan,
} from './plan.js';
export {
  planTurning,
  prepareTurner,
  type Turner,
  type TurningOptions,
  type TurningPlan,
} from './turn/index.js';

/** Compiles and allocates a channeliser on a backend; close it afterwards. `powers`: of its blocks (core/blocks.ts). */
export function prepareChanneliser(
  plan: ChannelisePlan,
  backend: Backend,
  asked: Pick<SpectraShape, 'powers'> = {},
): Promise<Channeliser> {
  switch (backend.kind) {
    case 'reference':
      return Promise.resolve(prepareReferenceChanneliser(plan));
    case 'cpu':
      return Promise.resolve(prepareCpuChanneliser(plan, backend));
    case 'cuda':
      return prepareCudaChanneliser(plan, backend, asked);
  }
}
