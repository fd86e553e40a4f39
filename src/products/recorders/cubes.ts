/** Images of a live run in FITS cubes, written image by image; pictures are drawn at the end of a cube's time range. */
import { join, parse } from 'node:path';
import { planeML } from '../../core/axes.js';
import { addSeconds, formatInstant, isInLeapSecond, type Instant } from '../../core/instant.js';
import { averageChannels, stationBeam, stokesI } from '../../image/index.js';
import type { FrontSpectra } from '../../compose/index.js';
import { message, type Line } from '../../messages/index.js';
import type { ImageRecorder } from './pictures.js';
import { centreOf, openSeries, type PictureOptions, type SkyImage } from '../../stages/index.js';
import type { Product } from '../registry.js';
import { GrowingFiles, type FileEvent, type GrowingWriter } from './files.js';

interface CubeSettings {
  readonly fields: Product<'images'>;
  readonly path: string;
  readonly spectra: Pick<FrontSpectra, 'frequenciesHz' | 'channelWidthHz'>;
  readonly overwrite: boolean;
  /** Annotations of a cube whose last image this is. */
  readonly about: (last: SkyImage) => PictureOptions;
}

/** A cube of more, in memory, ends, and a new one is begun. */
const MOST_BYTES = 2 ** 30;

interface CubeImage {
  readonly start: Instant;
  readonly durationS: number;
  readonly sky: SkyImage;
  readonly unit: string;
}

class Cubes extends GrowingFiles<CubeImage> {
  private begun: { readonly unit: string; readonly pixels: number } | undefined;
  private bytes = 0;

  constructor(
    private readonly settings: CubeSettings,
    onEvent: (event: FileEvent) => void,
  ) {
    super({ ...settings, everyS: settings.fields['file-every'] }, onEvent);
  }

  override async append(image: CubeImage): Promise<void> {
    const { unit, pixels } = this.begun ?? {};
    const isOther = unit !== image.unit || pixels !== image.sky.plan.pixels;
    if (this.begun && (isOther || this.bytes > MOST_BYTES)) await this.close();
    await super.append(image);
  }

  protected override async create(path: string, { sky, unit }: CubeImage): Promise<GrowingWriter<CubeImage>> {
    const { fields, spectra, about } = this.settings;
    const { frequenciesHz, channelWidthHz } = spectra;
    this.begun = { unit, pixels: sky.plan.pixels };
    this.bytes = 0;
    const { dir, name } = parse(path);
    let last = sky;
    const series = await openSeries(
      {
        fits: path,
        // Drawing is slower than imaging.
        ...(fields.picture === true && { png: join(dir, `${name}.png`) }),
        ...(fields.sheet === true && { sheet: join(dir, `${name}-sheet.png`) }),
      },
      () => ({
        series: {
          plan: last.plan,
          everyS: fields.every ?? 1,
          centreName: centreOf(last).name,
          beam: stationBeam(last.plan),
          frequencyHz: (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2,
          bandHz: channelWidthHz * frequenciesHz.length,
        },
        options: { ...about(last), unit },
      }),
      { appears: true },
    );
    return {
      ...series,
      append: async ({ sky: next }) => {
        const { image, plan, weights, frame, start, durationS } = next;
        const plane = planeML(stokesI(averageChannels(image, plan, weights), plan, 0), plan.pixels);
        await series.add({ plane, start, durationS, frame, centre: centreOf(next).position });
        this.bytes += plane.byteLength;
        last = next;
      },
    };
  }
}

export class ImageCubes implements ImageRecorder {
  private readonly cubes: Cubes;
  private leftOutLeap: string | undefined;

  constructor(
    private readonly settings: CubeSettings,
    private readonly onLine: (line: Line) => void,
  ) {
    this.cubes = new Cubes(settings, (event) => {
      const { path, kind, integrations: images, why = '', to = '' } = event;
      if (kind !== 'opened' && kind !== 'closed')
        onLine(message('image.cube-ended', { path, what: kind, images, why, to }));
    });
  }

  get paths(): readonly string[] {
    return this.cubes.paths;
  }

  /** Images in files so far. */
  get drawn(): number {
    return this.cubes.written;
  }

  get leftOut(): number {
    return this.cubes.unwritten;
  }

  async show(sky: SkyImage, unit: string): Promise<void> {
    const { start, durationS } = sky;
    const inside = [start, addSeconds(start, durationS / 2)].find(isInLeapSecond);
    if (!inside) {
      await this.cubes.append({ start, durationS, sky, unit });
      return;
    }
    await this.cubes.close();
    const second = formatInstant({ ...inside, fraction: 1 }, 0);
    if (this.leftOutLeap !== second)
      this.onLine(message('data.leap-second', { path: this.settings.path, second }));
    this.leftOutLeap = second;
  }

  close(): Promise<void> {
    return this.cubes.close();
  }
}
