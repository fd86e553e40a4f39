/**
 * Calibration that stays on the card: visibilities that are there and sources in, gains and what voltages are multiplied by
 * out, nothing back to the host in between. The same steps as batch.ts and solve.ts, by resident-pairs.cu, stefcal-matrices.cu,
 * stefcal-chip.cu and resident-gains.cu; the iterations in float32, everything else in float64.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import { offsetBy, type DeviceMemory, type DevicePointer } from '../../backend/cuda/session.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import { refuse, wholeNumber } from '../../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { FINEST_FLOAT32, prepareChip, type ChipBatch } from './chip.js';
import { describeWaves, matricesShape, planMatrices } from './plan.js';
import { checkComponent, fluxInPolarisation, type ModelComponent } from '../model.js';
import type { CalibrationPlan } from '../plan.js';
import { CHUNKS, HANDED, PAIRS, planResident } from './resident-plan.js';
import { readResident } from './resident-report.js';
import { refuseDarkModel, solveName } from '../batch.js';
import type { Calibration } from '../solve.js';

/** What the matrices are made of, already on the card. */
export interface DeviceCorrelations {
  /** visibilities : [c][b][p_i][p_j] complex float64, sums over samples. */
  readonly visibilities: DevicePointer;
  /** counts : [c][b] float64, the samples of each pair. */
  readonly counts: DevicePointer;
}

export interface ResidentOptions {
  readonly stationsM: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  /** flaggedInputs : [a], 1 for an input to leave out. Default: none. */
  readonly flaggedInputs?: Uint8Array;
  /** Room for this many sources. Default 64. */
  readonly mostSources?: number;
  /** Channels whose matrices are on the card at a time. Default: as many as 4 GiB hold. */
  readonly channelsAtOnce?: number;
}

export interface ResidentCalibrator extends Closable {
  readonly plan: CalibrationPlan;
  /** For people: how the matrices are held. */
  readonly description: string;
  /** The sources from the next solve on. Resolves when they are queued to go up. */
  setSky(components: readonly ModelComponent[]): Promise<void>;
  /** Queues everything on the compute stream and returns; what is found is valid, in order there, until the next solve. */
  solve(from: DeviceCorrelations): void;
  /** gains : [c][a] complex float64, the reference station's real and positive; 0 where not solved. */
  readonly gains: DeviceMemory;
  /** factors : [c][a] complex float64, 1 / gain; 0 where not solved. */
  readonly factors: DeviceMemory;
  /** solved : [c][a] bytes, 1 where the gain is known. */
  readonly solved: DeviceMemory;
  /** Waits for the last solve and says what `Calibrator.solve` would, or refuses; also where a channel has no data. */
  read(): Promise<Calibration>;
  /** The last group of channels as it went into the matrices, to look at: data, model, weights : [k][b] (SolveBatch). */
  readonly batch: Readonly<Record<'data' | 'model' | 'weights', DeviceMemory>>;
}

const WHERE = 'calibrate on the card';
/** Matrices, and what they are made of, on the card at a time. */
const MOST_BYTES = 4 * 2 ** 30;
/** What a grid counts along y. */
const MOST_SOLVES = 65_535;
const TILE = 16;
const THREADS = 256;

export const prepareResidentCalibrator = (
  plan: CalibrationPlan,
  backend: CudaBackend,
  options: ResidentOptions,
): Promise<ResidentCalibrator> => preparing((closers) => makeCalibrator(plan, backend, options, closers));

