/** The frame around all views: telescope, status, navigation. */
import { html, nothing } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { unsafeStatic, html as staticHtml } from 'lit/static-html.js';
import type { Alarm, Status } from '../serve/messages.js';
import { clock, seconds } from './format.js';
import { askTokenBy, onOutcome, steer, type Outcome } from './steer.js';
import { setToken } from './token.js';
import { View } from './view.js';
import { isConnected, reopen, silenceMs, wantsToken } from './wire.js';
import './views/now.js';
import './views/sources.js';
import './views/antennas.js';
import './views/bandpass.js';
import './views/waterfall.js';
import './views/fringes.js';
import './views/beams.js';
import './views/gains.js';
import './views/chain.js';
import './views/machines.js';
import './views/observation.js';

const views = [
  ['now', 'Now', 'the sky'],
  ['sources', 'Sources', 'packets, losses'],
  ['antennas', 'Antennas', 'levels, flags'],
  ['bandpass', 'Bandpass', 'power by channel'],
  ['waterfall', 'Waterfall', 'power over time'],
  ['fringes', 'Fringes', 'few stations'],
  ['beams', 'Beams', 'dynamic spectra'],
  ['gains', 'Gains', 'calibration'],
  ['chain', 'Chain', 'load, latency'],
  ['machines', 'Machines', 'state, losses'],
  ['observation', 'Observation', 'files, journal'],
] as const;
type Name = (typeof views)[number][0];
/** Views of a page for several machines; all others are on each machine's own page. */
const forAll: readonly Name[] = ['now', 'machines', 'observation'];

/** After the server has been silent for this long, the page's contents are out of date. */
const LOST_MS = 3500;

class CorellaApp extends View {
  private status: Status | undefined;
  private alarms: readonly Alarm[] = [];
  /** Whether there are two to eight stations: then fringes are shown. */
  private isFew = false;
  private outcome: Outcome | undefined;
  private outcomeTimer = 0;
  private answer: ((token: string | undefined) => void) | undefined;

  private get views(): readonly (typeof views)[number][] {
    const isForAll = this.status?.machines !== undefined;
    return views.filter(([name]) =>
      isForAll
        ? forAll.includes(name)
        : name !== 'machines' &&
          (name !== 'fringes' || this.isFew) &&
          (name !== 'beams' || this.status?.beams === true),
    );
  }

  private get name(): Name {
    const wanted = location.hash.slice(1);
    return this.views.find(([name]) => name === wanted)?.[0] ?? 'now';
  }

  protected override begin(): void {
    // The server's placeholder is removed with our first rendering.
    this.replaceChildren();
    this.subscribe('status', (status) => (this.status = status));
    this.subscribe('plan', ({ stations }) => (this.isFew = stations >= 2 && stations <= 8));
    this.subscribe('alarms', (alarms) => (this.alarms = alarms));
    addEventListener('hashchange', () => {
      this.requestUpdate();
    });
    addEventListener('keydown', (event) => {
      this.key(event);
    });
    onOutcome((outcome) => {
      this.outcome = outcome;
      clearTimeout(this.outcomeTimer);
      this.outcomeTimer = window.setTimeout(() => {
        this.outcome = undefined;
        this.requestUpdate();
      }, 8000);
      this.requestUpdate();
    });
    askTokenBy(() => this.askToken());
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
      return;
    const view = this.views.at(Number(event.key) - 1);
    if (/^[1-9]$/.test(event.key) && view) location.hash = view[0];
    else if (event.key === 't') this.switchTheme();
    else if (event.key === 'f') this.toggleWall();
  }

  private readonly switchTheme = (): void => {
    otherTheme();
    this.requestUpdate();
  };

  /** Shows only the view, for a wall display in a control room. */
  private readonly toggleWall = (): void => {
    document.documentElement.toggleAttribute('data-wall');
  };

  private askToken(): Promise<string | undefined> {
    const dialog = this.querySelector('dialog');
    if (!dialog) return Promise.resolve(undefined);
    dialog.showModal();
    return new Promise((resolve) => {
      this.answer = resolve;
    });
  }

  private readonly answered = (event: Event): void => {
    const dialog = event.currentTarget as HTMLDialogElement;
    const given = dialog.returnValue === 'ok' ? dialog.querySelector('input')?.value : undefined;
    this.answer?.(given);
    if (this.answer === undefined && given) {
      setToken(given);
      reopen();
    }
    this.answer = undefined;
  };

  private get isLost(): boolean {
    return !isConnected() || silenceMs() > LOST_MS;
  }

  private get mood(): 'good' | 'warning' | 'alarm' {
    const { status } = this;
    if (this.isLost || !status) return 'alarm';
    if (status.state === 'silent' || status.alarms.alarms > 0) return 'alarm';
    return status.alarms.warnings > 0 || status.state !== 'observing'
      ? status.state === 'showing'
        ? 'good'
        : 'warning'
      : 'good';
  }

