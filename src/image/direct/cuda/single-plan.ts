/** The direct image in single precision, for every aperture and card: its kernels and the numbers they are compiled with. */
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { inputDefines, type ImageShapeOnCard } from '../../cuda/plan.js';

interface SingleOptions {
  readonly rows: number;
  readonly columns: number;
  readonly samples: 'integer' | 'float';
}

export const planSingle = (plan: ImageShapeOnCard, { rows, columns, samples }: SingleOptions) =>
  ({
    name: 'direct-float.cu',
    source: readSource(import.meta.url, 'direct-float.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {
      ...inputDefines(plan),
      PIXELS: plan.pixels,
      KERNEL: plan.kernelSize,
      ROWS: rows,
      COLUMNS: columns,
      FLOAT_SAMPLES: samples === 'float' ? 1 : 0,
    },
    entries: {
      spreadFloat: [
        ...(['pointer', 'i64', 'i32', 'i32', 'i32', 'pointer'] as const),
        ...(['pointer', 'pointer', 'pointer', 'pointer'] as const),
      ],
      rowsFloat: ['pointer', 'pointer', 'pointer'],
      columnsFloat: ['pointer', 'pointer', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;
