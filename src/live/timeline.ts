/** A value that changes at given instants: data use the value in force when they began. */
import { secondsBetween, type Instant } from '../core/instant.js';

/** Allows for rounding: starts may be computed by different formulae. */
const TOLERANCE_S = 1e-9;
/** Number of changes kept; older ones are no longer needed. */
const MOST_STEPS = 256;

export class Timeline<Value> {
  /** In time order. */
  readonly steps: { readonly from: Instant; readonly value: Value }[] = [];

  constructor(private first: Value) {}

  /** Takes effect at `from`; changes after that are discarded. */
  set(from: Instant, value: Value): void {
    while (this.steps.length > 0 && secondsBetween(from, this.steps[this.steps.length - 1].from) >= 0)
      this.steps.pop();
    this.steps.push({ from, value });
    if (this.steps.length > MOST_STEPS) this.first = this.steps.shift()?.value ?? this.first;
  }

  /** Back to one value without changes. */
  reset(first: Value): void {
    this.first = first;
    this.steps.length = 0;
  }

  /** Changes the value at `from` and all later values: later changes are kept. */
  change(from: Instant, to: (value: Value) => Value): void {
    const later = this.steps.filter((step) => secondsBetween(from, step.from) > TOLERANCE_S);
    this.set(from, to(this.at(from)));
    for (const step of later) this.set(step.from, to(step.value));
  }

  /** The value at an instant, and the later ones. */
  since(from: Instant): readonly Value[] {
    const later = this.steps.filter((step) => secondsBetween(from, step.from) > TOLERANCE_S);
    return [this.at(from), ...later.map(({ value }) => value)];
  }

  at(moment: Instant): Value {
    for (let k = this.steps.length - 1; k >= 0; k--)
      if (secondsBetween(this.steps[k].from, moment) >= -TOLERANCE_S) return this.steps[k].value;
    return this.first;
  }

  /** The latest value, in force or not yet. */
  get latest(): Value {
    return this.steps.length === 0 ? this.first : this.steps[this.steps.length - 1].value;
  }
}
