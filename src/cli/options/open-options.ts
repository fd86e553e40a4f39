/** What the user knows and a file may not say: options that every command which opens files shares. */
import type { Command } from 'commander';
import type { VoltageType } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { parseInstant } from '../../core/instant.js';
import { formats, type OpenFileOptions } from '../../formats/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { telescopeWords } from './sky-options.js';
import { ANY_OPTION, parseCount, parseWhole } from './command.js';
import { frequency } from './quantity.js';

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

export interface OpenFlags {
  readonly format?: string;
  readonly telescope?: string;
  readonly rate?: number;
  readonly frequency?: number;
  readonly inputs?: number;
  readonly polarisations?: number;
  readonly sampleBits?: number;
  readonly sampleType?: VoltageType;
  readonly skip?: number;
  readonly start?: string;
  readonly near?: string;
  readonly tuning?: number;
  readonly metafits?: string;
  readonly removeCables?: true;
}

/** What a command reads; options that no such file needs are not offered. */
export type ReadKind = 'anything' | 'recordings' | 'visibilities';

export function addOpenOptions(command: Command, kind: ReadKind): Command {
  const names = formats.map(({ name }) => name).join(', ');
  command
    .optionsGroup('Reading, where the file does not say:')
    .option('--format <name>', `read it as: ${names} (default: by what it holds)`)
    .option('--telescope <name>', `where the stations stand: ${telescopeWords()}`)
    .option('--frequency <hz>', "the band's middle, like 58MHz", frequency('--frequency'));
  if (kind !== 'visibilities') {
    command
      .option('--rate <hz>', 'samples per second, like 32MHz', frequency('--rate'))
      .option('--inputs <number>', 'how many inputs (Mark 5B, plain binary)', parseCount)
      .option('--polarisations <number>', 'inputs a station, 1 or 2', parseCount)
      .option('--sample-bits <number>', 'bits a sample (Mark 5B; default: 2)', parseCount)
      .option('--sample-type <type>', `what plain binary holds: ${voltageTypes.join(', ')}`, parseVoltageType)
      .option('--skip <bytes>', 'bytes before plain binary begins (default: 0)', parseWhole)
      .option('--start <utc>', 'when it begins, like 2026-06-21T04:00:00Z')
      .option('--near <utc>', 'any moment near the recording, for Mark 5B, which keeps part of the date')
      .option('--tuning <number>', "which of a beam's two tunings, 1 or 2 (LWA DRX; default: 1)", parseCount);
  }
  if (kind !== 'recordings') {
    command
      .option('--metafits <path>', 'what describes an MWA observation (default: OBSID.metafits beside it)')
      .option('--remove-cables', "take the metafits' cable lengths out of the phases (MWA)");
  }
  return command;
}

export async function openOptions(flags: OpenFlags): Promise<OpenFileOptions> {
  return {
    ...(flags.format === undefined ? {} : { format: flags.format }),
    ...(flags.telescope === undefined ? {} : { telescope: await loadTelescope(flags.telescope) }),
    ...(flags.rate === undefined ? {} : { sampleRateHz: flags.rate }),
    ...(flags.frequency === undefined ? {} : { centreFrequencyHz: flags.frequency }),
    ...(flags.inputs === undefined ? {} : { inputs: flags.inputs }),
    ...(flags.polarisations === undefined
      ? {}
      : { polarisations: oneOrTwo('--polarisations', flags.polarisations) }),
    ...(flags.sampleBits === undefined ? {} : { bits: flags.sampleBits }),
    ...(flags.sampleType === undefined ? {} : { type: flags.sampleType }),
    ...(flags.skip === undefined ? {} : { skipBytes: flags.skip }),
    ...(flags.start === undefined ? {} : { start: parseInstant(flags.start, '--start') }),
    ...(flags.near === undefined ? {} : { near: parseInstant(flags.near, '--near') }),
    ...(flags.tuning === undefined ? {} : { tuning: oneOrTwo('--tuning', flags.tuning) }),
    ...(flags.metafits === undefined ? {} : { metafits: flags.metafits }),
    ...(flags.removeCables === undefined ? {} : { cables: 'remove' }),
  };
}

function oneOrTwo(option: string, value: number): 1 | 2 {
  return value === 1 || value === 2 ? value : refuse(option, `is ${value}`, 'give 1 or 2');
}
