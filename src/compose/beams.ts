/**
 * Beams as a product: from a front's spectra to powers or voltages of weighted sums of stations. Weights follow the sky in
 * pieces that are placed by the number of the spectrum in the source, so that a recording, a capture and a live stream have
 * the same ones.
 */
import type { Backend } from '../backend/backend.js';
import {
  addBeamCounts,
  detections,
  inverseGains,
  nullDepths,
  nulledWeights,
  planBeams,
  prepareBeamformer,
  taperEfficiency,
  type Beamformer,
  prepareIncoherent,
  voltagesLength,
  type BeamPlan,
  type BeamVoltages,
  type Detection,
  type InverseGains,
  type Towards,
  type WeightType,
} from '../beamform/index.js';
import { allocateSpectra } from '../core/axes.js';
import { closingAfter, preparing } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { addSamples, secondsBetween, type Instant } from '../core/instant.js';
import { EARTH_SPIN_RAD_PER_S, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { geometricDelaysS, trackedDelays } from '../delay/index.js';
import { skyFrame } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  type FlagRule,
  MOST_LOSS,
  phaseLoss,
  type Calibrated,
  type CalibratedAt,
  type IntegrationClock,
  type TimedSpectra,
  chain,
  keepsNothing,
  type Emit,
  type Stage,
} from '../stages/index.js';
import { directGains, prepareWholeStations } from './direct.js';
import { gainOfFront, spectraOfFront, type Front, type FrontSpectra } from './front.js';

export interface BeamsProduct {
  readonly telescope: Telescope;
  /** One beam each, at the start. */
  readonly targets: readonly PhaseCentre[];
  /** In the order of time; requested for each block. A change applies to later spectra. */
  readonly changes?: () => readonly BeamChange[];
  readonly sum: 'coherent' | 'incoherent';
  readonly weights: WeightType;
  /** [s], weights of stations. */
  readonly taper?: Float64Array;
  /** Where every beam receives nothing; weights are floats. */
  readonly nulls?: readonly PhaseCentre[];
  /** Quality of weights with a taper or nulls, for each piece. */
  readonly weighed?: (target: PhaseCentre, quality: BeamQuality) => void;
  /** `none`: voltages. */
  readonly detection: Detection | 'none';
  /** For powers. */
  readonly spectraPerValue: number;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** [a], 1 where an input is left out. */
  readonly flaggedInputs: Uint8Array;
  /** Flags by channel and time. */
  readonly rules: readonly FlagRule[];
}

export interface BeamQuality {
  /** Squared signal-to-noise ratio relative to that of equal weights. */
  readonly efficiency: number;
  /** Of the shallowest null: power relative to the beam's; 0 without nulls. */
  readonly depth: number;
}

/** Other places from a moment on. */
interface BeamChange {
  readonly from: Instant;
  readonly targets: readonly PhaseCentre[];
}

/** The beams from a spectrum on, where a value begins. */
export interface BeamSet {
  readonly first: number;
  readonly targets: readonly PhaseCentre[];
}

/** Value n covers spectra n·spectraPerValue to before (n + 1)·spectraPerValue. */
export interface BeamPowers {
  readonly kind: 'powers';
  readonly beams: BeamSet;
  readonly firstValue: number;
  readonly values: number;
  /** [b][d][value][c]: Σ over spectra of |Σ_s x·e^(−2πi f d)/g|², divided by how many a value has; missing samples are zeros. */
  readonly powers: Float64Array;
  /** [plane][value][c]: samples of inputs that were added; X and Y apart where XX and YY are. */
  readonly counts: Float64Array;
}

export interface BeamSamples {
  readonly kind: 'voltages';
  readonly beams: BeamSet;
  readonly index: number;
  readonly samples: number;
  /** [c][b][p][t], complex. Filled anew by the next block. */
  readonly voltages: BeamVoltages;
  /** [b], what voltages are divided by for the unit of calibrated stations. */
  readonly scales: Float64Array;
  /** [p][t][c]: inputs that were added. */
  readonly counts: Float64Array;
}

/** Spectra at the end of the data that are too few for a value. */
interface BeamRest {
  readonly kind: 'rest';
  readonly spectra: number;
}

export type BeamItem = BeamPowers | BeamSamples | BeamRest;

/** Ranges of spectra with constant weights. */
interface BeamPieces extends IntegrationClock {
  at(index: number): { readonly first: number; readonly end: number };
  /** The longest piece. */
  readonly spectra: number;
}

