/** The source of the data, the part to use, and facts that the data lack. */
import { z } from 'zod';
import type { VoltageType } from '../../core/axes.js';
import {
  channelRange,
  field,
  flagged,
  frequencyHz,
  inputPath,
  oneOrTwo,
  outputPath,
  pathList,
  timeS,
  utc,
  whole,
  withForm,
  words,
} from '../../fields/index.js';
import { packetFormats } from '../../packets/registry.js';

const group = 'Source';
const reading = 'Reading, where the data do not state it';

/** A test compares them with the registry, which is too large to load for a list of options. */
const fileFormatNames = [
  'sigmf-collection',
  'sigmf',
  'fitsidi',
  'uvfits',
  'mwa',
  'skalow',
  'uvh5',
  'ms',
  'lwa',
  'mark5b',
  'dada',
  'guppi',
  'gsb',
  'vdif',
  'raw',
  'tart',
  'wav',
];
/** Names of file formats, then of packet formats. */
export const formatNames = [...new Set([...fileFormatNames, ...Object.keys(packetFormats)])];

export const formatHelp = `format of the file or the packets: ${formatNames.join(', ')}; send: kraken and kraken2 too, served as a KrakenSDR does`;

const voltageTypes = ['i8', 'i16', 'f32', 'ci8', 'ci16', 'cf32'] as const satisfies readonly VoltageType[];
const sampleTypes = [...voltageTypes, 'u8', 'cu8'] as const;

/** The keys of which exactly one gives the source. */
export const sourceKinds = ['recording', 'visibilities', 'capture', 'listen', 'stream'] as const;
type SourceKind = (typeof sourceKinds)[number];

const streamAddress = words('-, tcp://HOST:PORT, kraken:HOST, rtl_tcp:HOST, zmq:HOST:PORT or tart:URL');
const streamList = withForm(z.union([streamAddress, z.array(streamAddress).min(1)]), {
  words: '-, tcp://HOST:PORT, kraken:HOST, rtl_tcp:HOST, zmq:HOST:PORT, tart:URL, or a list of them',
});

