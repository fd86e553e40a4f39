/** Integrations of the run, thinned like its images (image-history.ts), for re-imaging with other weights. */
import type { Integration } from '../../core/blocks.js';
import { addSeconds, toDate } from '../../core/instant.js';

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
  private kept: Kept[] = [];
  private bytes = 0;
  private apartS = 0;
  /** Whether integrations are too large to be kept. */
  isTooLarge = false;

  constructor(private readonly mostBytes = MOST_BYTES) {}

  /** Takes ownership of its arrays. */
  add(integration: Integration): void {
    this.isTooLarge = bytesOf(integration) > LARGEST_SHARE * this.mostBytes;
    if (this.isTooLarge) return;
    const { start, durationS } = integration;
    const unixS = toDate(addSeconds(start, durationS / 2)).getTime() / 1000;
    const last = this.kept.at(-1);
    if (last && Math.abs(unixS - last.unixS) < this.apartS - 1e-3) return;
    this.kept.push({ unixS, integration });
    this.bytes += bytesOf(integration);
    while (this.bytes > this.mostBytes) this.thin(durationS);
  }

  private thin(durationS: number): void {
    this.kept = this.kept.filter((_, k) => k % 2 === 0);
    this.bytes = this.kept.reduce((sum, { integration }) => sum + bytesOf(integration), 0);
    this.apartS = 2 * Math.max(this.apartS, durationS);
  }

  get all(): readonly Kept[] {
    return this.kept;
  }

  /** The nearest to a time. */
  at(unixS: number): Kept | undefined {
    return this.kept.reduce<Kept | undefined>(
      (best, one) => (best && Math.abs(best.unixS - unixS) <= Math.abs(one.unixS - unixS) ? best : one),
      undefined,
    );
  }
}
