/** The chain of a night that stays on a card: what it is to those who run it (pipeline/resident/live makes it). */
import type { Closable } from '../../core/closing.js';
import type { LiveCells } from '../../receive/index.js';
import type { IntegrationClock, SpectrumGrid } from '../stages/clock.js';
import type { Stage } from '../stages/stage.js';
import type { LiveSinks } from './sinks.js';

export const cardSteps = ['upload', 'turn', 'flag', 'correlate', 'image', 'sum', 'download'] as const;
export type CardStep = (typeof cardSteps)[number];

/** What the card and the bus were busy with, by marks in their own streams. */
export interface CardAccount {
  /** From the first block to the end. */
  readonly wallS: number;
  /** Of that, the part in which kernels ran: all of their times together, overlapping or not. */
  readonly busyShare: number;
  readonly seconds: Readonly<Partial<Record<CardStep, number>>>;
  readonly blocks: number;
  /** Blocks that the host had to copy first, since the ring's pages were not locked. */
  readonly copiedBlocks: number;
  readonly uploadedBytes: number;
  readonly downloadedBytes: number;
  /** What was planned to lie on the card, and what was taken of it. */
  readonly plannedBytes: number;
  readonly takenBytes: number;
}

export interface CardSession {
  readonly grid: SpectrumGrid;
  /** Where spectra are cut: where images end, else integrations. */
  readonly cuts: IntegrationClock;
  readonly files: IntegrationClock;
  readonly sinks: LiveSinks;
}

/** Prepared once, before the first packet; sessions one after the other. */
export interface CardChain extends Closable {
  readonly description: string;
  /** What it makes is handed to the session's sinks, as soon as it has come down. */
  stage(session: CardSession): Stage<LiveCells, never>;
  account(): CardAccount;
}
