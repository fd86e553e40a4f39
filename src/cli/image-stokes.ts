/** corella image: Stokes parameters of the sky, by what is known of the feeds (--feeds). */
import { refuse } from '../core/errors.js';
import { addSeconds } from '../core/instant.js';
import type { VisibilityHeader } from '../formats/index.js';
import {
  edgeError,
  leftOut,
  NARROW_DEG,
  narrowStokes,
  refuseLong,
  snapshotStokes,
  withFeeds,
  type StokesFrame,
} from '../pipeline/stokes.js';
import type { WideSkyImage } from '../pipeline/wide/image.js';
import { choosePixels, longestWavelengths, type WideFieldOptions } from '../pipeline/wide/settings.js';
import { stationPositions } from '../pipeline/geometry.js';
import type { ElementBeam } from '../sky/beams/element-beam.js';
import { skyFrame } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import type { GainsOver } from './image-gains.js';

/** How all four Stokes parameters of a field anywhere in the sky come to be those of the sky. */
export interface WideStokes {
  readonly gains: GainsOver;
  /** Of the finished image. */
  finish(sky: WideSkyImage): WideSkyImage;
}

export function wideStokes(
  gains: GainsOver,
  data: StokesFrame,
  of: {
    readonly telescope: Telescope;
    readonly header: Pick<VisibilityHeader, 'feeds' | 'frequenciesHz'>;
    readonly centre: PhaseCentre;
    readonly field: WideFieldOptions;
    readonly beam?: ElementBeam;
    /** How long the data are, where that is known beforehand. */
    readonly durationS?: number;
  },
): WideStokes {
  const { telescope, header, centre, beam } = of;
  const feeds = header.feeds ?? 'linear';
  if (data.kind !== 'feeds' || !telescope.mount) {
    const options = { telescope, feeds } as const;
    return { gains, finish: (sky) => ({ ...sky, ...onSnapshot(sky, data, options) }) };
  }
  const { mount } = telescope;
  const { pixels, pixelCosine, field } = choosePixels(
    of.field,
    longestWavelengths(stationPositions(telescope), header.frequenciesHz),
  );
  // What is fixed over the ground becomes a place of the sky once all data are read: only a snapshot is of one place.
  const isNarrow = field.kind === 'field' && field.widthDeg < NARROW_DEG && centre.kind !== 'local';
  if (!isNarrow) {
    refuseLong(of.durationS ?? 0, telescope);
    return {
      gains,
      finish: (sky) => {
        refuseLong(sky.durationS, telescope);
        return { ...sky, ...onSnapshot(sky, data, { telescope, feeds, ...(beam && { beam }) }) };
      },
    };
  }
  if (beam && (mount === 'fixed' || beam.states === 'each'))
    refuse(
      '--beam-corrected',
      'of all four Stokes parameters in a narrow field takes beams that are the same for X and Y',
      'leave it out, or image a snapshot of a wider field',
    );
  const calibrated = withFeeds(gains.calibrated, telescope, centre, {
    ...{ channels: header.frequenciesHz.length, feeds },
  });
  return {
    gains: { ...gains, calibrated },
    finish: (sky) => {
      const frames = [0, 0.25, 0.5, 0.75, 1].map((part) =>
        skyFrame(telescope.site, addSeconds(sky.start, part * sky.durationS)),
      );
      const error = edgeError(telescope, centre, (pixels / 2) * pixelCosine, frames);
      return { ...sky, stokes: narrowStokes(mount, error) };
    },
  };
}

const onSnapshot = (
  sky: WideSkyImage,
  data: StokesFrame,
  {
    telescope,
    feeds,
    beam,
  }: {
    readonly telescope: Telescope;
    readonly feeds: 'linear' | 'circular';
    readonly beam?: ElementBeam;
  },
) =>
  sky.products.length === 4
    ? snapshotStokes(sky, data, {
        ...{ telescope, feeds, autos: 'leave-out' },
        ...{
          pixels: sky.pixels.pixels,
          pixelCosine: sky.pixels.pixelCosine,
          axes: sky.axes,
          frame: sky.frame,
        },
        ...{ brightness: beam ? 'beam-corrected' : 'apparent', crossHands: 'known' },
      })
    : { stokes: leftOut('one product alone') };
