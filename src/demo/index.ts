/** Entry point of `demo`: first light: a simulated sky from voltages to an image. */
export { type FoundSource } from './demo.js';
export { firstLight } from './first-light.js';
