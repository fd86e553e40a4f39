/** Antennas: a map of their positions and states from the data; flags broken ones. */
import { html, svg, nothing } from 'lit';
import type { AntennaRow, Health, InputRow, Status } from '../../serve/messages.js';
import { choice, tableHead } from '../controls.js';
import { decibels, degrees, percent } from '../format.js';
import { steer } from '../steer.js';
import { View } from '../view.js';

/** Shape and text as well as colour. */
const healths = {
  good: ['●', 'good'],
  flagged: ['✕', 'flagged'],
  missing: ['○', 'nothing comes'],
  dead: ['■', 'dead'],
  weak: ['▼', 'weak'],
  strong: ['▲', 'strong'],
  changed: ['◆', 'changed'],
  unknown: ['●', 'power unknown'],
} as const satisfies Record<Health, readonly [string, string]>;
const order: readonly Health[] = [
  'missing',
  'dead',
  'changed',
  'strong',
  'weak',
  'flagged',
  'unknown',
  'good',
];
const worst = ({ inputs }: AntennaRow): Health =>
  order.find((health) => inputs.some((input) => input.health === health)) ?? 'good';

type Sort = 'place' | 'health' | 'level';

class Antennas extends View {
  private rows: readonly AntennaRow[] = [];
  private status: Status | undefined;
  private sort: Sort = 'place';
  private chosen: string | undefined;

  protected override begin(): void {
    this.subscribe('antennas', (rows) => (this.rows = rows));
    this.subscribe('status', (status) => (this.status = status));
  }

  private pick(name: string): void {
    this.chosen = name;
    this.requestUpdate();
    void this.updateComplete.then(() =>
      this.querySelector(`[data-name="${CSS.escape(name)}"]`)?.scrollIntoView({ block: 'nearest' }),
    );
  }

