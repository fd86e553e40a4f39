/** Images of a live run in FITS cubes: collected in memory and written at the end of each cube's time range. */
import { join, parse } from 'node:path';
import { planeML } from '../../core/axes.js';
import { addSeconds, formatInstant, isInLeapSecond } from '../../core/instant.js';
import { leapSecondsBefore } from '../../core/leap-seconds.js';
import { averageChannels, stationBeam, stokesI } from '../../image/index.js';
import type { FrontSpectra } from '../../compose/index.js';
import { message, type Line } from '../../messages/index.js';
import type { ImageRecorder } from './pictures.js';
import {
  centreOf,
  type PictureOptions,
  type SkyImage,
  writeSeries,
  type SeriesImage,
} from '../../stages/index.js';
import type { Product } from '../registry.js';
import { nextPath, slotOf } from './files.js';

interface CubeSettings {
  readonly fields: Product<'images'>;
  readonly path: string;
  readonly spectra: Pick<FrontSpectra, 'frequenciesHz' | 'channelWidthHz'>;
  readonly overwrite: boolean;
  /** Annotations of a cube whose last image this is. */
  readonly about: (last: SkyImage) => PictureOptions;
}

/** A cube above this size is written and a new one begun. */
const MOST_BYTES = 2 ** 30;

export class ImageCubes implements ImageRecorder {
  private images: SeriesImage[] = [];
  private last: SkyImage | undefined;
  private slot = 0;
  private leaps = 0;
  private collectedBytes = 0;
  private cubes = 0;
  private unit = '';
  readonly paths: string[] = [];
  /** Images in files so far. */
  drawn = 0;

  private leftOut: string | undefined;

  constructor(
    private readonly settings: CubeSettings,
    private readonly onLine: (line: Line) => void,
  ) {}

  async show(sky: SkyImage, unit: string): Promise<void> {
    const inside = [sky.start, addSeconds(sky.start, sky.durationS / 2)].find(isInLeapSecond);
    if (inside) {
      await this.close();
      const second = formatInstant({ ...inside, fraction: 1 }, 0);
      if (this.leftOut !== second)
        this.onLine(message('data.leap-second', { path: this.settings.path, second }));
      this.leftOut = second;
      return;
    }
    const slot = slotOf(this.settings.fields['file-every'], sky.start);
    const leaps = leapSecondsBefore(sky.start.unixSeconds);
    const isOver =
      slot !== this.slot || leaps !== this.leaps || unit !== this.unit || this.collectedBytes > MOST_BYTES;
    if (this.images.length > 0 && isOver) await this.close();
    [this.slot, this.leaps, this.unit] = [slot, leaps, unit];
    const { plan, frame, start, durationS } = sky;
    const plane = planeML(stokesI(averageChannels(sky.image, plan, sky.weights), plan, 0), plan.pixels);
    this.images.push({ plane, start, durationS, frame, centre: centreOf(sky).position });
    this.collectedBytes += plane.byteLength;
    this.last = sky;
  }

  /** Writes the collected images. */
  async close(): Promise<void> {
    const { images, last } = this;
    if (!last || images.length === 0) return;
    [this.images, this.collectedBytes] = [[], 0];
    const { fields, spectra, about } = this.settings;
    const { frequenciesHz, channelWidthHz } = spectra;
    const naming = { ...this.settings, everyS: fields['file-every'] };
    const fits = await nextPath(naming, images[0].start, this.cubes === 0);
    const { dir, name } = parse(fits);
    const beam = stationBeam(last.plan);
    await writeSeries(
      {
        fits,
        // Drawing is slower than imaging.
        ...(fields.picture === true && { png: join(dir, `${name}.png`) }),
        ...(fields.sheet === true && { sheet: join(dir, `${name}-sheet.png`) }),
      },
      {
        images,
        plan: last.plan,
        everyS: fields.every ?? 1,
        centreName: centreOf(last).name,
        beam,
        frequencyHz: (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2,
        bandHz: channelWidthHz * frequenciesHz.length,
      },
      { ...about(last), unit: this.unit },
    );
    this.cubes++;
    this.drawn += images.length;
    this.paths.push(fits);
  }
}
