/** What corella inspect does, loaded when it runs. */
import type { OnProgress } from '../../core/progress.js';
import { reworded, type Line } from '../../messages/index.js';
import { basename } from 'node:path';
import { CorellaError, refuse } from '../../core/errors.js';
import { addSamples, formatInstant } from '../../core/instant.js';
import type { Integration } from '../../core/blocks.js';
import {
  holdsGains,
  openFile,
  readGainFile,
  type OpenedFile,
  type Recording,
  sampleRateOf,
  type VisibilityFile,
  writeFileWhole,
  checkOutputs,
} from '../../formats/index.js';
import { observationOfProduct, writeObservation } from '../../observation/index.js';
import { linePlot, renderPng, type Picture } from '../../draw/index.js';
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
} from '../../inspect/index.js';
import { refuseDrawings } from '../options/drawing-options.js';
import { NO_TELESCOPE } from '../../telescope/unplaced.js';
import { faultFacts, faultLines } from '../../products/report/index.js';
import { gainJson, gainLines } from '../report/inspect-gains.js';
import { factLines, line, lookLines, rowLines, visibilityLines } from '../report/inspect-text.js';
import { openOptions } from '../options/open-options.js';
import { openTerminal, type Terminal } from '../report/terminal.js';
import { inspectCapture } from '../report/inspect-capture.js';
import { inspectFilterbank } from '../report/inspect-filterbank.js';
import { inspectImage } from '../report/inspect-image.js';
import { parsePhaseCentre } from '../../sky/phase-centre.js';
import { sourceOf } from '../options/open-options.js';
import { fringeJson, fringeLines } from '../report/inspect-fringes.js';
import type { InspectOptions } from '../inspect.js';

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

export async function run(path: string, options: InspectOptions): Promise<void> {
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
