/**
 * A simulated card, for tests without a real one: every driver call succeeds and computes nothing. Memory on the host
 * is real, memory on the card is a number; allocations are counted, and one may be refused.
 */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Closable } from '../../core/closing.js';
import type { CudaBackend, CudaPath } from './cuda.js';
import { driverPrototypes, OUT_OF_MEMORY, SUCCESS, type Driver, type DriverCall } from './driver.js';
import type { Kernel, KernelShop } from './kernels.js';
import { CardMeter } from './meter.js';
import { CudaSession, PIECE_BYTES } from './session.js';
import { openSpectraAllocator, pinnedSpectra } from './spectra.js';

export const paperDevice = {
  ordinal: 0,
  name: 'a card of paper',
  capability: 90,
  multiprocessors: 4,
  memoryBytes: 8e9,
  sharedBytesPerBlock: 227 * 1024,
};

export interface PaperDriver {
  readonly driver: Driver;
  /** Memory and events allocated so far, without the pieces that transfers share, which stay with the session. */
  readonly asked: () => number;
  /** Of those, the ones not released. */
  readonly held: () => number;
}

/** `refuses` is the number of the allocation that fails; 0 fails none. */
export function paperDriver(refuses = 0): PaperDriver {
  let asked = 0;
  let next = 1n;
  const held = new Set<bigint>();
  const take = (receiver: unknown, give: () => bigint): number => {
    asked++;
    if (asked === refuses) return OUT_OF_MEMORY;
    const handle = give();
    held.add(handle);
    (receiver as BigUint64Array)[0] = handle;
    return SUCCESS;
  };
  const giveBack = (handle: unknown): number => {
    assert.ok(held.delete(handle as bigint), 'nothing is given back twice');
    return SUCCESS;
  };
  const number = (): bigint => next++ << 40n;
  const special: Partial<Record<DriverCall, (...values: unknown[]) => number>> = {
    cuMemAlloc: (receiver) => take(receiver, number),
    cuMemFree: giveBack,
    cuEventCreate: (receiver) => take(receiver, number),
    cuEventDestroy: giveBack,
    cuMemHostRegister: (address, bytes) =>
      bytes === PIECE_BYTES ? SUCCESS : take(new BigUint64Array(1), () => address as bigint),
    cuMemHostUnregister: (address) => {
      held.delete(address as bigint);
      return SUCCESS;
    },
    cuMemGetInfo: (free, total) => {
      for (const sizes of [free, total]) (sizes as BigUint64Array)[0] = BigInt(paperDevice.memoryBytes);
      return SUCCESS;
    },
  };
  const yes = (receiver?: unknown): number => {
    if (receiver instanceof BigUint64Array) receiver[0] = 1n;
    return SUCCESS;
  };
  const names = Object.keys(driverPrototypes) as DriverCall[];
  const calls = Object.fromEntries(names.map((name) => [name, special[name] ?? yes]));
  return {
    driver: {
      path: 'nowhere',
      version: 13_000,
      calls: calls as unknown as Driver['calls'],
      describe: () => 'the paper is full',
    },
    asked: () => asked,
    held: () => held.size,
  };
}

/** Kernels that take their arguments and do nothing. */
const paperShop: KernelShop = {
  compiler: undefined as unknown as KernelShop['compiler'],
  prepare: (request) => {
    const kernels = Object.keys(request.entries).map((name): [string, Kernel] => [
      name,
      {
        name,
        argument: () => ({ address: 0n, view: new DataView(new ArrayBuffer(1024)) }),
        set: () => undefined,
        launch: () => undefined,
      },
    ]);
    return Promise.resolve(Object.fromEntries(kernels) as Record<keyof typeof request.entries, Kernel>);
  },
};

/** A backend on such a card. */
export async function openPaper(path: CudaPath, refuses = 0) {
  const { driver, asked, held } = paperDriver(refuses);
  const session = new CudaSession(driver, paperDevice);
  const meter = new CardMeter(session);
  const backend: CudaBackend = {
    kind: 'cuda',
    description: paperDevice.name,
    path,
    session,
    shop: paperShop,
    meter,
    allocateSpectra: await openSpectraAllocator(session, paperShop, meter),
    allocatePinned: (shape) => pinnedSpectra(session, shape),
    close: () => session.close(),
  };
  return { backend, asked, held };
}

/**
 * Checks that closing releases everything that was opened, also when the card runs out of memory at any point. Returns
 * the number of such points.
 */
export async function assertClosesAll(
  prepare: (backend: CudaBackend) => Promise<Closable>,
  path: CudaPath = 'hopper',
): Promise<number> {
  const whole = await openPaper(path);
  const made = await prepare(whole.backend);
  const places = whole.asked();
  await made.close();
  assert.equal(whole.held(), 0, 'closing closes everything');
  await made.close();
  await whole.backend.close();
  for (let place = 1; place <= places; place++) {
    const { backend, held } = await openPaper(path, place);
    await assert.rejects(prepare(backend), /needs .* of|the paper is full/);
    await setImmediate(); // spectra blocks are allocated, and so closed, without waiting
    assert.equal(held(), 0, `after a refusal of allocation ${place} of ${places}`);
    await backend.close();
  }
  return places;
}
