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
  type MethodPlan,
  kernelUnits,
  planImaging,
} from './planner.js';
export { type KernelName, type MethodName, methodNames } from './method-names.js';
export { type Compared, type MethodRun, runPlan } from './run.js';
export { type Workload, type WorkloadOptions, workloadOf } from './workload.js';