/** The phase error of the farthest station at the ends of a piece, where weights are those of its middle. */
const MOST_PHASE_RAD = (0.25 * Math.PI) / 180;
const LONGEST_S = 10;

/** The beams of a spectrum, and the spectrum before which they change. */
const setAt = (
  { grid }: Pick<FrontSpectra, 'grid'>,
  { targets, changes, detection, spectraPerValue }: SetsOf,
  index: number,
): BeamSet & { readonly end: number } => {
  const perValue = detection === 'none' ? 1 : spectraPerValue;
  let at = { first: 0, targets, end: Infinity };
  for (const { from, targets: later } of changes?.() ?? []) {
    const value = Math.ceil(spectrumAt(grid.start, from, grid.spectrumRateHz) / perValue);
    const first = Math.max(0, value * perValue);
    at = first <= index ? { first, targets: later, end: Infinity } : { ...at, end: Math.min(at.end, first) };
  }
  return at;
};

type SetsOf = Pick<BeamsProduct, 'targets' | 'changes' | 'detection' | 'spectraPerValue'>;

/** Cut where the sky has rotated, where flags begin and end, and where other beams begin. */
export function beamPieces(
  front: Front,
  product: Pick<BeamsProduct, 'telescope' | 'rules' | 'sum' | 'nulls'> & SetsOf,
): BeamPieces {
  const { telescope, rules, sum, nulls = [] } = product;
  const spectra = spectraOfFront(front);
  const { grid, frequenciesHz } = spectra;
  const farthestM = Math.max(
    ...telescope.stations.map(({ eastM, northM, upM }) => Math.hypot(eastM, northM, upM)),
  );
  const highestHz = frequenciesHz.reduce((most, one) => Math.max(most, one), 0);
  const isTracked = front.delays?.towards !== undefined;
  /** A power of two: pieces of other places are parts of these, or these of them. */
  const lengthFor = (targets: readonly PhaseCentre[]): number => {
    const moving = sum === 'coherent' && [...targets, ...nulls].some(({ kind }) => kind !== 'local') ? 1 : 0;
    const radPerS =
      (moving + (isTracked ? 1 : 0)) *
      ((2 * Math.PI * highestHz * farthestM) / SPEED_OF_LIGHT_M_PER_S) *
      EARTH_SPIN_RAD_PER_S;
    const longest = Math.min(LONGEST_S, (2 * MOST_PHASE_RAD) / radPerS) * grid.spectrumRateHz;
    if (!(longest >= 1))
      refuse(
        'products.beams.towards',
        `the phase of ${telescope.name}'s farthest station changes by more than ${((180 / Math.PI) * 2 * MOST_PHASE_RAD).toFixed(1)}° within a spectrum`,
        'make shorter spectra: fewer channels',
      );
    return 2 ** Math.floor(Math.log2(longest));
  };
  const edges = rules
    .flatMap(({ from, to }) => [from, to])
    .filter((one) => one !== undefined)
    .map((one) => spectrumAt(grid.start, one, grid.spectrumRateHz))
    .filter((edge) => edge > 0)
    .sort((x, y) => x - y);
  const at = (index: number): { first: number; end: number } => {
    const length = lengthFor(setAt(spectra, product, index).targets);
    const first = Math.floor(index / length) * length;
    return {
      first: edges.reduce((latest, edge) => (edge <= index ? Math.max(latest, edge) : latest), first),
      end: edges.reduce((next, edge) => (edge > index ? Math.min(next, edge) : next), first + length),
    };
  };
  // Weights are those of the whole piece's middle, whatever changes within it: a change of other beams leaves a beam as
  // it is.
  const cutAfter = (index: number): number => Math.min(at(index).end, setAt(spectra, product, index).end);
  return { at, cutAfter, spectra: lengthFor(product.targets) };
}

/** The first spectrum whose middle is not before a moment. */
const spectrumAt = (start: Instant, moment: Instant, rateHz: number): number =>
  Math.ceil(secondsBetween(start, moment) * rateHz - 0.5 - 1e-6);

/** [b][s]; how much later each station's signal is made for a beam. */
function delaysOf(telescope: Telescope, targets: readonly PhaseCentre[], moment: Instant): Float64Array {
  const frame = skyFrame(telescope.site, moment);
  const { length } = telescope.stations;
  const delays = new Float64Array(targets.length * length);
  targets.forEach((target, b) => {
    delays.set(geometricDelaysS(telescope, target.directionEnu(frame)), b * length);
  });
  return delays;
}