  private word(): string {
    if (!this.status && !isConnected()) return wantsToken() ? 'A token is needed' : 'Connecting';
    if (this.isLost) return `No word from the server for ${seconds(silenceMs() / 1000)}`;
    return this.status?.word ?? 'Connecting';
  }

  private header() {
    const { status } = this;
    const marks = { good: '●', warning: '▲', alarm: '■' } as const;
    return html`<header>
      <a class="mark" href="#now" aria-label="Corella"
        ><img src="/icon.svg" alt="" width="28" height="28"
      /></a>
      <div class="title">
        <h1>${status?.title ?? 'Corella'}</h1>
        <p class="mood ${this.mood}" role="status">
          <span aria-hidden="true">${marks[this.mood]}</span> ${this.word()}
        </p>
      </div>
      <div class="facts">
        ${
          status
            ? html`<span class="pill ${status.recording.state}" title=${status.recording.file ?? ''}
                  >${{ none: 'no files', recording: 'recording', stalled: 'nothing written', stopped: 'recording off' }[status.recording.state]}</span
                ><time title="UTC">${clock(status.serverUnixS)} UTC</time>`
            : nothing
        }
        <button class="plain" @click=${this.switchTheme} title="Dark or light (t)" aria-label="Dark or light">
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
            <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
          </svg>
        </button>
        <button
          class="plain wall"
          @click=${this.toggleWall}
          title="Only the view (f)"
          aria-label="Only the view"
        >
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path
              d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"
              fill="none"
              stroke="currentColor"
              stroke-width="1.6"
            />
          </svg>
        </button>
      </div>
    </header>`;
  }

  private alarmLines() {
    return this.alarms
      .filter(({ acknowledged }) => !acknowledged)
      .slice(0, 4)
      .map(
        ({ id, severity, what, where, fix, sinceUnixS, because }) =>
          html`<li class="${severity} ${because === undefined ? '' : 'follows'}">
            <span class="sign" aria-label=${severity}>${severity === 'alarm' ? '■' : '▲'}</span>
            <span><b>${where}</b>: ${what} <em>${fix}</em></span>
            <span class="since">since ${clock(sinceUnixS)}</span>
            <button @click=${() => void steer(`alarms/${encodeURIComponent(id)}/acknowledge`, {})}>
              Seen
            </button>
          </li>`,
      );
  }

  protected override render() {
    const { name } = this;
    const tag = unsafeStatic(`corella-${name}`);
    const lines = this.isLost ? [] : this.alarmLines();
    return html`<a
        class="skip"
        href="#main"
        @click=${(event: Event) => {
          event.preventDefault();
          this.querySelector('main')?.focus();
        }}
        >To the content</a
      >
      ${this.header()}
      <nav aria-label="Views">
        ${this.views.map(
          ([id, title, about], k) =>
            html`<a href="#${id}" aria-current=${id === name ? 'page' : 'false'} title="${about} (${k + 1})"
              ><b>${title}</b><small>${about}</small></a
            >`,
        )}
        ${this.status ? html`<p class="about">corella ${this.status.version}<br />${this.status.backend}</p>` : nothing}
      </nav>
      <main
        id="main"
        tabindex="-1"
        class=${this.isLost && this.status ? 'lost' : ''}
        style="--alarms:${lines.length}"
      >
        ${
          lines.length > 0
            ? html`<ul class="alarms" aria-label="Alarms" aria-live="polite">
                ${lines}
              </ul>`
            : nothing
        }
        ${keyed(name, staticHtml`<${tag}></${tag}>`)}
      </main>
      ${
        this.outcome
          ? html`<p class="toast ${this.outcome.isDone ? 'done' : 'refused'}" role="alert">
              ${this.outcome.text}
            </p>`
          : nothing
      }
      <dialog @close=${this.answered}>
        <form method="dialog">
          <h2>The token</h2>
          <p>It is printed where corella was started, or is in the file that page.token-file names.</p>
          <input name="token" autocomplete="off" spellcheck="false" aria-label="Token" />
          <menu>
            <button value="cancel" formnovalidate>Leave it</button
            ><button class="main" value="ok">Use it</button>
          </menu>
        </form>
      </dialog>`;
  }
}
customElements.define('corella-app', CorellaApp);

const KEY = 'corella-theme';

type Theme = 'dark' | 'light';

const system = (): Theme => (matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark');

const chosen = (): Theme | undefined => {
  const kept = localStorage.getItem(KEY);
  return kept === 'dark' || kept === 'light' ? kept : undefined;
};

function applyTheme(): void {
  document.documentElement.dataset.theme = chosen() ?? system();
}

function otherTheme(): void {
  localStorage.setItem(KEY, document.documentElement.dataset.theme === 'light' ? 'dark' : 'light');
  applyTheme();
}

applyTheme();

matchMedia('(prefers-color-scheme: light)').addEventListener('change', applyTheme);
