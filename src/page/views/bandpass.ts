/** Bandpass: each input's power by channel relative to the array's median; shows boards with a bad part. */
import { html } from 'lit';
import type { PlanView } from '../../serve/messages.js';
import type { ChartData } from '../chart.js';
import type { HeatData } from '../heat.js';
import { inputNames, select } from '../controls.js';
import { decibels, hertz } from '../format.js';
import { View } from '../view.js';
import type { Numbers } from '../wire.js';
import '../chart.js';
import '../heat.js';

const SPAN_DB = 6;

class Bandpass extends View {
  private plan: PlanView | undefined;
  private power: Numbers | undefined;
  private names: readonly string[] = [];
  private input = 0;

  protected override begin(): void {
    this.subscribe('plan', (plan) => (this.plan = plan));
    this.subscribe('bandpass', (power) => (this.power = power));
    this.subscribe('antennas', (rows) => (this.names = inputNames(rows)));
  }

  /** Of each channel over the inputs of each polarisation. */
  private medians(): Float32Array[] {
    const { power, plan } = this;
    if (!power || !plan) return [];
    const [inputs, channels] = power.head.shape;
    return Array.from({ length: plan.polarisations }, (_, p) =>
      Float32Array.from({ length: channels }, (_, c) => {
        const all: number[] = [];
        for (let a = p; a < inputs; a += plan.polarisations) {
          const value = power.values[a * channels + c];
          if (!Number.isNaN(value)) all.push(value);
        }
        all.sort((x, y) => x - y);
        return all.length === 0 ? NaN : all[all.length >> 1];
      }),
    );
  }

  protected override render() {
    const { power, plan } = this;
    if (!power || !plan)
      return html`<p class="empty">With the first integration each input's bandpass is known.</p>`;
    const [inputs, channels] = power.head.shape;
    const medians = this.medians();
    const off = power.values.map(
      (value, at) => value - medians[Math.floor(at / channels) % plan.polarisations][at % channels],
    );
    const heat: HeatData = {
      values: off,
      rows: inputs,
      columns: channels,
      low: -SPAN_DB,
      high: SPAN_DB,
      palette: 'off',
      label: 'Power of each input and channel against the median of the array',
    };
    const names = Array.from({ length: inputs }, (_, a) => this.names.at(a) ?? `input ${a}`);
    const megahertz = plan.frequenciesHz.map((hz) => hz / 1e6);
    const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
    const own = Array.from(power.values.subarray(this.input * channels, (this.input + 1) * channels), finite);
    const curves: ChartData = {
      x: megahertz,
      curves: [
        { label: names[this.input], values: own, width: 2 },
        {
          label: 'median of the array',
          values: Array.from(medians[this.input % plan.polarisations], finite),
        },
      ],
      xLabel: 'frequency, MHz',
      yLabel: 'power, dB of a count²',
      height: 300,
    };
    const worst = Array.from({ length: inputs }, (_, a) => {
      let most = 0;
      for (let c = 0; c < channels; c++) {
        const value = off[a * channels + c];
        if (Math.abs(value) > Math.abs(most)) most = value;
      }
      return { a, most };
    })
      .sort((x, y) => Math.abs(y.most) - Math.abs(x.most))
      .slice(0, 5);
    return html`<div class="two wide-left">
      <div class="card">
        <h2>Against the array's median</h2>
        <div class="heat-box">
          <span class="y">inputs 0 to ${inputs - 1}</span>
          <corella-heat
            .data=${heat}
            @click=${(event: MouseEvent) => {
              this.choose(event, inputs);
            }}
          ></corella-heat>
          <span class="x"
            ><span>${hertz(plan.frequenciesHz[0])}</span><span>${channels} channels</span
            ><span>${hertz(plan.frequenciesHz[channels - 1])}</span></span
          >
        </div>
        <div class="bar off"><span>−${SPAN_DB} dB</span><i></i><span>+${SPAN_DB} dB</span></div>
      </div>
      <div class="card">
        ${select('Input', this.input, names, (a) => {
          this.input = a;
          this.requestUpdate();
        })}
        <corella-chart .data=${curves}></corella-chart>
        <h2>Farthest off</h2>
        <table>
          <tbody>
            ${worst.map(
              ({ a, most }) =>
                html`<tr>
                  <td>
                    <button
                      class="link"
                      @click=${() => {
                        this.input = a;
                        this.requestUpdate();
                      }}
                    >
                      ${names[a]}
                    </button>
                  </td>
                  <td class="n">${decibels(most, true)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>`;
  }

  private choose(event: MouseEvent, inputs: number): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    this.input = Math.min(inputs - 1, Math.floor(((event.clientY - box.top) / box.height) * inputs));
    this.requestUpdate();
  }
}
customElements.define('corella-bandpass', Bandpass);
