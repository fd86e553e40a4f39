/**
 * Full-polarisation StEFCal on a card: pairs of both triangles in float32, gains in float64. Where a solve fits on the
 * chip its iterations are one launch (full-chip.cu); otherwise pairs are read from memory in each.
 */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../../backend/cuda/session.js';
import { baselineCount } from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { Copies } from '../../cuda/copies.js';
import { MIXED_STEPS } from '../accelerate.js';
import { relativeChange } from '../../reference.js';
import type { IterationRule } from '../../plan.js';
import type { FullBatch, FullSolver, ModelForm } from '../plan.js';
import type { FullChipVariant } from './chip-plan.js';
import { prepareFullChip, type FullChip } from './chip.js';
import {
  COMMON_SUMS,
  FAR,
  FIT_WORK,
  MIX_STATE,
  MIX_THREADS,
  MIX_WORK,
  pairBytes,
  pairsShape,
  planFullCommon,
  planFullFit,
  planFullMix,
  planFullSizes,
  planFullStep,
  rowsShape,
  sizesShape,
} from './plan.js';

interface CudaFullSolverOptions {
  /** `memory` does not use the chip's own memory, for comparison. */
  readonly hold?: 'best' | 'memory';
  /** This variant instead of the one that seems cheapest. */
  readonly variant?: FullChipVariant;
}

/** Most memory for pairs, and their inputs, on the card at a time. */
const MOST_BYTES = 8 * 2 ** 30;
/** Iterations between tests of whether all solves are done. */
const STEPS_AT_ONCE = 8;

type SolverPlan = Pick<FullBatch, 'stations' | 'solves'>;

export const prepareCudaFullSolver = (
  plan: SolverPlan,
  backend: CudaBackend,
  options: CudaFullSolverOptions = {},
): Promise<CudaFullSolver> =>
  preparing(
    async (closers) => new CudaFullSolver(plan, backend, options, await prepareParts(plan, backend, closers)),
  );

async function prepareParts(plan: SolverPlan, { session, shop }: CudaBackend, closers: Closers) {
  const { stations } = plan;
  const baselines = baselineCount(stations);
  const mostPairBytes = Math.max(...([0, 1, 2] as const).map((form) => pairBytes(stations, form)));
  const gainBytes = stations * 64;
  const bytesPerSolve = baselines * 136 + mostPairBytes + gainBytes * (2 * MIXED_STEPS + 20);
  const atOnce = Math.max(1, Math.min(plan.solves, Math.floor(MOST_BYTES / bytesPerSolve)));
  const kernels = {
    ...(await shop.prepare(planFullStep())),
    ...(await shop.prepare(planFullMix())),
    ...(await shop.prepare(planFullCommon())),
    ...(await shop.prepare(planFullFit())),
    ...(await shop.prepare(planFullSizes())),
  };
  const allocate = (what: string, bytes: number): DeviceMemory =>
    closers.keep(session.allocate(what, atOnce * bytes));
  const memory = {
    data: allocate('correlations', baselines * 64),
    model: allocate('the model', baselines * 64),
    weights: allocate('weights', baselines * 8),
    scales: allocate('scales', 16),
    ratios: allocate('scales', 8),
    units: allocate('scales', 8),
    pairs: allocate(`${atOnce} solves of ${stations} stations`, mostPairBytes),
    gains: allocate('gains', gainBytes),
    next: allocate('gains', gainBytes),
    sums: allocate('sums', stations * 96),
    history: allocate('steps', 2 * MIXED_STEPS * gainBytes),
    lasts: allocate('steps', 2 * gainBytes),
    states: allocate('steps', MIX_STATE.bytes),
    done: allocate('flags', 4),
    exact: allocate('flags', 4),
    iterations: allocate('iterations', 4),
    changes: allocate('changes', 8),
    parts: allocate('what stations share', stations * COMMON_SUMS * 8),
    totals: allocate('what stations share', COMMON_SUMS * 8),
    turns: allocate('what stations share', 64),
    amends: allocate('what stations share', 512),
    normals: allocate('what stations share', 512),
    variances: allocate('what stations share', 8),
    how: allocate('flags', 4),
    largest: allocate('scales', 16),
    forms: allocate('flags', 4),
  };
  const copies = new Copies(session, closers, {
    upBytes: atOnce * Math.max(baselines * 64, MIX_STATE.bytes, 512),
    downBytes: atOnce * Math.max(gainBytes, 512),
  });
  return { closers, atOnce, kernels, memory, copies };
}

type Parts = Awaited<ReturnType<typeof prepareParts>>;

interface Run {
  readonly solves: number;
  readonly form: ModelForm;
  readonly most: number;
  /** Below 0 for a fixed count. */
  readonly tolerance: number;
}

class CudaFullSolver implements FullSolver {
  /** Repeats so many iterations of the last batch, without making the blocks: for benches. */
  launchAgain: (iterations: number) => void = () => undefined;
  private readonly chips = new Map<string, FullChip | undefined>();

