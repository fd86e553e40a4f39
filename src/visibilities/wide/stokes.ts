/** Stokes parameters of the sky, from the known properties of the feeds. */
import { refuse } from '../../core/errors.js';
import { addSeconds } from '../../core/instant.js';
import type { VisibilityHeader } from '../../formats/index.js';
import {
  edgeError,
  leftOut,
  NARROW_DEG,
  narrowStokes,
  refuseLong,
  SNAPSHOT_S,
  snapshotStokes,
  withFeeds,
  type StokesFrame,
  stationPositions,
} from '../../stages/index.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { skyFrame } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { GainsOver } from '../gains-over.js';
import { withoutResponse } from './brightness.js';
import type { WideSkyImage } from './image.js';
import { choosePixels, longestWavelengths, type WideFieldOptions } from './settings.js';

/** Converts all four Stokes parameters, for a field anywhere, to those of the sky. */
export interface WideStokes {
  readonly gains: GainsOver;
  /** Converts the finished image. */
  finish(sky: WideSkyImage): WideSkyImage;
}

/** Snapshots of the whole sky have all four Stokes parameters, like direct images; other images have I by default. */
export function defaultStokes(
  { field }: { readonly field: WideFieldOptions },
  {
    telescope,
    header,
    durationS = Infinity,
  }: {
    readonly telescope: Telescope;
    readonly header: Pick<VisibilityHeader, 'frequenciesHz' | 'polarisations' | 'products'>;
    readonly durationS?: number;
  },
): 'I' | 'IQUV' {
  const hasFour = header.polarisations === 2 && (header.products?.length ?? 4) === 4;
  const isShort = durationS <= SNAPSHOT_S || telescope.mount === 'equatorial';
  const longest = longestWavelengths(stationPositions(telescope), header.frequenciesHz);
  return hasFour && isShort && choosePixels(field, longest).field.kind === 'all-sky' ? 'IQUV' : 'I';
}

/** Whether a channel has only some of the four products. */
export function lacksProducts({
  empty,
  products,
}: Pick<WideSkyImage, 'empty'> & { readonly products: readonly unknown[] }): boolean {
  const lost = new Map<number, number>();
  for (const { channel } of empty) lost.set(channel, (lost.get(channel) ?? 0) + 1);
  return [...lost.values()].some((count) => count < products.length);
}

interface WideStokesOptions {
  readonly telescope: Telescope;
  readonly header: Pick<VisibilityHeader, 'feeds' | 'frequenciesHz'>;
  readonly centre: PhaseCentre;
  readonly field: WideFieldOptions;
  readonly beam?: ElementBeam;
  /** Length of the data, if known in advance. */
  readonly durationS?: number;
}

export function wideStokes(
  which: 'I' | 'IQUV',
  gains: GainsOver,
  data: StokesFrame,
  of: WideStokesOptions,
): WideStokes {
  const { telescope, header, centre, beam } = of;
  const feeds = header.feeds ?? 'linear';
  if (which === 'I')
    return {
      gains,
      finish: (sky) => (data.kind === 'feeds' ? withoutResponse(sky, telescope, beam) : sky),
    };
  if (data.kind !== 'feeds' || !telescope.mount) {
    const options = { telescope, feeds } as const;
    return { gains, finish: (sky) => ({ ...sky, ...onSnapshot(sky, data, options) }) };
  }
  const { mount } = telescope;
  const { pixels, pixelCosine, field } = choosePixels(
    of.field,
    longestWavelengths(stationPositions(telescope), header.frequenciesHz),
  );
  // A centre fixed to the ground becomes a sky position once all data are read: only a snapshot has a single position.
  const isNarrow = field.kind === 'field' && field.widthDeg < NARROW_DEG && centre.kind !== 'local';
  if (!isNarrow) {
    refuseLong(of.durationS ?? 0, telescope);
    return {
      gains,
      finish: (sky) => {
        refuseLong(sky.durationS, telescope);
        return { ...sky, ...onSnapshot(sky, data, { telescope, feeds, beam }) };
      },
    };
  }
  if (beam && (mount === 'fixed' || beam.states === 'each'))
    refuse(
      'products.images.beam-corrected',
      'of all four Stokes parameters in a narrow field needs beams that are the same for X and Y',
      'leave it out, or image a snapshot of a wider field',
    );
  const calibrated = withFeeds(gains.calibrated, telescope, centre, {
    channels: header.frequenciesHz.length,
    feeds,
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
  of: Pick<WideStokesOptions, 'telescope' | 'beam'> & { readonly feeds: 'linear' | 'circular' },
) =>
  sky.products.length === 4
    ? snapshotStokes(sky, data, {
        telescope: of.telescope,
        feeds: of.feeds,
        autos: 'leave-out',
        pixels: sky.pixels.pixels,
        pixelCosine: sky.pixels.pixelCosine,
        axes: sky.axes,
        frame: sky.frame,
        brightness: of.beam ? 'beam-corrected' : 'apparent',
        crossHands: 'known',
      })
    : { stokes: leftOut('one product alone') };
