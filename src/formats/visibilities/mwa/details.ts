/** Inspect output for an MWA observation: which data are present or missing, and the corrections of the phases. */
import { formatInstant, instant } from '../../../core/instant.js';
import { fineChannelsPerCoarse, type Layout } from './layout.js';
import type { Observation } from './metafits.js';
import type { Piece } from './pieces.js';
import { pieceReader } from './read.js';

const FIRST_VALUES = 8;

export async function details(of: {
  readonly observation: Observation;
  readonly pieces: readonly Piece[];
  readonly layout: Layout;
  /** Coarse channels of a file, ascending. */
  readonly band: readonly number[];
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly cables: 'keep' | 'remove';
}): Promise<Record<string, unknown>> {
  const { observation, pieces, band, times, cables } = of;
  const { applied, coarseChannels, integrationS } = observation;
  const [first] = pieces;
  const held = [...new Set(pieces.map(({ coarse }) => coarse))].sort((x, y) => x - y);
  const spanMillis = times[times.length - 1] - times[0];
  const steps = Math.round(spanMillis / (1000 * integrationS)) + 1;
  const total = (count: (piece: Piece) => number): number => pieces.reduce((sum, one) => sum + count(one), 0);
  /** Times present in some files but missing in others, counted per coarse channel. */
  const lacking = band
    .filter((coarse) => held.includes(coarse))
    .reduce((sum, coarse) => {
      const own = new Set(
        pieces.filter((one) => one.coarse === coarse).flatMap((one) => [...one.held.keys()]),
      );
      return sum + times.length - own.size;
    }, 0);
  const [earliest] = first.held.keys();
  const read = await pieceReader(of.layout)(first, earliest);
  return {
    correlator: first.correlator,
    observation: observation.obsId,
    metafits: observation.path,
    mode: observation.mode,
    project: observation.project,
    object: observation.object,
    pointing: observation.pointing,
    phaseCentre: observation.phaseCentre,
    coarseChannels: held,
    missingCoarseChannels: coarseChannels.filter((coarse) => !held.includes(coarse)),
    fineChannels: first.channels,
    fineChannelsPerCoarse: fineChannelsPerCoarse(observation),
    integrationS,
    integrations: times.length,
    scansPlanned: observation.scans,
    /** Times between the first and the last that are in no file. */
    missingIntegrations: Math.max(0, steps - times.length),
    missingChannelIntegrations: lacking,
    truncatedIntegrations: total(({ truncated }) => truncated),
    repeatedIntegrations: total(({ repeated }) => repeated),
    goodFrom: formatInstant(instant(observation.goodFromUnixS)),
    integrationsBeforeGoodTime: times.filter((millis) => millis < 1000 * observation.goodFromUnixS).length,
    flaggedTiles: observation.telescope.stations
      .filter((_, s) => observation.flagged[2 * s] || observation.flagged[2 * s + 1])
      .map(({ name }) => name),
    delays: {
      mode: observation.delayMode,
      cables:
        cables === 'remove'
          ? 'not applied by the correlator; removed here'
          : `${applied.cables} by the correlator`,
      geometric:
        applied.stopped === 'nowhere'
          ? 'not applied by the correlator'
          : `fringes stopped at the ${applied.stopped} by the correlator; set going again here`,
      calibration: `${applied.calibration} by the correlator`,
    },
    rawScale: observation.rawScale,
    storedScale: first.scale,
    weights: read?.weights === undefined ? 'none: every value counts whole' : 'in the file',
    /** As stored, in file order. */
    firstValues: Array.from(read?.values.subarray(0, FIRST_VALUES) ?? []),
  };
}
