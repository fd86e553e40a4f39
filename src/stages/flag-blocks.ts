/**
 * Blocks for a flagger. It tests the windows of a block together, so that its flags depend on where blocks begin and
 * end: they begin at multiples of a fixed number of spectra, counted from the first of the whole source. After the
 * flagger, blocks are cut where products end.
 */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import {
  allocateVoltages,
  elementsPerSpectra,
  elementsPerVoltage,
  spectraCAT,
  voltagesAT,
  type SpectraCAT,
  type VoltagesAT,
} from '../core/axes.js';
import type { CanonicalSpectra, SpectraBlock, SpectraShape, VoltageBlock } from '../core/blocks.js';
import { Closers } from '../core/closing.js';
import { addSamples, secondsBetween, type Instant } from '../core/instant.js';
import type { SampleRange, VoltageSource } from '../core/sources.js';
import { movedGaps, sliceBlock, sliceSpectra } from './slices.js';
import type { IntegrationClock } from './clock.js';
import { blocksInTurn, type TimedSpectra } from './spectra.js';
import { keepsNothing, type Emit, type Stage } from './stage.js';

type Shape = Pick<SpectraShape, 'type' | 'channels' | 'inputs'>;

interface HeldVoltages {
  block: VoltageBlock;
  readonly firstSample: number;
  filled: number;
}

/**
 * Voltages cut where the last spectrum of a flagger's block is complete. A range within one block of the source is cut,
 * a range over two is copied.
 */
export function gatherVoltages(
  source: Pick<VoltageSource, 'start' | 'sampleRateHz'>,
  { samplesPerSpectrum, taps, mostDelaySamples = 0 }: ChannelisePlan,
  blockSpectra: number,
): Stage<VoltageBlock, VoltageBlock> {
  const length = blockSpectra * samplesPerSpectrum;
  const opening = (taps - 1) * samplesPerSpectrum + mostDelaySamples;
  const edgeAfter = (sample: number): number =>
    opening + length * Math.max(0, Math.floor((sample - opening) / length) + 1);
  let room: VoltagesAT | undefined;
  let held: HeldVoltages | undefined;
  const emitHeld = async (emit: Emit<VoltageBlock>): Promise<void> => {
    if (!held) return;
    const { block, filled } = held;
    held = undefined;
    await emit(sliceBlock(block, { first: 0, end: filled }, source.sampleRateHz));
  };
  const hold = ({ type, inputs, start }: VoltageBlock, first: number, at: number): HeldVoltages => {
    const firstSample = at + first;
    const samples = edgeAfter(firstSample) - firstSample;
    const elements = inputs * samples * elementsPerVoltage(type);
    if (!room || room.length < elements) room = allocateVoltages(type, inputs, samples);
    const voltages = voltagesAT(room.subarray(0, elements), type, inputs, samples);
    const block = { type, inputs, samples, voltages, gaps: [] };
    return {
      block: { ...block, start: addSamples(start, first, source.sampleRateHz) },
      firstSample,
      filled: 0,
    };
  };
  return {
    push: async (block, emit) => {
      const at = Math.round(secondsBetween(source.start, block.start) * source.sampleRateHz);
      if (held && held.firstSample + held.filled !== at) await emitHeld(emit);
      for (let first = 0; first < block.samples;) {
        const edge = edgeAfter(at + first) - at;
        if (!held && edge <= block.samples) {
          await emit(sliceBlock(block, { first, end: edge }, source.sampleRateHz));
          first = edge;
          continue;
        }
        held ??= hold(block, first, at);
        const end = Math.min(edge, block.samples);
        held.block = appended(held, block, { first, end });
        held.filled += end - first;
        first = end;
        if (held.filled === held.block.samples) await emitHeld(emit);
      }
    },
    ...keepsNothing,
    flush: emitHeld,
  };
}

/** Samples appended to those that are held, together with their gaps. */
function appended(
  { block: into, filled }: HeldVoltages,
  from: VoltageBlock,
  { first, end }: SampleRange,
): VoltageBlock {
  const width = elementsPerVoltage(from.type);
  for (let a = 0; a < from.inputs; a++) {
    const row = a * from.samples;
    into.voltages.set(
      from.voltages.subarray((row + first) * width, (row + end) * width),
      (a * into.samples + filled) * width,
    );
  }
  return { ...into, gaps: [...into.gaps, ...movedGaps(from.gaps, { first, end }, filled - first)] };
}

interface HeldSpectra {
  readonly index: number;
  readonly start: Instant;
  samples: number;
  readonly parts: CanonicalSpectra[];
}

