/** Work distributed over machines: plans, jobs, the ledger, and the queue between them. */
export {
  createLedger,
  handIn,
  hasResult,
  openLedger,
  writeSafely,
  type Ledger,
  type Decision,
} from './ledger.js';
export { encodeResult } from './result.js';
export { checkJob, jobsOf, type FarmPlan, type Job } from './job.js';
export { mergeProducts } from './merge.js';
export { planFarm, type Submitted } from './submit.js';
export { doJob, type Workplace } from './work.js';
export { connectQueue, openServerWarning, requireStore, type Access, type Queue } from './queue/connect.js';
export { putJobs } from './queue/jobs.js';
export { hasWaitedLong, runWorker, type WorkerEvent } from './queue/worker.js';
export { collect, type CollectEvent } from './queue/collect.js';
export { receiveHealth, publishHealth, type Health } from './machines/health.js';
export { answerState, listenToNight, publishImage, type MachineState } from './machines/images.js';
export { adoptNight } from './machines/adopt.js';
export { Proofs } from './machines/proofs.js';
export { answerSteering, steerAll, type SteerAnswer } from './machines/steer.js';
export { queueStatus, type WorkerStatus } from './queue/status.js';
