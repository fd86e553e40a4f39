/** Sends alarms to a web address: one request when an alarm begins and one when it is over, in sequence. */
import { refuse } from '../core/errors.js';
import type { Alarm } from './messages.js';

/** A request that takes longer has failed. */
const TIMEOUT_MS = 10_000;
/** Limit on waiting requests for an unreachable address; the oldest are dropped and counted. */
const MOST_WAITING = 100;

export function checkAlarmUrl(url: string): void {
  if (!/^https?:\/\/[^\s/]+/.test(url) || !URL.canParse(url))
    refuse('page.alarm-url', `'${url}' is not a web address`, 'write it like https://example.org/alarms');
}

export class Webhook {
  private readonly waiting: string[] = [];
  private sending: Promise<void> | undefined;
  private isFailing = false;
  private dropped = 0;

  constructor(
    private readonly url: string,
    private readonly say: (line: string) => void,
  ) {
    checkAlarmUrl(url);
  }

  alarm({ id, severity, where, what, fix }: Alarm, isUp: boolean, at: Date): void {
    this.waiting.push(
      JSON.stringify({ at: at.toISOString(), state: isUp ? 'up' : 'over', id, severity, where, what, fix }),
    );
    if (this.waiting.length > MOST_WAITING) {
      this.waiting.shift();
      this.dropped++;
    }
    this.sending ??= this.send().finally(() => {
      this.sending = undefined;
    });
  }

  private async send(): Promise<void> {
    for (let body = this.waiting.shift(); body !== undefined; body = this.waiting.shift()) {
      const failure = await this.post(body);
      // Reported at its beginning and end: an address that is unreachable for hours gives two lines.
      if (failure !== undefined && !this.isFailing)
        this.say(`page.alarm-url: ${failure}; alarms are on the page`);
      if (failure === undefined && this.isFailing) this.say('page.alarm-url: takes alarms again');
      this.isFailing = failure !== undefined;
    }
  }

  private async post(body: string): Promise<string | undefined> {
    try {
      const answer = await fetch(this.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        // The address that was given, and no other, gets the alarms.
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      // Only the status counts: a body may be endless.
      await answer.body?.cancel();
      if (answer.ok) return undefined;
      const isElsewhere = answer.status >= 300 && answer.status < 400;
      return `${this.url} answers ${answer.status}${isElsewhere ? ', and redirections are not followed' : ''}`;
    } catch (error) {
      return `${this.url} does not answer (${error instanceof Error ? error.message : String(error)})`;
    }
  }

  /** Resolves when waiting requests have been sent or have failed. */
  async close(): Promise<void> {
    await this.sending;
    if (this.dropped > 0) this.say(`page.alarm-url: ${this.dropped} alarms were not sent`);
  }
}
