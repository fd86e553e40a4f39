/** For tests in other modules: a picture as pixels, without PNG. */
export { renderCanvas } from './render.js';