async function makeCalibrator(
  plan: CalibrationPlan,
  backend: CudaBackend,
  options: ResidentOptions,
  closers: Closers,
): Promise<ResidentCalibrator> {
  const { session, shop } = backend;
  const { stations, polarisations, channels, baselines, solves } = plan;
  const stream = session.streams.compute;
  const inputs = stations * polarisations;
  const { flaggedInputs = new Uint8Array(inputs), frequenciesHz, stationsM } = options;
  const mostSources = wholeNumber(WHERE, 'most sources', options.mostSources ?? 64, 1, 65_536);
  checkSizes(plan, { flaggedInputs, frequenciesHz, stationsM });
  const tiles = Math.ceil(stations / TILE);
  const bytesPerSolve = baselines * 40 + stations ** 2 * 12 + stations * tiles * 8;
  const bytesPerChannel = polarisations * bytesPerSolve + mostSources * stations * 16;
  const room = Math.min(Math.floor(MOST_BYTES / bytesPerChannel), Math.floor(MOST_SOLVES / polarisations));
  const wanted = wholeNumber(WHERE, 'channels at once', options.channelsAtOnce ?? channels, 1, channels);
  const group = Math.max(1, Math.min(wanted, room));
  const atOnce = group * polarisations;

  const chip = closers.keep(
    (await prepareChip(backend, { stations, solves: atOnce, rule: plan.iterations.kind })) ??
      refuse(
        WHERE,
        `the matrices of ${stations} stations do not fit on the chip of ${session.device.name}`,
        'calibrate from the host: prepareCalibrator',
      ),
  );
  const requests = planResident(plan);
  const { fillPhasors, fillPairs } = await shop.prepare(requests.pairs);
  const { dropStations, weighPairs, firstGuess, missPairs, chooseReference, handGains } = await shop.prepare(
    requests.gains,
  );
  const { makeMatrices } = await shop.prepare(planMatrices());

  const allocate = (what: string, bytes: number): DeviceMemory => closers.keep(session.allocate(what, bytes));
  const wavesPerM = frequenciesHz.map((hertz) => hertz / SPEED_OF_LIGHT_M_PER_S);
  const positions = Float64Array.from(stationsM.flatMap(({ x, y, z }) => [x, y, z]));
  const tables = {
    stationsM: closers.keep(await uploadArray(session, 'positions', positions)),
    wavesPerM: closers.keep(await uploadArray(session, 'frequencies', wavesPerM)),
    flags: closers.keep(await uploadArray(session, 'input flags', flaggedInputs)),
    usedBaselines: closers.keep(await uploadArray(session, 'used baselines', plan.usedBaselines)),
  };
  /** directions : [q][3], then fluxes : [c][q][p], float64. */
  const skyBytes = mostSources * (3 + channels * polarisations) * 8;
  const sky = allocate(`${mostSources} sources`, skyBytes);
  const skyOnHost = closers.keep(session.allocatePinned('sources', skyBytes));
  const skyTaken = closers.keep(session.createEvent());
  /** Of a group of channels, one after the other. */
  const batch = {
    phasors: allocate('phasors', group * mostSources * stations * 16),
    data: allocate('correlations', atOnce * baselines * 16),
    model: allocate('the model', atOnce * baselines * 16),
    weights: allocate('weights', atOnce * baselines * 8),
    bits: allocate('pairs in use', atOnce * stations * tiles * 8),
    parts: allocate('sums', atOnce * CHUNKS * 3 * 8),
    scales: allocate('scales', atOnce * 16),
    numerator: allocate(`A of ${atOnce} solves of ${stations} stations`, atOnce * stations ** 2 * 8),
    denominator: allocate(`B of ${atOnce} solves of ${stations} stations`, atOnce * stations ** 2 * 4),
    first: allocate('first guesses', atOnce * stations * 8),
  };
  /** Of all solves. */
  const found = {
    gains: allocate('gains', solves * stations * 8),
    before: allocate('gains before', solves * stations * 8),
    iterations: allocate('iterations', solves * 4),
    sizes: allocate('sizes', solves * 8),
    missed: allocate('sums', solves * CHUNKS * 2 * 8),
    reasons: allocate('stations left out', solves * stations),
    good: allocate('stations solved', solves * 4),
    faults: allocate('faults', solves * 8),
    reference: allocate('the reference station', 4),
    turned: allocate('gains', channels * inputs * 16),
    factors: allocate('factors', channels * inputs * 16),
    solved: allocate('what is solved', channels * inputs),
    lastChange: allocate('changes', solves * 8),
    residual: allocate('residuals', solves * 8),
  };
  const handed = handGains.argument(0).view;
  for (const [name, at] of Object.entries(HANDED)) {
    if (name !== 'bytes') handed.setBigUint64(at, found[name as keyof typeof found].pointer, true);
  }
  const { view } = fillPairs.argument(0);
  for (const name of ['usedBaselines', 'flags'] as const) {
    view.setBigUint64(PAIRS[name], tables[name].pointer, true);
  }
  for (const name of ['phasors', 'data', 'model', 'weights', 'bits'] as const) {
    view.setBigUint64(PAIRS[name], batch[name].pointer, true);
  }
  view.setBigUint64(PAIRS.faults, found.faults.pointer, true);
  let sources = 0;

  async function setSky(components: readonly ModelComponent[]): Promise<void> {
    if (components.length === 0 || components.length > mostSources) {
      refuse(WHERE, `${components.length} sources`, `give 1 to ${mostSources}, or prepare for more`);
    }
    for (const [q, component] of components.entries()) {
      checkComponent(component, q, channels, plan.stations);
      if (component.gaussian)
        refuse('calibrate model', `source ${q} is a Gaussian`, 'on a card models are of points');
      if (component.stationBeams)
        refuse('calibrate model', 'stations have beams of their own', 'on a card all have the same');
    }
    await skyTaken.passed();
    const values = new Float64Array(skyOnHost.buffer);
    const used = fillSky(plan, components, values);
    sources = components.length;
    session.call('cuMemcpyHtoDAsync', sky.pointer, skyOnHost.pointer, used * 8, stream.handle);
    skyTaken.record(stream);
  }

  const describePairs = (from: DeviceCorrelations, firstChannel: number): void => {
    view.setBigUint64(PAIRS.visibilities, from.visibilities, true);
    view.setBigUint64(PAIRS.counts, from.counts, true);
    view.setBigUint64(PAIRS.fluxes, offsetBy(sky.pointer, sources * 24), true);
    view.setInt32(PAIRS.firstChannel, firstChannel, true);
    view.setInt32(PAIRS.sources, sources, true);
  };

  function solveGroup(from: DeviceCorrelations, firstChannel: number, count: number): void {
    const [first, some] = [firstChannel * polarisations, count * polarisations];
    const { phasors, data, model, weights, bits, parts, scales, numerator, denominator } = batch;
    const pairs = [data.pointer, model.pointer, weights.pointer];
    const positionsAndSky = [tables.stationsM.pointer, sky.pointer, tables.wavesPerM.pointer];
    fillPhasors.set([...positionsAndSky, phasors.pointer, firstChannel, count, sources]);
    const blocks = Math.ceil((count * sources * stations) / THREADS);
    fillPhasors.launch({ grid: [Math.min(65_535, blocks), 1], threads: THREADS }, stream);
    describePairs(from, firstChannel);
    fillPairs.launch({ grid: [(tiles * (tiles + 1)) / 2, count], threads: THREADS }, stream);
    const { reasons, good, faults, sizes } = found;
    const outcome = [faults.pointer, reasons.pointer, good.pointer];
    dropStations.set([bits.pointer, tables.flags.pointer, ...outcome, first, some]);
    dropStations.launch({ grid: [Math.ceil(some / 4), 1], threads: 128 }, stream);
    weighPairs.set([...pairs, reasons.pointer, parts.pointer, first]);
    weighPairs.launch({ grid: [CHUNKS, some], threads: THREADS }, stream);
    const guess = [scales.pointer, sizes.pointer, batch.first.pointer];
    firstGuess.set([parts.pointer, reasons.pointer, good.pointer, ...guess, first]);
    firstGuess.launch({ grid: [some, 1], threads: THREADS }, stream);
    makeMatrices.set([...pairs, scales.pointer, numerator.pointer, denominator.pointer, some, stations]);
    makeMatrices.launch(matricesShape(stations, some), stream);
    const chipBatch: ChipBatch = {
      numerator: numerator.pointer,
      denominator: denominator.pointer,
      first: batch.first.pointer,
      gains: offsetBy(found.gains.pointer, first * stations * 8),
      before: offsetBy(found.before.pointer, first * stations * 8),
      iterations: offsetBy(found.iterations.pointer, first * 4),
    };
    chip.launch(chipBatch, some, plan.iterations);
    missPairs.set([...pairs, found.gains.pointer, sizes.pointer, found.missed.pointer, first]);
    missPairs.launch({ grid: [CHUNKS, some], threads: THREADS }, stream);
  }

  return {
    plan,
    description: describeWaves(chip.plan),
    setSky,
    gains: found.turned,
    factors: found.factors,
    solved: found.solved,
    batch,
    solve: (from) => {
      if (sources === 0) refuse(WHERE, 'there are no sources yet', 'call setSky first');
      const { faults, reasons, good, reference } = found;
      session.call('cuMemsetD8Async', faults.pointer, 0xff, faults.sizeBytes, stream.handle);
      for (let channel = 0; channel < channels; channel += group) {
        solveGroup(from, channel, Math.min(group, channels - channel));
      }
      chooseReference.set([
        ...[reasons.pointer, good.pointer, reference.pointer],
        ...[solves, plan.referenceStation ?? -1],
      ]);
      chooseReference.launch({ grid: [1, 1], threads: THREADS }, stream);
      handGains.launch({ grid: [solves, 1], threads: THREADS }, stream);
    },
    read: () => readResident(session, plan, found),
    close: () => closers.close(),
  };
}

