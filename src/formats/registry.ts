/** All known formats: one line each. The first that recognises a file opens it. */
import { extname } from 'node:path';
import { preparing } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { dada } from './recordings/dada.js';
import { fitsidi } from './visibilities/fitsidi.js';
import type {
  Format,
  OpenedFile,
  OpenOptions,
  Recording,
  VisibilityFile,
  VisibilityFileOptions,
} from './format.js';
import { holdsGains } from './gains/gain-files.js';
import { refuseForeign, refuseForeignFolder, refuseMark4 } from './foreign.js';
import { gsb } from './recordings/gsb/gsb.js';
import { guppi } from './recordings/guppi.js';
import { lookIntoHdf5 } from './hdf5/look.js';
import { isHdf5 } from './hdf5/read.js';
import { headOf, withInput } from './io/input.js';
import { isMeasurementSet } from './io/output.js';
import { isRemote } from './io/remote.js';
import { doubtsOf, refuseNoSky } from './no-sky.js';
import { lwa } from './recordings/lwa/lwa.js';
import { mark5b } from './recordings/mark5b.js';
import { ms } from './visibilities/ms/ms.js';
import { mwa } from './visibilities/mwa/mwa.js';
import { kindsOf, refuseUnread } from './reading-options.js';
import { raw } from './recordings/raw.js';
import { inSideband } from './recordings/sideband.js';
import { sigmfCollection } from './recordings/sigmf/collection.js';
import { sigmf } from './recordings/sigmf/sigmf.js';
import { pathsOf } from './several/paths.js';
import { joinRecordings } from './several/recordings.js';
import { joinVisibilities } from './several/visibilities.js';
import { skalow } from './visibilities/skalow.js';
import { tart } from './tart/tart.js';
import { uvfits } from './visibilities/uvfits/uvfits.js';
import { uvh5 } from './visibilities/uvh5/uvh5.js';
import { vdif } from './recordings/vdif.js';
import { wav } from './recordings/wav.js';
import { formatInstant, secondsBetween } from '../core/instant.js';
import { formatHz } from '../core/units.js';
import { signedType } from './recordings/unsigned.js';

export const formats: readonly Format[] = [
  sigmfCollection, // recordings of one observation, before the recordings themselves
  sigmf, // recordings of voltages and of channelised data
  fitsidi, // visibilities in a table; before UVFITS, whose header is similar
  uvfits, // visibilities
  mwa, // the Murchison Widefield Array's correlators
  skalow, // the SKA-Low stations' correlator
  uvh5, // visibilities in HDF5
  tart, // the Transient Array Radio Telescope: voltages and visibilities
  ms, // folders of casacore tables
  lwa, // the Long Wavelength Array's frames
  mark5b, // VLBI, before VDIF
  dada, // voltages or spectra after a text header
  guppi, // spectra in blocks, each after a text header
  gsb, // GMRT, from its text file of time stamps
  wav, // software radios
  vdif, // VLBI
  raw, // anything, if requested by name
];

type VisibilityFormat = Format & Required<Pick<Format, 'createVisibilities' | 'repair'>>;

const HEAD_BYTES = 4096;
const listed = (some: readonly Format[]): string =>
  some.map((format) => `${format.title} (${format.extensions.join(', ')})`).join('; ');
const hasExtension = (format: Format, path: string): boolean =>
  format.extensions.some((extension) => path.toLowerCase().endsWith(extension));

/** For frames that can only be recognised from their neighbours. */
const START_BYTES = 2 ** 17;
/** Extensions that do not indicate the content. */
const ANYTHING = /\.(?:dat|bin|raw)$/i;

async function readHead(path: string, mostBytes = HEAD_BYTES): Promise<Uint8Array> {
  const head = await withInput(path, (file) => headOf(file, mostBytes));
  if (head.length === 0) refuse(path, 'the file is empty', 'copy or record it again');
  return head;
}

export interface OpenFileOptions extends OpenOptions {
  /** A format name, if the content does not identify it ("raw"). */
  readonly format?: string;
}

