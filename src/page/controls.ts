/** Controls that several views have. */
import { html } from 'lit';
import type { AntennaRow } from '../serve/messages.js';

/** A list to choose one of, by its number. */
export const select = (label: string, chosen: number, options: readonly string[], on: (k: number) => void) =>
  html`<label class="field"
    >${label}
    <select
      @change=${(event: Event) => {
        on(Number((event.target as HTMLSelectElement).value));
      }}
    >
      ${options.map((name, k) => html`<option value=${k} ?selected=${k === chosen}>${name}</option>`)}
    </select>
  </label>`;

/** Buttons side by side, one of them pressed. */
export const choice = <Name>(
  options: readonly (readonly [Name, string])[],
  chosen: Name,
  on: (name: Name) => void,
) =>
  options.map(
    ([name, title]) =>
      html`<button
        aria-pressed=${chosen === name}
        @click=${() => {
          on(name);
        }}
      >
        ${title}
      </button>`,
  );

/** "stand17:X", or the name alone of a station with one input. */
export const inputNames = (rows: readonly AntennaRow[]): string[] =>
  rows.flatMap(({ name, inputs }) =>
    inputs.map(({ polarisation }) => (polarisation === '' ? name : `${name}:${polarisation}`)),
  );

/** The head of a table; titles of columns of numbers begin with '#'. */
export const tableHead = (titles: readonly string[]) =>
  html`<thead>
    <tr>
      ${titles.map((title) => (title.startsWith('#') ? html`<th class="n">${title.slice(1)}</th>` : html`<th>${title}</th>`))}
    </tr>
  </thead>`;