function checkSizes(
  { stations, polarisations, channels, iterations }: CalibrationPlan,
  {
    flaggedInputs,
    frequenciesHz,
    stationsM,
  }: Pick<ResidentOptions, 'frequenciesHz' | 'stationsM'> & { readonly flaggedInputs: Uint8Array },
): void {
  const wanted = [
    ['input flags', flaggedInputs.length, stations * polarisations],
    ['frequencies', frequenciesHz.length, channels],
    ['positions', stationsM.length, stations],
  ] as const;
  for (const [what, given, needed] of wanted) {
    if (given !== needed) refuse(WHERE, `${given} ${what} where the plan has ${needed}`);
  }
  if (iterations.kind === 'until' && iterations.tolerance < FINEST_FLOAT32) {
    refuse(
      WHERE,
      `a tolerance of ${iterations.tolerance} is finer than float32 gains can tell`,
      `take ${FINEST_FLOAT32} or more, a fixed count, or calibrate from the host`,
    );
  }
}

/** Directions and fluxes as the kernels take them; how many numbers that were. */
function fillSky(plan: CalibrationPlan, components: readonly ModelComponent[], values: Float64Array): number {
  const { channels, polarisations } = plan;
  let at = 0;
  for (const { directionEnu } of components) {
    values.set([directionEnu.x, directionEnu.y, directionEnu.z], at);
    at += 3;
  }
  for (let c = 0; c < channels; c++) {
    const isLit = new Uint8Array(polarisations);
    for (const component of components) {
      for (let p = 0; p < polarisations; p++) {
        values[at] = fluxInPolarisation(component, c, p);
        if (values[at++] !== 0) isLit[p] = 1;
      }
    }
    const dark = isLit.indexOf(0);
    if (dark >= 0) refuseDarkModel(solveName(plan, c * polarisations + dark));
  }
  return at;
}
