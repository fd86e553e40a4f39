/** Results of products, as text (lines and messages) and as JSON (facts). Loaded when results are printed. */
export { bandOfChannels, bandOfVoltages, bandLines, bandFacts, bandOf } from './band.js';
export { coherenceLines, coherenceFacts } from './coherence.js';
export {
  askedLines,
  flagLines,
  flagFacts,
  faultLines,
  faultFacts,
  orientationLines,
  withOrientation,
  assumedMessages,
  assumedFacts,
} from './flags.js';
export { gainsFacts, gainsLines, lackingMessages } from './gains.js';
export { coarseLines, loneHandNote, stokesNotes, directErrorLines, directErrorFacts } from './image-notes.js';
export { kurtosisLinesOf, kurtosisFactsOf, type RunInterference, runInterference } from './kurtosis.js';
export {
  levelLines,
  RANGES_OF_SPECTRA,
  roundedLines,
  roundedFacts,
  levelFacts,
  equaliserLines,
  equaliserFacts,
} from './levels.js';
export { frameLines, earlyMessage, lossLines, lossFacts, railLines } from './losses.js';
export { vanVleckLines, liveVanVleck } from './van-vleck.js';
