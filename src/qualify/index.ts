/** Qualification: what an instrument is asked before it is trusted, measured through the doors that observers use. */
export {
  checkLine,
  figureNames,
  missed,
  qualify,
  type QualifiedFigure,
  type Qualification,
} from './qualification.js';
export { reportHtml } from './report/html.js';
export { movedSince, readReport, reportJson, type Moved } from './report/json.js';
