/** <corella-sky>: the sky with its sources named, north up, east left; click or arrow keys choose a position. */
import { LitElement, html, svg, nothing } from 'lit';
import type { SkyHead, SkyAxes } from '../serve/messages.js';
import { brightness } from './format.js';
import { cssAt } from './colours.js';
import { openPainter, type SkyPainter } from './sky-gl.js';
import type { Numbers } from './wire.js';

/** A margin around the horizon, for its circle and letters. */
const MARGIN = 1.1;
const EXPONENT = 0.6;
/** Narrower beams are drawn with this width. */
const LEAST_CIRCLE = 0.012;
/** How fast the colour scale follows a new range: noise in the range must not make the display flicker. */
const FOLLOW = 0.25;

/** A tab in the background is never painted. */
const LONGEST_WAIT_MS = 1000;

/** A drawing context takes tenths of a second to open: the rest of the page is painted first. */
function afterFirstPaint(begin: () => void): void {
  const once = (): void => {
    observer.disconnect();
    clearTimeout(timer);
    begin();
  };
  const observer = new PerformanceObserver(once);
  const timer = setTimeout(once, LONGEST_WAIT_MS);
  observer.observe({ type: 'paint', buffered: true });
}

export type { Place };

class CorellaSky extends LitElement {
  private painter: SkyPainter | undefined;
  private isBroken = false;
  private isAsked = false;
  private shown: Numbers<SkyHead> | undefined;
  private range: { low: number; high: number } | undefined;
  private place: Place | undefined;
  /** Number of pictures drawn, for measurements. */
  drawn = 0;
  /** No source names, for a small sky. */
  plain = false;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  set picture(numbers: Numbers<SkyHead> | undefined) {
    if (!numbers || numbers === this.shown) return;
    this.shown = numbers;
    const { low, high } = numbers.head;
    const old = this.range;
    const isFar = !old || high > 3 * old.high || high < old.high / 3;
    this.range = isFar
      ? { low, high }
      : { low: old.low + FOLLOW * (low - old.low), high: old.high + FOLLOW * (high - old.high) };
    this.requestPaint();
    this.requestUpdate();
  }

  set chosen(place: Place | undefined) {
    this.place = place;
    this.requestUpdate();
  }

  protected override firstUpdated(): void {
    const canvas = this.querySelector('canvas');
    if (!canvas) return;
    afterFirstPaint(() => {
      this.painter = openPainter(canvas);
      this.isBroken = this.painter === undefined;
      new ResizeObserver(() => {
        this.resize(canvas);
      }).observe(canvas);
      this.resize(canvas);
      this.requestUpdate();
    });
  }

  private resize(canvas: HTMLCanvasElement): void {
    const side = Math.max(64, Math.min(1600, Math.round(canvas.clientWidth * devicePixelRatio)));
    if (canvas.width !== side) {
      canvas.width = side;
      canvas.height = side;
    }
    this.paint();
  }

  private get reach(): number {
    return MARGIN * (this.shown?.head.halfWidth ?? 1);
  }

