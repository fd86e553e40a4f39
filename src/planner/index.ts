/** Entry point of `planner`: what a machine can observe, and how long it takes. */
export { cardCosts, cardMachine, cardNames, findCard } from './cards.js';
export { manyMachines } from './many.js';
export { measureCard } from './measure-card.js';
export { machineOf, measureCosts } from './measure-costs.js';
export { type RoadRun, runRoad } from './measure-plan.js';
export {
  type Cost,
  HEADROOM,
  type KernelCosts,
  type Plan,
  type RoadPlan,
  kernelUnits,
  planRoads,
} from './planner.js';
export {
  type HostBlock,
  type ResidentChain,
  type ResidentImage,
  prepareResidentChain,
} from './resident/chain.js';
export { type ResidentPlan, planResident } from './resident/plan.js';
export { type KernelName, type RoadName, roadNames } from './resident/road-names.js';
export { type Compared, type ResidentRun, runResident } from './run.js';
export { type Workload, type WorkloadOptions, workloadOf } from './workload.js';
