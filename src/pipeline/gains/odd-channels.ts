/** Finds channels whose gains are unlike the others': the edges of a band, a transmitter. */
import { median } from '../../core/median.js';

export interface OddChannel {
  readonly channel: number;
  /** Its middle amplitude over the middle one of all channels. */
  readonly level: number;
}

/** Channels whose gains are more than `factor` times above or below those of the middle channel. */
export function oddChannels(gains: Float64Array, channels: number, factor: number): OddChannel[] {
  const inputs = gains.length / 2 / channels;
  const levels = Array.from({ length: channels }, (_, channel) =>
    median(
      Array.from({ length: inputs }, (_unused, a) => {
        const at = 2 * (channel * inputs + a);
        return Math.hypot(gains[at], gains[at + 1]);
      }).filter((amplitude) => !Number.isNaN(amplitude)),
    ),
  );
  const middle = median(levels.filter((level) => !Number.isNaN(level)));
  return levels.flatMap((value, channel) => {
    const level = value / middle;
    return level > factor || level < 1 / factor ? [{ channel, level }] : [];
  });
}
