/** Both ways to an image, and the kernels that they run. */
export const roadNames = ['visibilities', 'direct'] as const;
export type RoadName = (typeof roadNames)[number];
export type KernelName =
  'channelise' | 'correlate' | 'calibrate' | 'image' | 'direct image' | 'finish' | 'beams';
