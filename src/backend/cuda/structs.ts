/**
 * The few C structures for the driver, as byte offsets (64-bit Linux; `npm run check:cuda` compares them with the
 * compiler's own), and writers into memory that C may read.
 */
import { alignedMemory } from '../aligned-memory.js';
import { fieldsOf } from './arguments.js';

/** Memory at a fixed address, as long as `bytes` is held. */
export interface NativeMemory {
  readonly address: bigint;
  readonly bytes: DataView<ArrayBuffer>;
}

/** Zeroed, and aligned to 128 bytes, as tensor maps require. */
export function allocateNative(sizeBytes: number): NativeMemory {
  const { address, bytes } = alignedMemory(sizeBytes, 128);
  return { address, bytes: new DataView(bytes.buffer, bytes.byteOffset, sizeBytes) };
}

export const launchConfigLayout = {
  gridDimX: 0,
  gridDimY: 4,
  gridDimZ: 8,
  blockDimX: 12,
  blockDimY: 16,
  blockDimZ: 20,
  sharedMemBytes: 24,
  hStream: 32,
  attrs: 40,
  numAttrs: 48,
} as const;
export const LAUNCH_CONFIG_BYTES = 56;

/** `value` holds the cluster's x, y, z for CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 1 for CU_LAUNCH_ATTRIBUTE_COOPERATIVE. */
export const launchAttributeLayout = { id: 0, value: 8 } as const;
export const LAUNCH_ATTRIBUTE_BYTES = 72;
export const COOPERATIVE = 2;
export const CLUSTER_DIMENSION = 4;

export const memcpy2DLayout = {
  srcXInBytes: 0,
  srcY: 8,
  srcMemoryType: 16,
  srcHost: 24,
  srcDevice: 32,
  srcArray: 40,
  srcPitch: 48,
  dstXInBytes: 56,
  dstY: 64,
  dstMemoryType: 72,
  dstHost: 80,
  dstDevice: 88,
  dstArray: 96,
  dstPitch: 104,
  WidthInBytes: 112,
  Height: 120,
} as const;
export const MEMCPY_2D_BYTES = 128;
const HOST = 1;
const DEVICE = 2;

/** Rows of `widthBytes` between host memory and device memory, each with its own pitch. */
export interface RowCopy {
  readonly host: bigint;
  readonly hostPitchBytes: number;
  readonly device: bigint;
  readonly devicePitchBytes: number;
  readonly widthBytes: number;
  readonly rows: number;
}

export function writeRowCopy(to: DataView, copy: RowCopy, direction: 'up' | 'down'): void {
  const { host, hostPitchBytes, device, devicePitchBytes, widthBytes, rows } = copy;
  fieldsOf(to, { ...memcpy2DLayout, bytes: MEMCPY_2D_BYTES })({
    ...(direction === 'up'
      ? { srcMemoryType: HOST, srcHost: host, srcPitch: hostPitchBytes }
      : { srcMemoryType: DEVICE, srcDevice: device, srcPitch: devicePitchBytes }),
    ...(direction === 'up'
      ? { dstMemoryType: DEVICE, dstDevice: device, dstPitch: devicePitchBytes }
      : { dstMemoryType: HOST, dstHost: host, dstPitch: hostPitchBytes }),
    WidthInBytes: widthBytes,
    Height: rows,
  });
}
