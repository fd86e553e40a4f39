/** What the user knows and a file may not say: options that every command which opens files shares. */
import { Option, type Command } from 'commander';
import type { VoltageType } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { parseInstant } from '../../core/instant.js';
import {
  formats,
  kindsOf,
  readersOf,
  readingFlags,
  readingOptions,
  type FileKind,
  type OpenFileOptions,
  type ReadingOption,
} from '../../formats/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { NO_TELESCOPE } from '../../telescope/unplaced.js';
import { telescopeWords } from './sky-options.js';
import { ANY_OPTION, parseCount, parseWhole } from './command.js';
import { frequency, rate } from './quantity.js';

export const voltageTypes = [
  'i8',
  'i16',
  'f32',
  'ci8',
  'ci16',
  'cf32',
] as const satisfies readonly VoltageType[];

export function parseVoltageType(text: string): VoltageType {
  return (
    voltageTypes.find((type) => type === text) ??
    refuse(ANY_OPTION, `'${text}' is not a type of samples`, `choose ${voltageTypes.join(', ')}`)
  );
}

/** What plain binary may hold beside: bytes of software radios. */
const rawTypes = [...voltageTypes, 'u8', 'cu8'] as const;
export type RawType = (typeof rawTypes)[number];

function parseRawType(text: string): RawType {
  return (
    rawTypes.find((type) => type === text) ??
    refuse(ANY_OPTION, `'${text}' is not a type of samples`, `choose ${rawTypes.join(', ')}`)
  );
}

export interface OpenFlags {
  readonly format?: string;
  readonly telescope?: string;
  readonly rate?: number;
  readonly frequency?: number;
  readonly inputs?: number;
  readonly polarisations?: number;
  readonly sampleBits?: number;
  readonly sampleType?: RawType;
  readonly skip?: number;
  readonly sideband?: 'upper' | 'lower';
  readonly start?: string;
  readonly near?: string;
  readonly tuning?: number;
  readonly metafits?: string;
  readonly removeCables?: true;
  readonly storedPair?: 'V12' | 'V21';
  readonly secondsOf?: number;
  readonly column?: string;
  readonly uvw?: 'file';
  readonly target?: string;
}

/** What a command reads; options that no such file takes are not offered. */
export type ReadKind = 'anything' | FileKind['holds'];

interface Offer {
  /** After the flag: what it is given. */
  readonly value?: string;
  readonly what: string;
  readonly preset?: string;
  readonly parse?: (text: string) => unknown;
}

const offers = {
  centreFrequencyHz: { value: 'hz', what: "the band's middle, like 58MHz", parse: frequency('--frequency') },
  sampleRateHz: { value: 'hz', what: 'samples per second, like 32MHz', parse: rate('--rate') },
  inputs: { value: 'number', what: 'how many inputs', parse: parseCount },
  polarisations: { value: 'number', what: 'inputs a station, 1 or 2', parse: parseCount },
  bits: { value: 'number', what: 'bits a sample', preset: '2', parse: parseCount },
  type: { value: 'type', what: `what it holds: ${rawTypes.join(', ')}`, parse: parseRawType },
  skipBytes: { value: 'bytes', what: 'bytes before the samples begin', preset: '0', parse: parseWhole },
  sideband: {
    value: 'side',
    what: 'upper, or lower where the band was recorded inverted (high-side mixing, second Nyquist zone)',
    preset: 'upper',
    parse: parseSideband,
  },
  start: { value: 'utc', what: 'when it begins, like 2026-06-21T04:00:00Z' },
  near: { value: 'utc', what: 'any moment near the recording, where the file keeps part of the date' },
  tuning: { value: 'number', what: "which of a beam's two tunings, 1 or 2", preset: '1', parse: parseCount },
  metafits: {
    value: 'path',
    what: 'what describes the observation',
    preset: 'OBSID.metafits beside it',
  },
  cables: { what: "take the metafits' cable lengths out of the phases" },
  storedPair: {
    value: 'product',
    what: 'V12 or V21: which conjugate it holds for its pair (1, 2); a mirrored sky tells',
    preset: 'V12, of EDA2 V21',
    parse: parseStoredPair,
  },
  secondsOfThread: {
    value: 'thread',
    what: "the thread whose seconds hold for all, where others' are wrong",
    preset: 'each its own',
    parse: parseWhole,
  },
  column: { value: 'name', what: 'which column, like CORRECTED_DATA', preset: 'DATA' },
  uvw: {
    value: 'whose',
    what: "file: use its uvw although they contradict its antennas' positions; right at its own phase centre alone",
    parse: parseUvw,
  },
  target: {
    value: 'name',
    what: 'which of several targets (fields, sources, phase centres), by name or number, or all',
  },
} as const satisfies Record<ReadingOption, Offer>;

