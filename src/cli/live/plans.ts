/** What a night's options come to, for samples of a shape. */
import { baselineCount } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { Source } from '../../core/sources.js';
import { checkRoom, readGainFile } from '../../formats/index.js';
import type { KernelSize } from '../../image/index.js';
import type { ChannelSettings } from '../../pipeline/channels.js';
import { spectraOfFront, type FrontSpectra } from '../../pipeline/compose/front.js';
import { fitsData, gainsOverTime } from '../../pipeline/gains/apply.js';
import { channelisedOf, frontOf, planLiveChannels } from '../../pipeline/live/front.js';
import type { LiveImaging, LiveSettings } from '../../pipeline/live/settings.js';
import type { Telescope } from '../../telescope/telescope.js';
import { fieldOf } from '../image.js';
import { channelOptionNames, channelSettings, type ChannelOptions } from '../options/channel-options.js';
import type { FineOptions } from '../options/fine-option.js';
import { leveledByFile, type LevelsOptions } from '../options/levels-options.js';

export interface ImagingOptions {
  readonly image?: number;
  readonly direct?: true;
  readonly gains?: string;
  readonly pixels?: number;
  readonly field?: number;
  readonly kernel: KernelSize;
  readonly weight: 'natural' | 'uniform';
}

export async function imagingOf(
  options: ImagingOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  say: (line: string) => void = () => undefined,
): Promise<LiveImaging> {
  const { gains, pixels } = options;
  const file = gains === undefined ? undefined : await readGainFile(gains);
  const calibrated =
    file && gains !== undefined ? gainsOverTime(file, gains, telescope, frequenciesHz, 'live') : undefined;
  if (file && gains !== undefined) fitsData(file, gains, { telescope, frequenciesHz }).forEach(say);
  return {
    everyS: options.image ?? 1,
    road: options.direct === true ? 'direct' : 'visibilities',
    weight: options.weight,
    ...(calibrated && { calibrated }),
    image: {
      ...(pixels === undefined ? {} : { pixels }),
      field: fieldOf(options.field),
      kernelSize: options.kernel,
    },
  };
}

type PlanOptions = ChannelOptions & FineOptions & Pick<LevelsOptions, 'levels'>;

/** How samples become channels; what the front of the chain needs of it. */
export interface PlannedFront extends Pick<LiveSettings, 'channels' | 'gain'> {
  readonly spectra: FrontSpectra;
}

/** `front`: what else is asked of it. */
export async function planFront(
  source: Source,
  options: PlanOptions,
  front: Pick<LiveSettings, 'telescope' | 'fineChannels' | 'delays' | 'forS'>,
  blockS?: number,
): Promise<PlannedFront> {
  const asked = await settingsFor(source, options, front);
  const channels = asked && planLiveChannels(source, { ...asked.settings, blockS }, front);
  const made = { channels, ...(asked?.gain && { gain: asked.gain }) };
  return { ...made, spectra: spectraOfFront(frontOf(source, { ...front, ...made })) };
}

async function settingsFor(
  source: Source,
  options: PlanOptions,
  front: Pick<LiveSettings, 'telescope' | 'fineChannels'>,
): Promise<{ readonly settings: ChannelSettings; readonly gain?: LiveSettings['gain'] } | undefined> {
  const { fineChannels } = front;
  if (source.kind === 'voltages' && fineChannels !== undefined)
    refuse('--fine-channels', 'voltages come, which have no channels yet', 'say how many with --channels');
  const voltages = channelisedOf(source, front);
  if (source.kind === 'spectra') {
    const given = [...channelOptionNames, 'levels' as const].find(
      (name) =>
        options[name] !== undefined &&
        (fineChannels === undefined || name === 'channels' || name === 'levels'),
    );
    if (given !== undefined)
      refuse(
        `--${given}`,
        'is for voltages, and what comes is channelised already',
        given === 'channels' ? 'leave it out; live takes a part of the band, like 0-65' : 'leave it out',
      );
  }
  if (!voltages) return undefined;
  const described = { ...voltages, path: 'live', telescope: front.telescope };
  if (options.levels === 'measured')
    refuse(
      '--levels',
      'live cannot read ahead to measure them',
      'measure them on a recording (correlate --levels measured --levels-out levels.json) and give that file',
    );
  const own =
    options.levels === undefined ? undefined : await leveledByFile(options.levels, options, described);
  if (own) return { settings: own.settings, gain: { levels: own.levels } };
  return {
    settings: await channelSettings({ ...options, channels: fineChannels ?? options.channels }, described),
  };
}

/** A disk that is full within an hour is refused before the night. */
const HOUR_S = 3600;
/** Of a visibility, its flag and its weight. */
const STORED_BYTES = 13;

export interface Written {
  readonly out?: string;
  readonly for?: number;
  readonly integrationS: number;
  readonly stations: number;
  readonly channels: number;
  readonly polarisations: number;
}

export async function checkDisk(written: Written): Promise<void> {
  const { out, integrationS, stations, channels, polarisations } = written;
  if (out === undefined) return;
  const integrationBytes = baselineCount(stations) * channels * polarisations ** 2 * STORED_BYTES;
  const seconds = Math.min(HOUR_S, written.for ?? HOUR_S);
  await checkRoom(out, Math.ceil(seconds / integrationS) * integrationBytes);
}
