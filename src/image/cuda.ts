/** Direct imaging on a card: in half precision on its tensor cores where that can be, in single precision elsewhere. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { cudaSpectra, type CudaSpectraBlock } from '../backend/cuda/spectra.js';
import { downloadInto } from '../backend/cuda/transfer.js';
import { refuse } from '../core/errors.js';
import type { DirectEngine } from './cuda-engine.js';
import { prepareHalf } from './cuda-half.js';
import { chooseDirect, type DirectPrecision } from './cuda-plan.js';
import { prepareSingle } from './cuda-single.js';
import { DirectAccount } from './direct-account.js';
import type { DirectImager } from './direct.js';
import type { ImagePlan } from './plan.js';

const WHERE = 'direct image';
/** Rounding to halves averages out over time steps: shorter blocks are quick in single precision, and exacter. */
const LEAST_HALF_STEPS = 32;

export interface CudaDirectOptions {
  /** The fastest that the card, the aperture and the samples allow unless given. `half` refuses where it cannot be. */
  readonly precision?: DirectPrecision;
}

export function prepareCudaDirectImager(
  plan: ImagePlan,
  backend: CudaBackend,
  { precision }: CudaDirectOptions = {},
): DirectImager {
  const { session } = backend;
  const { pixels, channels, stations, polarisations, products } = plan;
  const stream = session.streams.compute;
  const account = new DirectAccount(plan);
  const sumCount = channels * products * pixels * pixels;
  const sums = session.allocate(
    `sums of ${channels} channels × ${products} × ${pixels}² pixels`,
    8 * sumCount,
  );
  const clear = (): void => {
    session.call('cuMemsetD8Async', sums.pointer, 0, 8 * sumCount, stream.handle);
  };
  clear();
  const factorCount = channels * stations * polarisations;
  const factors = session.allocate('factors', 8 * factorCount);
  const factorsOnHost = session.allocatePinned('factors', 8 * factorCount);
  const factorsSent = session.createMark();
  /** What is on the card; the account makes a new array for new gains. */
  let sent: Float64Array | undefined;

  async function sendFactors(): Promise<void> {
    if (sent === account.factors) return;
    await factorsSent.passed();
    new Float32Array(factorsOnHost.buffer).set(account.factors);
    session.call('cuMemcpyHtoDAsync', factors.pointer, factorsOnHost.pointer, 8 * factorCount, stream.handle);
    factorsSent.record(stream);
    sent = account.factors;
  }

  /** By kind of sample and size of block, made when first needed. */
  const engines = new Map<string, Promise<DirectEngine>>();
  function engineFor({ samples: steps, shape: { type, capacity } }: CudaSpectraBlock): Promise<DirectEngine> {
    const choice = chooseDirect(plan, backend.path, type);
    if (precision === 'half' && choice.kind === 'single') {
      refuse(WHERE, `half precision cannot be: ${choice.why}`, "choose precision 'single'");
    }
    const samples = type === 'cf32' ? 'float' : 'integer';
    const isWorthHalf = precision === 'half' || (precision === undefined && steps >= LEAST_HALF_STEPS);
    const useHalf = isWorthHalf && choice.kind === 'half';
    const key = useHalf ? `half ${capacity}` : samples;
    const known = engines.get(key);
    if (known) return known;
    const made = useHalf
      ? prepareHalf(plan, backend, choice.box, capacity, sums)
      : prepareSingle(plan, backend, samples, sums);
    engines.set(key, made);
    return made;
  }

  return {
    plan,
    setGains: (gains, solved) => {
      account.setGains(gains, solved);
    },
    accumulate: async (given) => {
      const block = cudaSpectra(WHERE, given);
      const engine = await engineFor(block);
      await sendFactors();
      account.add(block);
      if (block.samples === 0) return;
      block.reading(stream);
      engine.add(block, factors);
      block.doneReading(stream);
    },
    finish: async () => {
      account.checkAny();
      const onHost = new Float64Array(sumCount);
      await downloadInto(session, sums, onHost);
      clear();
      return account.finish(onHost);
    },
    close: () => {
      for (const thing of [sums, factors, factorsOnHost, factorsSent]) thing.free();
      for (const engine of engines.values()) {
        void engine.then(
          ({ memories }) => {
            for (const memory of memories) memory.free();
          },
          () => undefined,
        );
      }
      engines.clear();
    },
  };
}
