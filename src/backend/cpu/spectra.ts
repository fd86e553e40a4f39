/** Spectra in native memory, in the kernels' tiles (spectra.h). */
import { allocateSpectra, spectraCAT, type SpectraType } from '../../core/axes.js';
import { ownBlock, type SpectraBlock, type SpectraShape } from '../../core/blocks.js';
import { wholeNumber } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
import { violationsIn, type SpectraViolation } from '../../core/violations.js';
import type { NativeContext, NativeMemory } from './context.js';

/** In the order of the library's numbers (spectra.h). */
const typeNumbers = { ci8: 0, ci4: 1, cf32: 2 } satisfies Record<SpectraType, number>;
export const spectraTypeNumber = (type: SpectraType): number => typeNumbers[type];

export interface CpuSpectraBlock extends SpectraBlock {
  readonly home: 'cpu';
  readonly memory: NativeMemory;
  /** Rows given to write with values outside the range; flagged inputs may have some. */
  readonly violations: readonly SpectraViolation[];
  /** Memory for sums of powers (spectra_powers.h), where requested. */
  readonly powersBuffer: NativeMemory | undefined;
  /** The same while they match the block's content: until something else is written there. */
  readonly powers: NativeMemory | undefined;
  /**
   * For a kernel that writes in place: sets the number of spectra, which of them are missing, and which values are
   * invalid.
   */
  fill(
    samples: number,
    gaps: readonly SpectraGap[],
    more?: {
      readonly violations?: readonly SpectraViolation[];
      readonly hasPowers?: boolean;
    },
  ): void;
  /** For a kernel that zeroed more of the block. */
  addGaps(more: readonly SpectraGap[]): void;
}

/** Blocks of one context share their bound functions. */
export function spectraAllocator(context: NativeContext): (shape: SpectraShape) => CpuSpectraBlock {
  const write = context.bind(
    'spectra block',
    `int32_t corella_spectra_write(char *error, void *context, int32_t type, int64_t channels,
      int64_t inputs, int64_t capacity, int64_t samples, const void *canonical, void *block,
      int32_t *broken /*[1]*/)`,
  );
  const read = context.bind(
    'spectra block',
    `int32_t corella_spectra_read(char *error, void *context, int32_t type, int64_t channels,
      int64_t inputs, int64_t capacity, int64_t samples, const void *block, void *canonical)`,
  );
  return (shape) => {
    const { type, channels, inputs, capacity } = shape;
    const memory = context.allocate(spectraSizeOf(shape));
    const powersBuffer = shape.powers ? context.allocate(powersSizeOf(shape)) : undefined;
    const sizes = [typeNumbers[type], channels, inputs, capacity] as const;
    const anyBroken = new Int32Array(1);
    let samples = 0;
    let gaps: readonly SpectraGap[] = [];
    let violations: readonly SpectraViolation[] = [];
    let powers: NativeMemory | undefined;
    const fill: CpuSpectraBlock['fill'] = (newSamples, newGaps, more = {}) => {
      samples = wholeNumber('spectra block', 'samples', newSamples, 0, capacity);
      gaps = newGaps;
      violations = more.violations ?? [];
      powers = more.hasPowers ? powersBuffer : undefined;
    };
    return {
      home: 'cpu',
      shape,
      memory,
      powersBuffer,
      get powers() {
        return powers;
      },
      get samples() {
        return samples;
      },
      get gaps() {
        return gaps;
      },
      get violations() {
        return violations;
      },
      fill,
      addGaps: (more) => {
        gaps = [...gaps, ...more];
        powers = undefined;
      },
      write: async (spectra, newSamples, newGaps = []) => {
        fill(newSamples, newGaps);
        const checked = spectraCAT(spectra, type, channels, inputs, newSamples);
        await write(...sizes, newSamples, checked, memory.address, anyBroken);
        if (anyBroken[0] !== 0) violations = [...violationsIn(checked, shape, newSamples)];
      },
      read: async () => {
        const canonical = allocateSpectra(type, channels, inputs, samples);
        await read(...sizes, samples, memory.address, canonical);
        return canonical;
      },
      close: async () => {
        await memory.close();
        await powersBuffer?.close();
      },
    };
  };
}

/** SpectraLayout::sizeBytes of spectra.h: tiles of 16 inputs × 64 samples, or vectors of 16 inputs. */
export function spectraSizeOf({ type, channels, inputs, capacity }: SpectraShape): number {
  const rows = channels * Math.ceil(inputs / 16) * 16;
  return type === 'cf32' ? rows * capacity * 8 : rows * Math.ceil(capacity / 64) * 64 * 2;
}

/** PowersLayout of spectra_powers.h: cells of 4 channels × 16 inputs × 16 spectra, two words each. */
const powersSizeOf = ({ channels, inputs, capacity }: SpectraShape): number =>
  Math.ceil(inputs / 16) * Math.ceil(channels / 4) * (4 * Math.ceil(capacity / 64) + 1) * 512;

/** The cpu backend's own block, or a refusal. */
export const cpuSpectra = (where: string, block: SpectraBlock): CpuSpectraBlock =>
  ownBlock(where, block, 'cpu');
