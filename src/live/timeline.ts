/** A value that changes at named moments: what holds for data is what held when they began. */
import { secondsBetween, type Instant } from '../core/instant.js';

/** Starts are reckoned by one formula; this is for the rounding of another. */
const TOLERANCE_S = 1e-9;
/** Kept of a night's changes; what is older nobody asks for. */
const MOST_STEPS = 256;

export class Timeline<Value> {
  /** In the order of time. */
  readonly steps: { readonly from: Instant; readonly value: Value }[] = [];

  constructor(private first: Value) {}

  /** Holds from `from` on; what was to change after it no longer does. */
  set(from: Instant, value: Value): void {
    while (this.steps.length > 0 && secondsBetween(from, this.steps[this.steps.length - 1].from) >= 0)
      this.steps.pop();
    this.steps.push({ from, value });
    if (this.steps.length > MOST_STEPS) this.first = this.steps.shift()?.value ?? this.first;
  }

  /** As at the start, without a change. */
  reset(first: Value): void {
    this.first = first;
    this.steps.length = 0;
  }

  /** Changes what holds at `from`, and all that is to hold later: what was to change after it still does. */
  change(from: Instant, to: (value: Value) => Value): void {
    const later = this.steps.filter((step) => secondsBetween(from, step.from) > TOLERANCE_S);
    this.set(from, to(this.at(from)));
    for (const step of later) this.set(step.from, to(step.value));
  }

  /** What holds at a moment, and what is to hold after it. */
  since(from: Instant): readonly Value[] {
    const later = this.steps.filter((step) => secondsBetween(from, step.from) > TOLERANCE_S);
    return [this.at(from), ...later.map(({ value }) => value)];
  }

  at(moment: Instant): Value {
    for (let k = this.steps.length - 1; k >= 0; k--)
      if (secondsBetween(this.steps[k].from, moment) >= -TOLERANCE_S) return this.steps[k].value;
    return this.first;
  }

  /** The last word, whether or not it holds yet. */
  get latest(): Value {
    return this.steps.length === 0 ? this.first : this.steps[this.steps.length - 1].value;
  }
}
