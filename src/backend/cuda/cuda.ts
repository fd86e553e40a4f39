/** NVIDIA GPUs: kernels compiled at run time for the card and the plan. */
import type { SpectraShape } from '../../core/blocks.js';
import { preparing } from '../../core/closing.js';
import { CorellaError, refuse } from '../../core/errors.js';
import type { BackendBase } from '../backend-base.js';
import { chooseDevice, describeDevice, findDevices, LEAST_CAPABILITY, type DeviceFacts } from './device.js';
import { openDriver } from './driver.js';
import { openKernelShop, type KernelShop } from './kernels.js';
import { openCompiler } from './nvrtc.js';
import { CardMeter } from './meter.js';
import { CudaSession } from './session.js';
import { openSpectraAllocator, pinnedSpectra, type CudaSpectraBlock, type PinnedSpectra } from './spectra.js';

/** How integer products are made: Hopper's wgmma, the tensor cores of any card since Ampere, or dp4a before that. */
export type CudaPath = 'hopper' | 'tensor' | 'dp4a';

interface PathNeeds {
  readonly title: string;
  readonly runsOn: (capability: number) => boolean;
}
export const cudaPaths = {
  hopper: { title: 'wgmma (Hopper)', runsOn: (capability) => capability === 90 },
  tensor: { title: 'tensor cores', runsOn: (capability) => capability >= 80 },
  dp4a: { title: 'dp4a', runsOn: (capability) => capability >= LEAST_CAPABILITY },
} satisfies Record<CudaPath, PathNeeds>;
const pathNames = Object.keys(cudaPaths) as CudaPath[];

export interface CudaOptions {
  /** The card, by the driver's number; the first by default. */
  readonly device?: number;
  /** The card's best by default; or given here or by CORELLA_CUDA_PATH_KIND. */
  readonly path?: CudaPath;
}

export interface CudaBackend extends BackendBase {
  readonly kind: 'cuda';
  readonly path: CudaPath;
  readonly session: CudaSession;
  readonly shop: KernelShop;
  /** Measures the card's load, on request. */
  readonly meter: CardMeter;
  allocateSpectra(shape: SpectraShape): CudaSpectraBlock;
  /** Canonical spectra in page-locked memory: writing them to a block needs no copy on the host. */
  allocatePinned(shape: SpectraShape): PinnedSpectra;
}

export function choosePath(
  device: Pick<DeviceFacts, 'name' | 'capability'>,
  wanted: string | undefined = process.env.CORELLA_CUDA_PATH_KIND,
): CudaPath {
  const possible = pathNames.filter((path) => cudaPaths[path].runsOn(device.capability));
  if (wanted === undefined || wanted === '') {
    return (
      possible.at(0) ?? refuse('cuda', `${device.name} is too old for every path`, "choose backend 'cpu'")
    );
  }
  return (
    possible.find((path) => path === wanted) ??
    refuse('cuda', `path '${wanted}' does not run on ${device.name}`, `choose one of ${possible.join(', ')}`)
  );
}

export async function openCuda(options: CudaOptions = {}): Promise<CudaBackend> {
  const driver = openDriver();
  const device = chooseDevice(findDevices(driver), options.device);
  const path = choosePath(device, options.path ?? process.env.CORELLA_CUDA_PATH_KIND);
  const compiler = openCompiler();
  return preparing(async (closers) => {
    const session = closers.keep(new CudaSession(driver, device));
    const shop = openKernelShop(session, compiler);
    const meter = new CardMeter(session);
    const allocateSpectra = await openSpectraAllocator(session, shop, meter);
    return {
      kind: 'cuda',
      description: `${describeDevice(device)}, ${cudaPaths[path].title}`,
      path,
      session,
      shop,
      meter,
      allocateSpectra,
      allocatePinned: (shape) => pinnedSpectra(session, shape),
      close: async () => {
        await meter.close();
        await session.close();
      },
    };
  });
}

export type Presence =
  | { readonly present: true; readonly description: string }
  /** Why it is absent, and how to change that. */
  | { readonly present: false; readonly reason: string; readonly fix: string };

/** Whether a card could be opened, and if not, why, in one line; opens nothing. */
export function describeCuda(options: CudaOptions = {}): Presence {
  try {
    const device = chooseDevice(findDevices(openDriver()), options.device);
    const { version } = openCompiler();
    return { present: true, description: `${describeDevice(device)}, compiler ${version}` };
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    return { present: false, reason: error.what, fix: error.fix ?? "use 'cpu'" };
  }
}
