/** What a night's options come to, for samples of a shape. */
import type { ChannelisePlan } from '../../channelise/index.js';
import { baselineCount } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { Source } from '../../core/sources.js';
import { checkRoom, readGainFile } from '../../formats/index.js';
import type { KernelSize } from '../../image/index.js';
import { planChannels } from '../../pipeline/channels.js';
import { matchGains, refuseLeakage } from '../../pipeline/gains/apply.js';
import type { LiveImaging } from '../../pipeline/live/settings.js';
import type { Telescope } from '../../telescope/telescope.js';
import { fieldOf } from '../image.js';
import { channelOptionNames, channelSettings, type ChannelOptions } from '../options/channel-options.js';

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
): Promise<LiveImaging> {
  const { gains, pixels } = options;
  const calibrated =
    gains === undefined ? undefined : matchGains(await readGainFile(gains), gains, telescope, frequenciesHz);
  if (calibrated && gains !== undefined) refuseLeakage(calibrated, gains, 'a running night');
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

export async function planOf(
  source: Source,
  telescope: Telescope,
  options: ChannelOptions & { readonly blockS?: number; readonly direct?: boolean },
): Promise<ChannelisePlan | undefined> {
  if (source.kind === 'spectra') {
    const given = channelOptionNames.find((name) => options[name] !== undefined);
    if (given !== undefined)
      refuse(
        `--${given}`,
        'is for voltages, and what comes is channelised already',
        given === 'channels' ? 'leave it out; live takes a part of the band, like 0-65' : 'leave it out',
      );
    return undefined;
  }
  const settings = await channelSettings(options, { ...source, path: 'live', telescope });
  return planChannels(source, {
    ...settings,
    ...(options.blockS === undefined ? {} : { blockS: options.blockS }),
  });
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
