/** Entry point of `gnss`: navigation satellites as calibrators. */
export { calibrateByGnss, type GnssCalibration, type GnssSettings } from './calibrate.js';
export { caCode, CHIP_RATE_HZ, CHIPS, L1_HZ, prns } from './codes.js';
export { gnssFields } from './fields.js';
export { directionsByOrbits, directionsOf } from './directions.js';
export { bandOf } from './samples.js';
export { DOPPLER_STEP_HZ } from './search.js';
export type { Cosines } from './solve.js';
export { gainsOf, gnssFacts } from './gains.js';
export { imageOf, imagePixel, satellitePicture } from './images.js';
