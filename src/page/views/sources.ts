/** Sources: a row for each sender with its losses and its boards. */
import { html, nothing } from 'lit';
import type { SenderRow, SendersView } from '../../serve/messages.js';
import { count, percent, scaled, seconds } from '../format.js';
import { steer } from '../steer.js';
import { View } from '../view.js';

const words: Readonly<Partial<Record<string, string>>> = {
  placed: 'placed',
  duplicate: 'duplicate',
  late: 'too late',
  early: 'too early',
  other_epoch: 'of another epoch',
  misaligned: 'between slots',
  unknown_source: 'of unknown senders',
  invalid: 'damaged, or of another kind',
  control: 'control',
  ring_full: 'dropped: ring full',
};

const grade = (lost: number): string => (lost >= 10 ? 'alarm' : lost >= 1 ? 'warning' : '');

class Sources extends View {
  private seen: SendersView | undefined;

  protected override begin(): void {
    this.subscribe('sources', (seen) => (this.seen = seen));
  }

  private row({ name, packetsPerS, lostPercent, outcomes, missing, silentS, behindMs, status }: SenderRow) {
    const isSilent = silentS >= 3;
    const others = Object.entries(outcomes)
      .filter(([reason, packets]) => reason !== 'placed' && packets > 0)
      .map(([reason, packets]) => `${count(packets)} ${words[reason] ?? reason}`);
    return html`<tr class=${isSilent ? 'alarm' : grade(lostPercent.minute)}>
      <th scope="row">${name}</th>
      <td class="n">${isSilent ? html`<b>silent ${seconds(silentS)}</b>` : scaled(packetsPerS, '/s')}</td>
      <td class="n ${grade(lostPercent.second)}">${percent(lostPercent.second)}</td>
      <td class="n ${grade(lostPercent.minute)}">${percent(lostPercent.minute)}</td>
      <td class="n ${grade(lostPercent.run)}">${percent(lostPercent.run)}</td>
      <td class="n">${count(missing)}</td>
      <td class="n">${behindMs === undefined ? '–' : seconds(behindMs / 1000)}</td>
      <td class="wide">
        ${status}${others.length > 0 ? html`<small>${others.join(', ')}</small>` : nothing}
      </td>
    </tr>`;
  }

  private histogram({ lateness }: SendersView) {
    const most = Math.max(1, ...lateness.blocks);
    const total = lateness.blocks.reduce((sum, one) => sum + one, 0);
    if (total === 0) return html`<p class="dim">The data are not live: times of arrival mean nothing.</p>`;
    return html`<div class="histogram" role="img" aria-label="Blocks by how long after their time they came">
      ${lateness.blocks.map((blocks, k) => {
        const upTo = lateness.upToMs[k];
        return html`<div title="${count(blocks)} blocks">
          <i style="height:${(100 * blocks) / most}%"></i
          ><span>${upTo > 1e8 ? 'more' : seconds(upTo / 1000)}</span>
        </div>`;
      })}
    </div>`;
  }

  /** For a simulated sky: controls for losses, for trials. */
  private switches(
    senders: readonly SenderRow[],
    { percent: lost, silent }: NonNullable<SendersView['losses']>,
  ) {
    const one = senders.at(-1)?.name;
    const set = (percent: number, boards: readonly string[]) => () =>
      void steer('losses', { percent, silent: boards });
    return html`<div class="card">
      <h2>Losses of the simulated sky</h2>
      <p class="tools">
        ${[0, 1, 5, 20].map(
          (each) =>
            html`<button class=${each === lost ? 'main' : ''} @click=${set(each, silent)}>
              ${each === 0 ? 'no losses' : `lose ${each} %`}
            </button>`,
        )}
        ${
          one === undefined
            ? nothing
            : silent.length > 0
              ? html`<button class="main" @click=${set(lost, [])}>${silent.join(', ')} again</button>`
              : html`<button @click=${set(lost, [one])}>silence ${one}</button>`
        }
      </p>
    </div>`;
  }

  protected override render() {
    const { seen } = this;
    if (!seen) return html`<p class="empty">No packets: these data come from elsewhere.</p>`;
    const {
      senders,
      packets,
      bytesPerS,
      outcomes,
      kernelDrops,
      resyncs,
      skippedBlocks,
      clockErrorS,
      losses,
    } = seen;
    const wrong = Object.entries(outcomes).filter(([reason, one]) => reason !== 'placed' && one > 0);
    return html`<div class="cards">
        <div class="card figure"><b>${scaled(8 * bytesPerS, 'b/s')}</b><span>now</span></div>
        <div class="card figure"><b>${count(packets)}</b><span>packets received</span></div>
        <div class="card figure ${outcomes.ring_full > 0 ? 'alarm' : ''}">
          <b>${count(outcomes.ring_full)}</b><span>dropped: ring full</span>
        </div>
        <div class="card figure ${(kernelDrops ?? 0) > 0 ? 'alarm' : ''}">
          <b>${kernelDrops === undefined ? '–' : count(kernelDrops)}</b><span>dropped by the kernel</span>
        </div>
        <div class="card figure">
          <b>${count(resyncs)}</b><span>restarts, ${count(skippedBlocks)} blocks skipped</span>
        </div>
      </div>
      ${losses ? this.switches(senders, losses) : nothing}
      <div class="card scroll">
        <table>
          <thead>
            <tr>
              <th>sender</th>
              <th class="n">packets</th>
              <th class="n">lost, 1 s</th>
              <th class="n">1 min</th>
              <th class="n">run</th>
              <th class="n" title="Packet slots that did not arrive in time">missing</th>
              <th class="n" title="Behind the newest of all senders">behind</th>
              <th class="wide">state</th>
            </tr>
          </thead>
          <tbody>
            ${senders.map((sender) => this.row(sender))}
          </tbody>
        </table>
      </div>
      <div class="two">
        <div class="card">
          <h2>Delay of blocks</h2>
          ${this.histogram(seen)}
          ${clockErrorS ? html`<p class="dim">Mean ${seconds(clockErrorS.mean)}, spread ${seconds(clockErrorS.spread)}.</p>` : nothing}
        </div>
        <div class="card">
          <h2>Packets that were not placed</h2>
          ${
            wrong.length === 0
              ? html`<p class="dim">None.</p>`
              : html`<table>
                  <tbody>
                    ${wrong.map(
                      ([reason, one]) =>
                        html`<tr>
                          <td>${words[reason] ?? reason}</td>
                          <td class="n">${count(one)}</td>
                          <td class="n">${percent((100 * one) / packets, 3)}</td>
                        </tr>`,
                    )}
                  </tbody>
                </table>`
          }
          <p class="dim">${count(packets)} in all; every one is counted once.</p>
        </div>
      </div>`;
  }
}
customElements.define('corella-sources', Sources);