/** [s], the delays that the front has applied by tracking. */
function trackedOf({ delays, source }: Front, { stations }: Telescope, moment: Instant): Float64Array {
  if (delays?.towards === undefined) return new Float64Array(stations.length);
  const ticks = secondsBetween(source.start, moment) * delays.tickRateHz;
  const tracked = trackedDelays(delays.delayModel, delays.tickRateHz, ticks);
  return Float64Array.from(stations, (_, s) => tracked[(s * tracked.length) / stations.length].delayS);
}

/**
 * The efficiency with a taper and nulls relative to equal weights, in squared signal-to-noise ratio, with gains of 1;
 * the least of all beams.
 */
export function beamEfficiency(front: Front, product: BeamsProduct, moment: Instant): number {
  const { telescope, targets, nulls = [], taper, flaggedInputs } = product;
  const { frequenciesHz, polarisations, inputs } = spectraOfFront(front);
  const factors = factorsOf(taper, inputs, polarisations);
  const some = [0, frequenciesHz.length >> 1, frequenciesHz.length - 1].map((c) => frequenciesHz[c]);
  const used = Uint8Array.from({ length: some.length * inputs }, (_, n) => 1 - flaggedInputs[n % inputs]);
  const { efficiency } = nulledWeights(
    {
      stations: telescope.stations.length,
      polarisations,
      beams: targets.length,
      factors,
      frequenciesHz: Float64Array.from(some),
    },
    delaysOf(telescope, targets, moment),
    delaysOf(telescope, nulls, moment),
    inverseGains(undefined, used, factors),
  );
  return Math.min(1, ...efficiency);
}

const factorsOf = (taper: Float64Array | undefined, inputs: number, polarisations: 1 | 2): Float64Array =>
  Float64Array.from({ length: inputs }, (_, a) => taper?.[Math.floor(a / polarisations)] ?? 1);

/** Amplitude loss where phases alone steer a channel: by the station with the largest remaining delay, at a moment. */
export function beamPhaseLoss(front: Front, product: BeamsProduct, moment: Instant): number {
  if (product.sum === 'incoherent') return 0;
  const { channelWidthHz } = spectraOfFront(front);
  const { telescope, targets } = product;
  const { length } = telescope.stations;
  const trackedS = trackedOf(front, telescope, moment);
  const left = delaysOf(telescope, targets, moment).map((delayS, n) => delayS - trackedS[n % length]);
  let most = 0;
  for (let b = 0; b < product.targets.length; b++) {
    const own = left.subarray(b * length, (b + 1) * length);
    most = Math.max(most, own.reduce((high, one) => Math.max(high, one), -Infinity) - Math.min(...own));
  }
  const lost = phaseLoss(channelWidthHz, most);
  if (lost > MOST_LOSS)
    refuse(
      'products.beams.towards',
      `channels are steered by phases alone, and stations are so far apart that ${(100 * lost).toFixed(0)} % of an amplitude would be lost`,
      'track the place with front.delays.track, or take narrower channels',
    );
  return lost;
}

interface Held {
  readonly piece: number;
  readonly beams: BeamSet;
  /** Undefined for powers of an incoherent sum, or while there are no beams. */
  readonly former?: Beamformer;
  /** [c][a], 1 where an input has a weight. */
  readonly used: Uint8Array;
  readonly inverse: InverseGains;
  readonly scales: Float64Array;
}

