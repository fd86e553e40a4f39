/**
 * Beams as a product: from a front's spectra to powers or voltages of weighted sums of stations. Weights follow the sky in
 * pieces that are placed by the number of the spectrum in the source, so that a recording, a capture and a live stream have
 * the same ones.
 */
import type { Backend } from '../backend/backend.js';
import {
  addBeamCounts,
  addIncoherent,
  detections,
  inverseGains,
  planBeams,
  prepareBeamformer,
  steeredWeights,
  voltagesLength,
  type BeamVoltages,
  type Detection,
  type InverseGains,
  type WeightType,
} from '../beamform/index.js';
import { preparing } from '../core/closing.js';
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
  type Emit,
  type Stage,
} from '../stages/index.js';
import { directGains, prepareWholeStations } from './direct.js';
import { gainOfFront, spectraOfFront, type Front } from './front.js';

export interface BeamsProduct {
  readonly telescope: Telescope;
  /** One beam each. */
  readonly targets: readonly PhaseCentre[];
  readonly sum: 'coherent' | 'incoherent';
  readonly weights: WeightType;
  /** None: voltages. */
  readonly detection: Detection | 'none';
  /** Of powers. */
  readonly spectraPerValue: number;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** [a], 1 where an input is left out. */
  readonly flaggedInputs: Uint8Array;
  /** Flags by channel and time. */
  readonly rules: readonly FlagRule[];
}

/** Value n is of spectra n·spectraPerValue to before (n + 1)·spectraPerValue. */
export interface BeamPowers {
  readonly kind: 'powers';
  readonly firstValue: number;
  readonly values: number;
  /** [b][d][value][c]: Σ over spectra of |Σ_s x·e^(−2πi f d)/g|², divided by how many a value has; missing samples are zeros. */
  readonly powers: Float64Array;
  /** [plane][value][c]: samples of inputs that were added; X and Y apart where XX and YY are. */
  readonly counts: Float64Array;
}

export interface BeamSamples {
  readonly kind: 'voltages';
  readonly index: number;
  readonly samples: number;
  /** [c][b][p][t], complex. Filled anew by the next block. */
  readonly voltages: BeamVoltages;
  /** [b], what voltages are to be divided by for the unit of calibrated stations. */
  readonly scales: Float64Array;
  /** [p][t][c]: inputs that were added. */
  readonly counts: Float64Array;
}

/** Spectra at the end of the data that are too few for a value. */
export interface BeamRest {
  readonly kind: 'rest';
  readonly spectra: number;
}

export type BeamItem = BeamPowers | BeamSamples | BeamRest;

/** While weights are the same. */
export interface BeamPieces extends IntegrationClock {
  at(index: number): { readonly first: number; readonly end: number };
  /** How long one lasts at the most. */
  readonly spectra: number;
}

/** By how much the farthest station's phase may be off at the ends of a piece, where weights are those of its middle. */
const MOST_PHASE_RAD = (0.25 * Math.PI) / 180;
const LONGEST_S = 10;

