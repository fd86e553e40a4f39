/** Beams: the dynamic spectrum of each, every channel divided by its mean, the newest at the bottom. */
import { html } from 'lit';
import type { BeamsHead, PlanView } from '../../serve/messages.js';
import { fixed, hertz } from '../format.js';
import type { HeatData } from '../heat.js';
import { View } from '../view.js';
import '../heat.js';

const ROWS = 240;

interface Beam {
  readonly name: string;
  readonly rows: { readonly time: string; readonly values: Float32Array }[];
}

class Beams extends View {
  private plan: PlanView | undefined;
  /** By product number and name: continuing beams keep their rows. */
  private readonly products = new Map<number, readonly Beam[]>();
  private readonly heads = new Map<number, BeamsHead>();

  protected override begin(): void {
    this.subscribe('plan', (plan) => (this.plan = plan));
    this.subscribe('beams', ({ head, values }) => {
      const { product, names, shape, time } = head;
      const before = this.products.get(product) ?? [];
      this.heads.set(product, head);
      this.products.set(
        product,
        names.map((name, b) => {
          const beam = before.find((one) => one.name === name) ?? { name, rows: [] };
          if (beam.rows.at(-1)?.values.length !== shape[1]) beam.rows.length = 0;
          beam.rows.push({ time, values: values.slice(b * shape[1], (b + 1) * shape[1]) });
          if (beam.rows.length > ROWS) beam.rows.shift();
          return beam;
        }),
      );
    });
  }

  private heat({ name, rows }: Beam): HeatData {
    const columns = rows[0].values.length;
    const values = new Float32Array(rows.length * columns);
    for (let c = 0; c < columns; c++) {
      const mean = rows.reduce((sum, row) => sum + row.values[c], 0) / rows.length;
      rows.forEach((row, k) => {
        values[k * columns + c] = mean > 0 ? row.values[c] / mean : NaN;
      });
    }
    const sorted = values.filter(Number.isFinite).sort();
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 1;
    const [low, high] = [at(0.01), at(0.99)];
    return {
      values,
      rows: rows.length,
      columns,
      low,
      high: Math.max(high, low + 1e-3),
      palette: 'brightness',
      label: `${name} over time, from the top, and frequency, from the left`,
    };
  }

  private spectrum(beam: Beam) {
    const heat = this.heat(beam);
    const frequencies = this.plan?.frequenciesHz ?? [0];
    return html`<section class="beam">
      <h3>${beam.name}</h3>
      <div class="heat-box waterfall">
        <span class="y"
          >${beam.rows[0].time.slice(11, 19)} to ${beam.rows.at(-1)?.time.slice(11, 19)} UTC, downwards</span
        >
        <corella-heat .data=${heat}></corella-heat>
        <span class="x"
          ><span>${hertz(frequencies[0])}</span
          ><span>${hertz(frequencies[frequencies.length - 1])}</span></span
        >
      </div>
      <div class="bar brightness">
        <span>${fixed(heat.low, 2)}</span><i></i><span>${fixed(heat.high, 2)} of the channel's mean</span>
      </div>
    </section>`;
  }

  protected override render() {
    const beams = [...this.products.values()].flat();
    if (beams.length === 0) return html`<p class="empty">No beams yet.</p>`;
    const hidden = [...this.heads.values()].reduce((sum, { of, names }) => sum + of - names.length, 0);
    return html`<div class="card">
      <div class="beams">${beams.map((beam) => this.spectrum(beam))}</div>
      ${hidden > 0 ? html`<p class="dim">${hidden} more beams are in files alone.</p>` : ''}
    </div>`;
  }
}
customElements.define('corella-beams', Beams);
