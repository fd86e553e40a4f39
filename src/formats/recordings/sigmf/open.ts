/** Opens a SigMF recording, given either file of the pair, as voltages or as channelised data. */
import {
  isComplexVoltage,
  spectraSizeBytes,
  voltageSizeBytes,
  type SpectraElements,
  type SpectraType,
  type VoltageType,
} from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { instant, parseInstant } from '../../../core/instant.js';
import type { OpenOptions, Recording, SpectraRecording, VoltageRecording } from '../../format.js';
import { headOf, openInput, readJson, type InputFile } from '../../io/input.js';
import type { SampleBytes } from '../../io/interleave.js';
import {
  interleavedReader,
  polarisationsFor,
  segmentedSpectra,
  segmentedVoltages,
  type Segment,
} from '../recording.js';
import { ARCHIVE_HEAD_BYTES, isTar, openArchive } from './archive.js';
import {
  checkMeta,
  dataPathOf,
  planLayout,
  sigmfBase,
  telescopeOf,
  unsignedDatatypes,
  voltageDatatypes,
  spectraDatatypes,
  type SigmfLayout,
  type SigmfMeta,
} from './meta.js';
import { unknownFactsOf } from '../../unknown-facts.js';
import { createHash } from 'node:crypto';

/** The advice if one of the two files is missing. */
const PAIR =
  'a SigMF recording is a .sigmf-meta and a .sigmf-data file of the same name: put both in one folder';

export const openSigmf = (path: string, options: OpenOptions = {}): Promise<Recording> =>
  preparing(async (closers) => {
    const { file, meta, metaPath } = (await inArchive(path, closers)) ?? (await inPair(path, closers));
    const type = meta.global['corella:spectra_type'];
    const opening = { file, meta, metaPath, options };
    return type === undefined ? await voltages(opening) : await spectra(opening, type);
  });

type Found = Pick<Opening, 'file' | 'meta' | 'metaPath'>;

async function inPair(path: string, closers: Closers): Promise<Found> {
  const metaPath = /\.sigmf-meta$/i.test(path) ? path : `${sigmfBase(path)}.sigmf-meta`;
  const meta = checkMeta(await readJson(metaPath, PAIR), metaPath);
  return { file: closers.keep(await openInput(dataPathOf(metaPath, meta), PAIR)), meta, metaPath };
}

/** Undefined if it is not an archive. */
async function inArchive(path: string, closers: Closers): Promise<Found | undefined> {
  if (/\.sigmf-(meta|data)$/i.test(path)) return undefined;
  const archive = await openInput(path, PAIR);
  if (!isTar(await headOf(archive, ARCHIVE_HEAD_BYTES))) {
    await archive.close();
    return undefined;
  }
  closers.keep(archive);
  const { meta: json, data } = await openArchive(archive);
  const meta = checkMeta(json, path);
  // Refuses names in other folders.
  dataPathOf(path, meta);
  return { file: data(meta.global['core:dataset']), meta, metaPath: path };
}

interface Opening {
  readonly file: InputFile;
  readonly meta: SigmfMeta;
  readonly metaPath: string;
  /** The user's values for what the metadata lacks. */
  readonly options: OpenOptions;
}

async function voltages(opening: Opening): Promise<VoltageRecording> {
  const { file, meta, metaPath } = opening;
  const datatype = meta.global['core:datatype'];
  const type = voltageTypeOf(datatype, metaPath);
  const isUnsigned = datatype in unsignedDatatypes;
  const inputs = meta.global['core:num_channels'] ?? 1;
  const sampleBytes = voltageSizeBytes(type) as SampleBytes;
  const common = await commonFacts(opening, { inputs, channels: 1, sampleBytes });
  const { rateHz: sampleRateHz, facts, segments, missing } = common;
  // By default the band starts at zero: its centre is R/4 (real) or 0 (complex).
  const centreFrequencyHz = common.centreFrequencyHz ?? (isComplexVoltage(type) ? 0 : sampleRateHz / 4);
  const read = interleavedReader(file, { streams: inputs, sampleBytes, isUnsigned });
  return segmentedVoltages(
    { ...facts, type, inputs, sampleRateHz, centreFrequencyHz },
    { file, segments, missing, read },
  );
}

