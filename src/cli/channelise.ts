/** corella channelise: the F-engine alone, or how its filter hears. */
import type { Command } from 'commander';
import {
  filterResponse,
  planChannelise,
  type ChannelisePlan,
  type FilterResponse,
  type FilterWindow,
} from '../channelise/index.js';
import { refuse } from '../core/errors.js';
import { formatHz, withMinus } from '../core/units.js';
import { openFile, writeFileWhole, type Recording, type VoltageRecording } from '../formats/index.js';
import { linePlots, renderPng, seriesColour, type Picture, type PlotSeries } from '../draw/index.js';
import { channeliseToFile } from '../pipeline/channelise.js';
import { channelsOf, planChannels } from '../pipeline/channels.js';
import type { Finer } from '../pipeline/fine/fold.js';
import { levelHistory, type Level } from '../pipeline/levels.js';
import type { InputLevels } from '../pipeline/levels/input-levels.js';
import {
  addChannelOptions,
  measuredSettings,
  filterSettings,
  type ChannelOptions,
} from './options/channel-options.js';
import { addBackendOptions, addExamples, refuseGiven, type BackendOptions } from './options/command.js';
import { kurtosisFacts, kurtosisHistory, kurtosisLines } from './interference/kurtosis-lines.js';
import {
  addKurtosisOptions,
  kurtosisOptionNames,
  kurtosisWork,
  type KurtosisOptions,
  type KurtosisWork,
} from './interference/kurtosis-options.js';
import { leastSpectraOf } from '../pipeline/stages/kurtosis.js';
import {
  addFloatTapsOption,
  floatTapsLines,
  withFloatTaps,
  type FloatTapsOptions,
} from './options/float-taps-option.js';
import { addFineOption, mirrorLines, planFine, refuseFine, type FineOptions } from './options/fine-option.js';
import {
  addLevelsOptions,
  leveled,
  levelsFacts,
  levelsHistory,
  levelsLines,
  type LevelsOptions,
} from './options/levels-options.js';
import { history } from './report/history.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import {
  levelFacts,
  levelLines,
  roundedFacts,
  roundedLines,
  STRETCHES_OF_SPECTRA,
} from './report/level-lines.js';
import { lossFacts, lossLines, railLines } from './report/loss-lines.js';
import { openVoltages, unknownFactLines, withBackend } from './open.js';
import {
  addOverwriteOption,
  checkOutputs,
  checkPngName,
  parseOutput,
  recordingPaths,
  type OutputOptions,
} from './options/outputs.js';
import { openTerminal, spectraText } from './report/terminal.js';

export interface ChanneliseOptions
  extends
    BackendOptions,
    ChannelOptions,
    FineOptions,
    FloatTapsOptions,
    KurtosisOptions,
    LevelsOptions,
    OpenFlags,
    OutputOptions {
  readonly out?: string;
  readonly response?: true;
}

export function registerChannelise(program: Command): void {
  addLevelsOptions(
    addFineOption(addFloatTapsOption(addChanneliseOptions(program.command('channelise')))),
  ).action(run);
}

/** What channelise takes, wherever it is done. */
export function addChanneliseOptions(command: Command): Command {
  command
    .argument('[recording]', 'voltages in any format we read')
    .option(
      '-o, --out <path>',
      'what to write (default: channels.sigmf-meta, or response.png with --response)',
      parseOutput,
    )
    .option(
      '--response',
      "no recording: the filter's scalloping and leakage beside a plain DFT's, as numbers and a picture",
    );
  addChannelOptions(command);
  addKurtosisOptions(command);
  addOpenOptions(command, 'recordings');
  addOverwriteOption(command);
  addBackendOptions(command);
  return addExamples(command, [
    ['channelise voltages.sigmf-meta --channels 64 -o channels.sigmf-meta', '64 channels, 8 bits'],
    ['channelise channels.sigmf-meta --fine-channels 32 -o fine.sigmf-meta', 'channels made finer'],
    ['channelise voltages.sigmf-meta --bits 4 --levels measured', 'a gain for each input and channel'],
    ['channelise --response --channels 1024 --taps 8', 'response.png, and the loss at a channel’s edge'],
    ['channelise --response --filter flat', 'the same of a filter by name: usual, even, flat, sharp or dft'],
    ['channelise --response --taps 16 --window kaiser:9 --json', 'the curves as numbers'],
  ]);
}