  private map() {
    const { rows } = this;
    if (rows.length === 0) return nothing;
    const xs = rows.map(({ eastM }) => eastM);
    const ys = rows.map(({ northM }) => northM);
    const middle = (values: readonly number[]): number => (Math.min(...values) + Math.max(...values)) / 2;
    const half = 0.55 * Math.max(1, Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
    const [x0, y0] = [middle(xs), middle(ys)];
    const r = Math.max(half / 60, Math.min(half / 22, half / Math.sqrt(rows.length) / 2.4));
    // A round number, about a third of the width.
    const scale = 10 ** Math.floor(Math.log10(half / 1.5));
    const bar = [5, 2, 1].map((one) => one * scale).find((one) => one <= half * 0.7) ?? scale;
    return html`<svg class="map" viewBox="${-half} ${-half} ${2 * half} ${2 * half}" aria-hidden="true">
      ${rows.map((row) => {
        const health = worst(row);
        const [x, y] = [row.eastM - x0, -(row.northM - y0)];
        return svg`<g class="antenna ${health} ${row.name === this.chosen ? 'chosen' : ''}" @click=${() => {
          this.pick(row.name);
        }}>
          <title>${row.name}: ${healths[health][1]}</title>
          ${health === 'good' || health === 'unknown' ? svg`<circle cx=${x} cy=${y} r=${r} />` : health === 'flagged' || health === 'missing' ? svg`<circle class="hollow" cx=${x} cy=${y} r=${r} stroke-width=${r / 2.5} />` : svg`<rect x=${x - r} y=${y - r} width=${2 * r} height=${2 * r} transform="rotate(45 ${x} ${y})" />`}
          ${row.name === this.chosen ? svg`<circle class="halo" cx=${x} cy=${y} r=${2 * r} stroke-width=${r / 3} />` : nothing}
        </g>`;
      })}
      <g class="bar">
        <path d="M${-half * 0.95} ${half * 0.94}h${bar}" stroke-width=${half / 120} />
        <text x=${-half * 0.95} y=${half * 0.91} font-size=${half / 16}>
          ${bar >= 1000 ? `${bar / 1000} km` : `${bar} m`}
        </text>
        <text x=${half * 0.9} y=${-half * 0.84} font-size=${half / 14} text-anchor="middle">N ↑</text>
      </g>
    </svg>`;
  }

  private sorted(): AntennaRow[] {
    const rows = [...this.rows];
    if (this.sort === 'health') rows.sort((x, y) => order.indexOf(worst(x)) - order.indexOf(worst(y)));
    if (this.sort === 'level')
      rows.sort((x, y) => (y.inputs[0].levelDb ?? -99) - (x.inputs[0].levelDb ?? -99));
    return rows;
  }

  private flag({ name, inputs }: AntennaRow): void {
    const isFlagged = inputs.every(({ flagged }) => flagged);
    void steer('flags', { inputs: [name], flag: !isFlagged });
  }

  private cells({
    polarisation,
    levelDb,
    offArrayDb,
    offHourDb,
    presentPercent,
    gainDb,
    gainPhaseDeg,
    health,
  }: InputRow) {
    const isOff = (db: number | null): string => (db !== null && Math.abs(db) > 3 ? 'warning' : '');
    return html`<td>${polarisation}</td>
      <td class="health ${health}">
        <span aria-hidden="true">${healths[health][0]}</span> ${healths[health][1]}
      </td>
      <td class="n">${decibels(levelDb)}</td>
      <td class="n ${isOff(offArrayDb)}">${decibels(offArrayDb, true)}</td>
      <td class="n ${isOff(offHourDb)}">${decibels(offHourDb, true)}</td>
      <td class="n">${percent(presentPercent)}</td>
      <td class="n">${decibels(gainDb)}</td>
      <td class="n">${gainPhaseDeg === null ? '–' : degrees(gainPhaseDeg, 0)}</td>`;
  }

  private table() {
    return html`<table class="antennas">
      ${tableHead(['antenna', '', '', '#level', '#to median', '#in 1 hour', '#samples', '#gain', '#phase', ''])}
      <tbody>
        ${this.sorted().flatMap((row) =>
          row.inputs.map(
            (input, k) =>
              html`<tr data-name=${row.name} class=${row.name === this.chosen ? 'chosen' : ''}>
                ${
                  k === 0
                    ? html`<th scope="rowgroup" rowspan=${row.inputs.length}>
                        <button
                          class="link"
                          @click=${() => {
                            this.pick(row.name);
                          }}
                        >
                          ${row.name}
                        </button>
                      </th>`
                    : nothing
                }
                ${this.cells(input)}
                ${
                  k === 0
                    ? html`<td class="act" rowspan=${row.inputs.length}>
                        <button
                          class="flag"
                          ?disabled=${this.status?.steerable === false}
                          @click=${() => {
                            this.flag(row);
                          }}
                          aria-label="${row.inputs.every(({ flagged }) => flagged) ? 'Use' : 'Flag'} ${row.name}"
                        >
                          ${row.inputs.every(({ flagged }) => flagged) ? 'Use' : 'Flag'}
                        </button>
                      </td>`
                    : nothing
                }
              </tr>`,
          ),
        )}
      </tbody>
    </table>`;
  }

  protected override render() {
    if (this.rows.length === 0)
      return html`<p class="empty">With the first integration each antenna's level is known.</p>`;
    const counts = new Map<Health, number>();
    for (const row of this.rows) counts.set(worst(row), (counts.get(worst(row)) ?? 0) + 1);
    const sorts: readonly (readonly [Sort, string])[] = [
      ['place', 'as listed'],
      ['health', 'worst first'],
      ['level', 'strongest first'],
    ];
    return html`<div class="two wide-right">
      <div class="card">
        ${this.map()}
        <ul class="legend">
          ${order.filter((health) => counts.has(health)).map((health) => html`<li class="health ${health}"><span aria-hidden="true">${healths[health][0]}</span> ${counts.get(health)} ${healths[health][1]}</li>`)}
        </ul>
      </div>
      <div class="card scroll tall">
        <p class="tools">
          ${choice(sorts, this.sort, (sort) => {
            this.sort = sort;
            this.requestUpdate();
          })}
        </p>
        ${this.table()}
      </div>
    </div>`;
  }
}
customElements.define('corella-antennas', Antennas);
