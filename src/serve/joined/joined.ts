/** A page for all machines of an observation: the answers that combine all of them. */
import { refuse } from '../../core/errors.js';
import { parseInstant, type Instant } from '../../core/instant.js';
import type { Fault } from '../alarms.js';
import type { CommandName, Commands } from '../commands.js';
import type { Get } from '../http.js';
import type { Frame } from '../image-history.js';
import type { Journal } from '../journal.js';
import type { MachineRow, MachineWord, ObservationView, PlanView, Status } from '../messages.js';
import { Combiner } from './combine.js';
import { MachineStates, type Changed } from './machine-states.js';
import { decodePart } from './part.js';

interface JoinedSettings {
  readonly night: string;
  readonly onFrame: (frame: Frame) => void;
  readonly onChange: (changed: Changed) => void;
  /** Called for a new process: it is asked for its plan and its minutes. */
  readonly onNew: (machine: string) => void;
  /** One command, in two rounds. */
  readonly steer: (
    name: CommandName,
    body: unknown,
    who: string,
    machines: readonly string[],
  ) => Promise<{ readonly from: string; readonly fromTick: string }>;
}

/** A machine's answer when asked for its state. */
export interface JoinedMachine {
  readonly machine: string;
  readonly startedUnixS: number;
  readonly minutes: ObservationView['minutes'];
  readonly plan?: PlanView;
}

const nowS = (): number => Date.now() / 1000;

/** What a page shows instead of its own run. */
export class JoinedPage {
  private readonly states: MachineStates;
  private readonly combiner: Combiner;
  private readonly plans = new Map<string, PlanView>();

  constructor(private readonly settings: JoinedSettings) {
    this.states = new MachineStates(nowS(), settings.onChange);
    this.combiner = new Combiner(
      { expected: () => this.states.there, known: () => this.states.names },
      settings.onFrame,
    );
  }

  /** A machine's message of the current second. */
  word(word: MachineWord): void {
    if (this.states.receive(word, nowS()) || !this.plans.has(word.machine)) this.settings.onNew(word.machine);
  }

  /** A machine's answer with its state. */
  stateOf({ machine, startedUnixS, minutes, plan }: JoinedMachine): void {
    this.states.keep(machine, startedUnixS, minutes);
    if (!plan) return;
    this.plans.set(machine, plan);
    this.states.hasChannels(machine, plan.frequenciesHz.length);
  }

  /** Adds a part of an image; refuses invalid ones. */
  image(bytes: Uint8Array): void {
    this.combiner.add(decodePart(bytes), nowS());
  }

  tick(): void {
    this.states.tick(nowS());
    this.combiner.tick(nowS());
  }

  machines(): readonly MachineRow[] {
    return this.states.rows(nowS(), this.combiner.troubleOf);
  }

  faults(): readonly Fault[] {
    return this.states.faults(nowS(), this.combiner.troubleOf);
  }

  observation(): ObservationView {
    return this.states.observation();
  }

  /** The channels of all machines, in order; for differing values, those of the first. */
  plan(): PlanView | undefined {
    const plans = [...this.plans.values()];
    if (plans.length === 0) return undefined;
    return {
      ...plans[0],
      frequenciesHz: [...new Set(plans.flatMap(({ frequenciesHz }) => frequenciesHz))].sort((x, y) => x - y),
    };
  }

  get newest(): Instant | undefined {
    const times = this.machines().flatMap(({ newestSample }) => newestSample ?? []);
    return times.length === 0 ? undefined : parseInstant(times.sort()[times.length - 1]);
  }

