/** Entry point of `pulsar`: folding and searching of filterbank files. */
export { foldFilterbank } from './fold.js';
export { parseParameters } from './parameter-file.js';
export { foldPicture, searchPicture } from './pictures.js';
export { searchFilterbank } from './search.js';
