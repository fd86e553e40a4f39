/** The history of a live product: its observation can be run again on a recording of the same data. */
import { historyOf, sourceKind, type Observation } from '../observation/index.js';

/** The observer replaces this with the recording's name. */
const REPLACE_ME = 'REPLACE_ME';

interface HistoryFacts {
  /** Input files. */
  readonly reads: readonly string[];
  /** Description of the data. */
  readonly description: string;
  /** Warnings of the plan. */
  readonly notes: readonly string[];
  /** The log of changes during the run. */
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
