/** How a live product was made: its observation can be run again from a recording of the same data. */
import { historyOf, sourceKind, type Observation } from '../observation/index.js';

/** Where the observer names the recording. */
const REPLACE_ME = 'REPLACE_ME';

interface HistoryFacts {
  /** Files that were read. */
  readonly reads: readonly string[];
  /** What the data were. */
  readonly description: string;
  /** Warnings of the plan. */
  readonly notes: readonly string[];
  /** Where changes of the run are written. */
  readonly log?: string;
}

export function liveHistory(
  version: string,
  observation: Observation,
  product: number,
  { reads, description, notes, log }: HistoryFacts,
): readonly string[] {
  const kind = sourceKind(observation.source);
  const isFile = kind === 'capture' || kind === 'recording';
  const changed = log === undefined ? observation : { ...observation, log };
  const again: Observation = isFile
    ? changed
    : { ...changed, source: { recording: REPLACE_ME }, start: undefined, end: undefined, for: undefined };
  return [
    ...historyOf(version, again, product, reads),
    ...(isFile
      ? []
      : [`${REPLACE_ME}: the data came live (${description}); name a recording of them as source.recording`]),
    ...notes,
  ];
}
