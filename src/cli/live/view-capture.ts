/** The observation that corella view makes of a capture. */
import { resolveLive } from '../../live/index.js';
import { checkObservation, type Observation } from '../../observation/index.js';
import type { ChannelOptions } from '../options/channel-options.js';

export interface CaptureOptions extends ChannelOptions {
  readonly telescope?: string;
  readonly stations?: number;
  readonly format?: string;
  readonly epoch?: string;
  readonly rate?: number;
  readonly frequency?: number;
  /** Interval between images, and length of each integration. */
  readonly image: number;
  /** Degrees round the zenith; the whole sky by default. */
  readonly field?: number;
  readonly gains?: string;
}

export function captureObservation(capture: string, options: CaptureOptions): Observation {
  const { telescope, stations, format, epoch, rate, frequency, image, field, gains } = options;
  const { channels, filter, taps, window, bits, gain, passband, coefficients } = options;
  return resolveLive(
    checkObservation(
      {
        corella: 1,
        telescope,
        stations,
        source: { capture, format, epoch, rate, frequency },
        front: {
          channels,
          filter,
          taps,
          gain,
          passband,
          coefficients,
          window,
          bits,
        },
        gains: gains === undefined ? undefined : { file: gains },
        products: [
          { visibilities: null, integration: image },
          { images: null, every: image, field },
        ],
      },
      'view',
    ),
  );
}
