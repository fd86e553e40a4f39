/** Names of the benchmarks, in their order; the help of the command needs them without the benchmarks. */
export const benchNames = [
  'correlate',
  'channelise',
  'kurtosis',
  'turn',
  'beams',
  'calibrate',
  'calibrate-full',
  'image',
  'grid',
  'wide',
  'series',
  'receive',
  'correlate-integrated',
  'correlate-variants',
  'direct-image-card',
] as const;
