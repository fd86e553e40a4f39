/** Observation: minutes received and written, files, stream epochs, the journal; and controls. */
import { html, nothing } from 'lit';
import type { JournalEntry, ObservationView, PlanView, Status } from '../../serve/messages.js';
import { tableHead } from '../controls.js';
import { clock, count, fixed, moment, seconds } from '../format.js';
import { steer } from '../steer.js';
import { View } from '../view.js';

const fileStates: Readonly<Partial<Record<string, string>>> = {
  open: 'growing',
  full: 'the disk was full',
  gone: 'was removed',
  moved: 'was moved away',
};

class Observation extends View {
  private observation: ObservationView | undefined;
  private entries: readonly JournalEntry[] = [];
  private status: Status | undefined;
  private plan: PlanView | undefined;

  protected override begin(): void {
    this.subscribe('observation', (observation) => (this.observation = observation));
    this.subscribe('journal', (entries) => (this.entries = entries));
    this.subscribe('status', (status) => (this.status = status));
    this.subscribe('plan', (plan) => (this.plan = plan));
  }

  /** Whether a change has not taken effect yet and was not cancelled. */
  private isPending(change: number, from = ''): boolean {
    const newest = this.status?.newestSample ?? '';
    return from > newest && !this.entries.some(({ cancels }) => cancels === change);
  }