const fields = z.strictObject({
  recording: field(pathList, {
    group,
    changes: 'never',
    help: 'voltages or channelised data in any format we read: a path, a URL, or a list of files that follow each other',
  }),
  visibilities: field(pathList, {
    group,
    changes: 'never',
    help: 'visibilities in any format we read',
  }),
  capture: field(inputPath, {
    flag: '--from <capture>',
    group,
    changes: 'never',
    help: 'packets of a capture (pcap); as fast as they can be processed',
  }),
  listen: field(
    withForm(
      z
        .union([whole.min(1).max(65_535), words('PORT or ADDRESS:PORT')])
        .transform((address) => String(address)),
      { words: 'a port, like 4015, or a group and a port, like "239.1.2.3:4015"' },
    ),
    {
      flag: '--listen <port>',
      group,
      changes: 'never',
      help: 'packets as they arrive: a port, 4015, or a multicast group to join, 239.1.2.3:4015',
    },
  ),
  stream: field(streamList, {
    group,
    changes: 'never',
    help: 'samples as they arrive: - for standard input, tcp://HOST:PORT, or several side by side; kraken:HOST, a KrakenSDR (kraken2:HOST of version 2); rtl_tcp:HOST, a dongle; zmq:HOST:PORT, a ZMQ PUB or PUSH sink of GNU Radio; tart:URL, the API of a TART, which is polled for visibilities',
  }),
  'noise-gains': field(outputPath, {
    flag: '--noise-gains <path>',
    group,
    changes: 'never',
    help: "write gains solved from the frames in which the receiver's noise source was on, as JSON (KrakenSDR)",
    otherwise: 'none',
  }),
  from: field(utc, {
    group,
    changes: 'never',
    help: 'use the recording from this time on',
    otherwise: 'its start',
  }),
  to: field(utc, {
    group,
    changes: 'never',
    help: 'use the recording up to this time',
    otherwise: 'its end',
  }),
  duration: field(timeS, {
    flag: '--duration <time>',
    group,
    changes: 'never',
    unit: 's',
    range: { above: 0 },
    help: 'length of the data, like 40ms or 2s; of a recording only this much is used',
    otherwise: 'all',
  }),
  integration: field(
    withForm(z.union([whole.nonnegative(), z.literal('sum')]), {
      words: 'the number of an integration, from 0, or sum',
    }),
    {
      flag: '--integration-number <number>',
      group,
      of: 'visibilities',
      changes: 'never',
      help: 'use only the integration with this number, from 0; or sum: all of them (calibrate: from the first, as long as the rotation of the sky allows, at most 30 s)',
      otherwise: 'sum',
    },
  ),
  channels: field(channelRange, {
    flag: '--receive-channels <range>',
    group,
    changes: 'never',
    help: 'of channelised packets use only these channels, like 0-65: the part of the band of this machine',
    otherwise: 'all',
  }),
  interface: field(words('the name of a network interface'), {
    flag: '--interface <name>',
    group,
    changes: 'never',
    help: 'network interface of a multicast group, like eth0',
  }),
  epoch: field(words('a UTC time, clock, or TIME,clock'), {
    flag: '--epoch <utc>',
    group,
    changes: 'never',
    help: "time of the senders' tick 0, where packets do not carry it: a UTC time; clock, by this machine's clock; or TIME,clock after a restart",
  }),
  format: field(z.enum(formatNames), {
    flag: '--format <name>',
    group: reading,
    changes: 'never',
    help: formatHelp,
    otherwise: 'recognised by the contents',
  }),
  meta: field(inputPath, {
    flag: '--meta <path>',
    group: reading,
    changes: 'never',
    help: 'a .sigmf-meta that describes the samples of a stream',
  }),
  rate: field(frequencyHz, {
    flag: '--rate <hz>',
    group: reading,
    changes: 'never',
    unit: 'Hz',
    range: { above: 0 },
    help: 'samples per second, like 32MHz',
  }),
  frequency: field(frequencyHz, {
    flag: '--frequency <hz>',
    group: reading,
    changes: 'never',
    unit: 'Hz',
    help: 'centre of the band, like 58MHz',
  }),
  inputs: field(whole, {
    flag: '--inputs <number>',
    group: reading,
    changes: 'never',
    range: { least: 1 },
    help: 'number of inputs (Mark 5B, plain binary, each stream)',
  }),
  polarisations: field(oneOrTwo, {
    flag: '--polarisations <number>',
    group: reading,
    changes: 'never',
    help: 'inputs per station, 1 or 2',
  }),
  'sample-bits': field(whole, {
    flag: '--sample-bits <number>',
    group: reading,
    changes: 'never',
    range: { least: 1, most: 32 },
    help: 'bits per sample (Mark 5B)',
    otherwise: '2',
  }),
  'sample-type': field(z.enum(sampleTypes), {
    flag: '--sample-type <type>',
    group: reading,
    changes: 'never',
    help: `type of samples (plain binary, streams): ${sampleTypes.join(', ')}`,
  }),
  skip: field(whole, {
    flag: '--skip <bytes>',
    group: reading,
    changes: 'never',
    unit: 'bytes',
    range: { least: 0 },
    help: 'bytes before the first sample (plain binary)',
    otherwise: '0',
  }),
  start: field(utc, {
    flag: '--start <utc>',
    group: reading,
    changes: 'never',
    help: 'time of the first sample, like 2026-06-21T04:00:00Z (SigMF, LWA TBN, plain binary, streams)',
    otherwise: 'of a stream the time at which it arrives',
  }),
  near: field(utc, {
    flag: '--near <utc>',
    group: reading,
    changes: 'never',
    help: 'any time near the recording, where the file has only part of the date (Mark 5B)',
  }),
  tuning: field(oneOrTwo, {
    flag: '--tuning <number>',
    group: reading,
    changes: 'never',
    help: "which of a beam's two tunings, 1 or 2 (LWA DRX)",
    otherwise: '1',
  }),
  metafits: field(inputPath, {
    flag: '--metafits <path>',
    group: reading,
    changes: 'never',
    help: 'the metafits of an MWA observation',
    otherwise: 'OBSID.metafits beside the data',
  }),
  'remove-cables': field(flagged, {
    flag: '--remove-cables',
    group: reading,
    changes: 'never',
    help: "take the metafits' cable lengths out of the phases (MWA)",
    default: false,
  }),
  sideband: field(z.enum(['upper', 'lower']), {
    flag: '--sideband <side>',
    group: reading,
    changes: 'never',
    help: 'lower where the band was recorded inverted (high-side mixing, second Nyquist zone)',
    otherwise: 'upper',
  }),
  'stored-pair': field(z.enum(['V12', 'V21']), {
    flag: '--stored-pair <product>',
    group: reading,
    changes: 'never',
    help: 'which conjugate the file has for its pair (1, 2): V12 or V21 (SKA-Low HDF5); the wrong one mirrors the sky',
    otherwise: 'V12, for EDA2 V21',
  }),
  'seconds-of': field(whole, {
    flag: '--seconds-of <thread>',
    group: reading,
    changes: 'never',
    range: { least: 0 },
    help: 'the thread whose seconds are used for all threads, where those of others are wrong (VDIF)',
    otherwise: 'each its own',
  }),
  column: field(words('the name of a column'), {
    flag: '--column <name>',
    group: reading,
    changes: 'never',
    help: 'column of visibilities, like CORRECTED_DATA (Measurement Sets)',
    otherwise: 'DATA',
  }),
  uvw: field(z.enum(['file']), {
    flag: '--uvw <whose>',
    group: reading,
    changes: 'never',
    help: 'file: use the uvw of the file although they contradict the positions of its antennas; right only at its own phase centre (UVFITS, FITS-IDI, UVH5, Measurement Sets)',
  }),
  target: field(words('the name or number of a target, or all'), {
    flag: '--target <name>',
    group: reading,
    changes: 'never',
    help: 'which of several targets (fields, sources, phase centres), by name or number, or all',
  }),
});

export const source = fields.superRefine((given, context) => {
  const kinds = sourceKinds.filter((kind) => given[kind] !== undefined);
  if (kinds.length === 1) return;
  context.addIssue({
    code: 'custom',
    message: kinds.length === 0 ? 'does not state where the data come from' : `has ${kinds.join(' and ')}`,
    params: { fix: `give exactly one of ${sourceKinds.join(', ')}` },
  });
});
export type SourcePart = z.output<typeof source>;

/** Which of the keys gives the source. */
export const sourceKind = (given: SourcePart): SourceKind =>
  sourceKinds.find((kind) => given[kind] !== undefined) ?? 'recording';

/** A recording with a log of changes is run like the original live data. */
export const isOfLiveData = ({
  source: given,
  log,
}: {
  readonly source: SourcePart;
  readonly log?: string;
}): boolean => log !== undefined || !['recording', 'visibilities'].includes(sourceKind(given));
