/** corella inspect: contents of a file, as text, JSON or pictures. */
import type { OnProgress } from '../core/progress.js';
import type { Command } from 'commander';
import { reworded, type Line } from '../messages/index.js';
import { basename } from 'node:path';
import { CorellaError, refuse } from '../core/errors.js';
import { addSamples, formatInstant } from '../core/instant.js';
import type { Integration } from '../core/blocks.js';
import {
  holdsGains,
  openFile,
  readGainFile,
  type OpenedFile,
  type Recording,
  sampleRateOf,
  type VisibilityFile,
  writeFileWhole,
} from '../formats/index.js';
import { observationOfProduct, writeObservation } from '../observation/index.js';
import { linePlot, renderPng, type Picture } from '../draw/index.js';
import {
  antennaPicture,
  baselineCollector,
  pairNamed,
  describeFile,
  gainPicture,
  firstWithGains,
  fringeCollector,
  fringePicture,
  fringesOf,
  fringesOfRecording,
  type FringeSeries,
  type Fringes,
  lookAtGains,
  timesOf,
  recordingPicture,
  uvCoverage,
  flagMap,
  lossMap,
  visibilityPicture,
  withPanel,
  lookAt,
  lookAtVisibilities,
  inputSpectra,
  meanSpectrum,
  filesOfFolder,
} from '../inspect/index.js';
import { refuseDrawings } from './options/drawing-options.js';
import { NO_TELESCOPE } from '../telescope/unplaced.js';
import { useEop } from './options/eop-option.js';
import { faultFacts, faultLines } from '../products/report/index.js';
import { gainJson, gainLines } from './report/inspect-gains.js';
import { factLines, line, lookLines, rowLines, visibilityLines } from './report/inspect-text.js';
import { openFields, openOptions } from './options/open-options.js';
import { checkOutputs } from './options/outputs.js';
import { openTerminal, type Terminal } from './report/terminal.js';
import { inspectCapture } from './report/inspect-capture.js';
import { inspectFilterbank } from './report/inspect-filterbank.js';
import { inspectImage } from './report/inspect-image.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, place, words } from '../fields/index.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import { sourceOf } from './options/open-options.js';
import { fringeJson, fringeLines } from './report/inspect-fringes.js';
import { addFields, type Options } from './options/own.js';
import { common, given, overwrite, picture, plan, pngPath, skyFiles } from './options/shared.js';

const changes = 'never';
const png = (flag: string, help: string) => field(pngPath, { flag: `--${flag} <path>`, changes, help });
const inspectOptions = z.strictObject({
  whole: field(given, {
    flag: '--whole',
    changes,
    help: 'read all of a large file, not its first block only; counts every gap and clipped number',
  }),
  picture,
  baseline: field(words('two stations, like stand1,stand17'), {
    flag: '--baseline <a,b>',
    changes,
    help: 'let --picture show one pair of stations, by their names, over time and frequency',
  }),
  plan,
  fringes: png(
    'fringes',
    'draw the fringes of two to eight stations as PNG: amplitude and phase over time, lags, closure phases, power, spectrum; a recording is correlated for it',
  ),
  fringeOf: field(place, {
    flag: '--fringe-of <source>',
    changes,
    help: 'expect the fringe of this source, drawn by --fringes, and fit the baselines to its drift: Sun, CygA, "RA Dec"',
  }),
  uv: png('uv', 'draw the coverage of the uv plane as PNG'),
  map: png('map', 'draw a map of the stations as PNG'),
  spectrum: png('spectrum', 'draw the mean spectrum as PNG; of the first block, or of the first integration'),
  ...openFields,
  overwrite,
  ...common,
  ...skyFiles,
});
type InspectOptions = Options<typeof inspectOptions>;

