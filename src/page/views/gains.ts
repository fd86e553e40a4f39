/** Gains: the calibration of the images, its age, its fit; solve, hold, load or drop it. */
import { html, nothing } from 'lit';
import type { AntennaRow, GainsView, Status } from '../../serve/messages.js';
import type { ChartData } from '../chart.js';
import { inputNames, select } from '../controls.js';
import { percent, seconds } from '../format.js';
import { seriesColour } from '../colours.js';
import { steer } from '../steer.js';
import { View } from '../view.js';
import '../chart.js';

/** The limit of corella calibrate's warning: above it part of the sky is not in the model. */
const SOME_UNEXPLAINED = 0.1;

/** The unexplained part of the sky, if it can be separated from noise; otherwise the whole residual. */
function explained({ residual, unexplained, noiseResidual }: GainsView) {
  if (unexplained === undefined)
    return html`<div class="card figure">
      <b>${residual === undefined ? '–' : percent(100 * residual, 1)}</b
      ><span>residual of the data, noise and all</span>
    </div>`;
  const isMissing = unexplained > SOME_UNEXPLAINED;
  const noise = noiseResidual === undefined ? '' : `, ${percent(100 * noiseResidual, 0)} by noise alone`;
  return html`<div class="card figure ${isMissing ? 'warning' : ''}">
    <b>${isMissing ? '▲ ' : ''}${percent(100 * unexplained, 1)}</b
    ><span
      >of the sky's power unexplained${isMissing ? ': part of it is not in the model' : ''}; residual
      ${percent(100 * (residual ?? 0), 0)}${noise}</span
    >
  </div>`;
}

class Gains extends View {
  private gains: GainsView | undefined;
  private rows: readonly AntennaRow[] = [];
  private input = 0;
  private status: Status | undefined;

  protected override begin(): void {
    this.subscribe('gains', (gains) => (this.gains = gains));
    this.subscribe('antennas', (rows) => (this.rows = rows));
    this.subscribe('status', (status) => (this.status = status));
  }

  private controls() {
    if (this.status?.steerable === false)
      return html`<div class="card">
        <h2>Steer</h2>
        <p class="note">No data to steer.</p>
      </div>`;
    return html`<div class="card">
      <h2>Steer</h2>
      <p class="tools">
        <button class="main" @click=${() => void steer('gains', { do: 'solve' })}>Solve once</button>
        <button @click=${() => void steer('gains', { do: 'solve', everyS: 60 })}>Solve every minute</button>
        <button @click=${() => void steer('gains', { do: 'hold' })}>Hold</button>
        <button @click=${() => void steer('gains', { do: 'reset' })}>Drop</button>
      </p>
      <form
        class="tools"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          const name = new FormData(event.target as HTMLFormElement).get('name');
          void steer('gains', { do: 'load', name });
        }}
      >
        <label class="field"
          >File <input name="name" placeholder="gains.json" required pattern="\\w[\\w.\\-]*"
        /></label>
        <button>Load</button>
      </form>
      <p class="dim">
        Every change takes effect at the start of the next integration; the answer names its tick. Files keep
        the data as they came: gains are for images.
      </p>
    </div>`;
  }

  private latest(gains: GainsView) {
    const inputs = this.rows.flatMap((row) => row.inputs);
    const polarisations = this.rows.at(0)?.inputs.length ?? 1;
    const last = gains.history.at(-1);
    const stations = this.rows.map((_, s) => s);
    const of = (values: readonly (number | null)[], p: number) =>
      stations.map((s) => values.at(s * polarisations + p) ?? null);
    const amplitudes =
      last?.amplitudes ?? inputs.map(({ gainDb }) => (gainDb === null ? null : 10 ** (gainDb / 20)));
    const phases = last?.phasesDeg ?? inputs.map(({ gainPhaseDeg }) => gainPhaseDeg);
    const chart = (
      values: readonly (number | null)[],
      yLabel: string,
      range?: readonly [number, number],
    ): ChartData => ({
      x: stations,
      curves: Array.from({ length: polarisations }, (_, p) => ({
        label: polarisations === 1 ? 'gain' : 'XY'[p],
        values: of(values, p),
        points: true,
        colour: seriesColour(p),
      })),
      xLabel: 'antenna',
      yLabel,
      height: 220,
      ...(range && { range }),
    });
    return html`<div class="card">
      <h2>By antenna</h2>
      <corella-chart .data=${chart(amplitudes, 'amplitude')}></corella-chart>
      <corella-chart .data=${chart(phases, 'phase, degrees', [-180, 180])}></corella-chart>
    </div>`;
  }

  private overTime(gains: GainsView) {
    const { history } = gains;
    if (history.length < 2) return nothing;
    const x = history.map(({ unixS }) => unixS);
    const chart = (
      of: (row: GainsView['history'][number]) => number | null | undefined,
      yLabel: string,
    ): ChartData => ({
      x,
      time: true,
      yLabel,
      height: 180,
      curves: [{ label: yLabel, values: history.map((row) => of(row) ?? null) }],
    });
    return html`<div class="card">
      <h2>Over time</h2>
      ${select('Input', this.input, inputNames(this.rows), (a) => {
        this.input = a;
        this.requestUpdate();
      })}
      <corella-chart
        .data=${chart(({ amplitudes }) => amplitudes.at(this.input), 'amplitude')}
      ></corella-chart>
      <corella-chart
        .data=${chart(({ phasesDeg }) => phasesDeg.at(this.input), 'phase, degrees')}
      ></corella-chart>
      <corella-chart
        .data=${chart(({ residual }) => (residual === null ? null : 100 * residual), 'residual, %')}
      ></corella-chart>
    </div>`;
  }

  protected override render() {
    const { gains } = this;
    if (!gains) return html`<p class="empty">No data yet.</p>`;
    const words = { none: 'none: images are in counts', held: 'held', solving: 'being solved' } as const;
    return html`<div class="cards">
        <div class="card figure">
          <b>${words[gains.state]}</b
          ><span>${gains.everyS === undefined ? 'gains' : `solved every ${seconds(gains.everyS)}`}</span>
        </div>
        <div class="card figure"><b>${seconds(gains.ageS)}</b><span>old</span></div>
        ${explained(gains)}
        <div class="card figure">
          <b>${gains.solvedInputs ?? '–'}</b
          ><span>inputs solved${gains.sources ? `, from ${gains.sources.join(', ')}` : ''}</span>
        </div>
      </div>
      <div class="two">
        ${this.controls()}
        ${gains.state === 'none' && gains.history.length === 0 ? nothing : this.latest(gains)}
      </div>
      ${this.overTime(gains)}`;
  }
}
customElements.define('corella-gains', Gains);
