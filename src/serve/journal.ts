/** Every change, its author and when it takes effect: in memory for the page, and one line each in journal.jsonl. */
import { appendFile } from 'node:fs/promises';
import type { JournalEntry } from './messages.js';

/** Number of entries kept for the page; the file has all. */
const MOST = 500;

export class Journal {
  private readonly kept: JournalEntry[] = [];
  private written: Promise<void> = Promise.resolve();
  private next = 1;

  constructor(
    private readonly onEntry: (entry: JournalEntry) => void,
    private readonly path?: string,
    private readonly onFault: (why: string) => void = () => undefined,
  ) {}

  add(entry: Omit<JournalEntry, 'number' | 'time'>): JournalEntry {
    const whole: JournalEntry = { number: this.next++, time: new Date().toISOString(), ...entry };
    this.kept.push(whole);
    if (this.kept.length > MOST) this.kept.shift();
    const { path } = this;
    if (path !== undefined) {
      // Sequentially, so that lines stay in order.
      this.written = this.written
        .then(() => appendFile(path, `${JSON.stringify({ at: whole.time, ...whole })}\n`))
        .catch((error: unknown) => {
          this.onFault(`${path} cannot be written: ${error instanceof Error ? error.message : ''}`);
        });
    }
    this.onEntry(whole);
    return whole;
  }

  get entries(): readonly JournalEntry[] {
    return this.kept;
  }

  close(): Promise<void> {
    return this.written;
  }
}