async function spectra(opening: Opening, type: SpectraType): Promise<SpectraRecording> {
  const { file, metaPath } = opening;
  const { global } = opening.meta;
  const accepted = type === 'ci4' ? ['ru8', 'ri8'] : [spectraDatatypes[type]];
  if (!accepted.includes(global['core:datatype'])) {
    refuse(
      metaPath,
      `contradicts itself: core:datatype '${global['core:datatype']}' cannot carry corella:spectra_type '${type}'`,
      `write core:datatype '${accepted[0]}'`,
    );
  }
  const channels = global['corella:channels'] ?? refuse(metaPath, 'says no corella:channels', 'add it');
  const streams = global['core:num_channels'] ?? 1;
  if (streams % channels !== 0) {
    refuse(
      metaPath,
      `contradicts itself: core:num_channels ${streams} is no multiple of corella:channels ${channels}`,
      'core:num_channels counts channels times inputs',
    );
  }
  const inputs = streams / channels;
  const listedHz = global['corella:frequencies_hz'] ?? [];
  if (listedHz.length !== channels) {
    refuse(
      metaPath,
      `corella:frequencies_hz lists ${listedHz.length} frequencies for ${channels} channels`,
      'list one a channel, in hertz',
    );
  }
  const sampleBytes = spectraSizeBytes(type) as SampleBytes;
  const common = await commonFacts(opening, { inputs, channels, sampleBytes });
  // If the band's position is unknown, the list is relative to its centre.
  const isPlaced = opening.meta.captures[0]['core:frequency'] !== undefined;
  const fromHz = isPlaced ? 0 : (opening.options.centreFrequencyHz ?? 0);
  const frequenciesHz = Float64Array.from(listedHz, (offsetHz) => offsetHz + fromHz);
  const { rateHz: spectrumRateHz, facts, segments, missing } = common;
  return segmentedSpectra(
    {
      ...facts,
      type,
      channels,
      inputs,
      spectrumRateHz,
      frequenciesHz,
      channelWidthHz: global['corella:channel_width_hz'] ?? spectrumRateHz,
      gainRatio: global['corella:gain_over_usual'],
      realChannels: global['corella:real_channels'],
      ...levelsOf(global['corella:levels'], { metaPath, channels, inputs }),
    },
    {
      file,
      segments,
      missing,
      read: interleavedReader(file, { streams, sampleBytes }),
      check: (elements, firstSample) => {
        checkRange(elements, type, file.path, firstSample);
      },
    },
  );
}

/** levels : [a][c], if in the file. */
function levelsOf(
  rows: readonly (readonly number[])[] | undefined,
  { metaPath, channels, inputs }: { metaPath: string; channels: number; inputs: number },
): { readonly levels?: Float64Array } {
  if (!rows) return {};
  if (rows.length !== inputs || rows.some((row) => row.length !== channels))
    refuse(
      metaPath,
      `corella:levels are not ${inputs} rows of ${channels}`,
      'list one a channel of every input',
    );
  return { levels: Float64Array.from(rows.flat()) };
}

interface Shape {
  readonly inputs: number;
  readonly channels: number;
  readonly sampleBytes: SampleBytes;
}

/** Common to both kinds of recording. */
async function commonFacts({ file, meta, metaPath, options }: Opening, shape: Shape) {
  const { global, captures } = meta;
  const { 'core:sha512': sha512 } = global;
  const [first] = captures;
  const rateHz =
    global['core:sample_rate'] ??
    options.sampleRateHz ??
    refuse(metaPath, 'says no core:sample_rate', 'add it, in samples a second, or give source.rate');
  const centreFrequencyHz = first['core:frequency'] ?? options.centreFrequencyHz;
  const datetime = first['core:datetime'];
  const knownStart =
    datetime === undefined ? options.start : parseInstant(datetime, `${metaPath}, capture 0`);
  const start = knownStart ?? instant(0);
  if ((global['core:trailing_bytes'] ?? 0) > 0) {
    refuse(metaPath, 'has trailing bytes after its data', 'strip them: only plain samples are read');
  }
  for (const { name, optional } of global['core:extensions'] ?? []) {
    if (name !== 'corella' && optional === false) {
      refuse(metaPath, `needs the extension '${name}', which is not known here`, 'export it without');
    }
  }
  const layout = planLayout(meta, {
    metaPath,
    dataPath: file.path,
    dataBytes: file.sizeBytes,
    ...shape,
    start,
    sampleRateHz: rateHz,
  });
  const own = await telescopeOf(meta, metaPath);
  const said = global['corella:polarisations'] ?? own?.polarisations;
  if (said !== undefined) checkInputs(metaPath, shape.inputs, said, own?.stations.length);
  const polarisations = said ?? polarisationsFor(metaPath, shape.inputs, 1, options);
  const telescope = own ?? options.telescope;
  const facts = {
    path: metaPath,
    format: 'sigmf',
    ...unknownFactsOf({ frequency: centreFrequencyHz === undefined, start: knownStart === undefined }),
    polarisations,
    details: details(meta, layout, file.path),
    ...(meta.global['corella:history'] && { history: meta.global['corella:history'] }),
    bits: meta.global['corella:bits'],
    samples: layout.samples,
    start,
    telescope,
    ...(sha512 !== undefined && { verify: () => verifyChecksum(file, sha512) }),
  };
  const frameBytes = shape.channels * shape.inputs * shape.sampleBytes;
  const segments = layout.segments.map(({ firstFrame, firstSample, frames }): Segment => ({
    firstSample,
    samples: frames,
    offsetBytes: firstFrame * frameBytes,
  }));
  return { rateHz, centreFrequencyHz, facts, segments, missing: layout.missing };
}