export function registerInspect(program: Command): void {
  const command = program
    .command('inspect')
    .argument(
      '<file>',
      'a recording, visibilities, gains, an image, a filterbank or packets; or a folder of them',
    );
  useEop(addFields(command, inspectOptions)).action(run);
  addHelp(command, {
    common: [
      '--picture',
      '--spectrum',
      '--uv',
      '--baseline',
      '--fringes',
      '--whole',
      '--telescope',
      '--rate',
      '--plan',
      '--json',
    ],
    examples: [
      ['inspect voltages.sigmf-meta', 'format, telescope, times, frequencies, first samples, clipping, gaps'],
      ['inspect first-light', 'everything in a folder, as corella demo writes it'],
      ['inspect visibilities.uvfits --json', 'the same for machines'],
      [
        'inspect voltages.sigmf-meta --picture block.png',
        'what the first inputs heard: waterfalls, histograms',
      ],
      ['inspect visibilities.uvh5 --picture baselines.png', 'amplitude and phase of every pair'],
      [
        'inspect visibilities.uvh5 --baseline stand1,stand17 --picture pair.png',
        'one pair over time and frequency',
      ],
      ['inspect visibilities.uvh5 --uv uv.png --map map.png', 'what the array samples, where it stands'],
      [
        'inspect drift.uvh5 --fringes fringes.png --fringe-of Sun',
        'a drift scan of a few dishes, the fringe of the Sun over it, baselines fitted',
      ],
      ['inspect gains.json --picture gains.png', 'amplitude and phase of every gain'],
      ['inspect image-beam.fits --picture beam.png', 'a FITS image, such as that of the beam'],
      ['inspect night.vdif --rate 32MHz --whole', 'how much was lost, and where'],
      ['inspect voltages.sigmf-meta --spectrum spectrum.png', 'a picture of its band'],
      ['inspect psr.fil --picture psr.png', 'a beam: header, dynamic spectrum'],
      ['inspect capture.pcap', 'packets: formats, senders, what was lost'],
    ],
  });
}

interface Report {
  readonly json: object;
  readonly lines: readonly string[];
  readonly spectrum: { readonly frequenciesHz: Float64Array; readonly powerDb: Float64Array };
  /** Undefined if there is nothing to draw. */
  readonly pictures: Readonly<Record<Drawing, Picture | undefined>>;
}

/** Options that draw a file's contents. */
const drawings = ['picture', 'uv', 'map', 'fringes'] as const;
type Drawing = (typeof drawings)[number];

async function run(path: string, options: InspectOptions): Promise<void> {
  const files = await filesOfFolder(path);
  if (files) await inspectFolder(path, files, options);
  else await inspectFile(path, options, openTerminal(options));
}

/** Inspects every readable file in a folder in turn; lists the others. */
async function inspectFolder(
  folder: string,
  files: readonly string[],
  options: InspectOptions,
): Promise<void> {
  for (const name of [...drawings, 'spectrum', 'baseline', 'plan', 'fringeOf'] as const)
    if (options[name] !== undefined)
      refuse(
        `--${name === 'fringeOf' ? 'fringe-of' : name}`,
        `is for one file, and ${folder} is a folder`,
        `name a file in ${folder}`,
      );
  const terminal = openTerminal(options);
  const found: { readonly file: string; readonly holds: object }[] = [];
  const others: string[] = [];
  for (const path of files) {
    const lines: Line[] = [];
    const collecting: Terminal = {
      ...terminal,
      result: (holds, said) => {
        found.push({ file: basename(path), holds });
        lines.push(...said);
      },
    };
    try {
      await inspectFile(path, options, collecting);
      terminal.show([
        `${found.length > 1 ? '\n' : ''}${basename(path)}`,
        ...lines.map((one) => reworded(one, (text) => `  ${text}`)),
      ]);
    } catch (error) {
      if (!(error instanceof CorellaError)) throw error;
      others.push(basename(path));
    }
  }
  if (found.length === 0) refuse(folder, 'holds no file that can be read', 'name a file');
  terminal.result(
    { folder, files: found, others },
    others.length === 0 ? [] : ['', `not read: ${others.join(', ')}`],
  );
}