  /** For each machine, the data that only other machines have. */
  private missing({ machines = [] }: ObservationView) {
    if (machines.length === 0) return nothing;
    const lines = machines.flatMap(({ machine, missing }) =>
      missing.map(({ fromMinute, endMinute, seconds: lost }) => ({ machine, fromMinute, endMinute, lost })),
    );
    return html`<h2>Missing minutes</h2>
      ${
        lines.length === 0
          ? html`<p class="dim">None: all machines have the same minutes.</p>`
          : html`<table class="missing">
              <tbody>
                ${lines.map(
                  ({ machine, fromMinute, endMinute, lost }) =>
                    html`<tr>
                      <th scope="row">${machine}</th>
                      <td>
                        ${clock(60 * fromMinute).slice(0, 5)}${endMinute > fromMinute + 1 ? html` to ${clock(60 * endMinute - 60).slice(0, 5)}` : nothing}
                        UTC
                      </td>
                      <td class="n">${seconds(lost)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>`
      }`;
  }

  private coverage({ minutes }: Pick<ObservationView, 'minutes'>, legend: 'with its legend' | 'bare') {
    if (minutes.length === 0) return html`<p class="dim">No integration yet.</p>`;
    const [first, last] = [minutes[0].minute, minutes[minutes.length - 1].minute];
    const known = new Map(minutes.map((one) => [one.minute, one]));
    // One row per hour.
    const hours = Array.from(
      { length: Math.floor(last / 60) - Math.floor(first / 60) + 1 },
      (_, k) => Math.floor(first / 60) + k,
    ).slice(-24);
    return html`<div class="coverage" role="img" aria-label="Minutes that were received and written">
        ${hours.map(
          (hour) =>
            html`<div>
              <time>${clock(3600 * hour).slice(0, 5)}</time>${Array.from({ length: 60 }, (_, k) => {
                const one = known.get(60 * hour + k);
                if (!one) return html`<i></i>`;
                const kind = one.presentPercent < 90 ? 'poor' : one.presentPercent < 99 ? 'fair' : 'full';
                return html`<i
                  class="${kind} ${one.written > 0 ? 'written' : ''}"
                  title="${clock(60 * one.minute)}: ${fixed(one.presentPercent)} % of the samples, ${one.written} of ${one.integrations} integrations written"
                ></i>`;
              })}
            </div>`,
        )}
      </div>
      ${
        legend === 'bare'
          ? nothing
          : html`<ul class="legend">
              <li><i class="full written"></i> whole and written</li>
              <li><i class="full"></i> received, not written</li>
              <li><i class="fair written"></i> below 99 %</li>
              <li><i class="poor written"></i> below 90 % of the samples</li>
            </ul>`
      }`;
  }

  private helm() {
    const { status } = this;
    if (!status || status.state === 'showing') return nothing;
    const isOn = status.recording.state === 'recording' || status.recording.state === 'stalled';
    const end = html`<button
      class="danger"
      @click=${() => {
        if (confirm('End the observation? What has come is worked through and the files are closed.'))
          void steer('stop', {});
      }}
    >
      End the observation
    </button>`;
    const capture = html`<form
      class="tools"
      @submit=${(event: SubmitEvent) => {
        event.preventDefault();
        const text = new FormData(event.target as HTMLFormElement).get('seconds');
        void steer('capture', { seconds: Number(text) });
      }}
    >
      <label class="field"
        >Capture packets for
        <input name="seconds" type="number" min="1" max="3600" step="1" required value="10" />
        s</label
      ><button>Capture</button>
    </form>`;
    if (!status.steerable)
      return html`<div class="card">
        <h2>Steer</h2>
        <p class="note">More can be steered once data arrive.</p>
        ${status.machines === undefined ? capture : nothing}
        <p class="tools">${end}</p>
      </div>`;
    return html`<div class="card">
      <h2>Steer</h2>
      <form
        class="tools"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          const text = new FormData(event.target as HTMLFormElement).get('seconds');
          void steer('integration', { seconds: Number(text) });
        }}
      >
        <label class="field"
          >Integrate for
          <input
            name="seconds"
            type="number"
            min="0.001"
            step="any"
            required
            value=${this.plan?.integrationS ?? 1}
          />
          s</label
        ><button>Change</button>
      </form>
      ${status.machines === undefined ? capture : nothing}
      <p class="tools">
        ${status.recording.state === 'none' ? html`<span class="dim">No files: start with -o observation.uvh5.</span>` : html`<button @click=${() => void steer('recording', { do: isOn ? 'stop' : 'start' })}>${isOn ? 'Recording off' : 'Recording on'}</button>`}
        ${end}
      </p>
    </div>`;
  }

  protected override render() {
    const { observation } = this;
    if (!observation) return html`<p class="empty">No data yet.</p>`;
    return html`<div class="card">
        <h2>Minutes</h2>
        ${this.coverage(observation, 'with its legend')} ${this.missing(observation)}
        ${observation.machines?.map(
          (one) =>
            html`<h2>${one.machine}</h2>
              ${this.coverage(one, 'bare')}`,
        )}
      </div>
      <div class="two">
        <div>
          ${this.helm()}
          <div class="card scroll" ?hidden=${observation.machines !== undefined}>
            <h2>Files</h2>
            ${
              observation.files.length === 0
                ? html`<p class="dim">None.</p>`
                : html`<table>
                    ${tableHead(['file', '#integrations', ''])}
                    <tbody>
                      ${[...observation.files].reverse().map(
                        ({ path, integrations, state }) =>
                          html`<tr>
                            <td>${path}</td>
                            <td class="n">${count(integrations)}</td>
                            <td>${fileStates[state] ?? 'closed'}</td>
                          </tr>`,
                      )}
                    </tbody>
                  </table>`
            }
            <h2>Stream epochs</h2>
            <table>
              <tbody>
                ${observation.sessions.map(
                  ({ session, start }) =>
                    html`<tr>
                      <td>${session}</td>
                      <td>${start.slice(0, 19).replace('T', ' ')} UTC</td>
                    </tr>`,
                )}
              </tbody>
            </table>
            <p class="dim">Since ${moment(observation.startedUnixS)} UTC.</p>
          </div>
        </div>
        <div class="card scroll tall">
          <h2>Journal</h2>
          ${
            this.entries.length === 0
              ? html`<p class="dim">Nothing was changed.</p>`
              : html`<ol class="journal">
                  ${[...this.entries].reverse().map(({ number, time, who, what, fromTick, from, change }) => html`<li value=${number}><time>${time.slice(11, 19)}</time><span>${what}${fromTick ? html`<small>from tick ${fromTick}, ${from?.slice(11, 23)} UTC</small>` : nothing}${change !== undefined && this.isPending(change, from) ? html`<button @click=${() => void steer('cancel', { change })}>Cancel</button>` : nothing}</span><em>${who}</em></li>`)}
                </ol>`
          }
        </div>
      </div>`;
  }
}
customElements.define('corella-observation', Observation);
