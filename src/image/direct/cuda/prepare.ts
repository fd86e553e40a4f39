/**
 * Direct imaging on a card: on its tensor cores in half or single precision where possible, in plain single elsewhere.
 */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../../../backend/cuda/session.js';
import { cudaSpectra } from '../../../backend/cuda/spectra.js';
import { downloadInto, uploadInto } from '../../../backend/cuda/transfer.js';
import { baselineCount, type SpectraType } from '../../../core/axes.js';
import { preparing } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import type { CountRows } from '../../../core/presence/sample-counts.js';
import type { DirectEngine } from './engine.js';
import { prepareFolded } from './folded.js';
import { prepareImageScaler, type ImageScaler, type PairSums } from '../../cuda/scale.js';
import { prepareSingle } from './single.js';
import { DirectAccount } from '../account.js';
import type { DirectImagerOptions } from '../autos.js';
import { prepareCudaPowers } from './powers.js';
import { prepareDirectChoice, type DirectChoice, type DirectPrecision } from './choice.js';
import type { DirectImager } from '../direct.js';
import type { ImagePlan } from '../../plan.js';
import { LEAST_SAMPLED_STEPS } from './sampling.js';

const WHERE = 'direct image';

interface CudaDirectOptions extends DirectImagerOptions {
  /**
   * By default, the fastest that the card, the aperture and the samples allow and that is right to 1e-3. `single` is
   * right to 1e-5, and used for images without autocorrelations, whose values are small beside them; `half` uses halves
   * for short blocks and large kernels too, and refuses where they are impossible.
   */
  readonly precision?: DirectPrecision;
}

/** The properties of a block of spectra that its kernels depend on. */
interface ExpectedBlocks {
  readonly type: SpectraType;
  readonly capacity: number;
  /** Samples of a block, where it is not filled. */
  readonly samples?: number;
}

/** A direct imager whose images may stay on the card. Everything is queued on the compute stream. */
interface CudaDirectImager extends DirectImager {
  /** The kernels that image such blocks, and why. */
  describe(blocks: ExpectedBlocks): string;
  /** Makes the kernels for such blocks now, and those that finish on the card; `accumulate` then does not wait. */
  prepare(blocks: ExpectedBlocks): Promise<void>;
  /**
   * to : [c][product][m][l] float64 on the card, NaN where nothing is shown or nothing was added;; then starts again.
   * Returns when that is queued. Waits for a copy of the host's counts only where blocks had gaps. weightsTo :
   * [c][product] float64, what each plane was divided by.
   */
  finishOnDevice(to: DevicePointer, weightsTo?: DevicePointer): Promise<{ readonly samples: number }>;
}

