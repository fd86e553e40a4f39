/**
 * TART correlations from HDF5 and JSON: one value per pair of antennas, one channel. The value of the pair (i, j), re +
 * i·im, is our V_ij: a source in the east gives it a positive phase if i is east of j. (Verified on the sky: 26
 * satellites above 25° in a snapshot with a catalogue; the conjugate shows none of them.)
 */
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { skyFrame } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { VisibilityFile } from '../format.js';
import { gather, type StoredProduct, noFaults } from '../io/gather.js';
import type { TartFacts } from './description.js';
import type { TartGains } from './gains.js';

/** The value of one pair. */
export interface TartValue {
  readonly i: number;
  readonly j: number;
  readonly re: number;
  readonly im: number;
}
export interface TartSnapshot {
  readonly time: Instant;
  readonly values: Iterable<TartValue>;
}

/** Duration of a single snapshot: about the interval of a running TART. */
export const ALONE_S = 1;
const XX: StoredProduct = { p1: 0, p2: 0, label: 'XX' };

export function refuseStrangers(path: string, { antennas }: TartFacts, values: readonly TartValue[]): void {
  const stranger = values.find(({ i, j }) => Math.max(i, j) >= antennas);
  if (stranger)
    refuse(path, `holds the pair (${stranger.i}, ${stranger.j}) of ${antennas} antennas`, 'it is damaged');
}

/** One snapshot as an integration. */
export function integrationOf(
  { time, values }: TartSnapshot,
  { antennas }: TartFacts,
  durationS: number,
  { path, faults = noFaults() }: { readonly path: string; readonly faults?: ReturnType<typeof noFaults> },
): Integration {
  const gathering = gather({
    channels: 1,
    stations: antennas,
    polarisations: 1,
    products: [XX],
    values: 'mean',
    path,
    faults,
  });
  for (const { i, j, re, im } of values) {
    gathering.row(i, j);
    gathering.add(0, XX, re, im, 1);
  }
  return gathering.finish({ start: time, durationS });
}

/** The duration of each snapshot: the files contain only times. */
function durationFor(
  path: string,
  times: readonly Instant[],
): { readonly durationS: number; readonly assumed: string } {
  const steps = times.slice(1).map((time, k) => secondsBetween(times[k], time));
  if (steps.length === 0)
    return {
      durationS: ALONE_S,
      assumed: `the file does not state its duration: ${ALONE_S} s from its time is assumed`,
    };
  const durationS = Math.min(...steps);
  if (!(durationS > 0)) refuse(path, 'holds a time twice, or times that go back', 'take those snapshots out');
  return {
    durationS,
    assumed: `the file does not state the length of integrations: ${durationS.toFixed(3)} s from each time is assumed, the shortest step`,
  };
}

export function snapshotsAsFile(described: {
  readonly path: string;
  readonly facts: TartFacts;
  readonly telescope: Telescope;
  readonly times: readonly Instant[];
  readonly snapshot: (k: number) => TartSnapshot;
  readonly gains?: TartGains | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly close: () => Promise<void>;
}): VisibilityFile {
  const { path, facts, telescope, times, gains } = described;
  const { durationS, assumed } = durationFor(path, times);
  const faults = noFaults();
  return {
    kind: 'visibilities',
    path,
    format: 'tart',
    telescope,
    details: {
      site: facts.title,
      ...described.details,
      ...(gains && { gains: 'in the file, which may be given for gains' }),
      times: times.length,
      firstUtc: formatInstant(times[0], 6),
    },
    header: {
      telescope,
      polarisations: 1,
      frequenciesHz: Float64Array.of(facts.skyFrequencyHz),
      channelWidthHz: facts.bandwidthHz,
      phaseCentre: skyFrame(telescope.site, times[0]).zenith,
      fringes: 'running',
      object: 'zenith',
      history: [`${facts.title}: visibilities of a TART`],
      units: 'uncalib',
    },
    integrationCount: times.length,
    durationsS: new Float64Array(times.length).fill(durationS),
    assumed: [...facts.assumed, assumed],
    faults,
    integrations: async function* () {
      Object.assign(faults, noFaults());
      for (let k = 0; k < times.length; k++) {
        await Promise.resolve();
        yield integrationOf(described.snapshot(k), facts, durationS, { path, faults });
      }
    },
    close: described.close,
  };
}
