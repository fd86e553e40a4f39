/** Counts of an integration from those of its parts: of pairs, and of products as soon as one part has them. */
import { baselineCount, countsCB, countsCBPP, type CountsCB, type CountsCBPP } from '../core/axes.js';
import { allProductCounts, mostOfProducts } from '../core/product-counts.js';

interface Shape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly flaggedInputs: Uint8Array;
}

export class PartCounts {
  /** counts : [c][b] of parts that told those alone. */
  private readonly alike: Float64Array;
  /** own : [c][b][p_i][p_j] of the others. */
  private own: Float64Array | undefined;
  private readonly baselines: number;

  constructor(private readonly shape: Shape) {
    this.baselines = baselineCount(shape.stations);
    this.alike = new Float64Array(shape.channels * this.baselines);
  }

  /** Numbers a channel has, by pairs or by products. */
  widthOf(kind: 'pairs' | 'products'): number {
    return kind === 'pairs' ? this.baselines : this.baselines * this.shape.polarisations ** 2;
  }

  add(kind: 'pairs' | 'products', firstChannel: number, values: Float64Array): void {
    const sums =
      kind === 'pairs'
        ? this.alike
        : (this.own ??= new Float64Array(this.shape.channels * this.widthOf('products')));
    const at = firstChannel * this.widthOf(kind);
    for (let n = 0; n < values.length; n++) sums[at + n] += values[n];
  }

  finish(): { readonly counts: CountsCB; readonly productCounts?: CountsCBPP } {
    const { shape, baselines, own } = this;
    const counts = countsCB(this.alike, shape.channels, baselines);
    if (!own) return { counts };
    const sums = allProductCounts({ ...shape, counts }).map((count, n) => count + own[n]);
    return {
      counts: mostOfProducts(sums, shape),
      productCounts: countsCBPP(sums, shape.channels, baselines, shape.polarisations),
    };
  }
}