  constructor(
    private readonly plan: SolverPlan,
    private readonly backend: CudaBackend,
    private readonly options: CudaFullSolverOptions,
    private readonly parts: Parts,
  ) {
    const { view } = parts.kernels.fullFit.argument(0);
    const fitted = ['totals', 'normals', 'variances', 'turns', 'amends', 'changes', 'done', 'iterations', 'how'] as const; // prettier-ignore
    for (const name of fitted) view.setBigUint64(FIT_WORK[name], parts.memory[name].pointer, true);
  }

  async solve(batch: FullBatch): Promise<void> {
    const { atOnce } = this.parts;
    for (let first = 0; first < batch.solves; first += atOnce)
      await this.solveSome(batch, first, Math.min(atOnce, batch.solves - first));
  }

  close(): Promise<void> {
    return this.parts.closers.close();
  }

  private get stream() {
    return this.backend.session.streams.compute;
  }

  private pointersOf(...names: (keyof Parts['memory'])[]) {
    return names.map((name) => this.parts.memory[name].pointer);
  }

  private clear(name: keyof Parts['memory'], bytes: number): void {
    const { pointer } = this.parts.memory[name];
    this.backend.session.call('cuMemsetD8Async', pointer, 0, bytes, this.stream.handle);
  }

  private setMix(mixWork: DataView, { form, most, tolerance }: Run): void {
    const { memory } = this.parts;
    const mixed = ['gains', 'next', 'history', 'lasts', 'states', 'done', 'exact', 'iterations', 'changes', 'sums', 'scales', 'units'] as const; // prettier-ignore
    for (const name of mixed) mixWork.setBigUint64(MIX_WORK[name], memory[name].pointer, true);
    mixWork.setFloat64(MIX_WORK.tolerance, tolerance, true);
    mixWork.setInt32(MIX_WORK.stations, this.plan.stations, true);
    mixWork.setInt32(MIX_WORK.most, most, true);
    mixWork.setInt32(MIX_WORK.form, form, true);
  }

  private step(run: Run): void {
    const { solves, form } = run;
    const { stations } = this.plan;
    const { fullStep, fullMix } = this.parts.kernels;
    const pointers = this.pointersOf('pairs', 'gains', 'next', 'sums', 'done', 'exact', 'ratios');
    fullStep.set([...pointers, solves, stations, form]);
    fullStep.launch(rowsShape(stations, solves), this.stream);
    this.setMix(fullMix.argument(0).view, run);
    fullMix.launch({ grid: [solves, 1], threads: MIX_THREADS }, this.stream);
  }

  /** From memory, until every solve is done or paused. */
  private async iterate(run: Run): Promise<void> {
    const { copies, memory } = this.parts;
    for (let number = 1; ; number++) {
      this.step(run);
      if (number % STEPS_AT_ONCE !== 0 && number < run.most) continue;
      const flags = await copies.receive(memory.done, new Int32Array(run.solves));
      if (flags.every((flag) => flag !== 0)) return;
    }
  }

  private async chipFor(form: ModelForm, rule: IterationRule['kind']): Promise<FullChip | undefined> {
    const { hold, variant } = this.options;
    if (hold === 'memory') return undefined;
    const { chips } = this;
    const name = `${form} ${rule}`;
    if (!chips.has(name)) {
      const { closers, atOnce, memory } = this.parts;
      const { pairs, ratios, sums } = memory;
      const pointers = { pairs: pairs.pointer, ratios: ratios.pointer, sums: sums.pointer };
      const size = { stations: this.plan.stations, solves: atOnce, form };
      const chip = await prepareFullChip(this.backend, size, rule, pointers, variant);
      chips.set(name, chip && closers.keep(chip));
    }
    return chips.get(name);
  }

  /** What all stations of each solve share, at its gains; returns whether any continues. */
  private async fit({ solves, most, tolerance, form }: Run): Promise<boolean> {
    const { stream } = this;
    const { stations } = this.plan;
    const { copies, memory, kernels } = this.parts;
    const { commonRows, commonTotals, fullFit, fullResume } = kernels;
    const summed = this.pointersOf('data', 'model', 'weights', 'gains', 'sums', 'scales', 'units', 'parts');
    commonRows.set([...summed, solves, stations]);
    commonRows.launch(rowsShape(stations, solves), stream);
    commonTotals.set([...this.pointersOf('parts', 'totals'), stations]);
    commonTotals.launch({ grid: [solves, 1], threads: 96 }, stream);
    const { view } = fullFit.argument(0);
    view.setFloat64(FIT_WORK.tolerance, tolerance, true);
    view.setInt32(FIT_WORK.most, most, true);
    fullFit.launch({ grid: [solves, 1], threads: 32 }, stream);
    const how = await copies.receive(memory.how, new Int32Array(solves));
    if (how.every((one) => one === 0)) return false;
    const resumed = this.pointersOf('gains', 'turns', 'amends', 'how', 'iterations', 'states', 'done');
    fullResume.set([...resumed, stations, form]);
    fullResume.launch({ grid: [solves, 1], threads: MIX_THREADS }, stream);
    return true;
  }

