/** The cards of this machine and their properties. */
import { refuse, wholeNumber } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import { NO_DEVICE, openDriver, SUCCESS, type Driver } from './driver.js';

export interface DeviceFacts {
  readonly ordinal: number;
  readonly name: string;
  /** 90 for compute capability 9.0. */
  readonly capability: number;
  readonly multiprocessors: number;
  readonly memoryBytes: number;
  /** The most dynamic shared memory of a block. */
  readonly sharedBytesPerBlock: number;
}

/** dp4a, the oldest instruction our kernels use, came with 6.1. */
export const LEAST_CAPABILITY = 61;

/** As cuda.h numbers them (CU_DEVICE_ATTRIBUTE_…). */
export const deviceAttributes = {
  MULTIPROCESSOR_COUNT: 16,
  COMPUTE_CAPABILITY_MAJOR: 75,
  COMPUTE_CAPABILITY_MINOR: 76,
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: 97,
} as const;

export function findDevices(driver: Driver = openDriver()): DeviceFacts[] {
  const { calls } = driver;
  const check = (what: string, code: number): void => {
    if (code === NO_DEVICE)
      refuse('cuda', 'the driver finds no NVIDIA GPU', 'choose another backend: cpu or reference');
    if (code !== SUCCESS)
      refuse('cuda', `${what}: ${driver.describe(code)}`, 'choose another backend: cpu or reference');
  };
  check('cuInit', calls.cuInit(0));
  const number = new Int32Array(1);
  check('cuDeviceGetCount', calls.cuDeviceGetCount(number));
  return Array.from({ length: number[0] }, (_, ordinal) => {
    const name = new Uint8Array(256);
    check('cuDeviceGetName', calls.cuDeviceGetName(name, name.length, ordinal));
    const memory = new BigUint64Array(1);
    check('cuDeviceTotalMem', calls.cuDeviceTotalMem(memory, ordinal));
    const attribute = (which: keyof typeof deviceAttributes): number => {
      const value = new Int32Array(1);
      check('cuDeviceGetAttribute', calls.cuDeviceGetAttribute(value, deviceAttributes[which], ordinal));
      return value[0];
    };
    return {
      ordinal,
      name: Buffer.from(name).toString('utf8').replace(/\0.*$/s, ''),
      capability: attribute('COMPUTE_CAPABILITY_MAJOR') * 10 + attribute('COMPUTE_CAPABILITY_MINOR'),
      multiprocessors: attribute('MULTIPROCESSOR_COUNT'),
      memoryBytes: Number(memory[0]),
      sharedBytesPerBlock: attribute('MAX_SHARED_MEMORY_PER_BLOCK_OPTIN'),
    };
  });
}

/** The requested card, or the first; refuses where there is none or it is too old. */
export function chooseDevice(devices: readonly DeviceFacts[], ordinal = 0): DeviceFacts {
  if (devices.length === 0)
    refuse('cuda', 'no NVIDIA GPU is visible', 'choose another backend: cpu or reference');
  wholeNumber('cuda', 'device', ordinal, 0, devices.length - 1);
  const device = devices[ordinal];
  if (device.capability < LEAST_CAPABILITY) {
    refuse(
      'cuda',
      `${device.name} has compute capability ${device.capability / 10}, the kernels need ${LEAST_CAPABILITY / 10}`,
      'choose another backend: cpu or reference',
    );
  }
  return device;
}

export const describeDevice = (device: DeviceFacts): string =>
  `${device.name}, ${formatBytes(device.memoryBytes)}, compute capability ${(device.capability / 10).toFixed(1)}`;