/**
 * Spectra in blocks that begin at multiples of `blockSpectra`. Blocks that already do pass unchanged; shorter ones,
 * which must not cross such a multiple, are joined. A block may cross a cut of `clock`.
 */
export function gatherSpectra(
  backend: Backend,
  shape: Shape,
  blockSpectra: number,
  clock: IntegrationClock,
): Stage<TimedSpectra, TimedSpectra> {
  const { type, channels, inputs } = shape;
  const closers = new Closers();
  const room: SpectraBlock[] = [];
  const turns = blocksInTurn(backend, true);
  let turn = 0;
  let held: HeldSpectra | undefined;
  const roomFor = (): SpectraBlock => {
    if (room.length < turns)
      room.push(closers.keep(backend.allocateSpectra({ type, channels, inputs, capacity: blockSpectra })));
    const block = room[turn];
    turn = (turn + 1) % turns;
    return block;
  };
  const emitHeld = async (emit: Emit<TimedSpectra>): Promise<void> => {
    if (!held) return;
    const { index, start, samples, parts } = held;
    held = undefined;
    const whole = joined(parts, shape, samples);
    const block = roomFor();
    await block.write(whole.spectra, samples, whole.gaps);
    await emit({ block, index, start, cutAt: clock.cutAfter(index), stays: turns - 1 });
  };
  return {
    push: async (timed, emit) => {
      const { block, index, start } = timed;
      if (held && held.index + held.samples !== index) await emitHeld(emit);
      const edge = (Math.floor(index / blockSpectra) + 1) * blockSpectra;
      const end = index + block.samples;
      if (end > edge) throw new Error(`spectra ${index} to ${end} go over ${edge}, where a block begins`);
      if (!held && end === edge) return emit({ ...timed, cutAt: clock.cutAfter(index) });
      const part = { samples: block.samples, spectra: await block.read(), gaps: block.gaps, start };
      held ??= { index, start, samples: 0, parts: [] };
      held.parts.push(part);
      held.samples += block.samples;
      if (end === edge) await emitHeld(emit);
    },
    flush: emitHeld,
    account: () => ({}),
    close: () => closers.close(),
  };
}

function joined(
  parts: readonly CanonicalSpectra[],
  { type, channels, inputs }: Shape,
  samples: number,
): Pick<CanonicalSpectra, 'spectra' | 'gaps'> {
  if (parts.length === 1) return parts[0];
  const width = elementsPerSpectra(type);
  const rows = channels * inputs;
  const Elements = parts[0].spectra.constructor as new (length: number) => SpectraCAT;
  const spectra = spectraCAT(new Elements(rows * samples * width), type, channels, inputs, samples);
  let at = 0;
  for (const part of parts) {
    const length = part.samples * width;
    for (let row = 0; row < rows; row++)
      spectra.set(part.spectra.subarray(row * length, (row + 1) * length), (row * samples + at) * width);
    at += part.samples;
  }
  let before = 0;
  const gaps = parts.flatMap((part) => {
    const moved = movedGaps(part.gaps, { first: 0, end: part.samples }, before);
    before += part.samples;
    return moved;
  });
  return { spectra, gaps };
}

/** Blocks cut where `clock` cuts, limited to `span`. Only blocks with a cut inside are copied. */
export function splitSpectra(
  backend: Backend,
  shape: SpectraShape,
  clock: IntegrationClock,
  startOf: (spectrum: number) => Instant,
  span: SampleRange = { first: 0, end: Infinity },
): Stage<TimedSpectra, TimedSpectra> {
  const closers = new Closers();
  let own: SpectraBlock | undefined;
  // Only the values and gaps of slices are used.
  const axes = { ...shape, spectrumRateHz: 1 };
  return {
    push: async (timed, emit) => {
      const { block, index } = timed;
      const first = Math.max(index, span.first);
      const end = Math.min(index + block.samples, span.end);
      if (end <= first) return;
      const cutAt = clock.cutAfter(index);
      if (first === index && end === index + block.samples && end <= cutAt) return emit({ ...timed, cutAt });
      const whole = { ...timed, samples: block.samples, spectra: await block.read(), gaps: block.gaps };
      own ??= closers.keep(backend.allocateSpectra(shape));
      for (let at = first; at < end;) {
        const next = clock.cutAfter(at);
        const part = sliceSpectra(whole, axes, { first: at - index, end: Math.min(next, end) - index });
        await own.write(part.spectra, part.samples, part.gaps);
        await emit({ block: own, index: at, start: startOf(at), cutAt: next });
        at += part.samples;
      }
    },
    ...keepsNothing,
    close: () => closers.close(),
  };
}
