/** Qualification: what an instrument is asked before it is trusted, measured through the doors that observers use. */
export {
  checkLine,
  figureNames,
  figureText,
  missed,
  qualify,
  type QualifiedFigure,
  type Qualification,
  type QualifyOptions,
} from './qualification.js';
export type { Check, Findings } from './figure.js';
export { reportHtml } from './report/html.js';
export { movedSince, readReport, reportJson, type EarlierReport, type Moved } from './report/json.js';