async function run(path: string | undefined, options: ChanneliseOptions, command: Command): Promise<void> {
  if (options.response === true) {
    if (path !== undefined)
      refuse('--response', `needs no recording, such as ${path}`, 'leave one of them out');
    refuseGiven(
      command,
      ['bits', 'gain', 'fineChannels', 'levels', 'levelsOut', ...kurtosisOptionNames],
      'does not change the response',
    );
    return showResponse(options);
  }
  if (path === undefined) refuse('channelise', 'no recording was named', 'name one, or ask for --response');
  const terminal = openTerminal(options);
  const outputs = recordingPaths(options.out ?? 'channels.sigmf-meta');
  const [, out] = outputs;
  await checkOutputs({ ...options, paths: outputs, from: path });
  const opened = await openRecording(path, options, command);
  try {
    const kurtosis = kurtosisWork(options);
    const { recording, plan, level, own, finer, overUsual } = await planWork(
      withFloatTaps(opened, options),
      ...([options, kurtosis] as const),
    );
    const channels = finer?.channels.frequenciesHz.length ?? plan.channels;
    const inputs = finer?.inputs ?? plan.inputs;
    const stage = terminal.stage('channelise');
    const facts = await withBackend(options, (backend) =>
      channeliseToFile(recording, plan, {
        backend,
        path: out,
        history: [
          ...history({ from: recording }),
          ...levelHistory(level),
          ...levelsHistory(own, options, 'kept in the file'),
          ...kurtosisHistory(kurtosis),
        ],
        ...kurtosis.asked,
        ...(finer && { finer }),
        ...(own && { levels: own.factors }),
        overUsual,
        onProgress: stage.update,
      }),
    );
    const seconds = stage.done();
    const { channelWidthHz } = channelsOf(recording, plan);
    terminal.result(
      {
        path: out,
        channels,
        channelWidthHz,
        inputs,
        spectra: facts.spectra,
        saturated: facts.saturated,
        ...levelFacts(level),
        ...levelsFacts(own),
        ...roundedFacts(facts.rounded),
        ...lossFacts(recording, facts.missingSamples),
        ...kurtosisFacts(kurtosis, recording.sampleRateHz / plan.samplesPerSpectrum),
        seconds,
      },
      [
        `${out}: ${spectraText(facts.spectra)} of ${channels} channels, ${formatHz(channelWidthHz)} each, for ${inputs} inputs`,
        ...levelLines(level),
        ...levelsLines(own),
        ...roundedLines(facts.rounded, {
          ...{ type: plan.outputType, of: STRETCHES_OF_SPECTRA },
          ...(level && { level }),
          ...(own && { levels: own }),
        }),
        ...mirrorLines(opened, options),
        ...floatTapsLines(opened, options),
        ...railLines(facts.saturated, 2 * facts.spectra * plan.channels * plan.inputs),
        ...unknownFactLines(recording),
        ...lossLines(recording, facts.missingSamples, 'spectra that need them are marked as missing'),
        ...kurtosisLines(kurtosis, recording.sampleRateHz / plan.samplesPerSpectrum),
      ],
    );
  } finally {
    await opened.close();
  }
}

/** Voltages, or channels where finer ones were asked for. */
async function openRecording(path: string, options: ChanneliseOptions, command: Command): Promise<Recording> {
  if (options.fineChannels === undefined) return openVoltages(path, await openOptions(options));
  refuseGiven(command, ['channels', 'levels', 'levelsOut'], 'does not go with --fine-channels');
  const opened = await openFile(path, await openOptions(options));
  if (opened.kind === 'visibilities') {
    await opened.close();
    return refuse(path, 'holds visibilities', 'name channelised data');
  }
  return opened;
}

interface ChanneliseWork {
  readonly recording: VoltageRecording;
  readonly plan: ChannelisePlan;
  readonly level?: Level;
  readonly overUsual: number;
  readonly own?: InputLevels;
  readonly finer?: Finer;
}

async function planWork(
  opened: Recording,
  options: ChanneliseOptions,
  { asked: { kurtosis } }: KurtosisWork,
): Promise<ChanneliseWork> {
  refuseFine(opened, options);
  if (opened.kind === 'spectra') {
    const { streams, plan, finer, level, overUsual } = await planFine(
      ...([opened, options.fineChannels ?? 0, options, kurtosis] as const),
    );
    return { recording: streams, plan, finer, overUsual, ...(level && { level }) };
  }
  const own = await leveled(options, opened);
  const { level, ...settings } = own
    ? { ...own.settings, level: undefined }
    : await measuredSettings(options, opened);
  const plan = planChannels(opened, {
    ...settings,
    ...leastSpectraOf(kurtosis, { ...opened, channels: settings.channels }),
  });
  return {
    ...{ recording: opened, plan, overUsual: level?.overUsual ?? 1 },
    ...(level && { level }),
    ...(own && { own: own.levels }),
  };
}

