/** Files of the field: which formats are opened, read and written, and the types of their contents. */
export type * from './format.js';
export { sampleRateOf } from './format.js';
export { refuseForeignFolder } from './foreign.js';
export { formats, openFile, visibilityFormatFor, type OpenFileOptions } from './registry.js';
export { readingFields } from './reading-options.js';
export { isUnknown } from './unknown-facts.js';
export { refuseSeveralTargets } from './visibilities/targets.js';
export { readCards, type CardContent, type Cards } from './cards.js';
export { openFitsPlanes } from './fits/planes.js';
export { encodeFitsImage, writeFitsImage, type CrossHandLack, type FitsImage } from './fits/image.js';
export { holdsFitsImage, readFitsImage, type ReadFitsImage } from './fits/read-image.js';
export { encodeFitsSeries, fitsSeriesWriter, type FitsSeriesFacts } from './fits/series.js';
export { gainPaths, holdsGains, readGainFile, writeGainFiles } from './gains/gain-files.js';
export { crossHandKnown, writeGains, type DataUnits, type GainsAt, type GainsFile } from './gains/gains.js';
export { findPartialFiles } from './io/partial-files.js';
export { recover, type Recovered } from './recover.js';
export { streamOf, tcpStream, type ByteStream } from './io/byte-stream.js';
export { rtlTcpStream } from './streams/rtl-tcp.js';
export { zmqStream } from './streams/zmtp.js';
export { KrakenStream, type KrakenAccount } from './streams/kraken/stream.js';
export type { KrakenAddress } from './streams/kraken/client.js';
export { krakenFrames } from './streams/kraken/write.js';
export type { KrakenFrame } from './streams/kraken/frame.js';
export { checkSame, isRemote, remoteIdentities } from './io/remote.js';
export {
  allowReading,
  confineReading,
  notingFiles,
  openInput,
  readText,
  type InputFile,
} from './io/input.js';
export {
  checkOutput,
  errorCode,
  checkRoom,
  freeBytesFor,
  makeFolder,
  openOutput,
  openOutputSet,
  TRUNCATED,
  writeFileWhole,
} from './io/output.js';
export { createSigmf, createSigmfSpectra, sigmfPaths } from './recordings/sigmf/sigmf.js';
export { openSampleStream, type StreamDescription, type StreamEvent } from './recordings/stream.js';
export { describeSigmf } from './recordings/sigmf/describe.js';
export { gather, storedProducts, type StoredProduct, type ValueFaults } from './io/gather.js';
export { writtenProducts } from './visibilities/pass-through.js';
export { diskWaitMs, onDisk } from './io/disk-wait.js';
export { checkOutputs, isThere, refuseWrittenTwice, requireInputs, sameFile } from './io/outputs.js';
export { namesIn } from './several/paths.js';
export { recordingPaths } from './recordings/recording-paths.js';
export { openTartApi, type TartApi } from './tart/api.js';
export { gainsFileFrom } from './tart/gains.js';
export { ALONE_S, integrationOf, type TartSnapshot } from './tart/snapshots.js';
export { writeTartRaw, type TartRecording } from './tart/write.js';
export { prepareSkyModels } from './models/prepare.js';
export { createFilterbank, holdsFilterbank, openFilterbank } from './filterbank/filterbank.js';
export type { Filterbank, FilterbankWriter } from './filterbank/file.js';
export { createVdif, samplesPerFrameOf, type VdifHeader, type VdifWriter } from './filterbank/vdif-writer.js';
export type { FilterbankBits, FilterbankHeader } from './filterbank/header.js';
