/** Entry point of `observation`: what a user asks for, as plain data. */
export { withSolvedGains } from './solved.js';
export {
  observation,
  OBSERVATION_VERSION,
  product,
  type Observation,
  type ObservationInput,
  skyModelsOf,
} from './schema.js';
export { flags, type FlagsPart } from './parts/flags.js';
export { front, windowOf, type FrontPart } from './parts/front.js';
export { gains, type GainsPart } from './parts/gains.js';
export { machine, type MachinePart } from './parts/machine.js';
export { page, pageFields, type PagePart } from './parts/page.js';
export {
  formatHelp,
  isOfLiveData,
  source,
  sourceKind,
  sourceKinds,
  type SourceKind,
  type SourcePart,
} from './parts/source.js';
export { canonicalJson } from './canonical.js';
export { checkObservation, fieldName, ObservationError, type ObservationProblem } from './check.js';
export {
  canonicalObservation,
  parseObservation,
  readObservation,
  writeObservation,
  type ObservationFile,
} from './file.js';
export {
  addFlags,
  type Flags,
  type FlagSettings,
  type GivenFields,
  type PartName,
  type Renamed,
  type Shorthand,
} from './flags.js';
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
export {
  filterOf,
  gatherDelays,
  gatherFront,
  planFront,
  type GatheredFront,
  type PlannedFront,
} from './front-plan.js';
export {
  inForceOf,
  gather,
  isOfSky,
  inputsOf,
  kurtosisOf,
  planObservation,
  rulesOf,
  type FlaggedByKurtosis,
  type Gathered,
  type ObservationPlan,
} from './plan.js';
export { historyOf, observationOf, OBSERVATION_MARK, readLine } from './history.js';
export {
  Backends,
  Guarded,
  into,
  readsOf,
  refuseUnwritten,
  runObservation,
  withPlan,
  type FrontOutcome,
  type ObservedItem,
  type ProductOutcome,
  type RunOutcome,
  type RunSettings,
} from './run.js';
export {
  refuseNotLive,
  refuseNotOfRecordings,
  refuseNotOfVisibilities,
  refusalOf,
  refuseUnsupported,
  supportTable,
  unsupported,
  type Unsupported,
} from './support.js';
export { observationIn, observationOfProduct } from './from-product.js';
