/** The two roads from spectra to an image, and the kernels on them. */
export type RoadName = 'visibilities' | 'direct';
export type KernelName = 'channelise' | 'correlate' | 'calibrate' | 'image' | 'direct image' | 'finish';
export const roadNames = ['visibilities', 'direct'] as const satisfies readonly RoadName[];
