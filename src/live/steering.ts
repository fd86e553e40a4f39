/**
 * What an operator may change during a run: flags, gains, the integration length, whether files are written. Every
 * change takes effect at the start of an integration that has not begun, and the answer contains its tick: no
 * integration has mixed settings.
 */
import { gainsCA } from '../core/axes.js';
import { tickOfInstant, type TickClock } from '../core/clock/tick-clock.js';
import { refuse } from '../core/errors.js';
import { addSamples, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import { sampleRateOf, type Source } from '../core/sources.js';
import {
  calibratedAt,
  type Calibrated,
  type CalibratedAt,
  type IntegrationClock,
  type SpectrumGrid,
} from '../stages/index.js';
import { Timeline } from './timeline.js';

/** When a change takes effect. */
export interface From {
  readonly at: Instant;
  /** Of the senders' clock; the sample number if there are no ticks. */
  readonly tick: bigint;
  /** The stream epoch, from 0, and the number of the spectrum in it. */
  readonly epoch?: number;
  readonly spectrum?: number;
}

/** The possible changes. */
export type Change =
  | { readonly flags: { readonly inputs: readonly number[]; readonly flag: boolean } }
  | { readonly integrationS: number }
  | { readonly recording: boolean }
  | { readonly gains: ChangedGains }
  | { readonly beams: ChangedBeams };

/** For the product with this number: other beam positions, more of them, or fewer. */
type ChangedBeams = { readonly product: number } & (
  | { readonly towards: readonly string[] }
  | { readonly add: readonly string[] }
  | { readonly stop: readonly string[] }
);

interface ChangedGains {
  /** The file that they were read from, or that they were solved; neither for no gains. */
  readonly file?: string;
  readonly solved?: true;
  readonly calibrated?: Calibrated | CalibratedAt;
}

/** A change of beams; without a product number, of the only product that makes beams. */
export function beamsChange(
  { beams }: Steering,
  what:
    | { readonly towards: readonly string[] }
    | { readonly add: readonly string[] }
    | { readonly stop: readonly string[] },
  product?: number,
): Change {
  const numbers = [...beams.keys()];
  if (numbers.length === 0)
    refuse('beams', 'no product makes beams', 'start with one: { beams: NAME.fil, towards: [Sun] }');
  if (product === undefined && numbers.length > 1)
    refuse('beams.product', 'several products make beams', `name one: ${numbers.join(', ')}`);
  return { beams: { product: product ?? numbers[0], ...what } };
}

/** The user that requested a change. */
export interface By {
  readonly who: string;
  /** Whether the user had the token. */
  readonly authenticated: boolean;
}

export interface MadeChange {
  /** Identifies the change for cancelling. */
  readonly id: number;
  readonly from: Required<From>;
  readonly change: Change;
  readonly by: By;
}

/** A change of an earlier run, by its position in the data. */
export interface LoggedChange {
  readonly epoch: number;
  readonly spectrum: number;
  readonly change: Change;
}

export interface Clocks {
  /** Where spectra are cut into integrations. */
  readonly cuts: IntegrationClock;
  readonly files: IntegrationClock;
}

interface SteeredEpoch {
  readonly epoch: number;
  readonly first: IntegrationClock;
  readonly grid: SpectrumGrid;
  readonly tickOf: (index: number) => bigint;
  readonly replan: (integrationS: number) => IntegrationClock;
  /** The clock that cuts the files' integrations, from each spectrum on. */
  readonly pieces: { readonly fromIndex: number; readonly clock: IntegrationClock }[];
  /** The first spectrum of the current block. */
  newest: number;
}

export interface SteeringStart {
  readonly flaggedInputs: Uint8Array;
  readonly integrationS: number;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Beam positions by product. */
  readonly beams?: ReadonlyMap<number, readonly string[]>;
  /** Refuses changes that would have been refused at the start; for beams, with the positions after the change. */
  readonly check?: (change: Change, places: readonly string[], at: Instant) => void;
  /** Called for every change, made or cancelled. */
  readonly onChange?: (made: MadeChange, what: 'made' | 'cancelled') => void;
  /** Changes of an earlier run, applied again at the same spectra. */
  readonly logged?: readonly LoggedChange[];
}

export class Steering {
  /** flags : [a], 1 where an input is left out. */
  readonly flags: Timeline<Uint8Array>;
  readonly gains: Timeline<Calibrated | CalibratedAt | undefined>;
  readonly recording = new Timeline(true);
  /** Increases when a new file must begin. */
  readonly fileNumber = new Timeline(0);
  /** Seconds. */
  readonly integration: Timeline<number>;
  /** Beam positions by product number. */
  readonly beams: ReadonlyMap<number, Timeline<readonly string[]>>;
  /** Left out from the start: images have no slot for them. */
  readonly neverImaged: Uint8Array;
  private session: SteeredEpoch | undefined;
  private epochs = 0;
  private count = 0;
  /** In the order of the requests. */
  private readonly made: MadeChange[] = [];

  constructor(private readonly start: SteeringStart) {
    const { flaggedInputs, integrationS, calibrated, beams = [] } = start;
    this.beams = new Map(Array.from(beams, ([product, places]) => [product, new Timeline(places)]));
    this.flags = new Timeline(flaggedInputs);
    this.neverImaged = flaggedInputs;
    this.integration = new Timeline(integrationS);
    this.gains = new Timeline<Calibrated | CalibratedAt | undefined>(calibrated);
  }

  /** Begins a stream epoch; its clocks follow changes from now on. */
  follow(
    source: Source,
    grid: SpectrumGrid,
    { cuts, files }: Clocks,
    replan: SteeredEpoch['replan'],
  ): Clocks {
    const session: SteeredEpoch = {
      grid,
      replan,
      epoch: this.epochs++,
      first: files,
      tickOf: ticksOf(source, grid),
      pieces: [{ fromIndex: 0, clock: files }],
      newest: 0,
    };
    this.session = session;
    for (const { epoch, spectrum, change } of this.start.logged ?? [])
      if (epoch === session.epoch)
        this.apply({ id: ++this.count, from: this.fromOf(session, spectrum), change, by: LOGGED });
    const steered: IntegrationClock = { cutAfter: (index) => cutAfter(session, index) };
    const watched = (clock: IntegrationClock): IntegrationClock => ({
      cutAfter: (index) => {
        session.newest = Math.max(session.newest, index);
        return clock.cutAfter(index);
      },
    });
    const finest = watched(cuts === files ? steered : cuts);
    return { cuts: finest, files: { ...steered, within: finest } };
  }

  /** The start of the first integration that has not begun; with `wanted`, of the first that begins no earlier. */
  next(wanted?: Instant): Required<From> {
    const session = this.current();
    const { grid, newest } = session;
    let index = cutAfter(session, newest);
    if (wanted) {
      const asked = Math.ceil(secondsBetween(grid.start, wanted) * grid.spectrumRateHz - 1e-6);
      if (asked < index) {
        refuse(
          'from',
          `${formatInstant(wanted, 3)} is before the next integration, which begins at ${formatInstant(momentOf(session, index), 3)}`,
          'name a later time, or none for as soon as possible',
        );
      }
      index = cutAfter(session, asked - 1);
    }
    return this.fromOf(session, index);
  }

  /** When a change would take effect; refuses impossible changes and changes nothing. */
  try(change: Change, wanted?: Instant): Required<From> {
    const session = this.current();
    if (!('beams' in change)) this.start.check?.(change, [], momentOf(session, session.newest));
    if ('integrationS' in change) session.replan(change.integrationS);
    const from = this.next(wanted);
    if ('beams' in change) {
      const before = this.placesOf(change.beams.product).at(from.at);
      refuseUnknown(before, change.beams);
      const places = changedPlaces(before, change.beams);
      this.start.check?.(change, places, from.at);
    }
    return from;
  }

  /** Makes a change from the next integration on, or from the first that begins no earlier than `wanted`. */
  make(change: Change, by: By, wanted?: Instant): MadeChange {
    const made: MadeChange = { id: ++this.count, from: this.try(change, wanted), change, by };
    this.apply(made);
    this.made.push(made);
    this.start.onChange?.(made, 'made');
    return made;
  }

  /** Cancels a change if the integration at which it takes effect has not begun. */
  cancel(id: number, by: By): MadeChange {
    const session = this.current();
    const at = this.made.findIndex((one) => one.id === id);
    if (at < 0)
      return refuse('cancel', `there is no change ${id}`, 'the journal lists changes with their numbers');
    const made = this.made[at];
    const { epoch, spectrum, at: moment } = made.from;
    if (epoch !== session.epoch || spectrum < cutAfter(session, session.newest))
      return refuse(
        'cancel',
        `change ${id} took effect at ${formatInstant(moment, 3)}`,
        'make a change that undoes it',
      );
    this.made.splice(at, 1);
    this.rebuild(session);
    this.start.onChange?.({ ...made, by }, 'cancelled');
    return made;
  }

  /** Rebuilds the timelines from the start with the remaining changes. */
  private rebuild(session: SteeredEpoch): void {
    const { flaggedInputs, integrationS, calibrated } = this.start;
    this.flags.reset(flaggedInputs);
    this.integration.reset(integrationS);
    this.gains.reset(calibrated);
    this.recording.reset(true);
    this.fileNumber.reset(0);
    for (const [product, places] of this.beams) places.reset(this.start.beams?.get(product) ?? []);
    session.pieces.splice(0, Infinity, { fromIndex: 0, clock: session.first });
    for (const one of this.made) this.apply(one);
  }

  private apply({ from, change }: MadeChange): void {
    if ('flags' in change) {
      const { inputs, flag } = change.flags;
      // Flags set from a later time on do not apply before it.
      this.flags.change(from.at, (before) => withFlags(before, inputs, flag));
    } else if ('recording' in change) this.recording.set(from.at, change.recording);
    else if ('gains' in change) this.gains.set(from.at, change.gains.calibrated);
    else if ('beams' in change) {
      const { beams } = change;
      const places = this.placesOf(beams.product);
      if ('towards' in beams) places.set(from.at, beams.towards);
      // Beams added or stopped later remain so.
      else places.change(from.at, (before) => changedPlaces(before, beams));
    } else this.applyIntegration(from, change.integrationS);
  }

  private applyIntegration({ at, epoch, spectrum }: Required<From>, integrationS: number): void {
    this.integration.set(at, integrationS);
    this.fileNumber.set(at, this.fileNumber.latest + 1);
    const { session } = this;
    if (session?.epoch !== epoch) return;
    const { pieces } = session;
    while (pieces.length > 1 && pieces[pieces.length - 1].fromIndex >= spectrum) pieces.pop();
    pieces.push({ fromIndex: spectrum, clock: session.replan(integrationS) });
  }

  /** The gains in force when data began, evaluated at an instant of those data. */
  calibratedAt(start: Instant, moment: Instant = start): Calibrated | undefined {
    const gains = this.gains.at(start);
    return gains && calibratedAt(gains, moment, start);
  }

  /** The latest gains; if they change in time, as they are now. */
  get latestGains(): Calibrated | undefined {
    const { latest } = this.gains;
    if (typeof latest !== 'function') return latest;
    return this.session && latest(momentOf(this.session, this.session.newest));
  }

  /** Gains for direct imaging, where an input is left out only by its gain. */
  directGains(moment: Instant, channels: number, start: Instant = moment): Calibrated {
    const [flags, gains] = [this.flags.at(moment), this.calibratedAt(start, moment)];
    if (this.merged?.flags === flags && this.merged.gains === gains) return this.merged.calibrated;
    const inputs = flags.length;
    const solved = Uint8Array.from({ length: channels * inputs }, (_, at) =>
      flags[at % inputs] === 1 ? 0 : (gains?.solved[at] ?? 1),
    );
    const ones = (): Float64Array =>
      Float64Array.from({ length: 2 * channels * inputs }, (_, k) => (k % 2 === 0 ? 1 : 0));
    const calibrated = { gains: gains?.gains ?? gainsCA(ones(), channels, inputs), solved };
    this.merged = { flags, gains, calibrated };
    return calibrated;
  }
  private merged:
    | { readonly flags: Uint8Array; readonly gains: Calibrated | undefined; readonly calibrated: Calibrated }
    | undefined;

  private placesOf(product: number): Timeline<readonly string[]> {
    const numbers = [...this.beams.keys()].join(', ');
    return (
      this.beams.get(product) ??
      refuse(
        'beams.product',
        `product ${product} makes no beams`,
        numbers === '' ? 'start with a product of beams' : `name one that does: ${numbers}`,
      )
    );
  }

  private current(): SteeredEpoch {
    return this.session ?? refuse('steer', 'no data have arrived yet', 'wait for the first');
  }

  private fromOf(session: SteeredEpoch, index: number): Required<From> {
    const { epoch } = session;
    return { at: momentOf(session, index), tick: session.tickOf(index), epoch, spectrum: index };
  }
}

const LOGGED: By = { who: 'the log', authenticated: true };

/** The flags after flagging or unflagging some inputs. */
export function withFlags(before: Uint8Array, inputs: readonly number[], flag: boolean): Uint8Array {
  const flags = before.slice();
  for (const a of inputs) flags[a] = flag ? 1 : 0;
  return flags;
}

function changedPlaces(before: readonly string[], change: ChangedBeams): readonly string[] {
  if ('towards' in change) return change.towards;
  if ('add' in change) return [...before, ...change.add.filter((one) => !before.includes(one))];
  return before.filter((one) => !change.stop.includes(one));
}

function refuseUnknown(before: readonly string[], change: ChangedBeams): void {
  const twice = 'add' in change && change.add.find((one) => before.includes(one));
  if (typeof twice === 'string')
    refuse('beams.add', `there is a beam towards ${twice} already`, 'leave it out');
  const unknown = 'stop' in change && change.stop.find((one) => !before.includes(one));
  if (typeof unknown === 'string')
    refuse('beams.stop', `there is no beam towards ${unknown}`, `name one of ${before.join(', ')}`);
}

const momentOf = ({ grid }: SteeredEpoch, index: number): Instant =>
  addSamples(grid.start, index, grid.spectrumRateHz);

/** The first cut after a spectrum, by the clock in force there; a change is also a cut. */
function cutAfter({ pieces }: SteeredEpoch, index: number): number {
  let k = pieces.length - 1;
  while (k > 0 && pieces[k].fromIndex > index) k--;
  const next = k + 1 < pieces.length ? pieces[k + 1].fromIndex : Infinity;
  return Math.min(pieces[k].clock.cutAfter(index), next);
}

function ticksOf(source: Source, grid: SpectrumGrid): (index: number) => bigint {
  const { clock } = source as { readonly clock?: TickClock };
  if (clock) return (index) => tickOfInstant(clock, addSamples(grid.start, index, grid.spectrumRateHz));
  const samples = sampleRateOf(source) / grid.spectrumRateHz;
  return (index) => BigInt(Math.round(index * samples));
}
