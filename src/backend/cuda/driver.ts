/** The CUDA driver, one-to-one. All other code uses `session.ts`, which checks every code. */
import koffi from 'koffi';
import { refuse } from '../../core/errors.js';
import { driverPlaces, openLibrary } from './libraries.js';
import { bind, type CFunction } from './prototypes.js';

/** As in cuda.h. */
export const driverPrototypes = {
  cuInit: 'CUresult cuInit(unsigned int Flags)',
  cuDriverGetVersion: 'CUresult cuDriverGetVersion(int *driverVersion)',
  cuGetErrorName: 'CUresult cuGetErrorName(CUresult error, const char **pStr)',
  cuGetErrorString: 'CUresult cuGetErrorString(CUresult error, const char **pStr)',
  cuDeviceGetCount: 'CUresult cuDeviceGetCount(int *count)',
  cuDeviceGet: 'CUresult cuDeviceGet(CUdevice *device, int ordinal)',
  cuDeviceGetName: 'CUresult cuDeviceGetName(char *name, int len, CUdevice dev)',
  cuDeviceGetAttribute: 'CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)',
  cuDeviceTotalMem: 'CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)',
  cuDevicePrimaryCtxRetain: 'CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)',
  cuDevicePrimaryCtxRelease: 'CUresult cuDevicePrimaryCtxRelease(CUdevice dev)',
  cuCtxSetCurrent: 'CUresult cuCtxSetCurrent(CUcontext ctx)',
  cuMemGetInfo: 'CUresult cuMemGetInfo(size_t *free, size_t *total)',
  cuMemAlloc: 'CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)',
  cuMemFree: 'CUresult cuMemFree(CUdeviceptr dptr)',
  cuMemHostRegister: 'CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)',
  cuMemHostUnregister: 'CUresult cuMemHostUnregister(void *p)',
  cuMemcpyHtoDAsync:
    'CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)',
  cuMemcpyDtoHAsync:
    'CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)',
  cuMemcpy2DAsync: 'CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)',
  cuMemsetD8Async:
    'CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)',
  cuMemsetD2D8Async:
    'CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream)',
  cuStreamCreateWithPriority:
    'CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)',
  cuStreamDestroy: 'CUresult cuStreamDestroy(CUstream hStream)',
  cuStreamSynchronize: 'CUresult cuStreamSynchronize(CUstream hStream)',
  cuStreamWaitEvent: 'CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)',
  cuEventCreate: 'CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)',
  cuEventDestroy: 'CUresult cuEventDestroy(CUevent hEvent)',
  cuEventRecord: 'CUresult cuEventRecord(CUevent hEvent, CUstream hStream)',
  cuEventQuery: 'CUresult cuEventQuery(CUevent hEvent)',
  cuEventElapsedTime: 'CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)',
  cuModuleLoadData: 'CUresult cuModuleLoadData(CUmodule *module, const void *image)',
  cuModuleUnload: 'CUresult cuModuleUnload(CUmodule hmod)',
  cuModuleGetFunction: 'CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)',
  cuFuncSetAttribute: 'CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)',
  cuLaunchKernelEx:
    'CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)',
  cuTensorMapEncodeTiled:
    'CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const cuuint32_t *boxDim, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)',
} as const;
export type DriverCall = keyof typeof driverPrototypes;

/** Where a name in cuda.h is a macro for a later symbol: the first form still exists, with 32-bit sizes. */
export const driverSymbols = {
  cuDeviceTotalMem: 'cuDeviceTotalMem_v2',
  cuDevicePrimaryCtxRelease: 'cuDevicePrimaryCtxRelease_v2',
  cuMemGetInfo: 'cuMemGetInfo_v2',
  cuMemAlloc: 'cuMemAlloc_v2',
  cuMemFree: 'cuMemFree_v2',
  cuMemHostRegister: 'cuMemHostRegister_v2',
  cuMemcpyHtoDAsync: 'cuMemcpyHtoDAsync_v2',
  cuMemcpyDtoHAsync: 'cuMemcpyDtoHAsync_v2',
  cuMemcpy2DAsync: 'cuMemcpy2DAsync_v2',
  cuStreamDestroy: 'cuStreamDestroy_v2',
  cuEventDestroy: 'cuEventDestroy_v2',
} as const satisfies Partial<Record<DriverCall, string>>;

/** Calls whose newer symbol is not used, and why. */
export const keptSymbols = {
  cuEventElapsedTime:
    'its _v2 came with CUDA 12.8; the first form has the same prototype and runs on older drivers',
} as const satisfies Partial<Record<DriverCall, string>>;

export interface Driver {
  readonly path: string;
  /** 13000 for CUDA 13.0. */
  readonly version: number;
  readonly calls: Readonly<Record<DriverCall, CFunction>>;
  /** The driver's name and description of a code. */
  describe(code: number): string;
}

let opened: Driver | undefined;

/** Loads libcuda once a process; throws a CorellaError with one clear line where there is none. */
export function openDriver(): Driver {
  if (opened) return opened;
  const { library, path } = openLibrary(driverPlaces());
  const bindOne = (name: DriverCall): CFunction => {
    const symbol: string = (driverSymbols as Partial<Record<DriverCall, string>>)[name] ?? name;
    try {
      return bind(library, driverPrototypes[name], symbol);
    } catch {
      return refuse(
        'cuda',
        `the driver ${path} is too old: it has no ${symbol}`,
        'update it to 525 (CUDA 12) or later',
      );
    }
  };
  const names = Object.keys(driverPrototypes) as DriverCall[];
  const calls = Object.fromEntries(names.map((name) => [name, bindOne(name)])) as Record<
    DriverCall,
    CFunction
  >;
  const text = (call: 'cuGetErrorName' | 'cuGetErrorString', code: number): string => {
    const pointer = new BigUint64Array(1);
    if (calls[call](code, pointer) !== SUCCESS || pointer[0] === 0n) return `code ${code}`;
    return koffi.decode.string(pointer[0]);
  };
  const version = new Int32Array(1);
  calls.cuDriverGetVersion(version);
  opened = {
    path,
    version: version[0],
    calls,
    describe: (code) => `${text('cuGetErrorString', code)} (${text('cuGetErrorName', code)})`,
  };
  return opened;
}

/** CUresult values that are handled. */
export const SUCCESS = 0;
export const OUT_OF_MEMORY = 2;
export const NO_DEVICE = 100;
export const NOT_READY = 600;