export const prepareBeams = (
  front: Front,
  product: BeamsProduct,
  backend: Backend,
): Promise<Stage<TimedSpectra, BeamItem>> =>
  preparing(async (closers) => {
    const { telescope, detection, sum, taper, nulls = [], weighed } = product;
    const spectra = spectraOfFront(front);
    const { type, channels, inputs, polarisations, grid, frequenciesHz, channelWidthHz } = spectra;
    const factors = factorsOf(taper, inputs, polarisations);
    const options = { stations: telescope.stations.length, polarisations, channels, type } as const;
    const planFor = (beams: number): BeamPlan => planBeams({ ...options, beams, weights: product.weights });
    const formers = new Formers((beams) =>
      sum === 'incoherent' || beams === 0 ? undefined : prepareBeamformer(planFor(beams), backend),
    );
    closers.keep(formers);
    await formers.of(product.targets.length);
    const stations =
      sum === 'incoherent' ? closers.keep(await prepareIncoherent(planFor(1), backend)) : undefined;
    const pieces = beamPieces(front, product);
    const { calibrated, gainsAt } = directGains(front, product);
    const { gainRatio = 1, levels } = gainOfFront(front);
    const unit = levels ? 1 : 1 / gainRatio;
    let held: Held | undefined;
    const hold = async (index: number): Promise<Held> => {
      const { first, end } = pieces.at(index);
      const { end: until, ...own } = setAt(spectra, product, index);
      const next = until < Infinity ? setAt(spectra, product, until).targets.length : undefined;
      // Prepared before it takes effect: compilation on a card takes a while.
      if (next !== undefined) void formers.ahead(next);
      if (held?.piece === first && held.beams.targets === own.targets) return held;
      const { targets } = own;
      const beams = held?.beams.targets === targets ? held.beams : own;
      const former = await formers.of(targets.length, next);
      const moment = addSamples(grid.start, (first + end) / 2, grid.spectrumRateHz);
      const gains: Calibrated | undefined = gainsAt
        ? gainsAt(moment, addSamples(grid.start, first, grid.spectrumRateHz))
        : calibrated;
      const used = gains ? gains.solved.slice() : new Uint8Array(channels * inputs).fill(1);
      const inverse = inverseGains(gains?.gains, used, factors);
      if (detection === 'IQUV') leaveOutHalves(used, inverse, polarisations);
      let scales = new Float64Array(targets.length).fill(1);
      if (former && nulls.length > 0) {
        weighNulls(former, targets, { first, end, moment }, inverse);
        scales.fill(1 / unit);
      } else if (former) {
        const steered = former.steer(frequenciesHz, delaysOf(telescope, targets, moment), inverse);
        scales = steered.map((scale) => scale / unit);
        const efficiency = taper ? taperEfficiency(factors, used, polarisations) : 1;
        for (const target of taper ? targets : []) weighed?.(target, { efficiency, depth: 0 });
      }
      held = { piece: first, beams, former, used, inverse, scales };
      return held;
    };
    const weighNulls = (
      former: Beamformer,
      targets: readonly PhaseCentre[],
      { first, end, moment }: { readonly first: number; readonly end: number; readonly moment: Instant },
      inverse: InverseGains,
    ): void => {
      const own = { ...options, beams: targets.length, frequenciesHz, factors };
      const made = nulledWeights(
        own,
        delaysOf(telescope, targets, moment),
        delaysOf(telescope, nulls, moment),
        inverse,
      );
      former.setWeights(made.weights);
      // The phase that tracking has applied since the middle of the piece is in the data, not in the gains.
      const middle = trackedOf(front, telescope, moment);
      const depths = [first, end].map((spectrum) => {
        const edge = addSamples(grid.start, spectrum, grid.spectrumRateHz);
        const tracked = trackedOf(front, telescope, edge);
        const towards = (places: readonly PhaseCentre[]): Towards => {
          const leftS = delaysOf(telescope, places, edge).map((one, n) => one - tracked[n % tracked.length]);
          return { leftS, delaysS: leftS.map((one, n) => one + middle[n % middle.length]) };
        };
        return nullDepths(own, channelWidthHz, towards(targets), towards(nulls), inverse, made.weights);
      });
      targets.forEach((target, b) => {
        const depth = Math.max(...depths.map((of) => of[b]));
        weighed?.(target, { efficiency: made.efficiency[b], depth });
      });
    };
    const shape = { channels, inputs, polarisations } as const;
    if (detection === 'none' && sum === 'incoherent')
      refuse('products.beams.detection', 'an incoherent sum has no voltages', 'detect I');
    const stage: Stage<TimedSpectra, BeamItem> =
      detection === 'none' ? voltageStage() : powerStage(detection);

    function voltageStage(): typeof stage {
      return {
        push: async ({ block, index }, emit) => {
          const { used, scales, beams, former } = await hold(index);
          const { samples } = block;
          const plan = planFor(Math.max(1, beams.targets.length));
          const length = former ? voltagesLength(plan, samples) : 0;
          const voltages = plan.sums === 'ci32' ? new Int32Array(length) : new Float32Array(length);
          await former?.voltages(block, voltages);
          const counts = new Float64Array(polarisations * samples * channels);
          const bins = { spectraPerBin: 1, offset: 0, bins: samples };
          addBeamCounts({ ...shape, planes: polarisations }, used, block, bins, counts);
          await emit({ kind: 'voltages', beams, index, samples, voltages, scales, counts });
        },
        ...keepsNothing,
        close: () => closers.close(),
      };
    }

    function powerStage(detected: Detection): typeof stage {
      const planes = detected === 'XX,YY' ? 2 : 1;
      const perValue = product.spectraPerValue;
      let open: OpenValue | undefined;
      return {
        push: async ({ block, index }, emit) => {
          const { used, inverse, scales, beams, former } = await hold(index);
          const rows = { powers: beams.targets.length * detections[detected], counts: planes };
          if (open?.beams !== beams) {
            await open?.cut(emit);
            open = new OpenValue(beams, rows, channels, perValue);
          }
          const { samples } = block;
          const offset = index % perValue;
          const bins = {
            detection: detected,
            spectraPerBin: perValue,
            offset,
            bins: Math.ceil((offset + samples) / perValue),
          };
          const powers = new Float64Array(rows.powers * bins.bins * channels);
          if (former) await former.powers(block, bins, powers);
          else await stations?.add(squaresOf(inverse, unit), block, bins, powers);
          const each = detections[detected] * bins.bins * channels;
          scales.forEach((scale, b) => {
            const factor = scale > 0 ? 1 / (scale * scale * perValue) : 0;
            for (let n = b * each; n < (b + 1) * each; n++) powers[n] *= factor;
          });
          const counts = new Float64Array(rows.counts * bins.bins * channels);
          addBeamCounts({ ...shape, planes }, used, block, bins, counts);
          await open.add(index, samples, { powers, counts }, emit);
        },
        flush: async (emit) => open?.end(emit),
        account: () => ({}),
        close: () => closers.close(),
      };
    }
    return detection === 'IQUV' ? chain(prepareWholeStations(backend, polarisations), stage) : stage;
  });

