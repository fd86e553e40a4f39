/** Entry point of `demo`: first light: a simulated sky from voltages to an image. */
export { BRIGHT_FRACTION, type FoundSource, SEARCH_PIXELS } from './demo.js';
export { firstLight } from './first-light.js';
