/** What every view is: an element that listens while it is shown, and is drawn again when something came. */
import { html, LitElement } from 'lit';
import type { Topic } from '../serve/messages.js';
import { listen, type Said } from './wire.js';

export abstract class View extends LitElement {
  private leave: (() => void)[] = [];
  private timer = 0;
  /** Drawn again so often even if nothing comes: ages grow. */
  protected everyMs = 500;

  /** What a view cannot show is said in its place, and the next that comes is tried again. */
  constructor() {
    super();
    const draw = this.render.bind(this);
    this.render = () => {
      try {
        return draw();
      } catch (error) {
        console.error(error);
        return html`<p class="empty">This view cannot show what came: ${String(error)}</p>`;
      }
    };
  }

  /** No shadow: one style sheet for the whole page. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** What to listen for. */
  protected abstract begin(): void;

  protected hear<T extends Topic>(topic: T, listener: (value: Said[T]) => void): void {
    this.leave.push(
      listen(topic, (value) => {
        listener(value);
        this.requestUpdate();
      }),
    );
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.begin();
    this.timer = window.setInterval(() => {
      this.requestUpdate();
    }, this.everyMs);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
    for (const leave of this.leave.splice(0)) leave();
  }
}