  /** Sizes of data, model and gains, gains in units of their own; the form common to all pairs. */
  private async size(solves: number): Promise<ModelForm> {
    const { stations } = this.plan;
    const { copies, memory, kernels } = this.parts;
    const { largestOf, scaleSolves } = kernels;
    this.clear('largest', solves * 16);
    this.clear('forms', solves * 4);
    const sources = this.pointersOf('data', 'model', 'weights', 'largest', 'forms');
    largestOf.set([...sources, solves, stations]);
    largestOf.launch(sizesShape(stations, solves), this.stream);
    scaleSolves.set([...this.pointersOf('largest', 'gains', 'scales', 'ratios', 'units'), stations]);
    scaleSolves.launch({ grid: [solves, 1], threads: 256 }, this.stream);
    const forms = await copies.receive(memory.forms, new Int32Array(solves));
    return Math.max(...forms) as ModelForm;
  }

  private async solveSome(batch: FullBatch, first: number, solves: number): Promise<void> {
    const { iterations: rule } = batch;
    const run = await this.load(batch, first, solves);
    const chip = await this.chipFor(run.form, rule.kind);
    const launchChip = (of: Run): void => chip?.launch(solves, (view) => { this.setMix(view, of); }); // prettier-ignore
    do {
      if (chip) launchChip(run);
      else await this.iterate(run);
    } while (await this.fit(run));
    this.launchAgain = (iterations) => {
      for (const name of ['done', 'exact', 'iterations'] as const) this.clear(name, solves * 4);
      const again: Run = { ...run, most: iterations, tolerance: -1 };
      if (chip && rule.kind === 'fixed') launchChip(again);
      else for (let number = 0; number < iterations; number++) this.step({ ...again, most: iterations + 1 });
    };
    await this.take(batch, first, solves);
  }

  /** Some solves of a batch to the card, and their pairs made. */
  private async load(batch: FullBatch, first: number, solves: number): Promise<Run> {
    const { stations } = this.plan;
    const { copies, memory, kernels } = this.parts;
    const { iterations: rule } = batch;
    for (const name of ['data', 'model', 'weights', 'gains'] as const)
      await copies.send(memory[name], partOf(batch[name], batch.solves, first, solves));
    const run: Run = {
      solves,
      form: await this.size(solves),
      ...(rule.kind === 'fixed'
        ? { most: rule.count, tolerance: -1 }
        : { most: rule.most, tolerance: rule.tolerance }),
    };
    const unlearnt = new DataView(new ArrayBuffer(solves * MIX_STATE.bytes));
    for (let k = 0; k < solves; k++)
      unlearnt.setFloat64(k * MIX_STATE.bytes + MIX_STATE.leastChange, FAR, true);
    await copies.send(memory.states, new Uint8Array(unlearnt.buffer));
    for (const name of ['done', 'exact', 'iterations'] as const)
      await copies.send(memory[name], new Int32Array(solves));
    const sources = this.pointersOf('data', 'model', 'weights', 'scales', 'pairs');
    kernels.makePairs.set([...sources, solves, stations, run.form]);
    kernels.makePairs.launch(pairsShape(stations, solves), this.stream);
    return run;
  }

  /** The results of some solves into their batch. */
  private async take(batch: FullBatch, first: number, solves: number): Promise<void> {
    const { copies, memory } = this.parts;
    const length = 8 * this.plan.stations;
    const part = (values: Float64Array): Float64Array => partOf(values, batch.solves, first, solves);
    const units = await copies.receive(memory.units, new Float64Array(solves));
    const found = await copies.receive(memory.next, new Float64Array(solves * length));
    const before = await copies.receive(memory.gains, new Float64Array(solves * length));
    const changes = await copies.receive(memory.changes, new Float64Array(solves));
    const ran = await copies.receive(memory.iterations, new Int32Array(solves));
    part(batch.commonNormal).set(await copies.receive(memory.normals, new Float64Array(64 * solves)));
    part(batch.commonVariance).set(await copies.receive(memory.variances, new Float64Array(solves)));
    const own = part(batch.gains);
    for (let k = 0; k < solves; k++) {
      const range = [k * length, (k + 1) * length] as const;
      const gains = found.subarray(...range);
      batch.iterationsRun[first + k] = ran[k];
      batch.lastChange[first + k] =
        batch.iterations.kind === 'fixed' ? relativeChange(before.subarray(...range), gains) : changes[k];
      for (let n = 0; n < gains.length; n++) own[range[0] + n] = gains[n] * units[k];
    }
  }
}

/** The values of some of a batch's solves. */
function partOf(values: Float64Array, all: number, first: number, solves: number): Float64Array {
  const each = values.length / all;
  return values.subarray(first * each, (first + solves) * each);
}
