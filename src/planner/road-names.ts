/** Both imaging methods, and their kernels. */
export const roadNames = ['visibilities', 'direct'] as const;
export type RoadName = (typeof roadNames)[number];
export type KernelName =
  'channelise' | 'correlate' | 'calibrate' | 'image' | 'direct image' | 'finish' | 'beams';
