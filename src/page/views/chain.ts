/** Chain: what may run out. Ring, latencies, load; and whether the backend still agrees with the reference. */
import { html, nothing } from 'lit';
import type { ChainView, MethodsHead, SkyHead, Status } from '../../serve/messages.js';
import { tableHead } from '../controls.js';
import { bytes, count, exponent, fixed, seconds } from '../format.js';
import { View } from '../view.js';
import type { Numbers } from '../wire.js';
import '../sky.js';

const stages: Readonly<Partial<Record<string, string>>> = {
  receive: 'received',
  correlate: 'correlated',
  image: 'an image',
};

/** Three images from one message. */
const skiesOf = ({ head, values }: Numbers<MethodsHead>): readonly Numbers<SkyHead>[] =>
  [head.range, head.range, head.offRange].map((range, k) => {
    const [, pixels] = head.shape;
    const { time, pixelSize, halfWidth } = head;
    return {
      head: {
        topic: 'sky',
        shape: [pixels, pixels],
        time,
        pixelSize,
        halfWidth,
        ...range,
        durationS: 0,
        number: k,
        ageS: 0,
        everyS: 0,
        unit: 'counts',
        method: '',
        sources: [],
      },
      values: values.subarray(k * pixels * pixels, (k + 1) * pixels * pixels),
    };
  });

class Chain extends View {
  private chain: ChainView | undefined;
  private status: Status | undefined;
  private skies: readonly Numbers<SkyHead>[] = [];
  private difference = NaN;

  protected override begin(): void {
    this.subscribe('chain', (chain) => (this.chain = chain));
    this.subscribe('methods', (methods) => {
      this.difference = methods.head.difference;
      this.skies = skiesOf(methods);
    });
    this.subscribe('status', (status) => (this.status = status));
  }

  private meter(title: string, ratio: number, word: string) {
    const grade = ratio > 0.95 ? 'alarm' : ratio > 0.8 ? 'warning' : '';
    return html`<div class="meter ${grade}">
      <span>${title}</span>
      <div
        role="meter"
        aria-label=${title}
        aria-valuenow=${Math.round(100 * ratio)}
        aria-valuemin="0"
        aria-valuemax="100"
      >
        <i style="width:${Math.min(100, 100 * ratio)}%"></i>
      </div>
      <b>${fixed(100 * ratio, 0)} %</b><small>${word}</small>
    </div>`;
  }

  private flow({ latencies, ring }: ChainView) {
    const { status } = this;
    const at = (stage: string) => latencies.find((one) => one.stage === stage);
    const steps = [
      ['packets', status?.from.split(',')[0] ?? '', at('receive')],
      ['ring', ring ? `${ring.waiting} of ${ring.blocks} blocks wait` : 'none', undefined],
      [
        'correlate',
        status?.integration ? `every ${seconds(status.integration.everyS)}` : '',
        at('correlate'),
      ],
      ['gains', status?.gains.state === 'none' ? 'none' : (status?.gains.state ?? ''), undefined],
      ['image', status?.image ? `every ${seconds(status.image.everyS)}` : 'none', at('image')],
      [
        'files',
        status?.recording.state === 'none' ? 'none' : `${count(status?.recording.written ?? 0)} written`,
        undefined,
      ],
    ] as const;
    return html`<ol class="flow">
      ${steps.map(([name, about, latency]) => html`<li><b>${name}</b><span>${about}</span>${latency ? html`<em>${seconds(latency.p50S)}</em>` : nothing}</li>`)}
    </ol>`;
  }

  private check({ check }: ChainView) {
    if (!check)
      return html`<p class="dim">A block is checked against the reference now and then; none was yet.</p>`;
    return html`<p class="result ${check.differing === 0 ? 'good' : 'alarm'}">
        <span aria-hidden="true">${check.differing === 0 ? '✓' : '✕'}</span>
        ${check.differing === 0 ? (check.exact ? 'The same bits' : 'The same to rounding') : `${count(check.differing)} of ${count(check.products)} sums differ`}
      </p>
      <p>
        ${count(check.products)} sums over ${count(check.samples)} spectra, ${seconds(check.ageS)} ago;
        ${count(check.checked)} checks so far,
        ${check.failed === 0 ? 'all passed' : `${count(check.failed)} failed`}.
      </p>
      ${typeof check.methodsDiffer !== 'number' ? nothing : html`<p>Imaging from visibilities and direct imaging differ by ${exponent(check.methodsDiffer)} of the brightest pixel.</p>`}`;
  }

  private methods() {
    if (this.skies.length === 0) return nothing;
    const titles = ['by visibilities', 'directly (EPIC)', 'their difference, its own colours'];
    return html`<div class="card">
      <h2>Both imaging methods, of the same spectra</h2>
      <div class="methods">
        ${this.skies.map(
          (sky, k) =>
            html`<div>
              <corella-sky .plain=${true} .picture=${sky}></corella-sky>
              <p>${titles[k]}</p>
            </div>`,
        )}
      </div>
      <p class="dim">
        One channel, uncalibrated, at ${this.skies[0].head.time.slice(11, 19)} UTC. They differ by
        ${exponent(this.difference)} of the brightest pixel at most.
      </p>
    </div>`;
  }

  protected override render() {
    const { chain } = this;
    if (!chain) return html`<p class="empty">No data yet.</p>`;
    const { ring, latencies, load, loopMs, memoryBytes, diskFreeBytes, diskHours, clients, droppedMessages } =
      chain;
    return html`<div class="card">${this.flow(chain)}</div>
      <div class="two">
        <div class="card">
          <h2>Load</h2>
          ${load.map(({ resource, ratio, word }) => this.meter(resource, ratio, word))}
          ${ring ? this.meter('ring', ring.waiting / ring.blocks, `${ring.waiting} of ${ring.blocks} blocks wait`) : nothing}
          <dl>
            <dt>event loop, 99 %</dt>
            <dd>${fixed(loopMs.p99, 1)} ms</dd>
            <dt>memory</dt>
            <dd>${bytes(memoryBytes)}</dd>
            <dt>disk</dt>
            <dd>
              ${diskFreeBytes === undefined ? '–' : `${bytes(diskFreeBytes)} free`}${diskHours === undefined ? '' : `, ${diskHours > 48 ? `${fixed(diskHours / 24, 0)} days` : `${fixed(diskHours, 1)} h`} of files`}
            </dd>
            <dt>pages</dt>
            <dd>${clients} open, ${count(droppedMessages)} messages not sent to slow ones</dd>
          </dl>
        </div>
        <div class="card">
          <h2>From the last sample to</h2>
          ${
            latencies.length === 0
              ? html`<p class="dim">The data are not live: there are no latencies to show.</p>`
              : html`<table>
                  ${tableHead(['', '#median', '#99 %'])}
                  <tbody>
                    ${latencies.map(
                      ({ stage, p50S, p99S }) =>
                        html`<tr>
                          <td>${stages[stage] ?? stage}</td>
                          <td class="n">${seconds(p50S)}</td>
                          <td class="n">${seconds(p99S)}</td>
                        </tr>`,
                    )}
                  </tbody>
                </table>`
          }
          <h2>Checked against the reference</h2>
          ${this.check(chain)}
        </div>
      </div>
      ${this.methods()}`;
  }
}
customElements.define('corella-chain', Chain);
