/** The account of a ring as it grows. */
import { laneOutcomes, outcomes, type LaneOutcome, type Outcome, type RingAccount } from './ring.js';

interface LaneTally {
  readonly outcomes: Record<LaneOutcome, number>;
  missingCells: number;
  newestTick: bigint | undefined;
  rivals: number;
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

const isLaneOutcome = (outcome: Outcome): outcome is LaneOutcome =>
  (laneOutcomes as readonly Outcome[]).includes(outcome);

export class Tally {
  packets = 0;
  bytes = 0;
  blocks = 0;
  skippedBlocks = 0;
  missingCells = 0;
  resyncs = 0;
  readonly outcomes = zeros(outcomes);
  readonly lanes: LaneTally[];

  constructor(lanes: number) {
    this.lanes = Array.from({ length: lanes }, () => ({
      outcomes: zeros(laneOutcomes),
      missingCells: 0,
      newestTick: undefined,
      rivals: 0,
    }));
  }

  count(outcome: Outcome, lane?: number): Outcome {
    this.outcomes[outcome]++;
    if (lane !== undefined && isLaneOutcome(outcome)) this.lanes[lane].outcomes[outcome]++;
    return outcome;
  }

  /** Blocks of which nothing came, so many cells of each lane. */
  skip(blocks: number, cellsOfLane: number): void {
    this.skippedBlocks += blocks;
    this.missingCells += blocks * cellsOfLane * this.lanes.length;
    for (const lane of this.lanes) lane.missingCells += blocks * cellsOfLane;
  }

  snapshot(): Omit<RingAccount, 'refusedResyncs'> {
    const { packets, bytes, blocks, skippedBlocks, missingCells, resyncs } = this;
    return {
      ...{ packets, bytes, blocks, skippedBlocks, missingCells, resyncs },
      outcomes: { ...this.outcomes },
      lanes: this.lanes.map((lane) => ({ ...lane, outcomes: { ...lane.outcomes } })),
    };
  }
}
