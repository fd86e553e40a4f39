/** Machines of a joint observation: the channels of each, and since when one is missing. */
import { html, nothing } from 'lit';
import type { MachineRow } from '../../serve/messages.js';
import { tableHead } from '../controls.js';
import { clock, hertz, percent, seconds } from '../format.js';
import { View } from '../view.js';

class Machines extends View {
  private rows: readonly MachineRow[] = [];

  protected override begin(): void {
    this.subscribe('machines', (rows) => (this.rows = rows));
  }

  private row(one: MachineRow) {
    const isAway = one.awaySinceUnixS !== undefined;
    return html`<tr class=${isAway ? 'alarm' : one.trouble === undefined ? '' : 'warning'}>
      <th scope="row"><a href=${one.page}>${one.machine}</a></th>
      <td>${one.bandHz ? `${hertz(one.bandHz[0])} to ${hertz(one.bandHz[1])}` : '–'}</td>
      <td class="wide">
        ${isAway ? html`<b>missing since ${clock(one.awaySinceUnixS)} UTC</b>, for ${seconds(one.silentS)}` : one.word}${one.trouble === undefined ? nothing : html`<small>not in the picture: ${one.trouble}</small>`}
      </td>
      <td class="n">${one.newestSample?.slice(11, 19) ?? '–'}</td>
      <td class="n">${isAway || one.dataAgeS === undefined ? '–' : seconds(one.dataAgeS)}</td>
      <td class="n">${isAway ? '–' : percent(one.presentPercent)}</td>
      <td>${isAway ? '–' : one.recording}</td>
      <td class="n">${one.returns}</td>
    </tr>`;
  }

  protected override render() {
    if (this.rows.length === 0) return html`<p class="empty">No machine has been received from yet.</p>`;
    return html`<div class="card scroll">
      <h2>Machines</h2>
      <table>
        ${tableHead(['machine', 'band', 'how it fares', '#newest sample, UTC', '#age', '#present', 'files', '#came back'])}
        <tbody>
          ${this.rows.map((one) => this.row(one))}
        </tbody>
      </table>
      <p class="dim">Senders, antennas, gains and the chain are on each machine's own page.</p>
    </div>`;
  }
}
customElements.define('corella-machines', Machines);
