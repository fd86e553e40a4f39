/** For tests in other rooms: a picture as pixels, without PNG between. */
export { renderCanvas } from './render.js';
