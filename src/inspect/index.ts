/** Entry point of `inspect`: contents of a file or a folder, and comparison of the data of two. */
export { type Comparison, compareFiles } from './compare/compare-files.js';
export type { Difference } from './compare/tally.js';
export { filesOfFolder } from './folder.js';
export { fringeCollector, type FringeCollector, MOST_STATIONS } from './fringes/collect.js';
export { type Fringes, fringesOf } from './fringes/numbers.js';
export { responsePicture } from './pictures/filter-response.js';
export { openInspected } from './reports/inspect-file.js';
export { type Drawing, drawings, type Holds, type Inspected, type Report } from './reports/report.js';
export { numbersText } from './reports/text.js';
