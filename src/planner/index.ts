/** Entry point of `planner`: what a machine can observe, and its computing time. */
export { cardCosts, cardMachine, cardNames, findCard } from './cards.js';
export { manyMachines } from './many.js';
export { measureCard } from './measure-card.js';
export { machineOf, measureCosts } from './measure-costs.js';
export {
  type Cost,
  HEADROOM,
  type KernelCosts,
  type Plan,
  type RoadPlan,
  kernelUnits,
  planRoads,
} from './planner.js';
export { type KernelName, type RoadName, roadNames } from './road-names.js';
export { type Compared, type RoadRun, runPlan } from './run.js';
export { type Workload, type WorkloadOptions, workloadOf } from './workload.js';
