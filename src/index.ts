/**
 * Corella from TypeScript. `observe` runs an observation: everything the commands do. Stages and kernels by themselves are in
 * `corella/stages` and `corella/kernels` (docs/library.md begins with a whole program).
 */
export {
  observe,
  type Item,
  type ObservationOutcome,
  type PageAddress,
  type ObserveOptions,
  type RunningObservation,
  type SteeredChange,
} from './library/observe.js';
export { calibrate, image, type ObservationSettings } from './library/from-visibilities.js';
export { inspect } from './library/inspect.js';
export { write, type Writable } from './library/write.js';
export {
  checkObservation,
  ObservationError,
  readObservation,
  writeObservation,
  type Observation,
  type ObservationInput,
} from './observation/index.js';

export { openFile as open, readGainFile as readGains } from './formats/index.js';
export type { GainsFile, OpenedFile, Recording, VisibilityFile, VisibilityHeader } from './formats/index.js';

export { loadTelescope as telescope } from './telescope/load.js';
export { telescopeNames } from './telescope/registry.js';
export type { Site, Station, Telescope } from './telescope/telescope.js';
export { openBackend as backend, describeDevices as devices } from './backend/select.js';
export type { Backend } from './backend/backend.js';

export { findSources, sourceNames } from './sky/sources.js';
export type { Source } from './sky/source.js';
export { addSeconds, formatInstant, parseInstant, secondsBetween, type Instant } from './core/instant.js';
export { CorellaError } from './core/errors.js';
export type { CanonicalSpectra, Integration } from './core/blocks.js';
export type { GainsCA, ImageCPML, SpectraCAT, VisibilitiesCBPP } from './core/axes.js';
export type { OnProgress, Progress } from './core/progress.js';
export type { SkyImage } from './stages/index.js';
