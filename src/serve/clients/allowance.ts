/** An initial amount, and a rate per second after that: limits what clients may request. */
interface AllowanceSettings {
  readonly atOnce: number;
  readonly perSecond: number;
  readonly nowMs?: () => number;
}

export class Allowance {
  private left: number;
  private sinceMs: number;
  private readonly nowMs: () => number;

  constructor(private readonly settings: AllowanceSettings) {
    this.nowMs = settings.nowMs ?? (() => performance.now());
    this.left = settings.atOnce;
    this.sinceMs = this.nowMs();
  }

  /** Whether anything is left; the last request may take more than that, and later ones wait longer. */
  take(amount = 1): boolean {
    const nowMs = this.nowMs();
    const { atOnce, perSecond } = this.settings;
    this.left = Math.min(atOnce, this.left + (perSecond * (nowMs - this.sinceMs)) / 1000);
    this.sinceMs = nowMs;
    if (this.left <= 0) return false;
    this.left -= amount;
    return true;
  }
}
