/** Commands that change the run: checked as at the start, applied from the next integration, logged, answered. */
import { z } from 'zod';
import { refuse } from '../core/errors.js';
import { formatInstant, parseInstant, type Instant } from '../core/instant.js';
import { issueWords } from '../core/schema-words.js';
import {
  type LiveGains,
  type LossControl,
  withFlags,
  beamsChange,
  type By,
  type Change,
  type From,
  type MadeChange,
  type Steering,
} from '../live/index.js';
import type { Calibrated, CalibratedAt } from '../stages/index.js';
import { inputName, type Telescope } from '../telescope/telescope.js';
import type { AlarmState } from './alarms.js';
import type { Journal } from './journal.js';
import type { Steered } from './messages.js';

/** What may be steered, once data arrive. */
export interface Helm {
  readonly steering: Steering;
  readonly telescope: Telescope;
  readonly gains?: LiveGains;
  readonly hasFiles: boolean;
  /** Gains from a file in the working folder, by its name. */
  readonly loadGains: (name: string) => Promise<Calibrated | CalibratedAt>;
  readonly gainsChanged: () => void;
}

/** What may be steered in the receiver, for packets. */
export interface Receiver {
  /** Sets the time of a tick of the senders; refused if it is already known. */
  readonly setEpoch?: (tick: bigint, time: Instant) => From;
  /** For a simulated sky: its losses. */
  readonly losses?: LossControl;
  /** Captures raw packets into a file; returns its name once the file grows. */
  readonly capture?: (seconds: number, onEnd: (what: string) => void) => Promise<string>;
}

interface Bridge {
  readonly helm: () => Helm | undefined;
  readonly receiver?: Receiver;
  readonly journal: Journal;
  readonly alarms: AlarmState;
  readonly stop: () => void;
}

const from = z.string().max(40).optional();
/** The chain waits while gains are solved: a shorter interval would leave no time for imaging. */
const LEAST_SOLVE_S = 1;
const interval = z
  .number()
  .max(86_400)
  .refine(
    (seconds) => seconds >= LEAST_SOLVE_S,
    `is too small: the observation waits for every solve; give ${LEAST_SOLVE_S} or more`,
  );
const places = z.array(z.string().min(1).max(80)).max(4096);
const schemas = {
  flags: z.strictObject({
    inputs: z
      .array(z.union([z.int().nonnegative(), z.string().min(1).max(64)]))
      .min(1)
      .max(65_536),
    flag: z.boolean(),
    from,
  }),
  gains: z.discriminatedUnion('do', [
    z.strictObject({ do: z.literal('solve'), everyS: interval.optional(), from }),
    z.strictObject({ do: z.literal('hold') }),
    z.strictObject({ do: z.literal('reset'), from }),
    z.strictObject({ do: z.literal('load'), name: z.string().regex(/^\w[\w.-]{0,127}$/), from }),
  ]),
  integration: z.strictObject({ seconds: z.number().positive().max(86_400), from }),
  recording: z.strictObject({ do: z.enum(['start', 'stop']), from }),
  beams: z
    .strictObject({
      product: z.int().nonnegative().optional(),
      towards: places.optional(),
      add: places.optional(),
      stop: places.optional(),
      from,
    })
    .refine(
      ({ towards, add, stop }) => [towards, add, stop].filter((one) => one !== undefined).length === 1,
      'takes one of towards, add and stop',
    ),
  epoch: z.strictObject({
    tick: z.union([z.int().nonnegative(), z.string().regex(/^\d{1,20}$/)]),
    time: z.string().max(40),
  }),
  capture: z.strictObject({ seconds: z.number().positive().max(3600) }),
  losses: z.strictObject({
    percent: z.number().min(0).max(100),
    silent: z.array(z.string().max(64)).max(1000).optional(),
  }),
  cancel: z.strictObject({ change: z.int().positive() }),
  stop: z.strictObject({}),
} as const;
export type CommandName = keyof typeof schemas;
export const isCommand = (name: string): name is CommandName => Object.hasOwn(schemas, name);

function checked<Schema extends z.ZodType>(name: string, schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return refuse(
    [name, ...issue.path].join('.'),
    issueWords(issue, body),
    'docs/page.md lists what each command takes',
  );
}

const wanted = (text: string | undefined): Instant | undefined =>
  text === undefined ? undefined : parseInstant(text, 'from');

type Mode = 'run' | 'rehearse';

export class Commands {
  constructor(private readonly bridge: Bridge) {}

