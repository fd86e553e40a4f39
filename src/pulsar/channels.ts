/** Mean and standard deviation of every channel of a filterbank, to normalise them. */
import type { Filterbank } from '../formats/index.js';

interface ChannelLevels {
  readonly mean: Float64Array;
  /** 0 if a channel is constant: it is left out. */
  readonly deviation: Float64Array;
}

const NUMBERS_AT_ONCE = 2 ** 22;

/** The first plane: I, or XX. Non-finite values are left out. */
export async function channelLevels(file: Filterbank): Promise<ChannelLevels> {
  const { channels } = file.header;
  const [sums, squares, counts] = [0, 1, 2].map(() => new Float64Array(channels));
  const first = new Float64Array(channels).fill(NaN);
  await forEachValue(file, (_, row) => {
    for (let c = 0; c < channels; c++) {
      if (!Number.isFinite(row[c])) continue;
      if (Number.isNaN(first[c])) first[c] = row[c];
      // Relative to the first value, so that squares of large numbers keep their digits.
      const value = row[c] - first[c];
      sums[c] += value;
      squares[c] += value * value;
      counts[c]++;
    }
  });
  const mean = sums.map((sum, c) => (counts[c] > 0 ? first[c] + sum / counts[c] : 0));
  const deviation = squares.map((square, c) =>
    counts[c] > 1 ? Math.sqrt(Math.max(0, square / counts[c] - (sums[c] / counts[c]) ** 2)) : 0,
  );
  return { mean, deviation };
}

/** The first plane of each value, in memory that is reused. */
export async function forEachValue(
  file: Filterbank,
  use: (value: number, row: Float32Array) => void,
): Promise<void> {
  const { channels, planes } = file.header;
  const atOnce = Math.max(1, Math.floor(NUMBERS_AT_ONCE / (channels * planes)));
  for (let first = 0; first < file.values; first += atOnce) {
    const many = Math.min(atOnce, file.values - first);
    const read = await file.read(first, many);
    for (let t = 0; t < many; t++)
      use(first + t, read.subarray(t * channels * planes, t * channels * planes + channels));
  }
}