  status(own: Status): Status {
    const rows = this.machines();
    const there = rows.filter(({ awaySinceUnixS }) => awaySinceUnixS === undefined);
    const { telescope } = this.plan() ?? {};
    const states = new Set(there.map(({ state }) => state));
    const state = (['observing', 'stopping', 'silent'] as const).find((one) => states.has(one)) ?? 'waiting';
    const ages = there.flatMap(({ dataAgeS }) => dataAgeS ?? []);
    const present = this.presentPercent(rows);
    const recording = ['stalled', 'recording', 'stopped'].find((one) =>
      there.some((row) => row.recording === one),
    );
    const newest = rows
      .flatMap(({ newestSample }) => newestSample ?? [])
      .sort()
      .at(-1);
    const word =
      rows.length === 0
        ? `No machine of ${this.settings.night} has been received from yet`
        : own.alarms.alarms + own.alarms.warnings > 0
          ? `${there.length} of ${rows.length} machines are there`
          : state === 'observing'
            ? `All is well: ${rows.length} machine${rows.length === 1 ? '' : 's'}`
            : { waiting: 'Waiting for data', silent: 'No data come', stopping: 'Stopping' }[state];
    return {
      ...own,
      state,
      word,
      machines: rows.length,
      ...(telescope && { telescope: telescope.name, title: telescope.title }),
      ...(newest !== undefined && { newestSample: newest }),
      ...(ages.length > 0 && { dataAgeS: Math.max(...ages) }),
      ...(present !== undefined && {
        integration: {
          number: 0,
          everyS: this.plan()?.integrationS ?? 1,
          presentPercent: present,
        },
      }),
      recording: {
        ...own.recording,
        state: (recording as Status['recording']['state'] | undefined) ?? 'none',
      },
      steerable: there.length > 0 && there.every((row) => row.steerable),
    };
  }

  /** Over all channels: absent machines contribute none. */
  private presentPercent(rows: readonly MachineRow[]): number | undefined {
    if (rows.every(({ presentPercent }) => presentPercent === undefined)) return undefined;
    let [present, all] = [0, 0];
    for (const { machine, presentPercent = 0, awaySinceUnixS } of rows) {
      const channels = this.plans.get(machine)?.frequenciesHz.length ?? 1;
      all += channels;
      if (awaySinceUnixS === undefined) present += channels * presentPercent;
    }
    return present / all;
  }

  async command(
    name: CommandName,
    body: unknown,
    who: string,
  ): Promise<{ readonly from: string; readonly fromTick: string; readonly what: string }> {
    const machines = this.states.there;
    const done = await this.settings.steer(name, body, who, machines);
    const gone = this.states.names.filter((one) => !machines.includes(one));
    const what =
      `${name} ${JSON.stringify(body)} on ${machines.join(', ')}` +
      (gone.length > 0
        ? `, not on ${gone.join(', ')}, which ${gone.length === 1 ? 'was' : 'were'} away`
        : '');
    return { ...done, what };
  }
}

/** The few answers by HTTP that differ from those of one machine. */
export function readsOfAll(joined: JoinedPage, status: () => Status): Readonly<Record<string, Get>> {
  const elsewhere: Get = () =>
    refuse('page', "is each machine's own", "GET machines, and ask the machine's page");
  return {
    status: () => ({ json: status() }),
    plan: () => {
      const plan = joined.plan();
      return plan && { json: plan };
    },
    observation: () => ({ json: joined.observation() }),
    machines: () => ({ json: joined.machines() }),
    ...Object.fromEntries(
      [
        'sources',
        'antennas',
        'gains',
        'chain',
        'images/again',
        'images/latest.png',
        'images/latest.fits',
      ].map((name) => [name, elsewhere]),
    ),
  };
}

/** Commands go to all machines or to none, and are also logged here. */
export const steeringAll = (
  joined: JoinedPage,
  own: Commands,
  journal: Journal,
): Pick<Commands, 'run' | 'acknowledge'> => ({
  run: async (name, body, who) => {
    const { from, fromTick, what } = await joined.command(name, body, who);
    const { number } = journal.add({ who, what, ...(fromTick !== '' && { fromTick, from }) });
    return { accepted: true, from, fromTick, journal: number };
  },
  acknowledge: (id, who) => own.acknowledge(id, who),
});
