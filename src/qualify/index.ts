/** Qualification: tests of the instrument before it is trusted, through its public entry points. */
export { checkLine, missed, qualify, type QualifiedFigure, type Qualification } from './qualification.js';
export { figureNames } from './names.js';
export { reportHtml } from './report/html.js';
export { movedSince, readReport, reportJson, type Moved } from './report/json.js';
