/** Now: the current sky, its sources, and the image's age. Any position shows its spectrum and history. */
import { html, nothing } from 'lit';
import { live as asShown } from 'lit/directives/live.js';
import type { SkyHead, Status } from '../../serve/messages.js';
import type { ChartData } from '../chart.js';
import { choice, tableHead } from '../controls.js';
import { altAz, brightness, clock, degrees, fixed, seconds } from '../format.js';
import type { Place } from '../sky.js';
import { View } from '../view.js';
import { decode, type Numbers } from '../wire.js';
import '../chart.js';
import '../sky.js';

interface PlaceFacts extends Place {
  readonly unit: string;
  /** In the image that is shown. */
  readonly value: number | null;
  readonly frequenciesHz: readonly number[];
  readonly spectrum: readonly (number | null)[];
  readonly curve: readonly { readonly unixS: number; readonly value: number | null }[];
}
interface Listed {
  readonly unixS: number;
  readonly file?: string;
  readonly time: string;
}

/** An image older than this many cadences is marked in red. */
const STALE_CADENCES = 3;
const LEAST_STALE_S = 2;
const FOLLOW_MS = 5000;

class Now extends View {
  private live: Numbers<SkyHead> | undefined;
  private receivedAtMs = 0;
  /** An earlier image of the run, or a re-image, shown instead of the current one. */
  private then: Numbers<SkyHead> | undefined;
  /** Slider position in seconds since 1970; undefined for the current image. */
  private thenUnixS: number | undefined;
  /** The file of the image at the slider. */
  private thenFile: string | undefined;
  private weight: 'natural' | 'uniform' | undefined;
  private why = '';
  private status: Status | undefined;
  private place: Place | undefined;
  private facts: PlaceFacts | undefined;
  private frames: readonly Listed[] = [];
  private readonly timers: number[] = [];
  protected override everyMs = 250;

  protected override begin(): void {
    this.subscribe('sky', (numbers) => {
      this.live = numbers;
      this.receivedAtMs = performance.now();
    });
    this.subscribe('status', (status) => (this.status = status));
    void this.list();
    this.timers.push(
      window.setInterval(() => void this.list(), 10_000),
      window.setInterval(() => void this.look(), FOLLOW_MS),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const timer of this.timers.splice(0)) clearInterval(timer);
  }

  private async list(): Promise<void> {
    const response = await fetch('/api/v1/images').catch(() => undefined);
    if (response?.ok === true) this.frames = (await response.json()) as readonly Listed[];
    this.requestUpdate();
  }

  private async choose(place: Place): Promise<void> {
    this.place = place;
    this.facts = undefined;
    await this.look();
  }

  private async look(): Promise<void> {
    const { place } = this;
    if (!place) return;
    const { thenUnixS } = this;
    const when = thenUnixS === undefined ? '' : `&unixS=${thenUnixS}${this.ofFile}`;
    const response = await fetch(`/api/v1/place?l=${place.l}&m=${place.m}${when}`).catch(() => undefined);
    if (response?.ok !== true || this.place !== place || this.thenUnixS !== thenUnixS) return;
    this.facts = (await response.json()) as PlaceFacts;
    this.requestUpdate();
  }

  private async scrub(at: number): Promise<void> {
    const frame = at >= this.frames.length - 1 ? undefined : this.frames.at(at);
    this.thenUnixS = frame?.unixS;
    this.thenFile = frame?.file;
    await Promise.all([this.showThen(), this.look()]);
  }

  private get ofFile(): string {
    return this.thenFile === undefined ? '' : `&file=${encodeURIComponent(this.thenFile)}`;
  }

  /** Shows an image of the run as it was made, or its integration re-imaged with other weights. */
  private async showThen(): Promise<void> {
    const { thenUnixS, weight } = this;
    this.why = '';
    this.requestUpdate();
    if (thenUnixS === undefined && weight === undefined) {
      this.then = undefined;
      return;
    }
    const unixS = thenUnixS ?? this.frames.at(-1)?.unixS ?? Date.now() / 1000;
    const path = weight === undefined ? 'images/at?' : `images/again?weight=${weight}&`;
    const response = await fetch(`/api/v1/${path}unixS=${unixS}${this.ofFile}`).catch(() => undefined);
    if (this.thenUnixS !== thenUnixS || this.weight !== weight) return;
    if (response?.ok === true) this.then = decode(await response.arrayBuffer()) as Numbers<SkyHead>;
    else this.why = ((await response?.json()) as { what?: string } | undefined)?.what ?? 'no answer';
    this.requestUpdate();
  }

  private readonly backToNow = (): void => {
    this.thenUnixS = undefined;
    this.thenFile = undefined;
    this.weight = undefined;
    void this.showThen();
    void this.look();
  };

  private get sliderAt(): number {
    const { thenUnixS } = this;
    const last = Math.max(0, this.frames.length - 1);
    if (thenUnixS === undefined) return last;
    const at = this.frames.findIndex(
      ({ unixS, file }) => unixS >= thenUnixS - 1e-3 && file === this.thenFile,
    );
    return at < 0 ? last : at;
  }

  private weights() {
    const choices = [
      [undefined, 'as made'],
      ['natural', 'natural: deepest'],
      ['uniform', 'uniform: sharpest'],
    ] as const;
    return html`<p class="again tools">
      <span>Weights</span>
      ${choice<typeof this.weight>(choices, this.weight, (weight) => {
        this.weight = weight;
        void this.showThen();
      })}
      ${this.why === '' ? nothing : html`<span role="alert">${this.why}</span>`}
    </p>`;
  }

  private get ageS(): number {
    return this.live ? this.live.head.ageS + (performance.now() - this.receivedAtMs) / 1000 : NaN;
  }

