/** Entry point of `observation`: a user's request, as plain data. */
export { withSolvedGains } from './solved.js';
export { observation, product, type Observation, type ObservationInput, skyModelsOf } from './schema.js';
export { flags } from './parts/flags.js';
export { front, type FrontPart } from './parts/front.js';
export { gains } from './parts/gains.js';
export { machine } from './parts/machine.js';
export { page, pageFields } from './parts/page.js';
export { formatHelp, isOfLiveData, source, sourceKind, type SourcePart } from './parts/source.js';
export { canonicalJson } from './canonical.js';
export { checkObservation, ObservationError } from './check.js';
export { readObservation, writeObservation } from './file.js';
export { addFlags, type Flags, type FlagSettings } from './flags.js';
export { observationJsonSchema } from './json-schema.js';
export { fieldReference } from './reference.js';
export { crossHandFlag, directFlag, flagRules, timesFlag } from './shorthands.js';
export {
  openRecording,
  readingOptionsOf,
  telescopeOf,
  unknownFactWords,
  type OpenedRecording,
} from './opening.js';
export { filterOf, gatherDelays, gatherFront } from './front-plan.js';
export {
  discsOf,
  inForceOf,
  gather,
  isOfSky,
  inputsOf,
  kurtosisOf,
  planObservation,
  rulesOf,
  type ObservationPlan,
} from './plan.js';
export { historyOf, readLine } from './history.js';
export {
  Backends,
  Guarded,
  checkPlannedOutputs,
  into,
  readsOf,
  refuseUnwritten,
  runObservation,
  withPlan,
  type ObservedItem,
  type ProductOutcome,
  type RunOutcome,
} from './run.js';
export {
  refuseNotLive,
  refuseNotOfRecordings,
  refuseNotOfVisibilities,
  refusalOf,
  refuseUnsupported,
  supportTable,
} from './support.js';
export { observationIn, observationOfProduct } from './from-product.js';
export {
  failedMessage,
  frontFacts,
  frontLines,
  gainsFactsOf,
  gainsLinesOf,
  lackingOf,
  productFacts,
  productLines,
  spectraText,
} from './report.js';
