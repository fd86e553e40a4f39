/** State of a run, derived from its data: the only source for the page, the API, the metrics and the alarms. */
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSeconds, formatInstant, secondsBetween, toDate, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { SECONDS_PER_DAY, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import { placeOf } from '../image/index.js';
import type { Losses, LiveWatcher, ShownRun, WrittenIntegrations } from '../live/index.js';
import type { FileEvent } from '../products/index.js';
import type { SkyImage } from '../stages/index.js';
import type { ReceiveAccount } from '../receive/index.js';
import { sourcesUp } from '../sky/above.js';
import type { Source as SkySourceModel } from '../sky/source.js';
import { AlarmState } from './alarms.js';
import { KeptIntegrations } from './reimage/kept-integrations.js';
import { AntennaPowers } from './antennas.js';
import { BeamLevels } from './beam-levels.js';
import { ImageHistory, type Frame } from './image-history.js';
import { FringeHistory } from './fringe-history.js';
import { LoadMeter } from './load.js';
import type { BeamsHead, MethodsHead, SendersView, SkyAxes, SkyHead, SkySource, Topic } from './messages.js';
import { MinuteCounts } from './minute-counts.js';
import { colourRange, handSums, spectrumAt, stokesOf, stokesPlane, type HandSums } from './planes.js';
import { SenderRates } from './senders.js';

/** Properties of a run known before its first sample, and its settings. */
export interface PageFacts {
  readonly description: string;
  readonly backend: string;
  readonly version: string;
  readonly isLive: boolean;
  /** For existing files instead of a run: the page's description of them. */
  readonly showing?: string;
  /** Folder of the output files, for the disk usage. */
  readonly folder: string;
  /** The account of every packet, for packet inputs. */
  readonly packets?: () => ReceiveAccount;
  /** For a simulated sky: its losses. */
  readonly losses?: () => Losses;
  readonly ring?: { readonly blocks: number; readonly samplesPerBlock: number };
}

/** Known with the first samples. */
interface Begun {
  readonly shown: ShownRun;
  readonly channelWidthHz: number;
  readonly spectrumRateHz: number;
  /** Sources to name on the sky. */
  readonly sources: readonly SkySourceModel[];
  readonly files?: WrittenIntegrations;
  readonly picture?: string;
}

/** Receives updates: the hub. */
interface Listener {
  hasListeners(topic: Topic): boolean;
  changed(topic: Topic): void;
  bandpass(integration: Integration): void;
  beams(head: BeamsHead, values: Float32Array): void;
}

/** Limit on positions whose spectrum is pending. */
const MOST_PLACES = 100;
/** Shortest interval between pictures. */
const LEAST_APART_MS = 38;
/** After a picture, nothing is drawn for this many times its drawing time. */
const REST = 8;
/** Late images arrive together and must not delay the next ones, which are on time. */
const MOST_EARLY_MS = 8 * LEAST_APART_MS;
/** More circles would cover the sky. */
const MOST_CIRCLES = 256;
const nowS = (): number => Date.now() / 1000;
const instantNow = (): Instant => ({
  unixSeconds: Math.floor(nowS()),
  fraction: (Date.now() % 1000) / 1000,
});

const enu = ({ x, y, z }: Vector3): readonly [number, number, number] => [x, y, z];
const axesOnWire = ({ l, m, n }: SkyImage['plan']['axes']): SkyAxes => ({ l: enu(l), m: enu(m), n: enu(n) });

interface MethodsCompared {
  readonly visibilities: SkyImage;
  readonly direct: SkyImage;
  readonly difference: number;
}

interface PlaceAsked {
  readonly l: number;
  readonly m: number;
  readonly resolve: (spectrum: (number | null)[]) => void;
}

export class LiveState implements LiveWatcher {
  readonly startedUnixS = nowS();
  readonly alarms: AlarmState;
  readonly imageHistory = new ImageHistory();
  readonly kept = new KeptIntegrations();
  readonly latencies: Latencies;
  readonly load: LoadMeter;
  readonly minutes = new MinuteCounts(nowS());
  begun: Begun | undefined;
  senders: SenderRates | undefined;
  antennas: AntennaPowers | undefined;
  fringes: FringeHistory | undefined;
  frame: Frame | undefined;
  /** The sums from which the latest frame's plane was computed. */
  hands: HandSums | undefined;
  current: { readonly number: number; readonly start: Instant } | undefined;
  totals = { integrations: 0, images: 0, sessions: 0 };
  present = 0;
  newest: Instant | undefined;
  dataAtMs = 0;
  imageAtMs = 0;
  private leftOutBefore = 0;
  private nextImageMs = 0;
  private restUntilMs = 0;
  isStopping = false;
  /** [visibilities, direct, their difference][m][l]. */
  methods: { readonly head: MethodsHead; readonly values: Float32Array } | undefined;
  /** Spectra at positions, if no further image will come. */
  spectra: { readonly file?: string; readonly at: (l: number, m: number) => (number | null)[] } | undefined;
  /** The file that is shown. */
  shownFile: string | undefined;
  takenSamples = 0;
  private skySources: { readonly atMs: number; readonly sources: readonly SkySource[] } | undefined;
  private readonly asked: PlaceAsked[] = [];
  private listener: Listener | undefined;

  constructor(
    readonly facts: PageFacts,
    hooks: {
      readonly onLatency?: (stage: string, seconds: number) => void;
      readonly onLateness?: (seconds: number) => void;
      readonly onAlarm?: ConstructorParameters<typeof AlarmState>[0];
    } = {},
  ) {
    this.latencies = new Latencies(hooks.onLatency);
    this.alarms = new AlarmState(hooks.onAlarm);
    this.load = new LoadMeter(facts.folder);
    this.onLateness = hooks.onLateness ?? (() => undefined);
  }
  private readonly onLateness: (seconds: number) => void;

  listen(listener: Listener): void {
    this.listener = listener;
  }

  begin(begun: Begun): void {
    this.begun = begun;
    this.antennas = new AntennaPowers(begun.shown.telescope, begun.shown.frequenciesHz.length);
    const { telescope, frequenciesHz } = begun.shown;
    this.fringes = new FringeHistory({ ...begun, telescope, frequenciesHz });
    if (begun.shown.flaggedInputs) this.antennas.flagged = begun.shown.flaggedInputs;
    this.listener?.changed('plan');
  }

  /** Data times within a day of the clock are current: their age is meaningful. */
  get isNow(): boolean {
    return this.newest !== undefined && Math.abs(secondsBetween(this.newest, instantNow())) < SECONDS_PER_DAY;
  }

  sendersView(): SendersView | undefined {
    const view = this.senders?.view();
    return view && { ...view, losses: this.facts.losses?.() };
  }

  get dataAgeS(): number | undefined {
    return this.dataAtMs === 0 ? undefined : (performance.now() - this.dataAtMs) / 1000;
  }

  /** Since the picture's last sample, if the data are current; otherwise since it was made. */
  /** Images that were left out since the newest one. */
  get leftOutSinceImage(): number {
    return (this.begun?.shown.late?.count ?? 0) - this.leftOutBefore;
  }

  get imageAgeS(): number | undefined {
    if (!this.frame) return undefined;
    return this.frame.head.ageS + (performance.now() - this.imageAtMs) / 1000;
  }

  session(source: Source): void {
    this.current = { number: this.totals.sessions++, start: source.start };
    const { clock } = source as {
      readonly clock?: { tickRateHz: ConstructorParameters<typeof SenderRates>[0] };
    };
    this.senders ??= new SenderRates(clock?.tickRateHz, this.facts.isLive ? 'network' : 'capture');
    this.minutes.session(this.current.number, formatInstant(source.start, 3));
    this.listener?.changed('observation');
  }

  /** Called when a block is read from the ring; `arrivedUnixNs` is the arrival of its first packet. */
  block(start: Instant, samples: number, rateHz: number, arrivedUnixNs?: bigint): void {
    this.dataAtMs = performance.now();
    this.takenSamples += samples;
    this.newest = addSeconds(start, samples / rateHz);
    if (arrivedUnixNs === undefined) return;
    const arrived = {
      unixSeconds: Number(arrivedUnixNs / 1_000_000_000n),
      fraction: Number(arrivedUnixNs % 1_000_000_000n) / 1e9,
    };
    if (!this.isNow) return;
    const afterS = secondsBetween(start, arrived);
    this.senders?.arrived(afterS);
    this.onLateness(afterS);
    this.latencies.add('receive', secondsBetween(this.newest, instantNow()));
  }

  integration(integration: Integration): void {
    const { begun, antennas } = this;
    if (!begun || !antennas) return;
    this.totals.integrations++;
    this.present = antennas.integration(integration, begun.spectrumRateHz);
    const { start, durationS } = integration;
    if (this.isNow)
      this.latencies.add('correlate', secondsBetween(addSeconds(start, durationS), instantNow()));
    const isWritten = begun.files !== undefined && (begun.shown.steering?.recording.at(start) ?? true);
    this.minutes.integration(toDate(start).getTime() / 1000, this.present, isWritten, durationS);
    if (begun.shown.imaging) this.kept.add(integration);
    this.listener?.bandpass(integration);
    this.fringes?.add(integration);
    this.listener?.changed('fringes');
    this.listener?.changed('antennas');
  }

  image(sky: SkyImage): void {
    this.totals.images++;
    const nowMs = performance.now();
    const end = addSeconds(sky.start, sky.durationS);
    const ageS = this.isNow ? Math.max(0, secondsBetween(end, instantNow())) : 0;
    if (this.isNow) this.latencies.add('image', ageS);
    for (const { l, m, resolve } of this.asked.splice(0)) resolve(spectrumAt(sky.image, sky.plan, l, m));
    if (nowMs < Math.max(this.restUntilMs, this.nextImageMs - MOST_EARLY_MS)) return;
    this.nextImageMs = Math.max(this.nextImageMs, nowMs) + LEAST_APART_MS;
    this.imageAtMs = nowMs;
    this.leftOutBefore = this.begun?.shown.late?.count ?? 0;
    this.frame = this.frameOf(sky, ageS);
    this.imageHistory.add(this.frame);
    // With hundreds of channels this takes longer than drawing: data have priority.
    this.restUntilMs = nowMs + REST * (performance.now() - nowMs);
    this.listener?.changed('sky');
  }

  readonly beamLevels = new BeamLevels((head, values) => this.listener?.beams(head, values));

  /** Shows an existing picture. */
  show(frame: Frame): void {
    this.totals.images++;
    this.imageAtMs = performance.now();
    this.frame = frame;
    this.imageHistory.add(frame);
    this.listener?.changed('sky');
  }

  /** Stokes I of each channel at a position, from the next image. */
  spectrum(l: number, m: number): Promise<(number | null)[]> {
    if (this.asked.length >= MOST_PLACES)
      refuse('place', `${MOST_PLACES} spectra are waiting for the next image`, 'ask again in a while');
    return new Promise((resolve) => this.asked.push({ l, m, resolve }));
  }

  /** For positions in the last image. */
  keepSpectra({ image, plan }: SkyImage): void {
    const kept = image.slice() as SkyImage['image'];
    this.spectra = { file: this.shownFile, at: (l, m) => spectrumAt(kept, plan, l, m) };
  }

  /** Images of the same spectra by both methods, and their difference. */
  showMethods({ visibilities, direct, difference }: MethodsCompared): void {
    const [first, second] = [visibilities, direct].map(({ image, plan }) => stokesPlane(image, plan));
    const off = first.map((value, at) => second[at] - value);
    const { pixels, pixelSize, field } = visibilities.plan;
    const values = new Float32Array(3 * pixels * pixels);
    [first, second, off].forEach((plane, k) => {
      values.set(plane, k * pixels * pixels);
    });
    this.methods = {
      head: {
        topic: 'methods',
        shape: [3, pixels, pixels],
        time: formatInstant(visibilities.start, 3),
        pixelSize,
        halfWidth: field.kind === 'all-sky' ? 1 : Math.sin((field.widthDeg * Math.PI) / 360),
        difference,
        range: colourRange(first),
        offRange: colourRange(off),
      },
      values,
    };
    this.listener?.changed('methods');
  }

  file(event: FileEvent): void {
    this.minutes.file(event);
    this.listener?.changed('observation');
  }

  get unit(): string {
    const { shown } = this.begun ?? {};
    if (!shown) return 'counts';
    const gains =
      shown.steering && this.newest ? shown.steering.gains.at(this.newest) : shown.imaging?.calibrated;
    return shown.imaging?.unit ?? (gains ? 'Jy/beam' : 'counts');
  }

  /** The frame of an image; for a re-image with its weights. */
  frameOf(sky: SkyImage, ageS: number, again?: { readonly weight: string }): Frame {
    const { plan, start, durationS } = sky;
    const { steering, imaging } = this.begun?.shown ?? {};
    const hands = handSums(sky.image, plan, sky.weights);
    if (!again) this.hands = hands;
    const plane = stokesOf(hands);
    const middle = addSeconds(start, durationS / 2);
    const calibrated = steering ? steering.gains.at(start) : imaging?.calibrated;
    const head: SkyHead = {
      topic: 'sky',
      ...(this.shownFile !== undefined && { file: this.shownFile }),
      shape: [plan.pixels, plan.pixels],
      time: formatInstant(middle, 3),
      durationS,
      number: this.totals.images,
      ageS,
      everyS: imaging?.everyS ?? durationS,
      pixelSize: plan.pixelSize,
      halfWidth: plan.field.kind === 'all-sky' ? 1 : Math.sin((plan.field.widthDeg * Math.PI) / 360),
      axes: axesOnWire(plan.axes),
      unit: imaging?.unit ?? (calibrated ? 'Jy/beam' : 'counts'),
      method: again ? 'visibilities' : (imaging?.by ?? 'visibilities'),
      ...again,
      ...colourRange(plane),
      sources: again ? this.sourcesAt(sky) : this.sourcesOf(sky),
      beams: this.beamsAt(sky),
    };
    return { head, plane, unixS: toDate(middle).getTime() / 1000 };
  }

  /** They move by a quarter of a degree per minute: updating once per second is enough. */
  private sourcesOf(sky: SkyImage): readonly SkySource[] {
    const atMs = performance.now();
    if (!this.skySources || atMs - this.skySources.atMs >= 1000)
      this.skySources = { atMs, sources: this.sourcesAt(sky) };
    return this.skySources.sources;
  }

  /** Their radius is half of λ/D, with D the width of the array and λ at the centre of the band. */
  private beamsAt({ plan, frame }: SkyImage): SkyHead['beams'] {
    const { shown } = this.begun ?? {};
    const { targets } = this.beamLevels;
    if (!shown || targets.length === 0) return undefined;
    const { frequenciesHz, telescope } = shown;
    const across = (axis: 'eastM' | 'northM'): number => {
      const all = telescope.stations.map((one) => one[axis]);
      return Math.max(...all) - Math.min(...all);
    };
    const metres = SPEED_OF_LIGHT_M_PER_S / frequenciesHz[frequenciesHz.length >> 1];
    const radius = metres / 2 / Math.max(metres, across('eastM'), across('northM'));
    return targets.slice(0, MOST_CIRCLES).flatMap((target) => {
      const direction = target.directionEnu(frame);
      const place = direction.z > 0 ? placeOf(plan, direction) : undefined;
      return place ? [{ name: target.name, ...place, radius }] : [];
    });
  }

  private sourcesAt({ plan, frame }: SkyImage): readonly SkySource[] {
    const { shown, sources: named = [] } = this.begun ?? {};
    const frequencyHz = shown?.frequenciesHz[shown.frequenciesHz.length >> 1];
    return sourcesUp(named, frame, 2, {
      telescope: shown?.telescope,
      frequencyHz,
    }).flatMap((up): SkySource[] => {
      const place = placeOf(plan, up.directionEnu);
      if (!place) return [];
      const { altitudeDeg, azimuthDeg } = up;
      return [{ name: up.source.name, ...place, altitudeDeg, azimuthDeg }];
    });
  }
}

const MINUTE_MS = 60_000;

const MOST = 2048;

class Latencies {
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
