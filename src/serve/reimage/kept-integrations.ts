/** Integrations of the run, thinned like its images (image-history.ts), for re-imaging with other weights. */
import type { Integration } from '../../core/blocks.js';
import { addSeconds, toDate } from '../../core/instant.js';
import { Thinned } from '../image-history.js';

const MOST_BYTES = 96 * 2 ** 20;
/** A larger integration is not kept: a handful at least, or none. */
const LARGEST_SHARE = 0.25;

export interface Kept {
  /** Its middle. */
  readonly unixS: number;
  readonly integration: Integration;
}

const bytesOf = ({ visibilities, counts }: Integration): number =>
  visibilities.byteLength + counts.byteLength;

export class KeptIntegrations {
  private readonly kept: Thinned<Kept>;
  /** Whether integrations are too large to be kept. */
  isTooLarge = false;

  constructor(private readonly mostBytes = MOST_BYTES) {
    this.kept = new Thinned(({ integration }) => bytesOf(integration), mostBytes);
  }

  /** Takes ownership of its arrays. */
  add(integration: Integration): void {
    this.isTooLarge = bytesOf(integration) > LARGEST_SHARE * this.mostBytes;
    if (this.isTooLarge) return;
    const { start, durationS } = integration;
    const unixS = toDate(addSeconds(start, durationS / 2)).getTime() / 1000;
    this.kept.add({ unixS, integration });
  }

  get all(): readonly Kept[] {
    return this.kept.all;
  }

  /** The nearest to a time. */
  at(unixS: number): Kept | undefined {
    return this.kept.at(unixS);
  }
}