async function inspectFile(path: string, options: InspectOptions, terminal: Terminal): Promise<void> {
  if (options.plan === true) {
    const observation = await observationOfProduct(path);
    process.stdout.write(writeObservation(observation, options.json === true ? 'json' : 'yaml'));
    return;
  }
  const paths: string[] = [];
  for (const option of [...drawings, 'spectrum'] as const) {
    const drawing = options[option];
    if (drawing === undefined) continue;
    paths.push(drawing);
  }
  if (paths.length > 0) await checkOutputs({ ...options, paths, from: path });
  if (options.baseline !== undefined && options.picture === undefined)
    refuse('--baseline', 'draws nothing by itself', 'say where: --picture pair.png');
  const drawn = paths.map((drawing) => `drawn in ${drawing}`);
  if (options.format === undefined && (await holdsGains(path))) {
    refuseDrawings(
      options,
      ['spectrum', 'baseline', 'uv', 'map', 'fringes', 'fringeOf'],
      `gains, which ${path} holds`,
      'draw them with --picture',
    );
    const file = await readGainFile(path);
    const [gains, times] = [firstWithGains(file), timesOf(file)];
    if (options.picture !== undefined)
      await writeFileWhole(options.picture, await renderPng(gainPicture(gains, path)));
    const look = lookAtGains(gains);
    terminal.result(gainJson(path, gains, look, times), [...gainLines(path, gains, look, times), ...drawn]);
    return;
  }
  const image = (await inspectImage(path, options)) ?? (await inspectFilterbank(path, options));
  if (image) {
    terminal.result(image.json, [...image.lines, ...drawn]);
    return;
  }
  const packets = await inspectCapture(path, options, terminal);
  if (packets) {
    refuseDrawings(
      options,
      ['baseline', 'uv', 'map', 'fringes', 'fringeOf'],
      `packets, which ${path} holds`,
      'leave it out',
    );
    terminal.result(packets.json, packets.lines);
    return;
  }
  const file = await openFile(path, await openOptions(options));
  try {
    const description = describeFile(file);
    const checked = options.whole === true ? await checksumOf(file) : undefined;
    // The first block needs no progress; all of a large file may take minutes.
    const stage = options.whole === true ? terminal.stage('read') : undefined;
    const { json, lines, spectrum, pictures } =
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
    for (const drawing of drawings) {
      const to = options[drawing];
      if (to === undefined) continue;
      const whole =
        pictures[drawing] ?? refuse(path, `holds nothing to draw for --${drawing}`, 'leave it out');
      await writeFileWhole(to, await renderPng(whole));
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
        ...(checked && { checksum: checked }),
        details: file.details,
      },
      [...factLines(description), ...lines, ...(checked ? [line('checksum', checked)] : []), ...drawn],
    );
  } finally {
    await file.close();
  }
}

/** The checksum of all data, if the file contains one to compare with. */
async function checksumOf(file: OpenedFile): Promise<string | undefined> {
  if (file.kind === 'visibilities' || !file.verify) return undefined;
  await file.verify();
  return 'matches core:sha512';
}

async function recordingReport(
  file: Recording,
  options: InspectOptions,
  onProgress?: OnProgress,
): Promise<Report> {
  refuseDrawings(options, ['baseline', 'uv'], `recordings, such as ${file.path}`, 'correlate it first');
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
  const fringes = wantsFringes(options)
    ? fringesNamed(
        await fringesOfRecording(
          {
            source: sourceOf(file.path, options),
            telescope: options.telescope ?? (file.telescope ? undefined : NO_TELESCOPE),
          },
          file.path,
          {
            channels: file.kind === 'voltages' ? file.telescope?.recording.channels : undefined,
            onProgress,
          },
        ),
        options,
      )
    : undefined;
  return {
    json: {
      ...(fringes && { fringes: fringeJson(fringes) }),
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
      ...(fringes ? fringeLines(fringes) : []),
    ],
    spectrum: band,
    pictures: {
      picture,
      uv: undefined,
      map: file.telescope && antennaPicture(file.telescope, file.path),
      fringes: fringes && fringePicture(fringes, file.path),
    },
  };
}

