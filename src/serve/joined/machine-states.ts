/** The machines of an observation on one page: connected or absent, since when, and the minutes of each. */
import { formatSeconds } from '../../core/units.js';
import type { Fault } from '../alarms.js';
import type { MachineRow, MachineWord, MinuteView, MissingMinutes, ObservationView } from '../messages.js';
import { keepLatest, MOST_MINUTES } from '../minute-counts.js';

/** Machines send a message every second: one that is silent for this long counts as absent. */
const AWAY_S = 3.5;
/** A minute is compared exactly once all machines have had time to report it; before that, only larger gaps count. */
const SETTLED_S = 5;
/** Smaller gaps come from integrations that cross the end of a minute. */
const LEAST_MISSING_S = 0.05;

interface Known {
  word: MachineWord;
  receivedUnixS: number;
  isAway: boolean;
  returns: number;
  channels: number;
  /** By the start time of each process with this name, then by minute: a restarted machine has a new entry. */
  readonly lives: Map<number, Map<number, MinuteView>>;
}

export interface Changed {
  readonly machine: string;
  readonly what: string;
}

export class MachineStates {
  private readonly known = new Map<string, Known>();
  private newestUnixS = 0;

  constructor(
    private readonly startedUnixS: number,
    private readonly onChange: (changed: Changed) => void = () => undefined,
  ) {}

  /** Processes a machine's message; returns whether its process is new. */
  receive(word: MachineWord, unixS: number): boolean {
    const { machine, startedUnixS, newestSample } = word;
    const known = this.known.get(machine);
    const isNew = known?.lives.has(startedUnixS) !== true;
    if (!known) this.onChange({ machine, what: 'is there' });
    else if (known.isAway || isNew)
      this.onChange({
        machine,
        what: `is back${isNew ? ', started again' : ''}: no word for ${formatSeconds(unixS - known.receivedUnixS)}`,
      });
    const now: Known = known ?? {
      word,
      receivedUnixS: unixS,
      isAway: false,
      returns: 0,
      channels: 1,
      lives: new Map<number, Map<number, MinuteView>>(),
    };
    if (known && (known.isAway || isNew)) now.returns++;
    Object.assign(now, { word, receivedUnixS: unixS, isAway: false });
    this.known.set(machine, now);
    this.keep(machine, startedUnixS, word.minutes);
    const sample = newestSample === undefined ? NaN : Date.parse(newestSample) / 1000;
    if (sample > this.newestUnixS) this.newestUnixS = sample;
    return isNew;
  }

  /** Stores minutes of a machine's process; the latest message of each minute counts. */
  keep(machine: string, startedUnixS: number, minutes: readonly MinuteView[]): void {
    const known = this.known.get(machine);
    if (!known) return;
    const life = known.lives.get(startedUnixS) ?? new Map<number, MinuteView>();
    known.lives.set(startedUnixS, life);
    for (const one of minutes) life.set(one.minute, one);
    keepLatest(life, MOST_MINUTES);
  }

  /** Sets its number of channels, which gives its share of the whole. */
  hasChannels(machine: string, channels: number): void {
    const known = this.known.get(machine);
    if (known) known.channels = channels;
  }

  tick(unixS: number): void {
    for (const [machine, known] of this.known) {
      if (known.isAway || unixS - known.receivedUnixS <= AWAY_S) continue;
      known.isAway = true;
      this.onChange({ machine, what: 'has gone: no word from it any more' });
    }
  }

  get names(): readonly string[] {
    return [...this.known.keys()];
  }

  get there(): readonly string[] {
    return [...this.known].flatMap(([machine, { isAway }]) => (isAway ? [] : [machine]));
  }

  rows(unixS: number, troubleOf: (machine: string) => string | undefined): readonly MachineRow[] {
    return [...this.known.values()]
      .map(({ word, receivedUnixS, isAway, returns }): MachineRow => {
        const trouble = troubleOf(word.machine);
        const said: { -readonly [Key in keyof MachineWord]?: MachineWord[Key] } = { ...word };
        delete said.minutes;
        return {
          ...(said as Omit<MachineWord, 'minutes'>),
          returns,
          silentS: Math.max(0, unixS - receivedUnixS),
          ...(isAway && { awaySinceUnixS: receivedUnixS }),
          trouble,
        };
      })
      .sort((x, y) => (x.bandHz?.[0] ?? 0) - (y.bandHz?.[0] ?? 0) || (x.machine < y.machine ? -1 : 1));
  }