/** Beams and channels of a trial, and spectra: enough for a card's matrices. */
const [TRIAL_BEAMS, TRIAL_CHANNELS, TRIAL_SPECTRA, TRIALS] = [16, 32, 128, 4];

/** Seconds of this machine's work for a second of data of one coherent beam: its weights and its sums, by a trial. */
export function secondsPerBeam(
  front: Front,
  product: Pick<BeamsProduct, 'weights' | 'telescope'> & Parameters<typeof beamPieces>[1],
  backend: Backend,
): Promise<number> {
  const { type, inputs, polarisations, grid, frequenciesHz } = spectraOfFront(front);
  const stations = product.telescope.stations.length;
  const channels = Math.min(TRIAL_CHANNELS, frequenciesHz.length);
  const shape = { stations, polarisations, channels, type } as const;
  const plan = planBeams({ ...shape, beams: TRIAL_BEAMS, weights: product.weights });
  return closingAfter(async (closers) => {
    const former = closers.keep(await prepareBeamformer(plan, backend));
    const block = closers.keep(backend.allocateSpectra({ type, channels, inputs, capacity: TRIAL_SPECTRA }));
    await block.write(allocateSpectra(type, channels, inputs, TRIAL_SPECTRA), TRIAL_SPECTRA);
    const used = new Uint8Array(channels * inputs).fill(1);
    const inverse = inverseGains(undefined, used, factorsOf(undefined, inputs, polarisations));
    const delays = new Float64Array(TRIAL_BEAMS * stations);
    const powers = new Float64Array(TRIAL_BEAMS * channels);
    const bins = { detection: 'I', spectraPerBin: TRIAL_SPECTRA, offset: 0, bins: 1 } as const;
    let [weightsS, sumsS] = [Infinity, Infinity];
    // The fastest: others are disturbed by what else runs here.
    for (let n = 0; n < TRIALS; n++) {
      const begun = performance.now();
      former.steer(frequenciesHz.subarray(0, channels), delays, inverse);
      const steered = performance.now();
      await former.powers(block, bins, powers);
      weightsS = Math.min(weightsS, (steered - begun) / 1000);
      sumsS = Math.min(sumsS, (performance.now() - steered) / 1000);
    }
    const perSpectrumS = weightsS / beamPieces(front, product).spectra + sumsS / TRIAL_SPECTRA;
    return (perSpectrumS * grid.spectrumRateHz * frequenciesHz.length) / channels / TRIAL_BEAMS;
  });
}

/** Beamformers by number of beams: the current one, and that of the next change. */
class Formers {
  private readonly prepared = new Map<number, Promise<Beamformer | undefined>>();

  constructor(private readonly prepare: (beams: number) => Promise<Beamformer> | undefined) {}

  ahead(beams: number): Promise<Beamformer | undefined> {
    const made = this.prepared.get(beams) ?? Promise.resolve(this.prepare(beams));
    this.prepared.set(beams, made);
    // The error is reported where the beamformer is used.
    made.catch(() => undefined);
    return made;
  }