const wantsFringes = ({ fringes, fringeOf }: InspectOptions): boolean =>
  fringes !== undefined || fringeOf !== undefined;
const fringesNamed = (series: FringeSeries, { fringeOf }: InspectOptions): Fringes =>
  fringesOf(series, fringeOf === undefined ? undefined : parsePhaseCentre(fringeOf, '--fringe-of'));

/** Stations with all inputs flagged. */
const flaggedStations = ({ header, telescope }: VisibilityFile, inputs: readonly number[]): number[] =>
  telescope.stations.flatMap((_, s) =>
    Array.from({ length: header.polarisations }, (_unused, p) => s * header.polarisations + p).every((a) =>
      inputs.includes(a),
    )
      ? [s]
      : [],
  );

/** Width of each of two panels side by side. */
const LOSS_WIDTH = 440;

async function visibilityReport(
  file: VisibilityFile,
  options: InspectOptions,
  onProgress?: OnProgress,
): Promise<Report> {
  let picture: Picture | undefined;
  const isWhole = options.picture !== undefined && options.baseline === undefined;
  const flags = isWhole ? flagMap(file) : undefined;
  const losses = isWhole ? lossMap(file) : undefined;
  const pair =
    options.baseline === undefined ? undefined : baselineCollector(file, pairNamed(file, options.baseline));
  const uv = options.uv === undefined ? undefined : uvCoverage(file);
  const { telescope, header } = file;
  const collector = wantsFringes(options) ? fringeCollector({ ...header, telescope }, file.path) : undefined;
  const look = await lookAtVisibilities(file, {
    ...((options.whole === true || collector) && { extent: 'whole' as const }),
    ...(onProgress && { onProgress }),
    onFirst: (one: Integration) => {
      if (options.picture !== undefined && !pair) picture = visibilityPicture(file, one, file.path);
    },
    onEach: (one: Integration) => {
      pair?.add(one);
      flags?.add(one);
      losses?.add(one);
      uv?.add(one);
      collector?.add(one);
    },
  });
  const fringes = collector && fringesNamed(collector.series(), options);
  const { rows, frequenciesHz, spectrumDb, start, durationS, durationRangeS, absentInputs, ...read } = look;
  return {
    json: {
      ...(start && { start, startUtc: formatInstant(start, 9), integrationS: durationS }),
      ...(durationRangeS && { integrationRangeS: durationRangeS }),
      ...(fringes && { fringes: fringeJson(fringes) }),
      first: rows,
      read: { ...read, ...(absentInputs.length > 0 && { absentInputs }), ...faultFacts(file) },
    },
    lines: [
      ...visibilityLines(file, look),
      ...faultLines(file).map(({ text }) => line('values', text)),
      ...rowLines(
        'first means',
        rows.map(({ stations: [i, j], product, values, flagged }) => [
          `pair ${i}, ${j} ${product}`,
          values.map((value, c) => (flagged?.includes(c) ? ('flagged' as const) : value)),
        ]),
      ),
      ...(fringes ? fringeLines(fringes) : []),
    ],
    spectrum: { frequenciesHz, powerDb: spectrumDb },
    pictures: {
      picture: pair
        ? pair.picture(file.path)
        : picture && flags && losses && withPanel(withPanel(picture, flags), losses, LOSS_WIDTH),
      uv: uv?.picture(file.path),
      fringes: fringes && fringePicture(fringes, file.path),
      map: antennaPicture(file.telescope, file.path, flaggedStations(file, look.flaggedInputs)),
    },
  };
}
