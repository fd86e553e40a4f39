/** The integrations of one part of the band, one at a time; leaves out or refuses those unlike the others'. */
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { formatInstant, secondsBetween } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import type { VisibilityFile } from '../formats/index.js';

/** Times that differ by less than this fraction of an integration are equal. */
export const TOLERANCE = 0.01;

/** An integration of another part. */
interface Beside {
  readonly one: Span;
  readonly path: string;
}

type Span = Pick<Integration, 'start' | 'durationS'>;

const toleranceS = (x: Span, y: Span): number => TOLERANCE * Math.min(x.durationS, y.durationS);

export const overlap = (x: Span, y: Span): boolean => {
  const laterS = secondsBetween(x.start, y.start);
  return x.durationS - laterS > toleranceS(x, y) && y.durationS + laterS > toleranceS(x, y);
};

/** Equal start and end: their channels may be joined. */
export const isAlike = (x: Span, y: Span): boolean =>
  Math.abs(secondsBetween(x.start, y.start)) < toleranceS(x, y) && isAsLong(x, y);

const isAsLong = (x: Span, y: Span): boolean => Math.abs(x.durationS - y.durationS) < toleranceS(x, y);

const follows = (x: Span, y: Span): boolean =>
  Math.abs(secondsBetween(x.start, y.start) - x.durationS) < toleranceS(x, y);

export class BandStream {
  /** Undefined before the first `take`, and at the end. */
  next: Integration | undefined;
  readonly path: string;
  private readonly stream: AsyncIterator<Integration>;
  private before: Span | undefined;

  constructor(file: VisibilityFile) {
    this.path = file.path;
    this.stream = file.integrations('own')[Symbol.asyncIterator]();
  }

  async take(besides?: Beside): Promise<void> {
    if (this.next) this.before = { start: this.next.start, durationS: this.next.durationS };
    const read = await this.stream.next();
    this.next = read.done === true ? undefined : read.value;
    if (besides) this.refuseAnother(besides);
  }

  /** Skips integrations that overlap `others` without matching; returns their length. */
  async leaveOut(others: readonly Beside[]): Promise<number> {
    let leftOutS = 0;
    for (;;) {
      const { next } = this;
      const beside = next && others.find(({ one }) => overlap(one, next));
      if (!beside) return leftOutS;
      this.refuseAnother(beside);
      leftOutS += next.durationS;
      await this.take(beside);
    }
  }

  /** A machine's start or stop cuts a single integration; two in a row of one length mean different cuts. */
  private refuseAnother({ one, path }: Beside): void {
    const { before, next } = this;
    if (!before || !next || !follows(before, next) || !isAsLong(before, next)) return;
    refuse(
      this.path,
      `has integrations of ${formatSeconds(next.durationS)}, one at ${formatInstant(next.start)}, where ${path} has one of ${formatSeconds(one.durationS)} at ${formatInstant(one.start)}`,
      'combine parts of one length, cut at the same times',
    );
  }
}
