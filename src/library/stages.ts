/**
 * Corella's stages: the links of a chain, for programs that compose one by hand (`import … from 'corella/stages'`).
 * Prefer an observation (`observe` of `corella`) where it suffices: it takes care of units, flags, gains and missing
 * data.
 */
export {
  channelsOf,
  planChannels,
  results,
  run,
  runOne,
  through,
  type RunOptions,
  written,
  both,
  chain,
  passing,
  type Account,
  type Emit,
  type Stage,
  everySpectra,
  integrationClock,
  oneIntegration,
  onUtc,
  type IntegrationClock,
  type IntegrationSettings,
  type SpectrumGrid,
  type TimedSpectra,
  prepareChannelise,
  spectrumGrid,
  type ChanneliseSettings,
  prepareTakeSpectra,
  type TakeSpectraSettings,
  prepareCorrelate,
  type CorrelateSettings,
  prepareCalibrate,
  type CalibrateSettings,
  type CalibratedIntegration,
  preparePower,
  type InputPowers,
  prepareImage,
  type ImageInput,
  type ImageStageSettings,
  prepareDirectImage,
  type DirectImageSettings,
  chooseIntegration,
  type ChosenIntegration,
  type IntegrationChoice,
  matchGains,
  gainsAtMoment,
  fitDelays,
  oneGain,
  type FittedDelay,
  type OverBand,
  longestIntegrationS,
  coherenceOf,
  type Coherence,
  delaysOfPlan,
  mostDelaySamples,
  requestDelays,
  type DelayRequest,
  type RequestedDelays,
  prepareUnphase,
  type UnphaseSettings,
  type Calibrated,
  type ImageSettings,
  type SkyImage,
  writeSeries,
  type Series,
  type SeriesImage,
  writeSky,
  writeSkyFits,
  writeSkyPng,
} from '../stages/index.js';
export {
  correlateSpectra,
  correlateVoltages,
  prepareSpectraCorrelation,
  prepareVoltageCorrelation,
  type CorrelationSettings,
  imageDirectly,
  imageIntegration,
  imagesDirectly,
  type DirectImagesSetup,
} from '../compose/index.js';
export {
  calibrateIntegration,
  imageWideSeries,
  imageWide,
  type WideSkyImage,
  type WideSetup,
  type WideFieldOptions,
  type WideSettings,
  writeWide,
  type WidePaths,
  type WideProductOptions,
} from '../visibilities/index.js';
export {
  receivePackets,
  type EpochSetting,
  type LiveSource,
  type ReceiveAccount,
  type ReceiveSettings,
  type Reception,
} from '../receive/index.js';
export { packetFormats, type PacketFormatName } from '../packets/registry.js';
export { guessPlan, commonFormat } from '../packets/guess-plan.js';
export type { StreamPlan } from '../packets/packet-format.js';
export { createSigmf, createSigmfSpectra, readFitsImage, writeFitsImage } from '../formats/index.js';
export { percentileStretch, renderPng, skyPicture, type Stretch } from '../draw/index.js';
export type { NamedDirection, Picture, SkyPicture } from '../draw/index.js';
export { skyFrame, type SkyFrame, type SkyPosition } from '../sky/frame.js';
export { fixedSource, parseSource, sourceAt, type Source } from '../sky/source.js';
export { sourcesUp } from '../sky/above.js';
export { fixedCentre, localCentre, parsePhaseCentre, type PhaseCentre } from '../sky/phase-centre.js';
export { localSiderealTimeRad } from '../sky/earth/sidereal.js';
export { onUnknownOrientation, useEarthOrientation } from '../sky/earth/orientation.js';
export { readEarthOrientation } from '../sky/earth/orientation-file.js';
export { planSimulation, type SimulationOptions } from '../sky/simulation-plan.js';
export { simulate } from '../sky/simulate.js';
export { trueGains } from '../sky/input-gains.js';
export { selectStations } from '../telescope/select.js';
