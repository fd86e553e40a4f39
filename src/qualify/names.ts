/** Names of the figures, in the order of the report; the help of the command needs them without the figures. */
export const figureNames = [
  'tone',
  'shape',
  'dynamic-range',
  'linearity',
  'delay',
  'signature',
  'exactness',
  'noise',
  'quantisation',
  'closure',
  'beams',
  'gains',
  'images',
  'loss',
  'live',
  'sockets',
  'files',
  'backends',
  'performance',
  'papers',
] as const;
export type FigureName = (typeof figureNames)[number];