async function showResponse(options: ChanneliseOptions): Promise<void> {
  const channels = options.channels ?? 1024;
  const filter = await filterSettings(options);
  const planFor = (change: { readonly passbandChannels?: number } = {}): ChannelisePlan =>
    planChannelise({
      channels,
      ...filter,
      ...change,
      inputs: 1,
      polarisations: 1,
      // Taps of 8-bit samples are rounded to 16 bits.
      inputType: options.floatTaps === true ? 'ci16' : 'ci8',
      outputType: 'cf32',
      blockSamples: channels,
    });
  const response = filterResponse(planFor());
  // Critically spaced channels must choose: −6 dB at the edge and quiet neighbours, or a flatter top and louder ones.
  const wider =
    options.passband === undefined && options.coefficients === undefined && options.filter === undefined
      ? filterResponse(planFor({ passbandChannels: WIDER_PASSBAND }))
      : undefined;
  const out = options.out ?? 'response.png';
  checkPngName('--out', out);
  await checkOutputs({ ...options, paths: [out] });
  const { taps } = filter;
  const shape = options.coefficients ?? options.filter ?? (options.window ?? DEFAULT_WINDOW).kind;
  const name = `polyphase, ${taps} tap${taps === 1 ? '' : 's'}, ${shape}`;
  await writeFileWhole(
    out,
    await renderPng(responsePicture(channels, response, name, wider), { width: 1200 }),
  );
  const filterFacts =
    options.coefficients === undefined
      ? {
          ...(options.filter && { filter: options.filter }),
          window: ('window' in filter ? filter.window : undefined) ?? DEFAULT_WINDOW,
        }
      : { coefficients: options.coefficients };
  const lists = Object.fromEntries(
    Object.entries(response).map(([key, value]: [string, number | Float64Array]) => [
      key,
      typeof value === 'number' ? value : Array.from(value),
    ]),
  );
  openTerminal(options).result({ path: out, channels, taps, ...filterFacts, ...lists }, [
    `loss at a channel's edge: plain DFT ${response.dftEdgeLossDb.toFixed(2)} dB, ${name} ${response.edgeLossDb.toFixed(2)} dB`,
    // Of few channels none lies so far.
    ...(channels < 7
      ? []
      : [
          `three channels from a tone between two: plain DFT ${levelAt(response, 'dftLeakageDb')} dB, ${name} ${levelAt(response, 'leakageDb')} dB`,
        ]),
    ...(channels < 3
      ? []
      : [
          `loudest beyond 1.5 channels: plain DFT ${withMinus(response.dftLeakageBeyondDb.toFixed(1))} dB, ${name} ${withMinus(response.leakageBeyondDb.toFixed(1))} dB`,
        ]),
    `noise efficiency over all channels: plain DFT 1, ${name} ${response.noiseEfficiency.toFixed(3)}`,
    ...(wider
      ? [
          `with --passband ${WIDER_PASSBAND} the edge loses ${wider.edgeLossDb.toFixed(2)} dB: a flatter top for louder neighbours`,
        ]
      : []),
    `curves drawn in ${out}; --json prints them`,
  ]);
}

const DEFAULT_WINDOW: FilterWindow = { kind: 'hann' };
const WIDER_PASSBAND = 1.25;
const widerName = `the same, --passband ${WIDER_PASSBAND}`;

function levelAt(response: FilterResponse, curve: 'leakageDb' | 'dftLeakageDb'): string {
  const at = response.leakageOffsetChannels.findIndex((offset) => offset > 3);
  return withMinus(response[curve][at].toFixed(1));
}

function responsePicture(
  channels: number,
  response: FilterResponse,
  name: string,
  wider?: FilterResponse,
): Picture {
  const { offsetChannels, leakageOffsetChannels, curveOffsetChannels } = response;
  const far = curveOffsetChannels[curveOffsetChannels.length - 1];
  const right = leakageOffsetChannels.filter((offset) => offset > 0 && offset < far);
  const dots = (levels: Float64Array, like: number): PlotSeries => ({
    ...{ name: 'channels', x: right, y: levels.subarray(levels.length / 2) },
    ...{ drawn: 'dots', size: 3, colour: seriesColour(like), unnamed: true },
  });
  return linePlots([
    {
      title: `${channels} channels. Scalloping: a tone on its way from one channel to the next`,
      x: { label: 'offset of the tone (channels)' },
      y: { label: 'strongest channel (dB)', range: [-8, 0.5] },
      legend: 'bottom-right',
      series: [
        { name: 'plain DFT', x: offsetChannels, y: response.dftScallopingDb, drawn: 'dashes' },
        { name, x: offsetChannels, y: response.scallopingDb },
        ...(wider ? [{ name: widerName, x: offsetChannels, y: wider.scallopingDb }] : []),
      ],
    },
    {
      title: `${channels} channels. Leakage: a tone’s level in a channel; dots: midway between two`,
      x: { label: 'distance of the tone from the channel’s centre (channels)', range: [0, far] },
      y: { label: 'response (dB)', range: [-120, 5] },
      series: [
        { name: 'plain DFT', x: curveOffsetChannels, y: response.dftCurveDb, drawn: 'dashes' },
        { name, x: curveOffsetChannels, y: response.curveDb },
        ...(wider ? [{ name: widerName, x: curveOffsetChannels, y: wider.curveDb }] : []),
        dots(response.dftLeakageDb, 0),
        dots(response.leakageDb, 1),
        ...(wider ? [dots(wider.leakageDb, 2)] : []),
      ],
    },
  ]);
}
