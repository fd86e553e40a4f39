/**
 * Corella from TypeScript: plan, prepare, run. The command line is made of these same pieces
 * (docs/library.md begins with a whole program; src/cli shows each piece in use).
 */
export { CorellaError } from './core/errors.js';
export * from './core/axes.js';
export type * from './core/blocks.js';
export type * from './core/sources.js';
export type { OnProgress, Progress } from './core/progress.js';
export type { SpectraGap, VoltageGap } from './core/gaps.js';
export { addSeconds, formatInstant, instant, parseInstant, type Instant } from './core/instant.js';

export { openBackend, describeDevices } from './backend/select.js';
export type { Backend } from './backend/backend.js';

export { loadTelescope } from './telescope/load.js';
export { telescopeNames } from './telescope/registry.js';
export { selectStations } from './telescope/select.js';
export type { Site, Station, Telescope } from './telescope/telescope.js';

export { skyFrame, type SkyFrame, type SkyPosition } from './sky/frame.js';
export { findSources, sourceNames } from './sky/sources.js';
export { fixedSource, parseSource, sourceAt, type Source } from './sky/source.js';
export { sourcesUp } from './sky/above.js';
export { fixedCentre, localCentre, parsePhaseCentre, type PhaseCentre } from './sky/phase-centre.js';
export { localSiderealTimeRad } from './sky/earth/sidereal.js';
export { onUnknownOrientation, useEarthOrientation } from './sky/earth/orientation.js';
export { readEarthOrientation } from './sky/earth/orientation-file.js';
export * from './delay/index.js';
export { planSimulation, type SimulationOptions } from './sky/simulation-plan.js';
export { simulate } from './sky/simulate.js';
export { trueGains } from './sky/input-gains.js';

export type * from './formats/format.js';
export {
  createSigmf,
  createSigmfSpectra,
  openFile,
  readFitsImage,
  readGainFile,
  readGains,
  visibilityFormatFor,
  writeFitsImage,
  writeGainFiles,
  writeGains,
} from './formats/index.js';
export { percentileStretch, renderPng, skyPicture, type Stretch } from './draw/index.js';
export type { NamedDirection, Picture, SkyPicture } from './draw/index.js';

export * from './channelise/index.js';
export * from './correlate/index.js';
export * from './calibrate/index.js';
export * from './image/index.js';

export { channelsOf, planChannels } from './pipeline/channels.js';
export { results, run, runOne, through, type RunOptions } from './pipeline/run.js';
export { written } from './pipeline/write.js';
export { both, chain, passing, type Account, type Emit, type Stage } from './pipeline/stages/stage.js';
export { everySpectra, integrationClock, oneIntegration, onUtc } from './pipeline/stages/clock.js';
export type { IntegrationClock, IntegrationSettings, SpectrumGrid } from './pipeline/stages/clock.js';
export type { TimedSpectra } from './pipeline/stages/spectra.js';
export { prepareChannelise, spectrumGrid, type ChanneliseSettings } from './pipeline/stages/channelise.js';
export { prepareTakeSpectra, type TakeSpectraSettings } from './pipeline/stages/take-spectra.js';
export { prepareCorrelate, type CorrelateSettings } from './pipeline/stages/correlate.js';
export { prepareCalibrate, type CalibrateSettings } from './pipeline/stages/calibrate.js';
export type { CalibratedIntegration } from './pipeline/stages/calibrate.js';
export { preparePower, type InputPowers } from './pipeline/stages/power.js';
export { prepareImage, type ImageInput, type ImageStageSettings } from './pipeline/stages/image.js';
export { prepareDirectImage, type DirectImageSettings } from './pipeline/stages/direct-image.js';
export {
  correlateSpectra,
  correlateVoltages,
  prepareSpectraCorrelation,
  prepareVoltageCorrelation,
  type CorrelationSettings,
} from './pipeline/correlate.js';
export { chooseIntegration, type ChosenIntegration, type IntegrationChoice } from './pipeline/select.js';
export { matchGains } from './pipeline/gains/apply.js';
export { gainsAtMoment } from './pipeline/gains/over-time.js';
export { fitDelays, oneGain, type FittedDelay, type OverBand } from './pipeline/gains/over-band.js';
export { bearableIntegrationS, coherenceOf, type Coherence } from './pipeline/coherence.js';
export {
  delaysOfPlan,
  mostDelaySamples,
  requestDelays,
  type DelayRequest,
  type RequestedDelays,
} from './pipeline/tracking.js';
export { prepareTurnBack, type TurnBackSettings } from './pipeline/stages/turn-back.js';
export { calibrateIntegration } from './pipeline/calibrate.js';
export { imageDirectly, imageIntegration } from './pipeline/image.js';
export type { Calibrated, ImageSettings, SkyImage } from './pipeline/sky-image.js';
export { imagesDirectly, type DirectImagesRoad } from './pipeline/image.js';
export { writeSeries, type Series, type SeriesImage } from './pipeline/wide/film.js';
export { imageWideSeries } from './pipeline/wide/series.js';
export { imageWide, type WideSkyImage } from './pipeline/wide/image.js';
export type { WideRoad } from './pipeline/wide/survey.js';
export type { WideFieldOptions, WideSettings } from './pipeline/wide/settings.js';
export { writeWide, type WidePaths, type WideProductOptions } from './pipeline/wide/products.js';
export { writeSky, writeSkyFits, writeSkyPng } from './pipeline/products.js';
export { planResident, type ResidentPlan } from './pipeline/resident/plan.js';
export {
  prepareResidentChain,
  type HostBlock,
  type ResidentChain,
  type ResidentImage,
} from './pipeline/resident/chain.js';
export {
  receivePackets,
  type EpochSetting,
  type LiveSource,
  type ReceiveAccount,
  type ReceiveSettings,
  type Reception,
} from './receive/index.js';
export { packetFormats, type PacketFormatName } from './packets/registry.js';
export { guessPlan, usualFormat } from './packets/guess-plan.js';
export type { StreamPlan } from './packets/packet-format.js';
