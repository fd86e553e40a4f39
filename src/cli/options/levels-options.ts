/** Gains before rounding by input and channel: --levels measured, or of a file; --levels-out writes them. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { VoltageSource } from '../../core/sources.js';
import type { VoltageRecording } from '../../formats/index.js';
import { readEqualiser, writeEqualiser } from '../../pipeline/levels/equaliser-file.js';
import { measureLevels, type InputLevels } from '../../pipeline/levels/input-levels.js';
import type { ChannelSettings } from '../../pipeline/channels.js';
import { withBackend } from '../open.js';
import { numberText, spanOf } from '../report/level-lines.js';
import { channelSettings, type ChannelOptions } from './channel-options.js';
import type { BackendOptions } from './command.js';
import { checkOutputs, type OutputOptions } from './outputs.js';

export interface LevelsOptions {
  readonly levels?: string;
  readonly levelsOut?: string;
}

export function addLevelsOptions(command: Command): Command {
  return command
    .optionsGroup('Levels, before rounding:')
    .option(
      '--levels <measured|file>',
      "a gain for each input and channel, over the usual one: measured on the recording's first spectra, or of a file that --levels-out wrote; undone in means",
    )
    .option('--levels-out <path>', 'write what was measured, as JSON');
}

/** Of live, which cannot read ahead: those of a file. */
export const addLevelsFileOption = (command: Command): Command =>
  command.option(
    '--levels <file>',
    'a gain before rounding for each input and channel, of a file that --levels-out of correlate wrote; divided out of means and images',
  );

type Described = Pick<VoltageRecording, 'path' | 'telescope' | keyof VoltageSource>;

/** Settings with levels; nothing where none were asked for. */
export async function leveled(
  options: LevelsOptions & ChannelOptions & BackendOptions & OutputOptions,
  recording: Described,
): Promise<{ readonly settings: ChannelSettings; readonly levels: InputLevels } | undefined> {
  const { levels: asked, levelsOut } = options;
  if (asked === undefined) {
    if (levelsOut !== undefined)
      refuse('--levels-out', 'no levels were asked for', 'give --levels measured too');
    return undefined;
  }
  const settings = await roundedSettings(options, recording);
  if (levelsOut !== undefined)
    await checkOutputs({
      ...options,
      paths: [levelsOut],
      from: asked === 'measured' ? recording.path : asked,
    });
  const levels =
    asked === 'measured'
      ? await withBackend(options, (backend) => measureLevels(recording, settings, backend))
      : await readEqualiser(asked, recording.inputs, settings.channels);
  if (levelsOut !== undefined) await writeEqualiser(levelsOut, levels);
  return { settings: { ...settings, levels: levels.factors }, levels };
}

/** The same, of a file. */
export async function leveledByFile(
  path: string,
  options: ChannelOptions,
  source: Described,
): Promise<{ readonly settings: ChannelSettings; readonly levels: InputLevels }> {
  const settings = await roundedSettings(options, source);
  const levels = await readEqualiser(path, source.inputs, settings.channels);
  return { settings: { ...settings, levels: levels.factors }, levels };
}

async function roundedSettings(options: ChannelOptions, source: Described): Promise<ChannelSettings> {
  if (options.gain !== undefined)
    refuse('--levels', '--gain says one gain for all', 'leave one of the two out');
  const settings = await channelSettings(options, source);
  if (settings.outputType === 'cf32')
    refuse('--levels', 'these channels are floats, and are not rounded', 'give --bits 8 or 4 too');
  return settings;
}

export const levelsHistory = (
  levels: InputLevels | undefined,
  { levels: asked, levelsOut }: LevelsOptions,
  fate: 'undone in the means' | 'not undone' | 'kept in the file',
): string[] => {
  if (!levels) return [];
  const { least, most } = spanOf(levels);
  const file = levelsOut ?? (asked === 'measured' ? undefined : asked);
  return [
    `gains before rounding by input and channel, ${levels.from}${file === undefined ? '' : ` (${file})`}: ` +
      `${numberText(least)} to ${numberText(most)} of the usual, ${fate}`,
  ];
};
