/** <corella-heat>: numbers as a grid of colours, rows from the top. */
import { LitElement, html } from 'lit';
import { tables, type Palette } from './colours.js';

export interface HeatData {
  /** values : [row][column]. */
  readonly values: Float32Array;
  readonly rows: number;
  readonly columns: number;
  readonly low: number;
  readonly high: number;
  readonly palette: Palette;
  readonly label: string;
}

class CorellaHeat extends LitElement {
  private wanted: HeatData | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  set data(data: HeatData | undefined) {
    this.wanted = data;
    this.requestUpdate();
  }

  protected override updated(): void {
    const canvas = this.querySelector('canvas');
    const context = canvas?.getContext('2d');
    const { wanted } = this;
    if (!canvas || !context || !wanted || wanted.rows * wanted.columns === 0) return;
    const { values, rows, columns, low, high, palette } = wanted;
    if (canvas.width !== columns || canvas.height !== rows) {
      canvas.width = columns;
      canvas.height = rows;
    }
    const picture = context.createImageData(columns, rows);
    const table = tables[palette];
    for (let at = 0; at < rows * columns; at++) {
      const fraction = (values[at] - low) / (high - low);
      // Cells without a number stay transparent.
      if (Number.isNaN(fraction)) continue;
      const from = 4 * Math.round(255 * Math.min(1, Math.max(0, fraction)));
      picture.data.set(table.subarray(from, from + 4), 4 * at);
    }
    context.putImageData(picture, 0, 0);
  }

  protected override render() {
    return html`<canvas class="heat" role="img" aria-label=${this.wanted?.label ?? ''}></canvas>`;
  }
}
customElements.define('corella-heat', CorellaHeat);
