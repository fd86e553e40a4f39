/** <corella-chart>: curves over time or frequency by uPlot, in the page's own colours. */
import { LitElement, html } from 'lit';
import uPlot from 'uplot';
import { isDark, seriesColour, variable } from './colours.js';

export interface Curve {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly colour?: string;
  readonly width?: number;
  readonly points?: boolean;
}

export interface ChartData {
  readonly x: readonly number[];
  readonly curves: readonly Curve[];
  /** For the x axis: seconds since 1970, or a number with a unit. */
  readonly time?: boolean;
  readonly xLabel?: string;
  readonly yLabel: string;
  readonly range?: readonly [number, number];
  readonly height?: number;
}

/** 24 hours, UTC; with seconds if the ticks are closer than a minute. */
const clockTicks = (_: uPlot, ticks: number[]): string[] => {
  const end = ticks.length > 1 && ticks[1] - ticks[0] < 60 ? 19 : 16;
  return ticks.map((unixS) => new Date(1000 * unixS).toISOString().slice(11, end));
};

/** With enough decimals to distinguish the ticks. */
const plainTicks = (_: uPlot, ticks: number[]): string[] => {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  const isWhole = (decimals: number): boolean => {
    const steps = step * 10 ** decimals;
    return Math.round(steps) >= 1 && Math.abs(steps - Math.round(steps)) < 1e-4;
  };
  const decimals = [0, 1, 2, 3, 4, 5, 6, 7, 8].find(isWhole) ?? 9;
  return ticks.map((value) => value.toFixed(decimals));
};

class CorellaChart extends LitElement {
  private plot: uPlot | undefined;
  private shape = '';
  private wanted: ChartData | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  set data(data: ChartData | undefined) {
    this.wanted = data;
    if (this.isConnected && this.hasUpdated) this.show();
  }

  protected override firstUpdated(): void {
    new ResizeObserver(() => {
      const { wanted, plot } = this;
      if (plot && wanted) plot.setSize({ width: this.clientWidth, height: wanted.height ?? 220 });
    }).observe(this);
    this.show();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.plot?.destroy();
    this.plot = undefined;
    this.shape = '';
  }

  private show(): void {
    const { wanted } = this;
    const box = this.querySelector<HTMLElement>('.plot');
    if (!wanted || !box) return;
    const shape = [isDark(), wanted.yLabel, wanted.xLabel, ...wanted.curves.map(({ label }) => label)].join(
      '|',
    );
    const data = [wanted.x, ...wanted.curves.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    if (this.plot && this.shape === shape) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.shape = shape;
    this.plot = new uPlot(this.options(wanted), data, box);
  }

  private options(wanted: ChartData): uPlot.Options {
    const axis = {
      stroke: variable('--dim'),
      grid: { stroke: variable('--line'), width: 1 },
      ticks: { stroke: variable('--line'), width: 1 },
      font: '12px system-ui, sans-serif',
      labelFont: '12px system-ui, sans-serif',
      labelSize: 18,
    };
    return {
      width: Math.max(200, this.clientWidth),
      height: wanted.height ?? 220,
      // Times are UTC everywhere.
      tzDate: (unixS) => uPlot.tzDate(new Date(1000 * unixS), 'Etc/UTC'),
      legend: { show: wanted.curves.length > 1 && wanted.curves.length <= 8, live: false },
      cursor: { y: false, points: { size: 6 } },
      scales: {
        x: { time: wanted.time === true },
        ...(wanted.range && { y: { range: [wanted.range[0], wanted.range[1]] } }),
      },
      axes: [
        {
          ...axis,
          ...(wanted.xLabel !== undefined && { label: wanted.xLabel }),
          values: wanted.time === true ? clockTicks : plainTicks,
          space: 80,
        },
        { ...axis, label: wanted.yLabel, size: 62 },
      ],
      series: [
        {},
        ...wanted.curves.map(({ label, colour, width, points }, k) => ({
          label,
          stroke: colour ?? seriesColour(k),
          width: points === true ? 0 : (width ?? 1.5),
          points:
            points === true ? { show: true, size: 5, fill: colour ?? seriesColour(k) } : { show: false },
          ...(points === true && { paths: () => null }),
        })),
      ],
    };
  }

  protected override render() {
    return html`<div class="plot"></div>`;
  }
}
customElements.define('corella-chart', CorellaChart);
