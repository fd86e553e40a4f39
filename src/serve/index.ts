/** The door of serving: a night, or files, on a page. */
export { checkPageAddress, openPage, type Page, type PageSettings } from './open.js';
export { openCapture, type Listening } from './capture.js';
export { tokenOf } from './guard.js';
export { LiveState, type Begun, type NightFacts } from './live-state.js';
export type { Frame } from './film.js';
export { colourRange } from './planes.js';
export { openRunPage, pageAddress, type RunPage, type Steerable, type SteeredState } from './run-page.js';
export { checkAlarmUrl } from './webhook.js';
export { watchInput } from './watch-source.js';
export type * from './messages.js';
export { Together, type MachineBook } from './joined/joined.js';
export { partOf } from './joined/part.js';