  private age() {
    const { live, then } = this;
    if (!live) return html`<p class="age stale"><b>No image yet</b></p>`;
    if (then)
      return html`<p class="age past">
        <b>${then.head.time.slice(11, 19)}</b>
        <span
          >${then.head.weight === undefined ? 'as it was' : `made again, ${then.head.weight} weights`}</span
        >
        <button @click=${this.backToNow}>Back to now</button>
      </p>`;
    if (this.status?.state === 'showing')
      return html`<p class="age">
        <b>${live.head.time.slice(11, 19)}</b> <span>UTC, ${live.head.time.slice(0, 10)}, from a file</span>
      </p>`;
    const isStale = this.ageS > Math.max(LEAST_STALE_S, STALE_CADENCES * live.head.everyS);
    return html`<p class="age ${isStale ? 'stale' : 'fresh'}" role="status">
      <b>${seconds(this.ageS)}</b> <span>${isStale ? 'old: this is not the sky now' : 'old'}</span>
    </p>`;
  }

  private sources(head: SkyHead) {
    if (head.sources.length === 0) return html`<p class="dim">No catalogued source is up.</p>`;
    return html`<table>
      ${tableHead(['source', '#altitude', '#azimuth'])}
      <tbody>
        ${head.sources.map(
          ({ name, altitudeDeg, azimuthDeg, l, m }) =>
            html`<tr>
              <td><button class="link" @click=${() => void this.choose({ l, m })}>${name}</button></td>
              <td class="n">${degrees(altitudeDeg)}</td>
              <td class="n">${degrees(azimuthDeg)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }

  private charts(facts: PlaceFacts) {
    const spectrum: ChartData = {
      x: facts.frequenciesHz.map((hz) => hz / 1e6),
      curves: [{ label: 'brightness', values: facts.spectrum, points: facts.spectrum.length < 40 }],
      xLabel: 'frequency, MHz',
      yLabel: facts.unit,
      height: 180,
    };
    const curve: ChartData = {
      x: facts.curve.map(({ unixS }) => unixS),
      curves: [{ label: 'brightness', values: facts.curve.map(({ value }) => value) }],
      time: true,
      yLabel: facts.unit,
      height: 180,
    };
    return html`<h3>Its spectrum now</h3>
      <corella-chart .data=${spectrum}></corella-chart>
      <h3>Over time</h3>
      <corella-chart .data=${curve}></corella-chart>`;
  }

  private chosen() {
    const { place, facts } = this;
    if (!place)
      return html`<p class="dim">
        Click a place on the sky, or move there with the arrow keys, for its spectrum and its light curve.
      </p>`;
    const { altDeg, azDeg } = altAz(place.l, place.m);
    return html`<h2>A place</h2>
      <p>
        altitude ${degrees(altDeg)}, azimuth
        ${degrees(azDeg)}${facts ? html`, ${brightness(facts.value ?? NaN)} ${facts.unit}` : nothing}
      </p>
      ${facts ? this.charts(facts) : html`<p class="dim">With the next image…</p>`}`;
  }

  protected override render() {
    const shown = this.then ?? this.live;
    const last = Math.max(0, this.frames.length - 1);
    return html`<div class="now">
      <section class="picture">
        <corella-sky
          .picture=${shown}
          .chosen=${this.place}
          @place=${(event: CustomEvent<Place>) => void this.choose(event.detail)}
        ></corella-sky>
        ${
          this.frames.length > 2
            ? html`<label class="scrub"
                  ><span>${clock(this.frames[0].unixS)}</span
                  ><input
                    type="range"
                    min="0"
                    max=${last}
                    .value=${asShown(String(this.sliderAt))}
                    aria-label="Earlier images"
                    @input=${(event: Event) => void this.scrub(Number((event.target as HTMLInputElement).value))}
                  /><span>now</span></label
                >
                ${this.status?.machines === undefined ? this.weights() : nothing}`
            : nothing
        }
      </section>
      <section class="side">
        <div class="card">
          ${this.age()}
          ${
            shown
              ? html`<dl>
                  <dt>time, UTC</dt>
                  <dd>${shown.head.time.slice(0, 19).replace('T', ' ')}</dd>
                  <dt>integrated</dt>
                  <dd>${seconds(shown.head.durationS)}</dd>
                  <dt>brightest</dt>
                  <dd>${brightness(shown.head.peak)} ${shown.head.unit}</dd>
                  <dt>made by</dt>
                  <dd>
                    ${shown.head.method === 'direct' ? 'direct imaging' : shown.head.method === 'visibilities' ? 'visibilities' : shown.head.method},
                    ${shown.head.shape[0]}² pixels
                  </dd>
                  ${
                    this.status?.integration
                      ? html`<dt>samples there</dt>
                          <dd>${fixed(this.status.integration.presentPercent, 2)} %</dd>`
                      : nothing
                  }
                  ${
                    shown.head.without
                      ? html`<dt>without</dt>
                          <dd class="alarm">${shown.head.without.join(', ')}</dd>`
                      : nothing
                  }
                  ${
                    this.status?.machines === undefined
                      ? html`<dt>gains</dt>
                          <dd>
                            ${this.status?.gains.state === 'none' ? 'none: uncalibrated' : this.status?.gains.ageS !== undefined ? `${seconds(this.status.gains.ageS)} old` : '–'}
                          </dd>`
                      : nothing
                  }
                </dl>`
              : html`<p class="dim">Images come with --image 1s, once data do.</p>`
          }
        </div>
        ${
          shown
            ? html`<div class="card">
                <h2>${this.then ? 'Up then' : 'Up now'}</h2>
                ${this.sources(shown.head)}
              </div>`
            : nothing
        }
        <div class="card place">${this.chosen()}</div>
      </section>
    </div>`;
  }
}
customElements.define('corella-now', Now);
