/** corella inspect: what is in this file, as text, JSON or pictures. */
import type { OnProgress } from '../core/progress.js';
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { addSamples, formatInstant } from '../core/instant.js';
import type { Integration } from '../core/blocks.js';
import {
  holdsGains,
  openFile,
  readGainFile,
  type Recording,
  sampleRateOf,
  type VisibilityFile,
  writeFileWhole,
} from '../formats/index.js';
import { linePlot, renderPng, type Picture } from '../draw/index.js';
import { describeFile } from '../pipeline/inspect/inspect.js';
import { gainPicture } from '../pipeline/inspect/gain-picture.js';
import { lookAtGains } from '../pipeline/inspect/gains.js';
import { recordingPicture } from '../pipeline/inspect/voltage-picture.js';
import { visibilityPicture } from '../pipeline/inspect/visibility-picture.js';
import { lookAt } from '../pipeline/inspect/voltages.js';
import { lookAtVisibilities } from '../pipeline/inspect/visibilities.js';
import { inputSpectra, meanSpectrum } from '../pipeline/inspect/waterfall.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { gainJson, gainLines } from './report/inspect-gains.js';
import { factLines, lookLines, rowLines, visibilityLines } from './report/inspect-text.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { addOverwriteOption, checkOutputs, checkPngName, type OutputOptions } from './options/outputs.js';
import { openTerminal } from './report/terminal.js';
import { inspectCapture } from './report/inspect-capture.js';

interface InspectOptions extends CommonOptions, OutputOptions, OpenFlags {
  readonly spectrum?: string;
  readonly picture?: string;
  readonly whole?: true;
}

export function registerInspect(program: Command): void {
  const command = program
    .command('inspect')
    .description('what is in this file (any format we know), as text, JSON or pictures')
    .argument(
      '<file>',
      'a recording, channelised data, visibilities, gains, or captured packets (pcap, pcapng)',
    )
    .option(
      '--whole',
      'read all of a large file, not its first block alone: counts every gap and clipped number',
    )
    .option(
      '--picture <path>',
      'draw the first block as PNG: power over time and frequency with histograms, or amplitude and phase of the baselines or the gains',
    )
    .option(
      '--spectrum <path>',
      'draw the mean spectrum of the first block, or of the first integration, as PNG',
    )
    .action(run);
  addOpenOptions(command, 'anything');
  addOverwriteOption(command);
  addCommonOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['inspect voltages.sigmf-meta', 'format, telescope, times, frequencies, first samples, clipping, gaps'],
    ['inspect visibilities.uvfits --json', 'the same for machines'],
    [
      'inspect voltages.sigmf-meta --picture block.png',
      'what the first inputs heard: waterfalls, histograms',
    ],
    ['inspect visibilities.uvh5 --picture baselines.png', 'amplitude and phase of every pair'],
    ['inspect gains.json --picture gains.png', 'amplitude and phase of every gain'],
    ['inspect night.vdif --rate 32MHz --whole', 'how much was lost, and where'],
    ['inspect voltages.sigmf-meta --spectrum spectrum.png', 'a picture of its band'],
    ['inspect capture.pcap', 'packets: formats, senders, what was lost'],
  ]);
}

interface Report {
  readonly json: object;
  readonly lines: readonly string[];
  readonly spectrum: { readonly frequenciesHz: Float64Array; readonly powerDb: Float64Array };
  /** Undefined where there is nothing to draw. */
  readonly picture: Picture | undefined;
}