  /** With `rehearse` it is refused or answered in the same way, but changes nothing. */
  async run(name: CommandName, body: unknown, who: string, mode: Mode = 'run'): Promise<Steered> {
    if (name === 'stop') {
      checked(name, schemas.stop, body);
      return mode === 'run' ? this.stop(who) : { accepted: true, fromTick: '', from: '', journal: 0 };
    }
    if (
      (name === 'epoch' || name === 'capture' || name === 'cancel' || name === 'losses') &&
      mode === 'rehearse'
    )
      refuse(name, 'this command goes to one machine at a time', 'steer that machine by its own page');
    if (name === 'epoch') return this.epoch(checked(name, schemas.epoch, body), who);
    if (name === 'capture') return this.capture(checked(name, schemas.capture, body), who);
    if (name === 'losses') return this.losses(checked(name, schemas.losses, body), who);
    const helm =
      this.bridge.helm() ??
      refuse(name, 'there are no data to steer yet', 'wait for the first data, or run corella live');
    switch (name) {
      case 'flags':
        return this.flags(checked(name, schemas.flags, body), helm, who, mode);
      case 'gains':
        return this.gains(checked(name, schemas.gains, body), helm, who, mode);
      case 'integration': {
        const { seconds, from: at } = checked(name, schemas.integration, body);
        const about = { at, who, mode, what: `integrations of ${seconds} s` };
        return this.change(helm, { integrationS: seconds }, about);
      }
      case 'beams':
        return this.beams(checked(name, schemas.beams, body), helm, who, mode);
      case 'cancel':
        return this.cancel(checked(name, schemas.cancel, body).change, helm, who);
      case 'recording':
        return this.recording(checked(name, schemas.recording, body), helm, who, mode);
    }
  }

  /** For senders that restarted without a known time: their data are kept from the next block on. */
  private epoch({ tick, time }: z.infer<typeof schemas.epoch>, who: string): Steered {
    const set =
      this.bridge.receiver?.setEpoch ??
      refuse('epoch', 'no packets are received', 'only packets have ticks (source.listen)');
    const since = set(BigInt(tick), parseInstant(time, 'epoch.time'));
    return this.answer(since, who, `tick ${String(tick)} of the senders was at ${time}`);
  }

  private losses({ percent, silent = [] }: z.infer<typeof schemas.losses>, who: string): Steered {
    const control =
      this.bridge.receiver?.losses ??
      refuse('losses', 'the data are not simulated', 'losses can be switched on in corella sky alone');
    control.set({ percent, silent });
    const what = [
      ...(percent > 0 ? [`${percent} % of all samples`] : []),
      ...(silent.length > 0 ? [`all of ${silent.join(', ')}`] : []),
    ];
    return this.noted(who, what.length === 0 ? 'no losses' : `losses on request: ${what.join(' and ')}`);
  }

  private async capture({ seconds }: z.infer<typeof schemas.capture>, who: string): Promise<Steered> {
    const capture =
      this.bridge.receiver?.capture ??
      refuse('capture', 'no packets come from a network', 'receive packets (source.listen)');
    const path = await capture(seconds, (what) => {
      this.bridge.journal.add({ who: 'corella', what });
    });
    return this.noted(who, `capturing packets for ${seconds} s: ${path}`);
  }

  acknowledge(id: string, who: string): { readonly accepted: true; readonly journal: number } {
    const alarm =
      this.bridge.alarms.acknowledge(id) ??
      refuse('alarms', `'${id}' is not up`, 'GET /api/v1/alarms lists those that are');
    const entry = this.bridge.journal.add({ who, what: `acknowledged: ${alarm.where}: ${alarm.what}` });
    return { accepted: true, journal: entry.number };
  }

  /** For commands that take effect at no particular time. */
  private noted(who: string, what: string): Steered {
    const { number } = this.bridge.journal.add({ who, what });
    return { accepted: true, fromTick: '', from: '', journal: number };
  }

  private answer(since: From, who: string, what: string, change?: number): Steered {
    const [fromTick, from] = [since.tick.toString(), formatInstant(since.at, 6)];
    const id = change === undefined ? {} : { change };
    const { number } = this.bridge.journal.add({ who, what, fromTick, from, ...id });
    return { accepted: true, fromTick, from, journal: number, ...id };
  }

  /** Makes a change, or finds out when it would take effect. */
  private change(
    { steering }: Helm,
    change: Change,
    { at, who, mode, what }: { at: string | undefined; who: string; mode: Mode; what: string },
  ): Steered {
    if (mode === 'rehearse') return rehearsed(steering.try(change, wanted(at)));
    const made = steering.make(change, byToken(who), wanted(at));
    return this.answer(made.from, who, what, made.id);
  }

  private cancel(id: number, { steering, gainsChanged }: Helm, who: string): Steered {
    const { from: since } = steering.cancel(id, byToken(who));
    gainsChanged();
    const [fromTick, from] = [since.tick.toString(), formatInstant(since.at, 6)];
    const { number } = this.bridge.journal.add({ who, what: `cancelled change ${id}`, cancels: id });
    return { accepted: true, fromTick, from, journal: number, change: id };
  }

