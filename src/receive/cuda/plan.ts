/** The corner turn on a GPU, before any data: which streams it supports, and the constants compiled into it. Pure. */
import type { KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import { fragmentRange } from '../../core/presence/presence.js';
import { powerOfTwoFrom } from '../../core/round-up.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import type { RingPlan } from '../plan.js';
import { stepsOf } from '../turn.js';

/** Samples and inputs per thread block. */
const TILE = 64;
const WIDE = 32;
const THREADS = 256;
const MOST_GRID_ROWS = 65_535;

/** Why the GPU kernel does not support these packets; undefined if it does. */
export function cannotTurn(
  stream: Pick<StreamPlan, 'holds' | 'type' | 'cell' | 'senders' | 'format'>,
  polarisations: 1 | 2,
): string | undefined {
  const { cell, type } = stream;
  if (stream.holds !== 'spectra') return `${stream.format} packets hold voltages`;
  const isKnown =
    cell.parts === 2 &&
    cell.code === 'twos-complement' &&
    cell.levels === 'symmetric' &&
    ((type === 'ci4' && cell.bits === 4) || (type === 'ci8' && cell.bits === 8));
  if (!isKnown) return `${stream.format} packets of ${cell.bits} bits are turned by the processor`;
  const splits = stream.senders.some(
    ({ firstInput, endInput }) => firstInput % polarisations !== 0 || endInput % polarisations !== 0,
  );
  return splits ? 'the polarisations of a station come by senders of their own' : undefined;
}

export function planTurn({ stream, slotsPerBlock }: RingPlan) {
  const { cell, cellBytes, inputs, samplesPerSlot } = stream;
  const steps = stepsOf(cell);
  return {
    ...kernelSource(import.meta.url, 'turn.cu'),
    defines: {
      SLOTS: slotsPerBlock,
      CELL_BYTES: cellBytes,
      CELL_CHANNELS: cell.sizes.c,
      CELL_INPUTS: cell.sizes.a,
      INPUTS: inputs,
      SAMPLES_PER_SLOT: samplesPerSlot,
      SAMPLE_BYTES: cell.bits === 4 ? 1 : 2,
      STEP_C: steps.c,
      STEP_A: steps.a,
      STEP_T: steps.t,
      WIDE: wideOf(cell.sizes.a),
    },
    entries: {
      turnCells: ['pointer', 'pointer', 'i32', 'pointer', 'pointer', 'i64', 'i32', 'i32', 'i32'],
    },
  } as const satisfies KernelRequest;
}

/** A power of two that holds a sender's inputs, or a warp's worth of them. */
const wideOf = (inputs: number): number => Math.min(WIDE, powerOfTwoFrom(inputs));

/** The launch shape for this many samples, and the number of items it strides over. */
export function turnLaunch(
  { cell, senders, fragments }: Pick<StreamPlan, 'cell' | 'senders' | 'fragments'>,
  samples: number,
): LaunchShape & { readonly items: number } {
  const items = senders.length * fragments * cell.sizes.c * Math.ceil(cell.sizes.a / wideOf(cell.sizes.a));
  return {
    grid: [Math.max(1, Math.ceil(samples / TILE)), Math.min(items, MOST_GRID_ROWS)],
    threads: THREADS,
    items,
  };
}

/** boxes : [sender][fragment] (first input, first channel). */
export const fragmentCorners = (
  stream: Pick<StreamPlan, 'senders' | 'fragments' | 'samplesPerSlot'>,
): Int32Array =>
  Int32Array.from(
    stream.senders.flatMap((_, sender) =>
      Array.from({ length: stream.fragments }, (_unused, fragment) => {
        const { firstInput, firstChannel } = fragmentRange(stream, sender, fragment);
        return [firstInput, firstChannel];
      }).flat(),
    ),
  );