function checkInputs(metaPath: string, inputs: number, polarisations: 1 | 2, stations?: number): void {
  if (inputs % polarisations !== 0) {
    refuse(
      metaPath,
      `contradicts itself: ${inputs} inputs cannot be shared by ${polarisations} polarisations`,
      'correct core:num_channels or corella:polarisations',
    );
  }
  if (stations !== undefined && stations * polarisations !== inputs) {
    refuse(
      metaPath,
      `contradicts itself: the telescope has ${stations} stations × ${polarisations} polarisations = ` +
        `${stations * polarisations} inputs, the recording ${inputs}`,
      'correct core:num_channels or corella:telescope',
    );
  }
}

/** Plain JSON for display and scripts; without the telescope, which is shown elsewhere. */
function details(meta: SigmfMeta, layout: SigmfLayout, dataFile: string): Record<string, unknown> {
  const present = layout.segments.reduce((sum, segment) => sum + segment.frames, 0);
  const corella: Record<string, unknown> = {};
  const global: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(meta.global)) {
    if (key === 'corella:telescope') continue;
    if (key.startsWith('corella:')) corella[key.slice('corella:'.length)] = value;
    else global[key] = value;
  }
  return {
    dataFile,
    global,
    corella,
    captures: meta.captures,
    missingSamples: layout.samples - present,
    missingBoxes: layout.missing,
  };
}

function voltageTypeOf(datatype: string, metaPath: string): VoltageType {
  const plain = /^[rc]i8$/.test(datatype) ? datatype : datatype.replace(/^([rc]i8)_(le|be)$/, '$1');
  const found = Object.entries(voltageDatatypes).find(([, name]) => name === plain);
  if (found) return found[0] as VoltageType;
  if (datatype in unsignedDatatypes) return unsignedDatatypes[datatype as keyof typeof unsignedDatatypes];
  return refuse(
    metaPath,
    `core:datatype '${datatype}' is not read here`,
    `convert it to one of ${[...Object.values(voltageDatatypes), ...Object.keys(unsignedDatatypes)].join(', ')}`,
  );
}

/** Kernels require −127…127 and −7…7: one −128 would silently break their exact sums. */
export function checkRange(
  elements: SpectraElements,
  type: SpectraType,
  path: string,
  firstSample: number,
): void {
  if (elements instanceof Float32Array) return;
  const lowest = type === 'ci8' ? '−128' : '−8';
  // The engine's native search: every sample of a recording passes here.
  if (!(type === 'ci8' ? elements.includes(-128) : hasLowestNibble(elements))) return;
  refuse(
    path,
    `holds ${lowest} in the spectra from sample ${firstSample} on, where ${type} ends one step above`,
    'requantise the recording to a symmetric range',
  );
}

function hasLowestNibble(elements: SpectraElements): boolean {
  for (const value of elements) {
    if ((value & 0xf0) === 0x80 || (value & 15) === 8) return true;
  }
  return false;
}

async function verifyChecksum(file: InputFile, expected: string): Promise<void> {
  const hash = createHash('sha512');
  const chunk = new Uint8Array(2 ** 20);
  for (let at = 0; at < file.sizeBytes; at += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, file.sizeBytes - at));
    await file.readExactly(part, at);
    hash.update(part);
  }
  if (hash.digest('hex') !== expected.toLowerCase()) {
    refuse(
      file.path,
      'does not match core:sha512 in its metadata',
      'the data was changed or damaged: copy the pair again',
    );
  }
}
