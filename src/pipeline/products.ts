/** What people and programs take away: FITS for programs, PNG for people. */
import type { Telescope } from '../telescope/telescope.js';
import { addSeconds, formatInstant } from '../core/instant.js';
import { formatHz, formatSeconds } from '../core/units.js';
import { writeFitsImage } from '../formats/fits-image.js';
import { writeFileWhole } from '../formats/output.js';
import { renderPng } from '../formats/picture.js';
import { averageChannels, skyPicture, stokesI } from '../image/index.js';
import { sourcesUp } from '../sky/above.js';
import type { Source } from '../sky/source.js';
import type { SkyImage } from './image.js';

export interface ProductOptions {
  readonly telescope: Telescope;
  /** "From visibilities", "Direct": the headline says which road. */
  readonly road: string;
  readonly unit: string;
  readonly channelWidthHz: number;
  readonly channels: 'average' | 'keep';
  readonly history: readonly string[];
}

const middle = (values: Float64Array): number => (values[0] + values[values.length - 1]) / 2;

export async function writeSkyFits(path: string, sky: SkyImage, options: ProductOptions): Promise<void> {
  const { plan, frame } = sky;
  const keep = options.channels === 'keep';
  await writeFitsImage(path, {
    image: keep ? sky.image : averageChannels(sky.image, plan),
    pixels: plan.pixels,
    pixelSize: plan.pixelSize,
    polarisations: plan.polarisations,
    frequenciesHz: keep ? plan.frequenciesHz : Float64Array.of(middle(plan.frequenciesHz)),
    channelWidthHz: keep ? options.channelWidthHz : options.channelWidthHz * plan.channels,
    centre: frame.zenith,
    start: sky.start,
    durationS: sky.durationS,
    telescope: options.telescope.name,
    object: 'zenith',
    unit: options.unit,
    history: options.history,
  });
}

export interface PictureOptions extends ProductOptions {
  /** Named where they stand. */
  readonly sources: readonly Source[];
  readonly width?: number;
}

export async function writeSkyPng(path: string, sky: SkyImage, options: PictureOptions): Promise<void> {
  const { plan, frame } = sky;
  const { telescope } = options;
  const average = averageChannels(sky.image, plan);
  const centreHz = middle(plan.frequenciesHz);
  const { svg, under } = skyPicture({
    plane: stokesI(average, plan, 0),
    plan,
    frame,
    title: [
      telescope.title,
      `${formatInstant(addSeconds(sky.start, sky.durationS / 2), 0)} · ${formatHz(centreHz)}, ${formatHz(options.channelWidthHz * plan.channels)} wide · ` +
        `${formatSeconds(sky.durationS)} · ${telescope.stations.length} stations`,
      options.road,
    ],
    unit: options.unit,
    sources: sourcesUp(options.sources, frame, 2, { telescope, frequencyHz: centreHz }).map(
      ({ source, directionEnu }) => ({
        name: source.name,
        directionEnu,
      }),
    ),
  });
  await writeFileWhole(path, await renderPng(svg, { width: options.width ?? 1200, under }));
}