async function run(path: string, options: InspectOptions): Promise<void> {
  const drawings = { '--picture': options.picture, '--spectrum': options.spectrum };
  for (const [option, drawing] of Object.entries(drawings)) {
    if (drawing === undefined) continue;
    checkPngName(option, drawing);
    await checkOutputs({ ...options, paths: [drawing], from: path });
  }
  const drawn = Object.values(drawings).flatMap((drawing) =>
    drawing === undefined ? [] : [`drawn in ${drawing}`],
  );
  if (options.format === undefined && (await holdsGains(path))) {
    if (options.spectrum !== undefined)
      refuse('--spectrum', `is not for gains, which ${path} holds`, 'draw them with --picture');
    const gains = await readGainFile(path);
    if (options.picture !== undefined)
      await writeFileWhole(options.picture, await renderPng(gainPicture(gains, path)));
    const look = lookAtGains(gains);
    openTerminal(options).result(gainJson(path, gains, look), [...gainLines(path, gains, look), ...drawn]);
    return;
  }
  const terminal = openTerminal(options);
  const packets = await inspectCapture(path, options, terminal);
  if (packets) {
    terminal.result(packets.json, packets.lines);
    return;
  }
  const file = await openFile(path, await openOptions(options));
  try {
    const description = describeFile(file);
    // A glance needs no progress; all of a large file may take minutes.
    const stage = options.whole === true ? terminal.stage('read') : undefined;
    const { json, lines, spectrum, picture } =
      file.kind === 'visibilities'
        ? await visibilityReport(file, options, stage?.update)
        : await recordingReport(file, options, stage?.update);
    stage?.done();
    if (options.spectrum !== undefined) {
      const plot = linePlot({
        title: `Mean spectrum of all inputs, ${path}`,
        x: { label: 'frequency (MHz)' },
        y: { label: 'power (dB from its peak)' },
        series: [{ name: 'all inputs', x: spectrum.frequenciesHz.map((f) => f / 1e6), y: spectrum.powerDb }],
      });
      await writeFileWhole(options.spectrum, await renderPng(plot, { width: 1200 }));
    }
    if (options.picture !== undefined) {
      const whole = picture ?? refuse(path, 'holds nothing to draw', 'leave --picture out');
      await writeFileWhole(options.picture, await renderPng(whole));
    }
    terminal.result(
      {
        ...description,
        ...(description.start && { startUtc: formatInstant(description.start, 9) }),
        ...json,
        spectrum: {
          frequenciesHz: Array.from(spectrum.frequenciesHz),
          powerDb: Array.from(spectrum.powerDb),
        },
        details: file.details,
      },
      [...factLines(description), ...lines, ...drawn],
    );
  } finally {
    await file.close();
  }
}

async function recordingReport(
  file: Recording,
  options: InspectOptions,
  onProgress?: OnProgress,
): Promise<Report> {
  let band: Report['spectrum'] = { frequenciesHz: new Float64Array(), powerDb: new Float64Array() };
  let picture: Picture | undefined;
  const look = await lookAt(file, {
    ...(options.whole && { extent: 'whole' as const }),
    ...(onProgress && { onProgress }),
    onFirst: (block) => {
      const spectra = inputSpectra(file, block);
      band = { frequenciesHz: spectra.frequenciesHz, powerDb: meanSpectrum(spectra) };
      if (options.picture !== undefined) picture = recordingPicture(file, block, file.path);
    },
  });
  const rateHz = sampleRateOf(file);
  const utc = (sample: number): string => formatInstant(addSamples(file.start, sample, rateHz), 9);
  const { rows, missing, ...read } = look;
  return {
    json: {
      first: rows,
      read: {
        ...read,
        missing: { ...missing, first: missing.first.map((gap) => ({ ...gap, utc: utc(gap.firstSample) })) },
      },
    },
    lines: [
      ...lookLines(file, look, utc),
      ...rowLines(
        'first samples',
        rows.map(({ channel, input, values }) => [
          `${channel === undefined ? '' : `channel ${channel}, `}input ${input}`,
          values,
        ]),
      ),
    ],
    spectrum: band,
    picture,
  };
}

async function visibilityReport(
  file: VisibilityFile,
  options: InspectOptions,
  onProgress?: OnProgress,
): Promise<Report> {
  let picture: Picture | undefined;
  const look = await lookAtVisibilities(file, {
    ...(options.whole && { extent: 'whole' as const }),
    ...(onProgress && { onProgress }),
    onFirst: (one: Integration) => {
      if (options.picture !== undefined) picture = visibilityPicture(file, one, file.path);
    },
  });
  const { rows, frequenciesHz, spectrumDb, start, durationS, ...read } = look;
  return {
    json: {
      ...(start && { start, startUtc: formatInstant(start, 9), integrationS: durationS }),
      first: rows,
      read,
    },
    lines: [
      ...visibilityLines(file, look),
      ...rowLines(
        'first means',
        rows.map(({ stations: [i, j], product, values }) => [`stations ${i}, ${j} ${product}`, values]),
      ),
    ],
    spectrum: { frequenciesHz, powerDb: spectrumDb },
    picture,
  };
}
