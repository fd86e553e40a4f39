/** Entry point of `skies`: small sample recordings and visibilities for trying things out. */
export { writePayloads } from './sample/frames.js';
export { DRIFT, recordDrift } from './sample/drift.js';
export { recordHour } from './sample/hour.js';
export { makeSample, stepText, type Sample, type Step } from './sample/make.js';
export { recordTart } from './sample/tart.js';
