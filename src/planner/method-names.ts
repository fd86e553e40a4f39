/** Both imaging methods, and their kernels. */
export const methodNames = ['visibilities', 'direct'] as const;
export type MethodName = (typeof methodNames)[number];
export type KernelName =
  'channelise' | 'correlate' | 'calibrate' | 'image' | 'direct image' | 'finish' | 'beams';