/** Cut where the sky has moved on, and where flags begin and end. */
export function beamPieces(
  front: Front,
  { telescope, targets, rules, sum }: Pick<BeamsProduct, 'telescope' | 'targets' | 'rules' | 'sum'>,
): BeamPieces {
  const { grid, frequenciesHz } = spectraOfFront(front);
  const farthestM = Math.max(
    ...telescope.stations.map(({ eastM, northM, upM }) => Math.hypot(eastM, northM, upM)),
  );
  const highestHz = frequenciesHz.reduce((most, one) => Math.max(most, one), 0);
  const isTracked = front.delays?.towards !== undefined;
  const moving = sum === 'coherent' && targets.some(({ kind }) => kind !== 'local') ? 1 : 0;
  const radPerS =
    (moving + (isTracked ? 1 : 0)) *
    ((2 * Math.PI * highestHz * farthestM) / SPEED_OF_LIGHT_M_PER_S) *
    EARTH_SPIN_RAD_PER_S;
  const longestS = Math.min(LONGEST_S, (2 * MOST_PHASE_RAD) / radPerS);
  const longest = longestS * grid.spectrumRateHz;
  if (!(longest >= 1))
    refuse(
      'products.beams.towards',
      `the phase of ${telescope.name}'s farthest station changes by more than ${((180 / Math.PI) * 2 * MOST_PHASE_RAD).toFixed(1)}° within a spectrum`,
      'make shorter spectra: fewer channels',
    );
  const spectra = 2 ** Math.floor(Math.log2(longest));
  const edges = rules
    .flatMap(({ from, to }) => [from, to])
    .filter((one) => one !== undefined)
    .map((one) => spectrumAt(grid.start, one, grid.spectrumRateHz))
    .filter((edge) => edge > 0)
    .sort((x, y) => x - y);
  const at = (index: number): { first: number; end: number } => {
    const first = Math.floor(index / spectra) * spectra;
    return {
      first: edges.reduce((latest, edge) => (edge <= index ? Math.max(latest, edge) : latest), first),
      end: edges.reduce(
        (next, edge) => (edge > index ? Math.min(next, edge) : next),
        Math.floor(index / spectra) * spectra + spectra,
      ),
    };
  };
  return { at, spectra, cutAfter: (index) => at(index).end };
}

/** The first spectrum whose middle is not before a moment. */
const spectrumAt = (start: Instant, moment: Instant, rateHz: number): number =>
  Math.ceil(secondsBetween(start, moment) * rateHz - 0.5 - 1e-6);

/** [b][s]; how much later each station's signal is made for a beam. */
function delaysOf({ telescope, targets }: BeamsProduct, moment: Instant): Float64Array {
  const frame = skyFrame(telescope.site, moment);
  const { length } = telescope.stations;
  const delays = new Float64Array(targets.length * length);
  targets.forEach((target, b) => {
    delays.set(geometricDelaysS(telescope, target.directionEnu(frame)), b * length);
  });
  return delays;
}

