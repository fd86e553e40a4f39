/** corella farm submit: a recording's work cut into jobs, on a queue or as files. */
import type { Command } from 'commander';
import { baselineCount, spectraSizeBytes } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { cutChannelising, cutCorrelation, makePlan, type Product } from '../../farm/index.js';
import { openFile, sampleRateOf, visibilityFormatFor } from '../../formats/index.js';
import { spectraHeader } from '../../pipeline/channelise.js';
import { firstSpectrumStart, planChannels } from '../../pipeline/channels.js';
import { timesNamed } from '../../pipeline/flags/words.js';
import { levelHistory } from '../../pipeline/levels.js';
import { clockOf, spectraOf, stretchesOf } from '../../pipeline/parts.js';
import { mostDelaySamples } from '../../pipeline/tracking.js';
import { addChanneliseOptions, type ChanneliseOptions } from '../channelise.js';
import { addCorrelateOptions, type CorrelateOptions } from '../correlate.js';
import { headerOf, integrationFor, largestSum, planWork } from '../correlate/work.js';
import { kurtosisWork } from '../interference/kurtosis-options.js';
import { openVoltages, refuseUnknown, telescopeFor } from '../open.js';
import { channelOptionNames, measuredSettings } from '../options/channel-options.js';
import { addExamples, refuseGiven } from '../options/command.js';
import { correlatePart, stretchOf } from '../options/correlate-part.js';
import { openOptions } from '../options/open-options.js';
import { checkOutputs, recordingPaths } from '../options/outputs.js';
import { parseCentre } from '../options/phase-centre-option.js';
import { delayRequest, requestedFor } from '../options/track-options.js';
import { history } from '../report/history.js';
import { openTerminal } from '../report/terminal.js';
import { version } from '../report/version.js';
import { chosenOf } from './chosen.js';
import { addFarmOptions, eopOf, spectraPerJob, submit, workOf, type FarmOptions } from './jobs.js';
import { registerSubmitImage } from './submit-image.js';

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
  registerSubmitImage(submit);
}

/** What looks at spectra side by side that jobs may part, and what follows the sky by whole integrations. */
const ONE_PROCESS = ['kurtosis', 'kurtosisSpectra', 'kurtosisOver', 'kurtosisBursts', 'vanVleck', 'track'];

async function submitCorrelate(
  path: string,
  options: CorrelateOptions & FarmOptions,
  command: Command,
): Promise<void> {
  const terminal = openTerminal(options);
  refuseGiven(command, ONE_PROCESS, 'is not spread over machines: corella correlate has it');
  visibilityFormatFor(options.out);
  const open = await openOptions(options);
  const opened = await openFile(path, open);
  try {
    await checkOutputs({ ...options, paths: [options.out], from: path });
    if (opened.kind === 'visibilities') refuse(path, 'holds visibilities already', 'calibrate or image it');
    refuseUnknown(opened);
    const recording = stretchOf(opened, options);
    if (recording.kind === 'spectra')
      refuseGiven(command, channelOptionNames, `is for voltages, and ${path} is channelised already`);
    const telescope = await telescopeFor(recording, options);
    const request = await delayRequest(options, telescope);
    const delays = requestedFor(recording, telescope, request);
    const work = await planWork(recording, options, delays, kurtosisWork({}));
    const part = await correlatePart(headerOf(recording, telescope, work, parseCentre(options), []), options);
    const { header } = part;
    const { chosenS, longestS, lines } = integrationFor(recording, telescope, work, options);
    const plan =
      work.settings && recording.kind === 'voltages'
        ? planChannels(recording, {
            ...work.settings,
            ...(delays && { mostDelaySamples: mostDelaySamples(delays) }),
          })
        : undefined;
    const settings = { ...(chosenS === undefined ? {} : { integrationS: chosenS }), align: options.align };
    const integrations = stretchesOf(clockOf(settings, recording, plan), 0, spectraOf(recording, plan));
    const channels = work.frequenciesHz.length;
    const stations = telescope.stations.length;
    const rateHz = plan ? sampleRateOf(recording) / plan.samplesPerSpectrum : sampleRateOf(recording);
    const type = plan ? plan.outputType : delays ? 'cf32' : recording.type;
    const cut = cutCorrelation({
      ...{ channels, integrations, sums: type === 'cf32' ? 'floats' : 'whole-numbers' },
      spectraPerJob: spectraPerJob(recording, rateHz, options),
      bytesPerChannel: 8 * baselineCount(stations) * (2 * recording.polarisations ** 2 + 1),
      ...(options.jobChannels === undefined ? {} : { channelsPerJob: options.jobChannels }),
    });
    const product: Product = {
      ...{ kind: 'correlation', out: options.out, values: options.values, integrations, stations, channels },
      header: { ...header, frequenciesHz: Array.from(header.frequenciesHz) },
      grid: plan
        ? { start: firstSpectrumStart(recording as never, plan), rateHz, counts: 'seconds' }
        : { start: recording.start, rateHz, counts: 'samples' },
      ...(work.overUsual !== 1 && { level: { overUsual: work.overUsual } }),
      largestSum: largestSum(work, recording, longestS),
      ...(await chosenOf(options, work.frequenciesHz)),
      ...eopOf(options),
    };
    const farmed = makePlan(version(), {
      work: {
        ...(await workOf('correlate', path, recording, {
          ...{ open, options, settings: work.settings, integration: settings },
          flags: part.flaggedInputs,
          ...(options.times !== undefined && { times: timesNamed(options.times, '--times') }),
        })),
        ...(delays && { delaysS: Array.from(request.fixedS ?? []) }),
      },
      ...{ cut, product },
    });
    await submit(farmed, options, terminal, [...(recording.assumed ?? []), ...lines]);
  } finally {
    await opened.close();
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
    const header = spectraHeader(recording, plan, [
      ...history({ from: recording }),
      ...levelHistory(settings.level),
    ]);
    const product: Product = {
      ...{ kind: 'spectra', out },
      header: {
        ...{ ...header, frequenciesHz: Array.from(header.frequenciesHz) },
        ...(settings.level && { overUsual: settings.level.overUsual }),
      },
    };
    const work = await workOf('channelise', path, recording, {
      open,
      options,
      settings,
      flags: new Uint8Array(0),
      integration: { align: 'first-sample' },
    });
    await submit(
      makePlan(version(), { work, cut, product }),
      { ...options, out },
      terminal,
      recording.assumed ?? [],
    );
  } finally {
    await recording.close();
  }
}