export const prepareCudaDirectImager = (
  plan: ImagePlan,
  backend: CudaBackend,
  { autos = 'include', ...options }: CudaDirectOptions = {},
): Promise<CudaDirectImager> =>
  preparing((closers) => {
    const precision = options.precision ?? (autos === 'leave-out' ? 'single' : undefined);
    const { session } = backend;
    const { pixels, channels, stations, polarisations, products } = plan;
    const stream = session.streams.compute;
    const account = new DirectAccount(plan, autos);
    const powers = autos === 'leave-out' ? closers.keep(prepareCudaPowers(plan, backend)) : undefined;
    /** Only the host subtracts autocorrelations, with the factors that it knows. */
    const onHostAlone = (): void => {
      if (powers)
        refuse(WHERE, 'images that stay on the card have their autocorrelations', "ask for autos 'include'");
    };
    const sumCount = channels * products * pixels * pixels;
    const allocate = (what: string, bytes: number): DeviceMemory =>
      closers.keep(session.allocate(what, bytes));
    const sums = allocate(`sums of ${channels} channels × ${products} × ${pixels}² pixels`, 8 * sumCount);
    /** Sums of a finished image are stale: the next block replaces them. */
    let isFresh = true;
    const factorCount = channels * stations * polarisations;
    const factors = allocate('factors', 8 * factorCount);
    const factorsOnHost = closers.keep(session.allocatePinned('factors', 8 * factorCount));
    const factorsSent = closers.keep(session.createEvent());
    /** The factors on the card; the account makes a new array for new gains. */
    let sent: Float64Array | undefined;

    /** The kernels that finish on the card, made when first needed. */
    interface Finisher {
      readonly scaler: ImageScaler;
      /** weights : [c][product] float64. */
      readonly weights: DeviceMemory;
    }
    let finisherMade: Promise<Finisher> | undefined;
    let counts: { readonly rows: DeviceMemory; readonly runOf: DeviceMemory } | undefined;
    const prepareFinisher = (): Promise<Finisher> => (finisherMade ??= makeFinisher());
    async function makeFinisher(): Promise<Finisher> {
      const scaler = closers.keep(await prepareImageScaler(plan, backend));
      return { scaler, weights: allocate('pair sums', 8 * channels * products) };
    }
    async function sendCounts({ rows, runOf }: CountRows): Promise<NonNullable<PairSums['counts']>> {
      counts ??= {
        rows: allocate('sample counts', 8 * channels * baselineCount(stations)),
        runOf: allocate('runs of channels', 4 * channels),
      };
      await uploadInto(session, counts.rows, rows);
      await uploadInto(session, counts.runOf, runOf);
      return { rows: counts.rows.pointer, runOf: counts.runOf.pointer };
    }
    /** Leaves the scale of the image in the finisher's weights. */
    async function addPairs(to?: DevicePointer): Promise<Finisher> {
      const made = await prepareFinisher();
      await sendFactors();
      const { gaplessSamples, gappyRows } = account.counted;
      made.scaler.pairSums({
        factors: factors.pointer,
        gaplessSamples,
        ...(gappyRows ? { counts: await sendCounts(gappyRows) } : {}),
        to: to ?? made.weights.pointer,
      });
      return made;
    }

    async function sendFactors(): Promise<void> {
      if (sent === account.factors) return;
      await factorsSent.passed();
      factorsOnHost.view(Float32Array, 2 * factorCount).set(account.factors);
      session.call(
        'cuMemcpyHtoDAsync',
        factors.pointer,
        factorsOnHost.pointer,
        8 * factorCount,
        stream.handle,
      );
      factorsSent.record(stream);
      sent = account.factors;
    }

    /** Sums on the host; allocated when first needed, since live images never do. */
    let onHost: Float64Array | undefined;
    const choose = prepareDirectChoice(plan, backend.path, precision);
    const choiceFor = ({ type, capacity, samples = capacity }: ExpectedBlocks): DirectChoice =>
      choose({ type, samples });
    /** By kind of sample and size of block, made when first needed. */
    const engines = new Map<string, Promise<DirectEngine>>();
    function engineFor(blocks: ExpectedBlocks): Promise<DirectEngine> {
      const { type, capacity, samples: steps = capacity } = blocks;
      const choice = choiceFor(blocks);
      if (precision === 'half' && choice.kind === 'float') {
        refuse(WHERE, `half precision cannot be: ${choice.why}`, "choose precision 'single'");
      }
      const samples = type === 'cf32' ? 'float' : 'integer';
      const key =
        choice.kind === 'float'
          ? samples
          : `${choice.kind} ${capacity} ${steps < LEAST_SAMPLED_STEPS ? 'pixels' : 'samples'}`;
      const known = engines.get(key);
      if (known) return known;
      const making =
        choice.kind === 'float'
          ? prepareSingle(plan, backend, samples, sums)
          : prepareFolded(plan, backend, { precision: choice.kind, box: choice.box, capacity, steps }, sums);
      const made = making.then((engine) => closers.keep(engine));
      engines.set(key, made);
      return made;
    }

    return {
      plan,
      describe: (blocks) => choiceFor(blocks).description,
      prepare: async (blocks) => {
        await Promise.all([engineFor(blocks), prepareFinisher()]);
      },
      setGains: (gains, solved) => {
        account.setGains(gains, solved);
        sent = undefined;
      },
      accumulate: async (given) => {
        const block = cudaSpectra(WHERE, given);
        const engine = await engineFor({ ...block.shape, samples: block.samples });
        await sendFactors();
        account.add(block);
        if (block.samples === 0) return;
        block.reading(stream);
        engine.sum(block, factors, isFresh ? 'replace' : 'add');
        isFresh = false;
        await powers?.add(block);
        block.doneReading(stream);
      },
      finish: async (into) => {
        account.checkAny();
        onHost ??= new Float64Array(sumCount);
        await downloadInto(session, sums, onHost);
        isFresh = true;
        return account.finish(onHost, undefined, into, await powers?.finish());
      },
      finishOnDevice: async (to, weightsTo) => {
        account.checkAny();
        onHostAlone();
        const { scaler, weights } = await addPairs(weightsTo);
        scaler.scale({ sums: sums.pointer, weights: weightsTo ?? weights.pointer, to });
        isFresh = true;
        const { samples } = account.counted;
        account.restart();
        return { samples };
      },
      close: async () => {
        // Engines that are still being made have to be closed too.
        await Promise.allSettled([...engines.values(), finisherMade]);
        await closers.close();
      },
    };
  });