const openAgreeing = (
  format: Format,
  path: string,
  options: OpenOptions,
  known: readonly Format[],
): Promise<OpenedFile> =>
  preparing(async (closers) => {
    refuseUnread(path, options, format.kinds, kindsOf(known));
    const file = closers.keep(await format.open(path, options));
    refuseNoSky(file);
    refuseContradictions(file, options);
    const doubts = file.kind === 'visibilities' ? doubtsOf(file) : [];
    return doubts.length === 0 ? file : { ...file, assumed: [...(file.assumed ?? []), ...doubts] };
  });

/**
 * A file, or several as one: "a.vdif,b.vdif" or "run.*.raw". Recognised by content, unless the format is given; the
 * caller closes the result.
 */
export async function openFile(
  name: string,
  options: OpenFileOptions = {},
  known: readonly Format[] = formats,
): Promise<OpenedFile> {
  const paths = await pathsOf(name);
  if (paths.length === 1)
    return preparing(async (closers) =>
      inSideband(closers.keep(await openOne(paths[0], options, known)), options),
    );
  // The telescope's stations are those of all files together.
  const { telescope, ...others } = options;
  return preparing(async (closers) => {
    const recordings: Recording[] = [];
    const visibilities: VisibilityFile[] = [];
    for (const path of paths) {
      const file = closers.keep(await openOne(path, others, known, telescope));
      if (file.kind === 'visibilities') visibilities.push(file);
      else recordings.push(file);
    }
    if (recordings.length > 0 && visibilities.length > 0)
      refuse(
        recordings[0].path,
        `holds no visibilities as ${visibilities[0].path} does`,
        'join files of one kind',
      );
    if (visibilities.length > 0) return joinVisibilities(visibilities);
    return inSideband(joinRecordings(recordings, options), options);
  });
}

async function openOne(
  path: string,
  given: OpenFileOptions,
  known: readonly Format[],
  /** Visibilities only. */
  telescope?: OpenFileOptions['telescope'],
): Promise<OpenedFile> {
  const openAs = (format: Format): Promise<OpenedFile> => {
    const isVisibilities = format.kinds.every(({ holds }) => holds === 'visibilities');
    return openAgreeing(format, path, telescope && isVisibilities ? { ...given, telescope } : given, known);
  };
  if (isMeasurementSet(path) && (given.format === undefined || given.format === ms.name)) {
    return openAs(
      known.find(({ name }) => name === ms.name) ?? refuse(path, 'is a Measurement Set', 'name a file'),
    );
  }
  if (!isRemote(path)) refuseForeignFolder(path);
  const head = await readHead(path);
  if (isRemote(path) && isHdf5(head))
    refuse(path, 'is HDF5, which is read from a disk alone', 'copy it to one');
  if (given.format !== undefined) {
    return openAs(
      known.find((candidate) => candidate.name === given.format) ??
        refuse(
          path,
          `there is no format '${given.format}'`,
          `known are ${known.map((one) => one.name).join(', ')}`,
          'value.invalid',
        ),
    );
  }
  const names = await lookIntoHdf5(path, head);
  const format = known.find((candidate) => candidate.recognise(path, head, names));
  if (!format && (await holdsGains(path)))
    refuse(path, 'holds gains', 'name visibilities or a recording, and give gains to image with gains.file');
  if (format) return openAs(format);
  refuseForeign(path, head, names);
  const start = await readHead(path, START_BYTES);
  const framed = known.find((candidate) => candidate.recogniseFrames?.(start) === true);
  if (framed) return openAs(framed);
  refuseMark4(path, start);
  if (hasExtension(raw, path) || ANYTHING.test(path))
    refuse(
      path,
      'is in no format known here',
      `if it is plain binary, say so and describe it: source.format: raw, source.sample-type …; known are ${listed(known)}`,
      'file.unknown-format',
    );
  const named = known.find((candidate) => hasExtension(candidate, path));
  if (named) {
    refuse(
      path,
      `is named like ${named.title} but does not hold it`,
      'it is damaged or misnamed: check where it came from',
      'file.damaged',
    );
  }
  return refuse(path, 'is in no format known here', `known are ${listed(known)}`, 'file.unknown-format');
}