  /** At most once per display frame: slow drawing shows the newest picture and skips others. */
  private requestPaint(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.paint();
    });
  }

  private paint(): void {
    if (!this.painter || !this.shown || !this.range) return;
    const { head, values } = this.shown;
    this.painter.draw({
      values,
      pixels: head.shape[0],
      pixelSize: head.pixelSize,
      reach: this.reach,
      ...this.range,
      exponent: EXPONENT,
    });
    this.drawn++;
    this.dataset.drawn = String(this.drawn);
  }

  private choose(place: Place): void {
    const { halfWidth } = this.shown?.head ?? { halfWidth: 1 };
    const size =
      halfWidth === 1 ? Math.hypot(place.l, place.m) : Math.max(Math.abs(place.l), Math.abs(place.m));
    if (size > halfWidth) return;
    this.place = place;
    this.requestUpdate();
    this.dispatchEvent(new CustomEvent<Place>('place', { detail: place }));
  }

  private readonly pointAt = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const x = (2 * (event.clientX - box.left)) / box.width - 1;
    const y = 1 - (2 * (event.clientY - box.top)) / box.height;
    this.choose({ l: -x * this.reach, m: y * this.reach });
  };

  private readonly key = (event: KeyboardEvent): void => {
    const step = this.reach * (event.shiftKey ? 0.1 : 0.02);
    const moves: Record<string, Place | undefined> = {
      ArrowLeft: { l: step, m: 0 },
      ArrowRight: { l: -step, m: 0 },
      ArrowUp: { l: 0, m: step },
      ArrowDown: { l: 0, m: -step },
      Enter: { l: 0, m: 0 },
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const { l, m } = this.place ?? { l: 0, m: 0 };
    this.choose({ l: l + move.l, m: m + move.m });
  };

  private overlay() {
    const head = this.shown?.head;
    const scale = 1 / this.reach;
    const isWhole = (head?.halfWidth ?? 1) === 1;
    const radius = (head?.halfWidth ?? 1) * scale;
    const pointsOf = (line: readonly Place[]): string =>
      line.map(({ l, m }) => `${(-l * scale).toFixed(4)},${(-m * scale).toFixed(4)}`).join(' ');
    const ring = (altitude: number) => {
      const line = altitudeLine(head?.axes, altitude);
      const { l, m } = line[0];
      return svg`<polygon class="ring" points=${pointsOf(line)} /><text class="degree" x=${-l * scale + 0.012} y=${-m * scale + 0.045}>${altitude}°</text>`;
    };
    const letters = ['N', 'E', 'S', 'W'].map((name, quarter) => {
      const { l, m } = isWhole
        ? compassPoint(head?.axes, 90 * quarter)
        : { l: [0, 1, 0, -1][quarter], m: [1, 0, -1, 0][quarter] };
      const out = isWhole ? 1 + 0.045 / scale / Math.hypot(l, m) : (radius + 0.045) / scale;
      return { name, x: -l * scale * out, y: -m * scale * out };
    });
    const zenith = zenithOf(head?.axes);
    return svg`
      ${isWhole ? svg`<polygon class="horizon" points=${pointsOf(rimOf(head?.axes))} />${[30, 60].map(ring)}` : svg`<rect class="horizon" x=${-radius} y=${-radius} width=${2 * radius} height=${2 * radius} />`}
      ${zenith ? svg`<path class="ring" d="M${-zenith.l * scale - 0.015} ${-zenith.m * scale}h.03M${-zenith.l * scale} ${-zenith.m * scale - 0.015}v.03" />` : nothing}
      ${letters.map(({ name, x, y }) => svg`<text class="compass" x=${x} y=${y}>${name}</text>`)}
      ${(this.plain ? [] : (head?.sources ?? []))
        .filter(({ l, m }) => Math.max(Math.abs(l), Math.abs(m)) < (head?.halfWidth ?? 1))
        .map(({ name, l, m }) => {
          const [x, y] = [-l * scale, -m * scale];
          const isRight = x > 0.55;
          return svg`<g class="source"><circle cx=${x} cy=${y} r="0.035" />
            <text x=${x + (isRight ? -0.055 : 0.055)} y=${y} text-anchor=${isRight ? 'end' : 'start'}>${name}</text></g>`;
        })}
      ${(this.plain ? [] : (head?.beams ?? []))
        .filter(({ l, m }) => Math.max(Math.abs(l), Math.abs(m)) < (head?.halfWidth ?? 1))
        .map(({ name, l, m, radius: wide }) => {
          const [x, y, r] = [-l * scale, -m * scale, Math.max(LEAST_CIRCLE, wide * scale)];
          const isRight = x > 0.55;
          return svg`<g class="beam"><circle cx=${x} cy=${y} r=${r} />
            <text x=${x + (isRight ? -r - 0.02 : r + 0.02)} y=${y} dy="-0.03" text-anchor=${isRight ? 'end' : 'start'}>${name}</text></g>`;
        })}
      ${this.place ? svg`<g class="chosen" transform="translate(${-this.place.l * scale} ${-this.place.m * scale})"><path d="M-.07 0h.045M.025 0h.045M0-.07v.045M0 .025v.045" /><circle r="0.025" /></g>` : nothing}`;
  }

  private bar() {
    const head = this.shown?.head;
    if (!head || !this.range) return nothing;
    const { low, high } = this.range;
    const stops = Array.from({ length: 12 }, (_, k) => cssAt('brightness', (k / 11) ** EXPONENT)).join(', ');
    return html`<div class="bar" aria-hidden="true">
      <span>${brightness(low)}</span>
      <i style="background:linear-gradient(90deg, ${stops})"></i>
      <span>${brightness(high)} ${head.unit}</span>
    </div>`;
  }

  protected override render() {
    const head = this.shown?.head;
    return html`<figure
        class="sky"
        tabindex="0"
        role="img"
        aria-label=${head ? `The sky at ${head.time}: ${head.sources.map(({ name }) => name).join(', ')}. Arrow keys choose a place.` : 'No image yet'}
        @click=${this.pointAt}
        @keydown=${this.key}
      >
        <canvas></canvas>
        <svg viewBox="-1 -1 2 2" aria-hidden="true">${this.overlay()}</svg>
        ${this.isBroken ? html`<p class="empty">This browser has no WebGL 2: see /api/v1/images/latest.png</p>` : head ? nothing : html`<p class="empty">No image yet</p>`}
      </figure>
      ${this.bar()}`;
  }
}
customElements.define('corella-sky', CorellaSky);