  /** All others but `next` are closed. */
  async of(beams: number, next = beams): Promise<Beamformer | undefined> {
    const former = await this.ahead(beams);
    for (const one of [...this.prepared.keys()]) if (one !== beams && one !== next) await this.drop(one);
    return former;
  }

  async close(): Promise<void> {
    for (const one of [...this.prepared.keys()]) await this.drop(one);
  }

  private async drop(beams: number): Promise<void> {
    const made = this.prepared.get(beams);
    this.prepared.delete(beams);
    await (await made?.catch(() => undefined))?.close();
  }
}

/** Q, U and V need both polarisations of a station. */
function leaveOutHalves(used: Uint8Array, { inverse }: InverseGains, polarisations: 1 | 2): void {
  for (let n = 0; n < used.length; n += polarisations)
    if (used.subarray(n, n + polarisations).includes(0)) {
      used.fill(0, n, n + polarisations);
      inverse.fill(0, 2 * n, 2 * (n + polarisations));
    }
}

const squaresOf = ({ inverse }: InverseGains, unit: number): Float64Array =>
  Float64Array.from(
    { length: inverse.length / 2 },
    (_, n) => unit ** 2 * (inverse[2 * n] ** 2 + inverse[2 * n + 1] ** 2),
  );

type Sums = Record<'powers' | 'counts', Float64Array>;

/** Values across blocks: an unfinished one waits for the next spectra. */
class OpenValue {
  /** Its number, and how many of its spectra were passed. */
  private value = -1;
  private spectra = 0;
  private readonly sums: Sums;

  constructor(
    readonly beams: BeamSet,
    private readonly rows: Record<'powers' | 'counts', number>,
    private readonly channels: number,
    private readonly perValue: number,
  ) {
    this.sums = {
      powers: new Float64Array(rows.powers * channels),
      counts: new Float64Array(rows.counts * channels),
    };
  }

  async add(index: number, samples: number, made: Sums, emit: Emit<BeamPowers>): Promise<void> {
    const { perValue, channels, sums } = this;
    const firstValue = Math.floor(index / perValue);
    const values = made.counts.length / (this.rows.counts * channels);
    const row = (of: Float64Array, n: number, value: number): Float64Array =>
      of.subarray((n * values + value) * channels, (n * values + value + 1) * channels);
    // The spectra after it were lost: it ends here.
    if (this.value >= 0 && this.value < firstValue) await this.emitOpen(emit);
    for (const name of ['powers', 'counts'] as const)
      for (let n = 0; n < this.rows[name] && this.value === firstValue; n++) {
        const own = row(made[name], n, 0);
        for (let c = 0; c < channels; c++) own[c] += sums[name][n * channels + c];
      }
    const whole = Math.floor((index + samples) / perValue) - firstValue;
    this.value = whole < values ? firstValue + whole : -1;
    this.spectra = (index + samples) % perValue;
    for (const name of ['powers', 'counts'] as const)
      for (let n = 0; n < this.rows[name] && whole < values; n++)
        sums[name].set(row(made[name], n, whole), n * channels);
    if (whole === 0) return;
    const kept = (name: 'powers' | 'counts'): Float64Array => {
      if (whole === values) return made[name];
      const all = new Float64Array(this.rows[name] * whole * channels);
      for (let n = 0; n < this.rows[name]; n++)
        all.set(
          made[name].subarray(n * values * channels, (n * values + whole) * channels),
          n * whole * channels,
        );
      return all;
    };
    const { beams } = this;
    const [powers, counts] = [kept('powers'), kept('counts')];
    await emit({ kind: 'powers', beams, firstValue, values: whole, powers, counts });
  }

  /** Other beams follow: an unfinished value ends here. */
  async cut(emit: Emit<BeamPowers>): Promise<void> {
    if (this.value >= 0) await this.emitOpen(emit);
  }

  /** At the end of the data an unfinished value is dropped. */
  async end(emit: Emit<BeamRest>): Promise<void> {
    if (this.value >= 0) await emit({ kind: 'rest', spectra: this.spectra });
    this.value = -1;
  }

  private async emitOpen(emit: Emit<BeamPowers>): Promise<void> {
    const firstValue = this.value;
    this.value = -1;
    const { beams, sums } = this;
    const [powers, counts] = [sums.powers.slice(), sums.counts.slice()];
    await emit({ kind: 'powers', beams, firstValue, values: 1, powers, counts });
  }
}
