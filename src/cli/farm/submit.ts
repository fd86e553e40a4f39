/** corella farm submit: a recording's work cut into jobs, on a queue or as files. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { baselineCount, spectraSizeBytes, voltageSizeBytes } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import {
  connectQueue,
  createLedger,
  cutChannelising,
  cutCorrelation,
  makePlan,
  putJobs,
  requireStore,
  writeSafely,
  type FarmPlan,
  type Ledger,
  type Product,
  type Work as FarmWork,
} from '../../farm/index.js';
import {
  openFile,
  sampleRateOf,
  visibilityFormatFor,
  type OpenFileOptions,
  type Recording,
} from '../../formats/index.js';
import { spectraHeader } from '../../pipeline/channelise.js';
import { firstSpectrumStart, planChannels, type ChannelSettings } from '../../pipeline/channels.js';
import { clockOf, spectraOf, stretchesOf } from '../../pipeline/parts.js';
import { addChanneliseOptions, type ChanneliseOptions } from '../channelise.js';
import { addCorrelateOptions, type CorrelateOptions } from '../correlate.js';
import { headerOf, integrationFor, planWork } from '../correlate/work.js';
import { kurtosisWork } from '../interference/kurtosis-options.js';
import { openVoltages, refuseUnknown, telescopeFor } from '../open.js';
import { channelOptionNames, measuredSettings } from '../options/channel-options.js';
import { addExamples, parseCount, refuseGiven, type BackendOptions } from '../options/command.js';
import { parseFlags } from '../options/flags.js';
import { openOptions } from '../options/open-options.js';
import { checkOutputs, parseFolder, recordingPaths } from '../options/outputs.js';
import { parseCentre } from '../options/phase-centre-option.js';
import { duration } from '../options/quantity.js';
import { delayRequest, requestedFor } from '../options/track-options.js';
import { history } from '../report/history.js';
import { openTerminal, type Terminal } from '../report/terminal.js';
import { version } from '../report/version.js';
import { accessOf, addAccessOptions, type AccessOptions } from './access-options.js';

interface FarmOptions extends AccessOptions {
  readonly farm?: string;
  readonly jobTime?: number;
  readonly jobChannels?: number;
  readonly root?: string;
  readonly patience: number;
  readonly eop?: string;
}

/** A worker that nobody hears of for so long has lost its job. */
export const USUAL_PATIENCE_S = 30;
/** About so much of a recording a job: seconds of work on most machines. */
const JOB_BYTES = 256 * 2 ** 20;

export const addPatienceOption = (command: Command): Command =>
  command.option(
    '--patience <time>',
    'a job of a worker that is silent for so long goes to another',
    duration('--patience'),
    USUAL_PATIENCE_S,
  );

function addFarmOptions(command: Command): Command {
  command
    .optionsGroup('The farm:')
    .option(
      '--farm <folder>',
      'plan, results and ledger (default: the output’s name with .farm)',
      parseFolder,
    )
    .option(
      '--job-time <time>',
      'about so much of the recording a job (default: 256 MiB of it)',
      duration('--job-time'),
    )
    .option(
      '--job-channels <number>',
      'at most so many channels a job (default: results below 64 MiB)',
      parseCount,
    )
    .option(
      '--root <folder>',
      'workers find the recording under their own --root as it lies under this one here',
    );
  addPatienceOption(command);
  return addAccessOptions(command, 'none: jobs become files, for Slurm and the like');
}

export function registerSubmit(farm: Command): void {
  const submit = farm
    .command('submit')
    .description('cut a recording’s work into jobs, and put those that have no result on the queue');
  const correlate = addCorrelateOptions(submit.command('correlate')).action(submitCorrelate);
  correlate.description('correlate, spread over workers');
  addExamples(addFarmOptions(correlate), [
    [
      'farm submit correlate /data/night.sigmf-meta --integration 10s -o night.uvh5 --server nats://head:4222',
      'onto the queue',
    ],
    [
      'farm submit correlate /data/night.sigmf-meta -o night.uvh5',
      'job files in night.uvh5.farm/jobs, no server',
    ],
    [
      'farm submit correlate /data/night.sigmf-meta -o night.uvh5 --server tls://head:4222 --tls-ca ca.pem --creds me.creds',
      'secured',
    ],
  ]);
  const channelise = addChanneliseOptions(submit.command('channelise')).action(submitChannelise);
  channelise.description('channelise, spread over workers');
  addExamples(addFarmOptions(channelise), [
    [
      'farm submit channelise /data/night.sigmf-meta --channels 64 -o channels.sigmf-meta --server nats://head:4222',
      'onto the queue',
    ],
  ]);
}

/** What looks at spectra side by side that jobs may part, and what is chosen of what they make. */
const ONE_PROCESS = [
  ...['kurtosis', 'kurtosisSpectra', 'kurtosisOver', 'kurtosisBursts', 'vanVleck'],
  ...['times', 'keepChannels', 'flags'],
];