/** Of an amplitude, where phases alone steer a channel: the station with the largest delay that is left, at a moment. */
export function beamPhaseLoss(front: Front, product: BeamsProduct, moment: Instant): number {
  if (product.sum === 'incoherent') return 0;
  const { channelWidthHz, polarisations } = spectraOfFront(front);
  const { delays, source } = front;
  const tracked =
    delays?.towards === undefined
      ? undefined
      : trackedDelays(
          delays.law,
          delays.tickRateHz,
          secondsBetween(source.start, moment) * delays.tickRateHz,
        );
  const { length } = product.telescope.stations;
  const left = delaysOf(product, moment).map(
    (delayS, n) => delayS - (tracked?.[(n % length) * polarisations].delayS ?? 0),
  );
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
    const { telescope, targets, detection, sum } = product;
    const { type, channels, inputs, polarisations, grid, frequenciesHz } = spectraOfFront(front);
    const options = { stations: telescope.stations.length, polarisations, channels, type } as const;
    const plan = planBeams({ ...options, beams: targets.length, weights: product.weights });
    const former = sum === 'incoherent' ? undefined : closers.keep(await prepareBeamformer(plan, backend));
    const pieces = beamPieces(front, product);
    const { calibrated, gainsAt } = directGains(front, product);
    const { overUsual = 1, levels } = gainOfFront(front);
    const unit = levels ? 1 : 1 / overUsual;
    let held: Held | undefined;
    const hold = (index: number): Held => {
      const { first, end } = pieces.at(index);
      if (held?.piece === first) return held;
      const moment = addSamples(grid.start, (first + end) / 2, grid.spectrumRateHz);
      const own: Calibrated | undefined = gainsAt ? gainsAt(moment) : calibrated;
      const used = own ? own.solved.slice() : new Uint8Array(channels * inputs).fill(1);
      const inverse = inverseGains(own?.gains, used);
      if (detection === 'IQUV') leaveOutHalves(used, inverse, polarisations);
      if (!former) held = { piece: first, used, inverse, scales: Float64Array.of(1) };
      else {
        const steering = { ...options, beams: targets.length, frequenciesHz, weights: product.weights };
        const steered = steeredWeights(steering, delaysOf(product, moment), inverse);
        former.setWeights(steered.weights);
        held = { piece: first, used, inverse, scales: steered.scales.map((scale) => scale / unit) };
      }
      return held;
    };
    const shape = { channels, inputs, polarisations } as const;
    const stage: Stage<TimedSpectra, BeamItem> =
      detection === 'none'
        ? voltageStage(
            former ?? refuse('products.beams.detection', 'an incoherent sum has no voltages', 'detect I'),
          )
        : powerStage(detection);

    function voltageStage(of: NonNullable<typeof former>): typeof stage {
      return {
        push: async ({ block, index }, emit) => {
          const { used, scales } = hold(index);
          const { samples } = block;
          const length = voltagesLength(plan, samples);
          const voltages = plan.sums === 'ci32' ? new Int32Array(length) : new Float32Array(length);
          await of.voltages(block, voltages);
          const counts = new Float64Array(polarisations * samples * channels);
          const bins = { spectraPerBin: 1, offset: 0, bins: samples };
          addBeamCounts({ ...shape, planes: polarisations }, used, block, bins, counts);
          await emit({ kind: 'voltages', index, samples, voltages, scales, counts });
        },
        flush: () => Promise.resolve(),
        account: () => ({}),
        close: () => closers.close(),
      };
    }

    function powerStage(detected: Detection): typeof stage {
      const planes = detected === 'XX,YY' ? 2 : 1;
      const perValue = product.spectraPerValue;
      const rows = { powers: targets.length * detections[detected], counts: planes };
      const open = new OpenValue(rows, channels, perValue);
      return {
        push: async ({ block, index }, emit) => {
          const { used, inverse, scales } = hold(index);
          const { samples } = block;
          const offset = index % perValue;
          const bins = {
            ...{ detection: detected, spectraPerBin: perValue, offset },
            bins: Math.ceil((offset + samples) / perValue),
          };
          const powers = new Float64Array(rows.powers * bins.bins * channels);
          if (former) await former.powers(block, bins, powers);
          else await addIncoherent(plan, squaresOf(inverse, unit), block, bins, powers);
          const each = detections[detected] * bins.bins * channels;
          scales.forEach((scale, b) => {
            const factor = scale > 0 ? 1 / (scale * scale * perValue) : 0;
            for (let n = b * each; n < (b + 1) * each; n++) powers[n] *= factor;
          });
          const counts = new Float64Array(rows.counts * bins.bins * channels);
          addBeamCounts({ ...shape, planes }, used, block, bins, counts);
          await open.add(index, samples, { powers, counts }, emit);
        },
        flush: (emit) => open.end(emit),
        account: () => ({}),
        close: () => closers.close(),
      };
    }
    return detection === 'IQUV' ? chain(prepareWholeStations(backend, polarisations), stage) : stage;
  });

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

/** Values across blocks: the one that is begun waits for the spectra that follow. */
class OpenValue {
  /** Its number, and how many of its spectra were passed. */
  private value = -1;
  private spectra = 0;
  private readonly sums: Sums;

  constructor(
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
    const values = made.powers.length / (this.rows.powers * channels);
    const row = (of: Float64Array, n: number, value: number): Float64Array =>
      of.subarray((n * values + value) * channels, (n * values + value + 1) * channels);
    // What follows it was lost: it is what it is.
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
    await emit({ kind: 'powers', firstValue, values: whole, powers: kept('powers'), counts: kept('counts') });
  }

  /** Of the one that was begun the data have no more: it is not made. */
  async end(emit: Emit<BeamRest>): Promise<void> {
    if (this.value >= 0) await emit({ kind: 'rest', spectra: this.spectra });
    this.value = -1;
  }

  private async emitOpen(emit: Emit<BeamPowers>): Promise<void> {
    const firstValue = this.value;
    this.value = -1;
    const { powers, counts } = this.sums;
    await emit({ kind: 'powers', firstValue, values: 1, powers: powers.slice(), counts: counts.slice() });
  }
}
