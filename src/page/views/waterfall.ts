/** Waterfall: power by time and frequency of an input, or amplitude and phase of a baseline; newest at the bottom. */
import { html, nothing } from 'lit';
import type { PlanView } from '../../serve/messages.js';
import type { HeatData } from '../heat.js';
import { choice, select } from '../controls.js';
import { fixed, hertz } from '../format.js';
import { View } from '../view.js';
import { askPair } from '../wire.js';
import '../heat.js';

const ROWS = 240;
interface Row {
  readonly time: string;
  readonly values: Float32Array;
}
type Kind = 'input' | 'amplitude' | 'phase';

class Waterfall extends View {
  private plan: PlanView | undefined;
  private names: readonly string[] = [];
  private kind: Kind = 'input';
  private input = 0;
  private pair: readonly [number, number] = [0, 1];
  private product = 0;
  private readonly powers: Row[] = [];
  private readonly pairs: Row[] = [];

  protected override begin(): void {
    this.subscribe('plan', (plan) => (this.plan = plan));
    this.subscribe('antennas', (rows) => (this.names = rows.map(({ name }) => name)));
    this.subscribe('bandpass', ({ head, values }) => {
      this.keep(this.powers, { time: head.time, values });
    });
    this.subscribe('baseline', ({ head, values }) => {
      const [i, j] = [Math.max(...this.pair), Math.min(...this.pair)];
      if (head.pair[0] === i && head.pair[1] === j) this.keep(this.pairs, { time: head.time, values });
    });
  }

  private keep(rows: Row[], row: Row): void {
    // The first row after subscribing may have no time; it is sent again with one.
    if (row.time === '' || rows.at(-1)?.time === row.time) return;
    rows.push(row);
    if (rows.length > ROWS) rows.shift();
  }

  private choosePair(which: 0 | 1, station: number): void {
    this.pair = which === 0 ? [station, this.pair[1]] : [this.pair[0], station];
    this.pairs.length = 0;
    askPair(this.pair);
    this.requestUpdate();
  }

  private heat(): HeatData {
    const channels = this.plan?.frequenciesHz.length ?? 1;
    const rows = this.kind === 'input' ? this.powers : this.pairs;
    const values = new Float32Array(rows.length * channels);
    rows.forEach(({ values: row }, k) => {
      for (let c = 0; c < channels; c++) {
        const at = k * channels + c;
        if (this.kind === 'input') {
          values[at] = row[this.input * channels + c];
          continue;
        }
        const [re, im] = row.subarray(
          2 * (this.product * channels + c),
          2 * (this.product * channels + c) + 2,
        );
        values[at] =
          this.kind === 'phase' ? (Math.atan2(im, re) * 180) / Math.PI : 10 * Math.log10(Math.hypot(re, im));
      }
    });
    const sorted = values.filter(Number.isFinite).sort();
    const range =
      this.kind === 'phase'
        ? { low: -180, high: 180 }
        : sorted.length === 0
          ? { low: 0, high: 1 }
          : {
              low: sorted[Math.floor(0.02 * sorted.length)] - 0.2,
              high: sorted[Math.floor(0.98 * (sorted.length - 1))] + 0.2,
            };
    return {
      values,
      rows: rows.length,
      columns: channels,
      ...range,
      palette: this.kind === 'phase' ? 'phase' : 'brightness',
      label: 'Over time, from the top, and frequency, from the left',
    };
  }

  private chooser() {
    const { plan, names } = this;
    if (!plan) return nothing;
    const inputs = names.flatMap((name) => (plan.polarisations === 1 ? [name] : [`${name}:X`, `${name}:Y`]));
    const products = plan.polarisations === 1 ? ['XX'] : ['XX', 'XY', 'YX', 'YY'];
    return this.kind === 'input'
      ? select('Input', this.input, inputs, (a) => {
          this.input = a;
          this.requestUpdate();
        })
      : html`${select('Between', this.pair[0], names, (s) => {
          this.choosePair(0, s);
        })}
        ${select('and', this.pair[1], names, (s) => {
          this.choosePair(1, s);
        })}
        ${select('product', this.product, products, (k) => {
          this.product = k;
          this.requestUpdate();
        })}`;
  }

  protected override render() {
    const { plan } = this;
    if (!plan) return html`<p class="empty">No data yet.</p>`;
    const heat = this.heat();
    const rows = this.kind === 'input' ? this.powers : this.pairs;
    const kinds: readonly (readonly [Kind, string])[] = [
      ['input', 'power of an input'],
      ['amplitude', 'amplitude of a baseline'],
      ['phase', 'phase of a baseline'],
    ];
    return html`<div class="card">
      <p class="tools">
        ${choice(kinds, this.kind, (kind) => {
          this.kind = kind;
          if (kind !== 'input') askPair(this.pair);
          this.requestUpdate();
        })}
        ${this.chooser()}
      </p>
      ${
        rows.length === 0
          ? html`<p class="empty">With the next integration.</p>`
          : html`<div class="heat-box waterfall">
                <span class="y"
                  >${rows[0].time.slice(11, 19)} to ${rows.at(-1)?.time.slice(11, 19)} UTC, downwards</span
                >
                <corella-heat .data=${heat}></corella-heat>
                <span class="x"
                  ><span>${hertz(plan.frequenciesHz[0])}</span
                  ><span>${plan.frequenciesHz.length} channels</span
                  ><span>${hertz(plan.frequenciesHz[plan.frequenciesHz.length - 1])}</span></span
                >
              </div>
              <div class="bar ${heat.palette}">
                <span>${fixed(heat.low, 1)}${this.kind === 'phase' ? '°' : ' dB'}</span><i></i
                ><span>${fixed(heat.high, 1)}${this.kind === 'phase' ? '°' : ' dB of a count²'}</span>
              </div>`
      }
      <p class="dim">${rows.length} integrations since this view was opened; ${ROWS} are kept.</p>
    </div>`;
  }
}
customElements.define('corella-waterfall', Waterfall);