async function submitCorrelate(
  path: string,
  options: CorrelateOptions & FarmOptions,
  command: Command,
): Promise<void> {
  const terminal = openTerminal(options);
  refuseGiven(command, ONE_PROCESS, 'is not spread over machines: corella correlate has it');
  visibilityFormatFor(options.out);
  const open = await openOptions(options);
  const recording = await openFile(path, open);
  try {
    await checkOutputs({ ...options, paths: [options.out], from: path });
    if (recording.kind === 'visibilities')
      refuse(path, 'holds visibilities already', 'calibrate or image it');
    if (recording.kind === 'spectra')
      refuseGiven(command, channelOptionNames, `is for voltages, and ${path} is channelised already`);
    refuseUnknown(recording);
    const telescope = await telescopeFor(recording, options);
    const request = await delayRequest(options, telescope);
    if (requestedFor(recording, telescope, request))
      refuse('farm', 'delays are not spread over machines', 'correlate it in one process: corella correlate');
    const work = await planWork(recording, options, undefined, kurtosisWork({}));
    const header = headerOf(recording, telescope, work, parseCentre(options), []);
    const { chosenS, lines } = integrationFor(recording, telescope, work, options);
    const plan =
      work.settings && recording.kind === 'voltages' ? planChannels(recording, work.settings) : undefined;
    const settings = { ...(chosenS === undefined ? {} : { integrationS: chosenS }), align: options.align };
    const integrations = stretchesOf(clockOf(settings, recording, plan), 0, spectraOf(recording, plan));
    const channels = work.frequenciesHz.length;
    const stations = telescope.stations.length;
    const rateHz = plan ? sampleRateOf(recording) / plan.samplesPerSpectrum : sampleRateOf(recording);
    const type = plan ? plan.outputType : recording.type;
    const cut = cutCorrelation({
      ...{ channels, integrations, sums: type === 'cf32' ? 'floats' : 'whole-numbers' },
      spectraPerJob: spectraPerJob(recording, rateHz, options),
      bytesPerChannel: 8 * baselineCount(stations) * (2 * recording.polarisations ** 2 + 1),
      ...(options.jobChannels === undefined ? {} : { channelsPerJob: options.jobChannels }),
    });
    const flags = parseFlags(options.flag, recording.inputs, recording.polarisations, telescope);
    const product: Product = {
      ...{ kind: 'correlation', out: options.out, values: options.values, integrations, stations, channels },
      header: { ...header, frequenciesHz: Array.from(header.frequenciesHz) },
      grid: plan
        ? { start: firstSpectrumStart(recording as never, plan), rateHz, counts: 'seconds' }
        : { start: recording.start, rateHz, counts: 'samples' },
      ...(work.level && { level: work.level }),
      ...eopOf(options),
    };
    const farmed = makePlan(version(), {
      work: workOf('correlate', path, recording, {
        open,
        options,
        settings: work.settings,
        flags,
        integration: settings,
      }),
      ...{ cut, product },
    });
    await submit(farmed, options, terminal, lines);
  } finally {
    await recording.close();
  }
}

async function submitChannelise(
  path: string | undefined,
  options: ChanneliseOptions & FarmOptions,
  command: Command,
): Promise<void> {
  const terminal = openTerminal(options);
  refuseGiven(command, ['response'], 'needs no farm');
  refuseGiven(command, ONE_PROCESS, 'is not spread over machines: corella channelise has it');
  if (path === undefined) refuse('channelise', 'no recording was named', 'name one');
  const outputs = recordingPaths(options.out ?? 'channels.sigmf-meta');
  const [, out] = outputs;
  await checkOutputs({ ...options, paths: outputs, from: path });
  const open = await openOptions(options);
  const recording = await openVoltages(path, open);
  try {
    const settings = await measuredSettings(options, recording);
    const plan = planChannels(recording, settings);
    const spectra = spectraOf(recording, plan);
    const { channels, samplesPerSpectrum, taps, blockSamples, inputs } = plan;
    const cut = cutChannelising({
      ...{ channels, spectra, blockSamples, samplesPerSpectrum, taps },
      bytesPerSpectrum: channels * inputs * spectraSizeBytes(plan.outputType),
      ...(options.jobTime === undefined
        ? {}
        : { spectraPerJob: (options.jobTime * recording.sampleRateHz) / samplesPerSpectrum }),
    });
    if (options.jobChannels !== undefined)
      refuse('--job-channels', 'is for correlate: a channeliser makes all', 'leave it out');
    const header = spectraHeader(recording, plan, history({ from: recording }));
    const product: Product = {
      ...{ kind: 'spectra', out },
      header: { ...header, frequenciesHz: Array.from(header.frequenciesHz) },
    };
    const work = workOf('channelise', path, recording, {
      open,
      options,
      settings,
      flags: new Uint8Array(0),
      integration: { align: 'first-sample' },
    });
    await submit(makePlan(version(), { work, cut, product }), { ...options, out }, terminal, []);
  } finally {
    await recording.close();
  }
}

