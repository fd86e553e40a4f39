/** Threads that make stations' signals beside the caller: each takes the next station not yet begun. */
import { Worker } from 'node:worker_threads';
import type { VoltagesAT } from '../../core/axes.js';
import type { Vector3 } from '../../core/vector.js';
import type { SkySignal } from '../sky-signals.js';
import type { StationPlan } from './station.js';

/** Data to start a thread with. Spectra, voltages and the counter are in shared memory. */
export interface TeamWork {
  readonly plan: StationPlan;
  readonly spectra: readonly (readonly Float64Array[])[];
  readonly voltages: VoltagesAT;
  /** [0]: the next station. */
  readonly counter: Int32Array;
}

/** A chunk to make, and the parts of the sky that are not in shared memory. */
export interface TeamChunk {
  readonly chunk: number;
  readonly sky: readonly { readonly directionEnu: Vector3 | undefined; readonly isUp: boolean }[];
}

interface ChunkTeam {
  /** Starts a chunk after the previous one has ended; resolves to how many numbers the threads clipped in it. */
  start(chunk: number): Promise<number>;
  /** For the caller, which makes stations of the same chunk meanwhile. */
  readonly nextStation: () => number;
  close(): Promise<void>;
}

export function startChunkTeam(
  threads: number,
  plan: StationPlan,
  signals: readonly SkySignal[],
  voltages: VoltagesAT,
): ChunkTeam {
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const work: TeamWork = { plan, spectra: signals.map(({ spectra }) => spectra), voltages, counter };
  const file = new URL('./worker.js', import.meta.url);
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(file, { workerData: work });
    worker.unref(); // an abandoned recording must not keep the program alive
    return worker;
  });
  return {
    start: async (chunk) => {
      Atomics.store(counter, 0, 0);
      const sky = signals.map(({ directionEnu, isUp }) => ({ directionEnu, isUp }));
      const clipped = await Promise.all(workers.map((worker) => makeChunk(worker, { chunk, sky })));
      return clipped.reduce((sum, numbers) => sum + numbers, 0);
    },
    nextStation: () => Atomics.add(counter, 0, 1),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function makeChunk(worker: Worker, chunk: TeamChunk): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off('message', done);
      worker.off('error', fail);
      worker.off('exit', ended);
      worker.unref();
    };
    const done = (clipped: number): void => {
      settle();
      resolve(clipped);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const ended = (): void => {
      fail(new Error('simulate: a thread ended before its work'));
    };
    worker.ref();
    worker.on('message', done);
    worker.on('error', fail);
    worker.on('exit', ended);
    worker.postMessage(chunk);
  });
}
