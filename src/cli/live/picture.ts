/** The picture that the latest image replaces, as the options want it. */
import { openLatestPicture, type LatestPicture } from '../../pipeline/live/pictures.js';
import type { Telescope } from '../../telescope/telescope.js';

const PICTURE_WIDTH = 800;

interface PictureOptions {
  readonly picture: string;
  readonly direct?: boolean;
  readonly weight: string;
  readonly gains?: string;
  readonly sources: string;
}

export const openPicture = (
  options: PictureOptions,
  telescope: Telescope,
  channelWidthHz: number,
  say: (line: string) => void,
): LatestPicture =>
  openLatestPicture(
    {
      path: options.picture,
      width: PICTURE_WIDTH,
      telescope,
      road:
        options.direct === true
          ? 'Live, direct imaging (EPIC)'
          : `Live, from visibilities, ${options.weight} weight`,
      unit: options.gains === undefined ? 'counts' : 'Jy/beam',
      channelWidthHz,
      sources: options.sources === 'all' ? 'all' : options.sources.split(',').map((one) => one.trim()),
    },
    (why) => {
      say(`the picture cannot be drawn: ${why}`);
    },
  );