/** In direction cosines. */
interface Place {
  readonly l: number;
  readonly m: number;
}

const ROUND: SkyAxes = { l: [1, 0, 0], m: [0, 1, 0], n: [0, 0, 1] };

const STEP_DEG = 4;

const RADIANS = Math.PI / 180;

const along = (axis: readonly number[], direction: readonly number[]): number =>
  axis[0] * direction[0] + axis[1] * direction[1] + axis[2] * direction[2];

const directionOf = (altitudeDeg: number, azimuthDeg: number): number[] => {
  const [alt, az] = [altitudeDeg * RADIANS, azimuthDeg * RADIANS];
  return [Math.cos(alt) * Math.sin(az), Math.cos(alt) * Math.cos(az), Math.sin(alt)];
};

/** The edge of the sky along a direction of the image: the true horizon, or the edge of the projection, 1. */
function reach({ l, m, n }: SkyAxes, east: number, north: number): number {
  const up = (l[2] * east + m[2] * north) / Math.hypot(east, north);
  return up >= 0 ? 1 : n[2] / Math.hypot(n[2], up);
}

const angles = Array.from({ length: 360 / STEP_DEG }, (_, k) => k * STEP_DEG);

/** The edge of the sky in the image. */
const rimOf = (axes: SkyAxes = ROUND): Place[] =>
  angles.map((degrees) => {
    const [l, m] = [Math.sin(degrees * RADIANS), Math.cos(degrees * RADIANS)];
    const part = reach(axes, l, m);
    return { l: part * l, m: part * m };
  });

/** Starting at north. */
const altitudeLine = (axes: SkyAxes = ROUND, altitudeDeg: number): Place[] =>
  angles.map((azimuth) => {
    const direction = directionOf(altitudeDeg, azimuth);
    return { l: along(axes.l, direction), m: along(axes.m, direction) };
  });

/** On the edge of the sky, towards an azimuth. */
function compassPoint(axes: SkyAxes = ROUND, azimuthDeg: number): Place {
  const direction = directionOf(0, azimuthDeg);
  const [l, m] = [along(axes.l, direction), along(axes.m, direction)];
  const part = reach(axes, l, m) / Math.hypot(l, m);
  return { l: part * l, m: part * m };
}

/** Undefined if it is the image's centre. */
const zenithOf = ({ l, m }: SkyAxes = ROUND): Place | undefined =>
  Math.hypot(l[2], m[2]) < 1e-6 ? undefined : { l: l[2], m: m[2] };
