/** Active alarms: start, fault, place, fix. They clear when the fault is over. */
import type { Alarm, Severity } from './messages.js';

export interface Fault {
  /** A fault keeps its id for as long as it lasts. */
  readonly id: string;
  readonly severity: Severity;
  readonly what: string;
  readonly where: string;
  readonly fix: string;
  /** The id of an active fault that explains this one. */
  readonly because?: string;
}

export class AlarmState {
  private up = new Map<string, Alarm>();

  constructor(private readonly onChange: (alarm: Alarm, isUp: boolean) => void = () => undefined) {}

  /** Updates the alarms from the current faults; returns whether they changed. */
  update(faults: readonly Fault[], unixS: number): boolean {
    let isChanged = false;
    const now = new Map<string, Alarm>();
    for (const fault of faults) {
      const old = this.up.get(fault.id);
      const alarm: Alarm = {
        ...fault,
        sinceUnixS: old?.sinceUnixS ?? unixS,
        acknowledged: old?.acknowledged ?? false,
      };
      now.set(fault.id, alarm);
      if (old?.what !== alarm.what || old.because !== alarm.because) isChanged = true;
      if (!old) this.onChange(alarm, true);
    }
    for (const [id, alarm] of this.up) {
      if (now.has(id)) continue;
      isChanged = true;
      this.onChange(alarm, false);
    }
    this.up = now;
    return isChanged;
  }

  acknowledge(id: string): Alarm | undefined {
    const alarm = this.up.get(id);
    if (alarm) this.up.set(id, { ...alarm, acknowledged: true });
    return this.up.get(id);
  }

  /** The worst first, then the oldest; each is followed by its consequences, whose severity counts for it. */
  get all(): readonly Alarm[] {
    return this.listed((alarm) => alarm.because === undefined || !this.up.has(alarm.because));
  }

  private listed(isWanted: (alarm: Alarm) => boolean): Alarm[] {
    return [...this.up.values()]
      .filter(isWanted)
      .map((alarm) => [alarm, ...this.listed(({ because }) => because === alarm.id)])
      .sort((x, y) => severityOf(y) - severityOf(x) || x[0].sinceUnixS - y[0].sinceUnixS)
      .flat();
  }

  count(severity: Severity): number {
    return [...this.up.values()].filter((alarm) => alarm.severity === severity).length;
  }
}

const severityOf = (alarms: readonly Alarm[]): number =>
  Number(alarms.some(({ severity }) => severity === 'alarm'));