/** What the option is for, by the kinds of file that read it. */
function offerOf(option: ReadingOption, readers: readonly FileKind[]): Option {
  const { value, what, preset, parse }: Offer = offers[option];
  const who = readers.map(({ title }) => title).join(', ');
  const flags = readingFlags[option] + (value === undefined ? '' : ` <${value}>`);
  const words = `${what} (${who}${preset === undefined ? '' : `; default: ${preset}`})`;
  const offered = new Option(flags, words);
  return parse ? offered.argParser(parse) : offered;
}

export function addOpenOptions(command: Command, kind: ReadKind): Command {
  const names = formats.map(({ name }) => name).join(', ');
  command
    .optionsGroup('Reading, where the file does not say:')
    .option('--format <name>', `read it as: ${names} (default: by what it holds)`)
    .option(
      '--telescope <name>',
      `where the stations stand: ${telescopeWords()}; ${NO_TELESCOPE}: nobody knows (a laboratory, a lone dish)`,
    );
  const kinds = kindsOf(formats).filter(({ holds }) => kind === 'anything' || holds === kind);
  for (const option of readingOptions) {
    const readers = readersOf(option, kinds);
    if (readers.length > 0) command.addOption(offerOf(option, readers));
  }
  return command;
}

export async function openOptions(flags: OpenFlags): Promise<OpenFileOptions> {
  const polarisations =
    flags.polarisations === undefined ? undefined : oneOrTwo('--polarisations', flags.polarisations);
  return {
    ...(flags.format === undefined ? {} : { format: flags.format }),
    ...(flags.telescope === undefined || flags.telescope === NO_TELESCOPE
      ? {}
      : { telescope: await loadTelescope(flags.telescope, polarisations) }),
    ...(flags.rate === undefined ? {} : { sampleRateHz: flags.rate }),
    ...(flags.frequency === undefined ? {} : { centreFrequencyHz: flags.frequency }),
    ...(flags.inputs === undefined ? {} : { inputs: flags.inputs }),
    ...(polarisations === undefined ? {} : { polarisations }),
    ...(flags.sampleBits === undefined ? {} : { bits: flags.sampleBits }),
    ...(flags.sampleType === undefined ? {} : { type: flags.sampleType }),
    ...(flags.skip === undefined ? {} : { skipBytes: flags.skip }),
    ...(flags.sideband === undefined ? {} : { sideband: flags.sideband }),
    ...(flags.start === undefined ? {} : { start: parseInstant(flags.start, '--start') }),
    ...(flags.near === undefined ? {} : { near: parseInstant(flags.near, '--near') }),
    ...(flags.tuning === undefined ? {} : { tuning: oneOrTwo('--tuning', flags.tuning) }),
    ...(flags.metafits === undefined ? {} : { metafits: flags.metafits }),
    ...(flags.removeCables === undefined ? {} : { cables: 'remove' }),
    ...(flags.storedPair === undefined ? {} : { storedPair: flags.storedPair }),
    ...(flags.secondsOf === undefined ? {} : { secondsOfThread: flags.secondsOf }),
    ...(flags.column === undefined ? {} : { column: flags.column }),
    ...(flags.uvw === undefined ? {} : { uvw: flags.uvw }),
    ...(flags.target === undefined ? {} : { target: flags.target }),
  };
}

function parseUvw(text: string): 'file' {
  return text === 'file' ? text : refuse('--uvw', `'${text}' is not understood`, 'write --uvw file');
}

function parseSideband(text: string): 'upper' | 'lower' {
  return text === 'upper' || text === 'lower'
    ? text
    : refuse(ANY_OPTION, `'${text}' is no sideband`, 'give upper or lower');
}

function parseStoredPair(text: string): 'V12' | 'V21' {
  return text === 'V12' || text === 'V21'
    ? text
    : refuse(ANY_OPTION, `'${text}' is no product of the pair (1, 2)`, 'give V12 or V21');
}

function oneOrTwo(option: string, value: number): 1 | 2 {
  return value === 1 || value === 2 ? value : refuse(option, `is ${value}`, 'give 1 or 2');
}
