/** Base class of views: an element that receives messages while it is shown, and is rendered again after each. */
import { html, LitElement } from 'lit';
import type { Topic } from '../serve/messages.js';
import { listen, type Payload } from './wire.js';

export abstract class View extends LitElement {
  private leave: (() => void)[] = [];
  private timer = 0;
  /** Interval between renderings without new messages: ages increase. */
  protected everyMs = 500;

  /** An error in a view is shown in its place; the next rendering tries again. */
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

  /** No shadow root: one style sheet for the whole page. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Subscribes to messages. */
  protected abstract begin(): void;

  protected subscribe<T extends Topic>(topic: T, listener: (value: Payload[T]) => void): void {
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
