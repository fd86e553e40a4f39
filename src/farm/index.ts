/** Work that is spread over machines: plans, jobs, the ledger, and the queue between them. */
export { cutChannelising, cutCorrelation, MOST_RESULT_BYTES } from './cut.js';
export {
  createLedger,
  handIn,
  hasResult,
  openLedger,
  writeSafely,
  type Ledger,
  type Verdict,
} from './ledger.js';
export { encodeResult } from './result.js';
export { boxesOf, checkJob, jobsOf, makePlan, type FarmPlan, type Job, type Work } from './plan.js';
export { factsOf, marksOf } from './same-recording.js';
export { writeProduct, type Product } from './products.js';
export { Results } from './results.js';
export { collectSeries, type SeriesProduct } from './series.js';
export { doJob, imageSettingsOf, type Workplace } from './work.js';
export { connectQueue, openServerWarning, requireStore, type Access, type Queue } from './queue/connect.js';
export { putJobs } from './queue/jobs.js';
export {
  hasWaitedLong,
  runWorker,
  MOST_FAILURES,
  type WorkerAccount,
  type WorkerEvent,
} from './queue/worker.js';
export { collect, type CollectEvent } from './queue/collect.js';
export { hearHealth, tellHealth, type Health } from './night/health.js';
export { answerBook, listenToNight, tellImage, type Book } from './night/images.js';
export { Proofs } from './night/proofs.js';
export { AHEAD_S, answerSteering, steerAll, type SteerAnswer } from './night/steer.js';
export { queueStatus, type QueueStatus, type WorkerStatus } from './queue/status.js';
