/** Entry point of `stages`: the links of a chain, and what they share. */
export { discPixels } from './blank-discs.js';
export { gainsInTime } from './gains/in-time.js';
export { lowCentre } from './low-centre.js';
export {
  type PowersAt,
  type SharedLook,
  apparent,
  areBare,
  correctForBeam,
  correctedSky,
  divideByProjection,
  meanPowers,
  responseOf,
} from './brightness.js';
export {
  type CalibrateSettings,
  type CalibratedIntegration,
  modelComponents,
  prepareCalibrate,
} from './calibrate.js';
export { type CardIntegration, onHost, prepareCardCorrelate, prepareCardSum } from './card/integrations.js';
export { channelRanges } from './cards/joint-parts.js';
export { JointParts } from './cards/joint-parts.js';
export { type ChanneliseSettings, prepareChannelise, spectrumGrid } from './channelise.js';
export {
  BLOCK_BYTES,
  type ChannelSettings,
  channelsOf,
  planChannels,
  spectraIn,
  nominalSpectra,
  readCoefficients,
} from './channels.js';
export {
  type IntegrationClock,
  type IntegrationSettings,
  type SpectrumGrid,
  dividedClock,
  everySpectra,
  integrationClock,
  onUtc,
  oneIntegration,
  refuseLeapSeconds,
  spectrumStart,
} from './clock.js';
export { type Coherence, KEEP, MOST_DELAY_WIDTHS, longestIntegrationS, coherenceOf } from './coherence.js';
export { type CorrelateSettings, prepareCorrelate } from './correlate.js';
export { type DirectImageSettings, type DirectSkyImage, prepareDirectImage } from './direct-image.js';
export {
  type Series,
  type SeriesImage,
  type SeriesFacts,
  type SeriesFile,
  type SeriesPaths,
  finishSeries,
  openSeries,
  onContactSheet,
  writeSeries,
  writtenSeries,
} from './image-series.js';
export { type Finer, prepareFold, spectraBehind } from './fine/fold.js';
export { type FineChannels, planFineChannels, streamsOf } from './fine/streams.js';
export { widenedSource } from './fine/widened-source.js';
export { gatherSpectra, gatherVoltages, splitSpectra } from './flag-blocks.js';
export { type StoredFlags, readStoredFlags, rulesOfFile, writeFlagFile } from './flags/flag-file.js';
export { type FlagAccount, type FlaggedFile, flagFile } from './flags/flagged-file.js';
export {
  type FlagRule,
  type FlagRulesSettings,
  type FlagTally,
  flagsOfAll,
  isOfTime,
  prepareFlagRules,
} from './flags/rules.js';
export {
  type FlagContext,
  channelsNamed,
  inputsNamed,
  pairNamed,
  ruleOf,
  stationNamed,
} from './flags/words.js';
export { applyGains, withoutLeakage } from './gains/apply-visibilities.js';
export {
  type DataFacts,
  channelsWithoutGains,
  crossHandsKnown,
  fitsData,
  fittedGains,
  gainsOverTime,
  matchGains,
  refuseLeakage,
} from './gains/apply.js';
export { MOST_UNEXPLAINED, type ModelCheck, SOME_UNEXPLAINED, checkModel } from './gains/model-check.js';
export {
  type BaselineLength,
  type SolvingModel,
  baselineLength,
  diffuseSky,
  elementBeam,
  modelElement,
  solvingModel,
} from './gains/model.js';
export {
  type OutlierChannel,
  type OutlierGain,
  type OutlierGains,
  leaveOutOutliers,
  outlierGains,
} from './gains/outlier-channels.js';
export { type OutlierInput, outliersByGain, outliersByPower } from './gains/outlier-inputs.js';
export { toOneReference } from './gains/one-reference.js';
export { type OutsideSource, outsideModel } from './gains/outside.js';
export { type FittedDelay, type OverBand, fitDelays, oneGain } from './gains/over-band.js';
export { gainsAtMoment } from './gains/over-time.js';
export { type Misfit, SOME_LOST, shapedGains } from './gains/shaped.js';
export { frameAtMiddle, longestBaselineM, phasedAt, stationPositions } from './geometry.js';
export {
  W_TERM_ACCURACY,
  type ImageInput,
  type ImageStageSettings,
  type VisibilitySkyImage,
  prepareImage,
} from './image.js';
export { joinChannels } from './join-channels.js';
export {
  type RequestedKurtosis,
  flaggedBlockOf,
  leastSpectraOf,
  powersFor,
  prepareKurtosis,
} from './kurtosis.js';
export { type Lateness, leavingOutLate } from './late.js';
export { imagedInputs, imagedTelescope, leftOutOf } from './left-out.js';
export { type Level, atNominalGain, brightnessAtNominalGain, chooseLevel } from './levels.js';
export { readEqualiser, writeEqualiser } from './levels/equaliser-file.js';
export { type EqualiserGains, measureEqualiser, undoEqualiser } from './levels/equaliser-gains.js';
export { LOOKED_AT, RANGE, SpectraWatch } from './levels/watch-spectra.js';
export { type Rounded, RoundingWatch, measuredRange } from './levels/watch.js';
export { partOfRecording, partOfStream } from './part-of-recording.js';
export { MOST_LOSS, checkedPhaseLoss, phaseLoss, phaseLossLines } from './phase-loss.js';
export { ImagerStore, planMoments } from './planned-imager.js';
export { type InputPowers, preparePower } from './power.js';
export {
  type ImageFile,
  type PictureOptions,
  brightnessFacts,
  fewStationsBeam,
  handName,
  labelsOf,
  pictureParts,
  sidelobesText,
  planesOf,
  writeSky,
  writeSkyFits,
  writeSkyPng,
  writeJointly,
  pictureWidth,
} from './products.js';
export { queued } from './queued.js';
export { recordSimulation } from './record.js';
export { type Integrations, type RowReader, channelOf, prepareBins, readRows, rowsOf } from './rows.js';
export { type RunOptions, lengthOf, results, run, runOne, through } from './run.js';
export { type CoarsePlan, betweenPixels, seenIn } from './seen-in.js';
export { type ChannelRange, gapsWithin, prepareSelectChannels } from './select-channels.js';
export {
  type ChosenIntegration,
  type IntegrationChoice,
  type SolutionSum,
  SolutionSums,
  chooseIntegration,
  spread,
} from './select.js';
export { type Share, tallyShares } from './shares.js';
export {
  type Calibrated,
  type CalibratedAt,
  type CalibratedFully,
  type ImageSettings,
  type Response,
  type SkyImage,
  type StokesFrame,
  type StokesPlanes,
  axesAt,
  calibratedAt,
  centreAt,
  centreOf,
  leavingOutEmpty,
  neededPixels,
  ownImage,
  pixelsOf,
  planSky,
  planSkyGeometry,
  withCentre,
} from './sky-image.js';
export { movedGaps, sliceBlock, sliceSpectra } from './slices.js';
export { type Smearing, smearingOf } from './smearing.js';
export type { TimedSpectra } from './spectra.js';
export {
  type Account,
  type Emit,
  type Stage,
  addAccounts,
  both,
  chain,
  changing,
  emptyAccount,
  keepsNothing,
  passing,
} from './stage.js';
export {
  NARROW_DEG,
  SNAPSHOT_S,
  edgeError,
  leftOut,
  narrowStokes,
  refuseLong,
  snapshotOnSky,
  snapshotStokes,
  stokesFrameOf,
  withFeeds,
} from './stokes.js';
export { storedOf } from './stored.js';
export { hostAdder, prepareSum } from './sum.js';
export { prepareTakeCells } from './take-cells.js';
export { takeChannels } from './take-channels.js';
export { type TakeSpectraSettings, prepareTakeSpectra, spectraPerBlock } from './take-spectra.js';
export { type TiltFacts, outsideField, tiltFacts, tiltLines } from './tilt.js';
export {
  type DelayRequest,
  type RequestedDelays,
  delaysOfPlan,
  fixedDelays,
  mostDelaySamples,
  requestDelays,
} from './tracking.js';
export { type UnphaseSettings, prepareUnphase, trackedGains } from './unphase.js';
export { type RequestedVanVleck, type VanVleckTally, prepareVanVleck } from './van-vleck.js';
export { type Copied, endsEarly, written, writtenAsFar, writtenBlocks } from './write.js';
