/** Every command, in the order of --help. A new command is one file and one entry here. */
import type { RegisterCommand } from './options/command.js';

export interface CommandEntry {
  /** One line: for the list of commands, and above the command's own help. */
  readonly summary: string;
  /** Loaded when it is asked for, so that no command waits for the others' code. */
  readonly load: () => Promise<RegisterCommand>;
  /** Exit code of a failure, where 1 has a meaning of its own. */
  readonly failure?: 2;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  demo: {
    summary: 'first light: simulate a sky, channelise, correlate, calibrate and image it by both roads',
    load: async () => (await import('./demo.js')).registerDemo,
  },
  sample: {
    summary: 'a small simulated recording, visibilities, packets: something to try each page on',
    load: async () => (await import('./sample.js')).registerSample,
  },
  run: {
    summary: 'an observation file (YAML or JSON) → every product it asks for',
    load: async () => (await import('./run.js')).registerRun,
  },
  check: {
    summary: 'an observation file → what it would make: plan, sizes, free disk; writes nothing',
    load: async () => (await import('./check.js')).registerCheck,
  },
  simulate: {
    summary: 'a sky over a telescope → voltages (SigMF)',
    load: async () => (await import('./simulate.js')).registerSimulate,
  },
  channelise: {
    summary: 'recorded voltages → channelised data (SigMF); or the response of the filter',
    load: async () => (await import('./channelise.js')).registerChannelise,
  },
  correlate: {
    summary: 'recorded voltages, or already channelised data → visibilities',
    load: async () => (await import('./correlate.js')).registerCorrelate,
  },
  calibrate: {
    summary: "visibilities + sky model → each antenna's complex gain (StEFCal)",
    load: async () => (await import('./calibrate.js')).registerCalibrate,
  },
  apply: {
    summary: 'visibilities / gains → visibilities in Jy, what has no gain flagged',
    load: async () => (await import('./apply.js')).registerApply,
  },
  image: {
    summary: 'visibilities (+ gains) → FITS and PNG; --direct: from voltages (EPIC)',
    load: async () => (await import('./image.js')).registerImage,
  },
  fold: {
    summary: 'a filterbank at the period of a pulsar → profile, over time and frequency',
    load: async () => (await import('./fold.js')).registerFold,
  },
  search: {
    summary: 'a filterbank → single dispersed pulses',
    load: async () => (await import('./search.js')).registerSearch,
  },
  farm: {
    summary: 'many machines: recordings cut into jobs, telescopes cut by channels',
    load: async () => (await import('./farm/farm.js')).registerFarm,
  },
  worker: {
    summary: 'do jobs of farm submit: from a queue until stopped, or one from a file',
    load: async () => (await import('./farm/worker.js')).registerWorker,
  },
  live: {
    summary: 'samples or packets as they come → visibilities, pictures of the sky',
    load: async () => (await import('./live/register.js')).registerLive,
  },
  send: {
    summary: 'a recording or a simulated sky → packets, to a socket or a capture',
    load: async () => (await import('./send.js')).registerSend,
  },
  view: {
    summary: 'files on a page: images, visibilities, gains and captures in a browser',
    load: async () => (await import('./view.js')).registerView,
  },
  inspect: {
    summary: 'what is in this file (any format we know), as text, JSON or pictures',
    load: async () => (await import('./inspect.js')).registerInspect,
  },
  compare: {
    summary: 'whether two files hold the same data: every value, flag, time, position and header card',
    load: async () => (await import('./compare/compare.js')).registerCompare,
    failure: 2,
  },
  convert: {
    summary: 'the same data in another format; the extension chooses it',
    load: async () => (await import('./convert.js')).registerConvert,
  },
  recover: {
    summary: 'what a run that was killed left behind → a whole file of the finished integrations',
    load: async () => (await import('./recover.js')).registerRecover,
  },
  plan: {
    summary: 'which road is cheaper for a telescope, the load of each kernel, and how many machines it takes',
    load: async () => (await import('./plan.js')).registerPlan,
  },
  bench: {
    summary: "each kernel's rate, and the fraction of this machine's own measured ceiling",
    load: async () => (await import('./bench.js')).registerBench,
  },
  qualify: {
    summary: 'every figure of the instrument, measured on this machine, as a report that passes or fails',
    load: async () => (await import('./qualify.js')).registerQualify,
  },
  devices: {
    summary: 'what this machine offers, and which backend auto would take',
    load: async () => (await import('./devices.js')).registerDevices,
  },
};
