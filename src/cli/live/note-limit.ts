/** Notes that come again and again: a limited number a minute of those that differ in their numbers alone. */
const MOST_A_MINUTE = 10;
const MINUTE_MS = 60_000;
/** Kinds of notes that are counted at once. */
const MOST_KINDS = 1000;

interface Kind {
  readonly first: string;
  readonly sinceMs: number;
  shown: number;
  left: number;
}

export class NoteLimit {
  private kinds = new Map<string, Kind>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Whether to show a note now. */
  isShown(text: string): boolean {
    const key = text.replaceAll(/\d+/g, '0');
    const kind = this.kinds.get(key) ?? { first: text, sinceMs: this.nowMs(), shown: 0, left: 0 };
    if (this.kinds.size < MOST_KINDS) this.kinds.set(key, kind);
    if (kind.shown < MOST_A_MINUTE) kind.shown++;
    else kind.left++;
    return kind.left === 0;
  }

  /** How many notes of past minutes were not shown; of all at the end. Call it before each note. */
  takeLeft(end?: 'end'): string[] {
    const now = this.nowMs();
    const lines: string[] = [];
    for (const [key, { first, sinceMs, left }] of this.kinds) {
      if (end === undefined && now - sinceMs < MINUTE_MS) continue;
      this.kinds.delete(key);
      if (left > 0) lines.push(`${left} more notes within a minute like this one: ${first}`);
    }
    return lines;
  }
}
