/** The band of averaged channels: only those that have data. */
export interface UsedBand {
  /** The mean of their frequencies by their weights. */
  readonly frequencyHz: number;
  /** The sum of their widths. */
  readonly widthHz: number;
}

/** weights : [c], 0 where a channel has no data. */
export function usedBand(
  frequenciesHz: Float64Array,
  channelWidthHz: number,
  weights: ArrayLike<number>,
): UsedBand {
  const firstHz = frequenciesHz[0];
  let [sum, total, used] = [0, 0, 0];
  frequenciesHz.forEach((frequencyHz, c) => {
    const weight = weights[c];
    if (!(weight > 0)) return;
    sum += weight * (frequencyHz - firstHz);
    total += weight;
    used++;
  });
  return used > 0
    ? { frequencyHz: firstHz + sum / total, widthHz: used * channelWidthHz }
    : usedBand(frequenciesHz, channelWidthHz, new Uint8Array(frequenciesHz.length).fill(1));
}
