/** Entry point of `fields`: how options are declared. */
export {
  aboutField,
  variant,
  field,
  rangeWords,
  requiredField,
  withDefaults,
  type About,
  type Field,
  type Filled,
} from './field.js';
export {
  angleDeg,
  angleUnits,
  formOf,
  frequencyHz,
  frequencyUnits,
  readQuantity,
  timeS,
  timeUnits,
  withForm,
  type Units,
} from './quantities.js';
export {
  baselineList,
  brightnessRange,
  channelList,
  channelRange,
  discList,
  flagged,
  inputList,
  inputPath,
  nameList,
  oneOrTwo,
  outputPath,
  pathList,
  place,
  productPath,
  real,
  timeList,
  utc,
  whole,
  wholeList,
  words,
} from './values.js';
export { choicesOf, withChoices, fromText, helpOf, problemsFor } from './text.js';
export { allowedWords, problemsOf, type Problem } from './problems.js';
export { alternatives, bare, fieldsOf, meantForm, shapeOf, valueAt, type PlacedField } from './walk.js';
