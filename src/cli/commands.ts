/** Every command, in the order of --help. A new command is one file and one line here. */
import type { RegisterCommand } from './options/command.js';

/** Loaded when called, so that a command starts without waiting for the others' code. */
export const commands: Readonly<Record<string, () => Promise<RegisterCommand>>> = {
  demo: async () => (await import('./demo.js')).registerDemo,
  sample: async () => (await import('./sample.js')).registerSample,
  run: async () => (await import('./run.js')).registerRun,
  check: async () => (await import('./check.js')).registerCheck,
  simulate: async () => (await import('./simulate.js')).registerSimulate,
  channelise: async () => (await import('./channelise.js')).registerChannelise,
  correlate: async () => (await import('./correlate.js')).registerCorrelate,
  calibrate: async () => (await import('./calibrate.js')).registerCalibrate,
  apply: async () => (await import('./apply.js')).registerApply,
  image: async () => (await import('./image.js')).registerImage,
  farm: async () => (await import('./farm/farm.js')).registerFarm,
  worker: async () => (await import('./farm/worker.js')).registerWorker,
  live: async () => (await import('./live.js')).registerLive,
  send: async () => (await import('./send.js')).registerSend,
  view: async () => (await import('./view.js')).registerView,
  inspect: async () => (await import('./inspect.js')).registerInspect,
  compare: async () => (await import('./compare/compare.js')).registerCompare,
  convert: async () => (await import('./convert.js')).registerConvert,
  recover: async () => (await import('./recover.js')).registerRecover,
  plan: async () => (await import('./plan.js')).registerPlan,
  bench: async () => (await import('./bench.js')).registerBench,
  qualify: async () => (await import('./qualify.js')).registerQualify,
  devices: async () => (await import('./devices.js')).registerDevices,
};
