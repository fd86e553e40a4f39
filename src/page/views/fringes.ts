/** Fringes of two to eight stations: amplitude, phase and delay by baseline, closure phases, power, spectrum. */
import { html, nothing } from 'lit';
import type { FringesView } from '../../serve/messages.js';
import type { ChartData, Curve } from '../chart.js';
import { select } from '../controls.js';
import { fixed, hertz } from '../format.js';
import { View } from '../view.js';
import '../chart.js';

/** More curves are hard to distinguish. */
const MOST_CURVES = 8;
type Numbers = readonly (number | null)[];

class FringesPage extends View {
  private view: FringesView | undefined;
  private chosen = 0;

  protected override begin(): void {
    this.subscribe('fringes', (view) => (this.view = view));
  }

  protected override render() {
    const { view } = this;
    if (!view || view.baselines.length === 0)
      return html`<p class="empty">With the first integrations fringes are shown.</p>`;
    const x = view.timesS.map((seconds) => view.startUnixS + (seconds ?? 0));
    const one = view.baselines[Math.min(this.chosen, view.baselines.length - 1)];
    const over = (
      yLabel: string,
      curves: readonly Curve[],
      range?: readonly [number, number],
    ): ChartData => ({
      x,
      curves,
      yLabel,
      range,
      time: true,
      height: 200,
    });
    const chart = (title: string, data: ChartData) =>
      html`<div class="card">
        <h2>${title}</h2>
        <corella-chart .data=${data}></corella-chart>
      </div>`;
    const few = view.powers.slice(0, MOST_CURVES);
    const length = one.lengthM === undefined ? '' : `, ${fixed(one.lengthM, 2)} m`;
    return html`<p class="tools">
        ${select(
          'Baseline',
          this.chosen,
          view.baselines.map(({ name, product }) => `${name} ${product}`),
          (k) => {
            this.chosen = k;
            this.requestUpdate();
          },
        )}
        <span class="dim">phases at ${hertz(view.frequencyHz)}, fringes running${length}</span>
      </p>
      <div class="two">
        ${chart('Amplitude', over('amplitude', [{ label: one.name, values: one.amplitudes }]))}
        ${chart(
          view.source === undefined ? 'Phase' : `Phase, and that of ${view.source} by the positions alone`,
          over(
            'phase, degrees',
            [
              { label: 'observed', values: one.phasesDeg, points: true },
              ...(one.expectedDeg
                ? [{ label: view.source ?? 'expected', values: one.expectedDeg, points: true }]
                : []),
            ],
            [-180, 180],
          ),
        )}
        ${
          one.lags
            ? chart(
                `Lag${one.lags.peakS === undefined ? ': no peak' : ` ${fixed(1e9 * one.lags.peakS, 0)} ns`}`,
                {
                  x: one.lags.lagsS.map((lag) => 1e6 * (lag ?? 0)),
                  curves: [{ label: one.name, values: one.lags.amplitudes }],
                  xLabel: 'lag, µs',
                  yLabel: 'amplitude',
                  height: 200,
                },
              )
            : nothing
        }
        ${
          view.closures.length > 0
            ? chart(
                'Closure phase: 0° for one point, whatever the gains',
                over(
                  'phase, degrees',
                  view.closures.slice(0, MOST_CURVES).map(({ name, product, phasesDeg }) => ({
                    label: `${name} ${product}`,
                    values: phasesDeg,
                    points: true,
                  })),
                  [-180, 180],
                ),
              )
            : nothing
        }
        ${chart(
          'Total power',
          over(
            'dB of a count²',
            few.map(({ name, powers }) => ({ label: name, values: inDb(powers) })),
          ),
        )}
        ${chart('Mean spectrum', spectrumOf(view))}
      </div>`;
  }
}

const inDb = (values: Numbers): (number | null)[] =>
  values.map((value) => (value === null || value <= 0 ? null : 10 * Math.log10(value)));

/** Charts need rising x; velocities fall with frequency. */
function spectrumOf({ velocitiesKmPerS, frequenciesHz, powers }: FringesView): ChartData {
  const x = velocitiesKmPerS ? [...velocitiesKmPerS].reverse() : frequenciesHz.map((hz) => hz / 1e6);
  return {
    x: x.map((value) => value ?? 0),
    curves: powers.slice(0, MOST_CURVES).map(({ name, spectrum }) => ({
      label: name,
      values: inDb(velocitiesKmPerS ? [...spectrum].reverse() : spectrum),
    })),
    xLabel: velocitiesKmPerS ? 'radial velocity of hydrogen, km/s (radio, topocentric)' : 'frequency, MHz',
    yLabel: 'dB of a count²',
    height: 200,
  };
}
customElements.define('corella-fringes', FringesPage);