  faults(unixS: number, troubleOf: (machine: string) => string | undefined): readonly Fault[] {
    return this.rows(unixS, troubleOf).flatMap((row) => {
      const { machine, awaySinceUnixS, silentS, trouble, state, word } = row;
      const fault = (kind: string, severity: Fault['severity'], what: string, fix: string): Fault => ({
        id: `${kind}-${machine}`,
        severity,
        where: machine,
        what,
        fix,
      });
      const silence = `no word from it for ${formatSeconds(Math.floor(silentS))}: its channels are missing`;
      const again = 'look at the machine; started again under the same --machine it takes its place';
      const alike = 'start it again as the others; its own page shows its images';
      const isHere = awaySinceUnixS === undefined;
      return [
        ...(isHere ? [] : [fault('away', 'alarm', silence, again)]),
        ...(trouble === undefined ? [] : [fault('apart', 'warning', trouble, alike)]),
        ...(isHere && state === 'silent'
          ? [fault('silent', 'alarm', word, 'its own page says which senders')]
          : []),
      ];
    });
  }

  observation(): ObservationView {
    const all = new Map([...this.known].map(([machine, { lives }]) => [machine, added([...lives.values()])]));
    /** For each minute, the entry of the machine with the most data. */
    const most = new Map<number, MinuteView>();
    for (const minutes of all.values())
      for (const one of minutes.values())
        if (one.seconds > (most.get(one.minute)?.seconds ?? 0)) most.set(one.minute, one);
    const sorted = [...most.values()].sort((x, y) => x.minute - y.minute);
    return {
      startedUnixS: this.startedUnixS,
      minutes: sorted.map(({ minute, seconds }) => this.together(minute, seconds, all)),
      machines: [...all].map(([machine, minutes]) => {
        const missingS = (one: MinuteView): number => {
          const lacks = one.seconds - (minutes.get(one.minute)?.seconds ?? 0);
          return lacks >= this.leastMissingS(one) ? lacks : 0;
        };
        return {
          machine,
          minutes: sorted.map((one) => ofAll(one, minutes.get(one.minute), missingS(one))),
          missing: missingRanges(sorted, missingS),
        };
      }),
      files: [],
      sessions: [],
    };
  }

  /** During a minute, the machines' latest messages have different ages. */
  private leastMissingS({ minute, seconds, integrations }: MinuteView): number {
    const integrationS = seconds / Math.max(1, integrations);
    const isOver = 60 * (minute + 1) + integrationS <= this.newestUnixS - SETTLED_S;
    return isOver ? LEAST_MISSING_S : SETTLED_S + 2 * integrationS;
  }

  /** A minute of all machines: the fraction of all channels' samples received; written if all wrote. */
  private together(
    minute: number,
    seconds: number,
    all: ReadonlyMap<string, ReadonlyMap<number, MinuteView>>,
  ): MinuteView {
    let [present, whole, integrations, written] = [0, 0, 0, Infinity];
    for (const [machine, minutes] of all) {
      const channels = this.known.get(machine)?.channels ?? 1;
      const one = minutes.get(minute);
      whole += channels * seconds;
      present += channels * (one?.seconds ?? 0) * ((one?.presentPercent ?? 0) / 100);
      integrations = Math.max(integrations, one?.integrations ?? 0);
      written = Math.min(written, one?.written ?? 0);
    }
    const presentPercent = whole > 0 ? Number(((100 * present) / whole).toFixed(2)) : 0;
    return { minute, seconds, presentPercent, integrations, written };
  }
}

/** A machine's minute as a fraction of the observation's. */
function ofAll({ minute, seconds }: MinuteView, own: MinuteView | undefined, missingS: number): MinuteView {
  const { presentPercent = 0, integrations = 0, written = 0 } = own ?? {};
  const share = (seconds - missingS) / seconds;
  return {
    minute,
    integrations,
    written,
    seconds: own?.seconds ?? 0,
    presentPercent: Number((presentPercent * share).toFixed(2)),
  };
}

/** All processes of a machine combined: each minute is the sum over them. */
function added(lives: readonly ReadonlyMap<number, MinuteView>[]): Map<number, MinuteView> {
  const sum = new Map<number, MinuteView>();
  for (const life of lives)
    for (const one of life.values()) {
      const before = sum.get(one.minute);
      const seconds = one.seconds + (before?.seconds ?? 0);
      const share = one.presentPercent * one.seconds + (before?.presentPercent ?? 0) * (before?.seconds ?? 0);
      sum.set(one.minute, {
        minute: one.minute,
        seconds,
        presentPercent: seconds > 0 ? share / seconds : 0,
        integrations: one.integrations + (before?.integrations ?? 0),
        written: one.written + (before?.written ?? 0),
      });
    }
  return sum;
}

/** Joins consecutive minutes with missing data. */
function missingRanges(
  minutes: readonly MinuteView[],
  missingS: (minute: MinuteView) => number,
): MissingMinutes[] {
  const found: { fromMinute: number; endMinute: number; seconds: number }[] = [];
  for (const one of minutes) {
    const seconds = missingS(one);
    if (seconds === 0) continue;
    const last = found.at(-1);
    if (last?.endMinute === one.minute) {
      last.endMinute = one.minute + 1;
      last.seconds += seconds;
    } else found.push({ fromMinute: one.minute, endMinute: one.minute + 1, seconds });
  }
  return found.map((one) => ({ ...one, seconds: Number(one.seconds.toFixed(3)) }));
}
