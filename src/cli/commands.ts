/** Every command, in the order of --help. A new command is one file and one entry here. */
import type { RegisterCommand } from './options/command.js';

export interface CommandEntry {
  /** The heading in the list of commands. */
  readonly group: CommandGroup;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** One or two sentences, above the command's own help. */
  readonly about: string;
  /** Loaded on demand, so that no command waits for the code of others. */
  readonly load: () => Promise<RegisterCommand>;
  /** Exit code of a failure, for commands where 1 has another meaning. */
  readonly failure?: 2;
}

export type CommandGroup =
  'Try it' | 'From voltages' | 'From visibilities' | 'Any file' | 'At the telescope' | 'Machines';

export const commands: Readonly<Record<string, CommandEntry>> = {
  demo: {
    group: 'Try it',
    summary: 'first light: simulate a sky, correlate, calibrate, image it',
    about:
      'Simulates a sky over a telescope, channelises, correlates and calibrates it, and images it twice: from visibilities and directly from voltages (EPIC). Everything goes into one folder.',
    load: async () => (await import('./demo.js')).registerDemo,
  },
  sky: {
    group: 'Try it',
    summary: 'a simulated live sky on a page in the browser',
    about:
      'Simulates a sky over a telescope as it is now, correlates and images it live, and shows it on a page in the browser: one process, no packets. Antennas can be flagged, gains solved and losses switched on there.',
    load: async () => (await import('./sky.js')).registerSky,
  },
  sample: {
    group: 'Try it',
    summary: 'small simulated files to try the documentation with',
    about: 'Writes a small simulated recording, visibilities or packets to try the documentation with.',
    load: async () => (await import('./sample.js')).registerSample,
  },
  simulate: {
    group: 'Try it',
    summary: 'a sky over a telescope → voltages',
    about: 'Simulates the voltages that the antennas of a telescope record, and writes them as SigMF.',
    load: async () => (await import('./simulate.js')).registerSimulate,
  },
  correlate: {
    group: 'From voltages',
    summary: 'recorded voltages or channelised data → visibilities',
    about:
      'Correlates a recording: voltages are channelised first, channelised data are used as they are. Writes UVFITS, UVH5 or a Measurement Set, by the extension of its output.',
    load: async () => (await import('./correlate.js')).registerCorrelate,
  },
  channelise: {
    group: 'From voltages',
    summary: 'recorded voltages → channelised data; response of the filter',
    about:
      'Splits recorded voltages into frequency channels with a polyphase filter bank, and writes them as SigMF. With --response it shows what the filter does instead.',
    load: async () => (await import('./channelise.js')).registerChannelise,
  },
  fold: {
    group: 'From voltages',
    summary: 'a filterbank folded at the period of a pulsar → its profile',
    about:
      'Folds a filterbank at the period of a pulsar: the mean profile, and how it changes with time and frequency.',
    load: async () => (await import('./fold.js')).registerFold,
  },
  search: {
    group: 'From voltages',
    summary: 'a filterbank → single dispersed pulses',
    about: 'Searches a filterbank for single dispersed pulses over a range of dispersion measures.',
    load: async () => (await import('./search.js')).registerSearch,
  },
  calibrate: {
    group: 'From visibilities',
    summary: 'visibilities and a sky model → gains (StEFCal)',
    about:
      'Solves for the complex gain of each input so that the visibilities agree with a model of the sky (StEFCal). Writes gains as JSON and CalH5.',
    load: async () => (await import('./calibrate.js')).registerCalibrate,
  },
  apply: {
    group: 'From visibilities',
    summary: 'visibilities and gains → calibrated visibilities',
    about: 'Divides visibilities by gains and writes the result in Jy. Data without a gain are flagged.',
    load: async () => (await import('./apply.js')).registerApply,
  },
  image: {
    group: 'From visibilities',
    summary: 'visibilities → images; --direct: from voltages (EPIC)',
    about:
      'Makes an image of the sky, FITS and PNG, from visibilities. With --direct it images a recording of voltages without correlating it (EPIC).',
    load: async () => (await import('./image.js')).registerImage,
  },
  convert: {
    group: 'From visibilities',
    summary: 'the same data in another format, all of it or a part',
    about:
      'Writes the same data in another format, which the name of the output chooses; also a selection of it, averaged, flagged or phased to another centre.',
    load: async () => (await import('./convert.js')).registerConvert,
  },
  inspect: {
    group: 'Any file',
    summary: 'what is in a file, as text, JSON or pictures',
    about:
      'Shows what is in a file of any format we read: telescope, times, frequencies, levels, losses. It draws pictures on request.',
    load: async () => (await import('./inspect.js')).registerInspect,
  },
  view: {
    group: 'Any file',
    summary: 'files in a browser: images, visibilities, gains, captures',
    about: 'Shows images, visibilities with their gains, or a capture of packets on a page in the browser.',
    load: async () => (await import('./view.js')).registerView,
  },
  compare: {
    group: 'Any file',
    summary: 'whether two files hold the same data',
    about:
      'Compares two files, in any two formats: every value, flag, time, position and header card. Exit code 0: the same; 1: different; 2: cannot be compared.',
    load: async () => (await import('./compare/compare.js')).registerCompare,
    failure: 2,
  },
  recover: {
    group: 'Any file',
    summary: 'what a killed run left → its finished integrations',
    about: 'Makes a whole file of the integrations that a killed run had finished, or removes what it left.',
    load: async () => (await import('./recover.js')).registerRecover,
  },
  telescope: {
    group: 'At the telescope',
    summary: 'asks for site and antennas → a telescope description',
    about:
      'Asks for the site, the band and the places of the antennas, measured with a tape, and writes the description that --telescope takes.',
    load: async () => (await import('./telescope.js')).registerTelescope,
  },
  live: {
    group: 'At the telescope',
    summary: 'packets as they arrive → visibilities, images, a page',
    about:
      'Correlates and images packets or samples as they arrive, shows them on a page in the browser, and writes visibilities. Every lost packet is counted.',
    load: async () => (await import('./live/register.js')).registerLive,
  },
  run: {
    group: 'At the telescope',
    summary: 'an observation file → every product it asks for',
    about: 'Makes everything that an observation file (YAML or JSON) asks for, from a recording or live.',
    load: async () => (await import('./run.js')).registerRun,
  },
  check: {
    group: 'At the telescope',
    summary: 'an observation file → its plan, sizes and warnings',
    about:
      'Reads an observation file and shows what it would make: plan, warnings, sizes, free disk. Writes nothing.',
    load: async () => (await import('./check.js')).registerCheck,
  },
  send: {
    group: 'At the telescope',
    summary: 'a recording or a simulated sky → packets, to test a receiver',
    about:
      'Sends a recording or a simulated sky as packets, to a socket or into a capture, with losses and other faults on request.',
    load: async () => (await import('./send.js')).registerSend,
  },
  completion: {
    group: 'Machines',
    summary: 'Tab completion for bash, zsh and fish',
    about: 'Prints a script that completes commands, options and their values in a shell.',
    load: async () => {
      const { registerCompletion } = await import('./completion.js');
      return (program) => {
        registerCompletion(program, commands);
      };
    },
  },
  devices: {
    group: 'Machines',
    summary: 'what this machine can compute with, and receive',
    about: 'Lists the backends of this machine, and which of them --backend auto uses.',
    load: async () => (await import('./devices.js')).registerDevices,
  },
  plan: {
    group: 'Machines',
    summary: 'what a telescope needs: methods, load, machines',
    about:
      'Predicts for a telescope the load of each kernel, which imaging method is cheaper, and how many machines it takes.',
    load: async () => (await import('./plan.js')).registerPlan,
  },
  bench: {
    group: 'Machines',
    summary: 'how fast each kernel is on this machine',
    about: 'Measures the rate of each kernel, and what fraction of the measured limit of this machine it is.',
    load: async () => (await import('./bench.js')).registerBench,
  },
  qualify: {
    group: 'Machines',
    summary: 'a report of every figure of the instrument: pass or fail',
    about:
      'Measures every figure of the instrument on this machine, from linearity to packet loss, and writes a report that passes or fails.',
    load: async () => (await import('./qualify.js')).registerQualify,
  },
  farm: {
    group: 'Machines',
    summary: 'work on many machines: jobs, or parts of the band',
    about:
      'Spreads work over many machines: a recording is split into jobs for workers, or the band of a telescope among machines.',
    load: async () => (await import('./farm/farm.js')).registerFarm,
  },
  worker: {
    group: 'Machines',
    summary: 'does jobs of farm submit',
    about: 'Does jobs of corella farm submit: from a queue until it is stopped, or one job from a file.',
    load: async () => (await import('./farm/worker.js')).registerWorker,
  },
};
