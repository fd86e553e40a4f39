/** How long things take, over the last minute: percentiles for people, all of them for Prometheus. */

const MINUTE_MS = 60_000;
const MOST = 2048;

export class Latencies {
  private readonly stages = new Map<string, { readonly atMs: number; readonly seconds: number }[]>();

  constructor(private readonly onEach: (stage: string, seconds: number) => void = () => undefined) {}

  add(stage: string, seconds: number): void {
    const kept = this.stages.get(stage) ?? [];
    this.stages.set(stage, kept);
    kept.push({ atMs: performance.now(), seconds });
    if (kept.length > MOST) kept.splice(0, kept.length - MOST / 2);
    this.onEach(stage, seconds);
  }

  view(): { readonly stage: string; readonly p50S: number; readonly p99S: number }[] {
    const since = performance.now() - MINUTE_MS;
    return [...this.stages].flatMap(([stage, kept]) => {
      const sorted = kept
        .filter(({ atMs }) => atMs > since)
        .map(({ seconds }) => seconds)
        .sort((x, y) => x - y);
      if (sorted.length === 0) return [];
      const pick = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))];
      return [{ stage, p50S: pick(0.5), p99S: pick(0.99) }];
    });
  }
}