const eopOf = (options: { readonly eop?: string }): { readonly eop?: string } =>
  options.eop === undefined ? {} : { eop: resolve(options.eop) };

function spectraPerJob(recording: Recording, rateHz: number, { jobTime }: FarmOptions): number {
  if (jobTime !== undefined) return Math.max(1, Math.round(jobTime * rateHz));
  const sampleBytes =
    recording.kind === 'voltages'
      ? recording.inputs * voltageSizeBytes(recording.type) * (recording.sampleRateHz / rateHz)
      : recording.inputs * recording.channels * spectraSizeBytes(recording.type);
  return Math.max(1, Math.round(JOB_BYTES / sampleBytes));
}

function workOf(
  command: FarmWork['command'],
  path: string,
  recording: Recording,
  told: {
    readonly open: OpenFileOptions;
    readonly options: BackendOptions & FarmOptions;
    readonly settings: ChannelSettings | undefined;
    readonly flags: Uint8Array;
    readonly integration: Pick<FarmWork, 'align' | 'integrationS'>;
  },
): FarmWork {
  const { open, options, settings, flags, integration } = told;
  const { kind, type, inputs, samples, start } = recording;
  return {
    command,
    recording: {
      path: sentPath(path, options.root),
      open: open as FarmWork['recording']['open'],
      facts: { kind, type, inputs, samples, start },
    },
    ...(settings && { channels: listed(settings) }),
    ...integration,
    flaggedInputs: Array.from(flags.keys()).filter((a) => flags[a] === 1),
    backend: options.backend,
  };
}

/** As workers will open it: whole, or from their own roots. */
function sentPath(path: string, root: string | undefined): string {
  const parts = existsSync(path) ? [path] : path.split(',').map((part) => part.trim());
  const sent = parts.map((part) => {
    if (root === undefined) return resolve(part);
    const under = relative(resolve(root), resolve(part));
    if (under.startsWith('..'))
      refuse('--root', `${part} does not lie under ${root}`, 'name a folder above it');
    return under;
  });
  if (root !== undefined && sent.length > 1)
    refuse(
      '--root',
      'is for one file, and several were named',
      'leave it out, and mount them alike everywhere',
    );
  return sent.join(',');
}

function listed(settings: ChannelSettings & { readonly level?: unknown }): NonNullable<FarmWork['channels']> {
  const { channels, taps, window, outputType, gain, passbandChannels, coefficients } = settings;
  return {
    ...{ channels, taps, outputType },
    ...(window && { window }),
    ...(gain === undefined ? {} : { gain }),
    ...(passbandChannels === undefined ? {} : { passbandChannels }),
    ...(coefficients && { coefficients: Array.from(coefficients) }),
  };
}

async function submit(
  plan: FarmPlan<Product>,
  options: FarmOptions & { readonly out: string },
  terminal: Terminal,
  notes: readonly string[],
): Promise<void> {
  const folder = options.farm ?? `${options.out}.farm`;
  const access = await accessOf(options);
  const queue = access && (await connectQueue(access, 'corella submit'));
  try {
    if (queue) await requireStore(queue, access);
    const ledger = await createLedger(folder, plan);
    const again = await ledger.forgive();
    const missing = ledger.missing();
    if (queue)
      await putJobs(queue, plan, missing, {
        patienceS: options.patience,
        onTrouble: (line) => {
          terminal.say(line);
        },
      });
    else await writeJobs(ledger);
    const { jobs, done } = ledger;
    const where = access ? access.server : join(folder, 'jobs');
    terminal.result(
      {
        folder,
        plan: plan.id,
        version: plan.version,
        jobs: jobs.length,
        done: done.size,
        put: missing.length,
        again,
        where,
      },
      [
        `${folder}: ${jobs.length} job${jobs.length === 1 ? '' : 's'}, ${done.size} done already, ${missing.length} put to ${where}` +
          (again > 0 ? `, ${again} of them set aside before` : ''),
        ...notes,
        access
          ? `now: corella worker --server ${access.server} --root … on each machine; corella farm collect ${folder} --server ${access.server}`
          : `now: corella worker --job ${join(folder, 'jobs')}/N.json --root …, for N from 0 to ${jobs.length - 1}; then corella farm collect ${folder}`,
      ],
    );
  } finally {
    await queue?.close();
  }
}

/** All of them, by number: Slurm counts from 0 to the last, and one that has its result says so and ends. */
async function writeJobs({ folder, jobs }: Ledger): Promise<void> {
  await mkdir(join(folder, 'jobs'), { recursive: true });
  for (const [n, job] of jobs.entries())
    await writeSafely(join(folder, 'jobs', `${n}.json`), JSON.stringify(job));
}
