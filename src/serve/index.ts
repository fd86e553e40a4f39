/** Entry point of `serve`: shows a run, or files, on a page. */
export { checkPageAddress, openPage, type Page } from './open.js';
export { openCapture } from './capture.js';
export { tokenOf } from './guard.js';
export type { Frame } from './image-history.js';
export { colourRange } from './planes.js';
export { openRunPage, pageAddress, type Steerable } from './run-page.js';
export { checkAlarmUrl } from './webhook.js';
export { watchInput } from './watch-source.js';
export type * from './messages.js';
export { JoinedPage, type JoinedMachine } from './joined/joined.js';
export { openShownCapture, showCapture } from './shown/capture.js';
export { showFits } from './shown/images.js';
export { isCapturePath, shownFilesOf, shownKindOf } from './shown/kinds.js';
export { showVisibilities } from './shown/visibilities.js';