  private flags(
    { inputs, flag, from: at }: z.infer<typeof schemas.flags>,
    helm: Helm,
    who: string,
    mode: Mode,
  ): Steered {
    const { steering, telescope, gainsChanged } = helm;
    const chosen = inputs.flatMap((one) => inputsNamed(one, telescope));
    if (!flag && chosen.some((a) => steering.neverImaged[a] === 1))
      refuse(
        'flags.inputs',
        'were left out from the start: images have no place for them',
        'start again without --flag',
      );
    const change = { flags: { inputs: chosen, flag } };
    const since = steering.try(change, wanted(at));
    const isAll = (flags: Uint8Array): boolean => withFlags(flags, chosen, flag).every((one) => one === 1);
    if (steering.flags.since(since.at).some(isAll))
      refuse('flags.inputs', 'would leave out every input', 'keep some');
    const names = chosen.map((a) => inputName(telescope, a, telescope.polarisations));
    const shown =
      names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ');
    const done = this.change(helm, change, {
      at,
      who,
      mode,
      what: `${flag ? 'flagged' : 'unflagged'} ${shown}`,
    });
    if (mode === 'run') gainsChanged();
    return done;
  }

  private async gains(
    command: z.infer<typeof schemas.gains>,
    { steering, gains, loadGains, gainsChanged }: Helm,
    who: string,
    mode: Mode,
  ): Promise<Steered> {
    if (!gains) refuse('gains', 'no images are made that gains could calibrate', 'start with --image');
    const calibrated = command.do === 'load' ? await loadGains(command.name) : undefined;
    const since = steering.next(command.do === 'hold' ? undefined : wanted(command.from));
    if (mode === 'rehearse') return rehearsed(since);
    let made: MadeChange | undefined;
    switch (command.do) {
      case 'solve':
        gains.solve(since, command.everyS);
        break;
      case 'hold':
        gains.hold();
        break;
      case 'reset':
      case 'load':
        gains.replaced();
        made = steering.make(
          { gains: { file: command.do === 'load' ? command.name : undefined, calibrated } },
          ...([byToken(who), wanted(command.from)] as const),
        );
        break;
    }
    gainsChanged();
    const what = {
      solve: 'solving gains from the integration that begins then',
      hold: 'gains are held',
      reset: 'no gains',
      load: `gains of ${command.do === 'load' ? command.name : ''}`,
    }[command.do];
    return this.answer(since, who, what, made?.id);
  }

  private beams(
    { product, towards, add, stop, from: at }: z.infer<typeof schemas.beams>,
    helm: Helm,
    who: string,
    mode: Mode,
  ): Steered {
    const [what, verb, list] = towards
      ? ([{ towards }, 'beams towards', towards] as const)
      : add
        ? ([{ add }, 'beams added:', add] as const)
        : ([{ stop: stop ?? [] }, 'beams stopped:', stop ?? []] as const);
    const change = beamsChange(helm.steering, what, product);
    return this.change(helm, change, { at, who, mode, what: `${verb} ${list.join(', ')}` });
  }

  private recording(
    { do: what, from: at }: z.infer<typeof schemas.recording>,
    helm: Helm,
    who: string,
    mode: Mode,
  ): Steered {
    if (!helm.hasFiles) refuse('recording', 'no file was asked for', 'start with -o observation.uvh5');
    const isOn = what === 'start';
    const about = { at, who, mode, what: `recording ${isOn ? 'on' : 'off'}` };
    return this.change(helm, { recording: isOn }, about);
  }

  private stop(who: string): Steered {
    // After the answer has been sent.
    setImmediate(this.bridge.stop);
    return this.noted(who, 'stopping: received data are processed');
  }
}

/** Every steering client has the token, by HTTP or through the queue. */
const byToken = (who: string): By => ({ who, authenticated: true });

const rehearsed = (since: From): Steered => ({
  accepted: true,
  fromTick: since.tick.toString(),
  from: formatInstant(since.at, 6),
  journal: 0,
});

/** By number, by station ("stand17": both polarisations), or by station and polarisation ("stand17:Y"). */
function inputsNamed(one: number | string, telescope: Telescope): number[] {
  const { stations, polarisations } = telescope;
  const inputs = stations.length * polarisations;
  if (typeof one === 'number')
    return one < inputs ? [one] : refuse('flags.inputs', `${one} is outside inputs 0 to ${inputs - 1}`);
  const found = Array.from({ length: inputs }, (_, a) => a).filter(
    (a) =>
      inputName(telescope, a, polarisations) === one || stations[Math.floor(a / polarisations)].name === one,
  );
  return found.length > 0
    ? found
    : refuse('flags.inputs', `'${one}' is no input here`, "give an input's number or a station's name");
}