/** The format for writing visibilities, from the file name; refused if it cannot store what is requested. */
export function visibilityFormatFor(
  path: string,
  asked: Pick<VisibilityFileOptions, 'values' | 'appears'> = {},
  known: readonly Format[] = formats,
): VisibilityFormat {
  const writers = known.filter(
    (format): format is VisibilityFormat =>
      format.createVisibilities !== undefined && format.repair !== undefined,
  );
  const format = writers.find((candidate) => hasExtension(candidate, path));
  if (format) {
    const only = (fits: (one: Format) => boolean): string =>
      writers
        .filter(fits)
        .flatMap(({ extensions }) => extensions)
        .join(' or ');
    if (asked.appears === 'first-integration' && !format.grows)
      refuse(
        path,
        `a ${format.title} appears when it is finished`,
        `write ${only(({ grows }) => grows === true)}, and convert it afterwards`,
      );
    if (asked.values === 'sums' && !format.holdsSums)
      refuse(
        path,
        `${format.title} keeps means in floats, not whole sums`,
        `write sums as ${only(({ holdsSums }) => holdsSums === true)}`,
      );
    return format;
  }
  const extension = extname(path);
  return refuse(
    path,
    extension === ''
      ? 'the name has no extension to choose a format by'
      : `cannot write '${extension}' files`,
    `visibilities are written as ${listed(writers)}`,
  );
}

function refuseContradictions(file: OpenedFile, options: OpenOptions): void {
  const differs = (option: string, said: string): never =>
    refuse(file.path, `states ${said}`, `leave out source.${option}, which is for files that do not`);
  const { inputs, polarisations, sampleRateHz, centreFrequencyHz, start, type } = options;
  // For the MWA's reader a frequency selects a coarse channel, of which a file may hold only a part.
  if (centreFrequencyHz !== undefined && file.format !== 'mwa') {
    const { middleHz, withinHz } = bandOf(file);
    if (Math.abs(middleHz - centreFrequencyHz) > withinHz)
      differs('frequency', `that its band is around ${formatHz(middleHz)}`);
  }
  if (file.kind === 'visibilities') return;
  if (inputs !== undefined && inputs !== file.inputs) differs('inputs', `that it has ${file.inputs} inputs`);
  if (polarisations !== undefined && polarisations !== file.polarisations)
    differs('polarisations', `that a station has ${file.polarisations}`);
  if (start !== undefined && secondsBetween(start, file.start) !== 0)
    differs('start', `that it begins at ${formatInstant(file.start, 9)}`);
  // Rates of channelised data are per channel, and the formats check them.
  if (file.kind === 'spectra') return;
  // GMRT frames hold whole samples: the reader used the nearest such rate.
  if (sampleRateHz !== undefined && sampleRateHz !== file.sampleRateHz && file.format !== 'gsb')
    differs('rate', `that it has ${formatHz(file.sampleRateHz)}`);
  if (type !== undefined && signedType(type) !== file.type)
    differs('sample-type', `that its samples are ${file.type}`);
}

/**
 * The centres of channels and of their band differ by half a channel; for visibilities any frequency inside will do.
 */
function bandOf(file: OpenedFile): { readonly middleHz: number; readonly withinHz: number } {
  // A value in whole hertz agrees with one stored in steps of a clock.
  if (file.kind === 'voltages') return { middleHz: file.centreFrequencyHz, withinHz: 1 };
  const { frequenciesHz, channelWidthHz } = file.kind === 'spectra' ? file : file.header;
  const lowestHz = frequenciesHz[0];
  const highestHz = frequenciesHz[frequenciesHz.length - 1];
  return {
    middleHz: (lowestHz + highestHz) / 2,
    withinHz: channelWidthHz + (file.kind === 'spectra' ? 0 : (highestHz - lowestHz) / 2),
  };
}
