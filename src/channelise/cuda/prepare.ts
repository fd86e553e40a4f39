/**
 * The F-engine on a card. Samples are kept there between blocks: a new block is copied after them, over the bus only,
 * while the one before it is still being filtered.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { PowerCells } from '../../backend/cuda/power-cells.js';
import {
  offsetBy,
  type CudaEvent,
  type DeviceMemory,
  type PinnedMemory,
} from '../../backend/cuda/session.js';
import { cudaSpectra, SPAN_BYTES, type CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { voltageSizeBytes } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { preparing, type Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { RunDelays } from '../../delay/index.js';
import { roundUp } from '../../core/round-up.js';
import type { Channeliser } from '../channeliser.js';
import { prepareEngine, type DeviceVoltages, type EngineOptions } from './engine.js';
import { planStream } from './plan.js';
import { INPUT_DELAY, writeDelays } from './tables.js';
import { mostWaiting, type ChannelisePlan } from '../plan.js';
import { checkFinite } from '../reference.js';
import { checkChanneliseBlocks, checkVoltageBlock, openStream, type StreamStep } from '../stream.js';

interface CudaChanneliser extends Channeliser {
  /** For reports: the kernels, the number of passes. */
  readonly description: string;
  /**
   * Outside the stream: the spectra of voltages on the card, in order on the compute stream. Does not wait, and keeps
   * no history. Where the plan has delays, they give the first sample of each row: delays : [a], as written by
   * `writeDelays`.
   */
  filter(voltages: DeviceVoltages, spectra: number, out: CudaSpectraBlock, delays?: DeviceMemory): void;
}

type CudaChanneliserOptions = EngineOptions;

const INTEGER_BYTES = 2;

export const prepareCudaChanneliser = (
  plan: ChannelisePlan,
  backend: CudaBackend,
  options: CudaChanneliserOptions = {},
): Promise<CudaChanneliser> => preparing((closers) => makeChanneliser(plan, backend, options, closers));

async function makeChanneliser(
  plan: ChannelisePlan,
  backend: CudaBackend,
  options: CudaChanneliserOptions,
  closers: Closers,
): Promise<CudaChanneliser> {
  const { session, shop, meter } = backend;
  const { inputs, blockSamples, capacity } = plan;
  const { compute, upload } = session.streams;
  const sampleBytes = voltageSizeBytes(plan.inputType);
  // Memory for the waiting samples and the longest block; rows that open anywhere are read 16 bytes further.
  const pitchBytes = roundUp((mostWaiting(plan) + blockSamples) * sampleBytes + 16, 128);
  const allocate = (what: string, bytes: number): DeviceMemory => closers.keep(session.allocate(what, bytes));
  const pin = (what: string, bytes: number): PinnedMemory =>
    closers.keep(session.allocatePinned(what, bytes));
  const createEvent = (): CudaEvent => closers.keep(session.createEvent());
  const counter = allocate('the count of saturated samples', 8);
  const counterOnHost = pin('the count of saturated samples', 8);
  const engine = await prepareEngine(plan, backend, counter, closers, options);
  const { moveWaiting } = await shop.prepare(planStream());
  const buffers = [0, 1].map(() => ({
    memory: allocate(`voltages of ${inputs} inputs`, inputs * pitchBytes),
    /** The buffer is no longer being read. */
    done: createEvent(),
  }));
  const missing = allocate('missing spectra', inputs * capacity);
  const missingOnHost = pin('missing spectra', inputs * capacity);
  const missingSent = createEvent();
  const delayed = plan.mostDelaySamples === undefined ? undefined : makeDelayed(plan.mostDelaySamples);
  function makeDelayed(most: number) {
    return {
      most,
      table: allocate('delays', inputs * INPUT_DELAY.bytes),
      tableOnHost: pin('delays', inputs * INPUT_DELAY.bytes),
      sent: createEvent(),
    };
  }
  const uploaded = createEvent();
  /** Pinned copy of pageable voltages in transfer; made when first needed. */
  let staging: PinnedMemory | undefined;
  const stream = openStream(plan);
  let which = 0;
  let saturated: number | undefined = 0;
  let absent: DeviceMemory | undefined;
  let isClosed = false;

  const clearCount = (): void => {
    session.call('cuMemsetD8Async', counter.pointer, 0, 8, compute.handle);
    saturated = 0;
  };
  clearCount();

  /** Before a stream's first sample there are zeros, marked missing, never old float values. */
  const clearRows = (): void => {
    if (!delayed) return;
    for (const { memory } of buffers)
      session.call('cuMemsetD8Async', memory.pointer, 0, inputs * pitchBytes, compute.handle);
  };
  clearRows();

  /** Copies the block after the waiting samples. */
  async function append(voltages: VoltageBlock, waiting: number): Promise<void> {
    const { memory, done } = buffers[which];
    const rowBytes = voltages.samples * sampleBytes;
    if (rowBytes === 0) return;
    let host = session.pinnedAddress(voltages.voltages);
    const pinned = host !== undefined;
    if (host === undefined) {
      await uploaded.passed(); // the staging memory may still be in transfer
      staging ??= pin('voltages', inputs * blockSamples * sampleBytes);
      const { buffer, byteOffset, byteLength } = voltages.voltages;
      new Uint8Array(staging.buffer).set(new Uint8Array(buffer, byteOffset, byteLength));
      host = staging.pointer;
    }
    done.holdBack(upload);
    const rows = {
      host,
      hostPitchBytes: rowBytes,
      widthBytes: rowBytes,
      rows: inputs,
      device: offsetBy(memory.pointer, waiting * sampleBytes),
      devicePitchBytes: pitchBytes,
    };
    meter.around('upload', upload, () => {
      session.copyRows(rows, 'up', upload);
    });
    meter.sent({ bytes: inputs * rowBytes, isCopied: !pinned });
    uploaded.record(upload);
    // The caller may write to its own memory again once this resolves.
    if (pinned) await uploaded.passed();
  }

  /** missing : [a][t] on the card, or undefined where every spectrum is there. */
  async function sendMissing(step: StreamStep): Promise<DeviceMemory | undefined> {
    if (step.gaps.length === 0) return undefined;
    await missingSent.passed();
    const flags = new Uint8Array(missingOnHost.buffer, 0, inputs * step.spectra).fill(0);
    for (const gap of step.gaps) {
      for (let a = gap.firstInput; a < gap.endInput; a++) {
        flags.fill(1, a * step.spectra + gap.firstSample, a * step.spectra + gap.endSample);
      }
    }
    session.call(
      'cuMemcpyHtoDAsync',
      missing.pointer,
      missingOnHost.pointer,
      inputs * step.spectra,
      compute.handle,
    );
    missingSent.record(compute);
    return missing;
  }

  async function sendDelays(delays: RunDelays | undefined): Promise<void> {
    if (!delayed || !delays) return;
    const { most, table, tableOnHost, sent } = delayed;
    await sent.passed();
    const bytes = inputs * INPUT_DELAY.bytes;
    writeDelays(new DataView(tableOnHost.buffer, 0, bytes), delays, most, sampleBytes);
    session.call('cuMemcpyHtoDAsync', table.pointer, tableOnHost.pointer, bytes, compute.handle);
    sent.record(compute);
  }

  function produce(
    from: DeviceVoltages,
    spectra: number,
    absent: DeviceMemory | undefined,
    out: CudaSpectraBlock,
    delays: DeviceMemory | undefined,
  ): PowerCells | undefined {
    if (delays === undefined && plan.mostDelaySamples !== undefined)
      refuse('channelise', 'no delays were given to a plan with delays', 'give them');
    const powers = engine.launch(from, spectra, absent, delays, out, compute);
    saturated = undefined;
    if (plan.outputType === 'cf32') return powers;
    const dataBytes = spectra * INTEGER_BYTES;
    const tailBytes = roundUp(dataBytes, SPAN_BYTES) - dataBytes;
    if (tailBytes === 0) return powers;
    const rows = plan.channels * inputs;
    const tail = offsetBy(out.pointer, dataBytes);
    session.call('cuMemsetD2D8Async', tail, out.pitchBytes, 0, tailBytes, rows, compute.handle);
    return powers;
  }

  /** Moves the samples for the next window to the front of the other buffer. */
  function moveOn(step: StreamStep, inAll: number): void {
    if (step.consumed === 0) return;
    const bytes = (inAll - step.consumed) * sampleBytes;
    const { memory, done } = buffers[which];
    const other = buffers[1 - which].memory;
    moveWaiting.set([memory.pointer, other.pointer, pitchBytes, step.consumed * sampleBytes, bytes, inputs]);
    const grid = [Math.max(1, Math.min(64, Math.ceil(bytes / 4096))), Math.min(inputs, 65_535)] as const;
    if (bytes > 0) moveWaiting.launch({ grid, threads: 256 }, compute);
    done.record(compute);
    which = 1 - which;
  }

  function make({ samples }: VoltageBlock, step: StreamStep, out: CudaSpectraBlock): void {
    uploaded.holdBack(compute);
    out.writing(compute);
    const rows = { pointer: buffers[which].memory.pointer, pitchBytes };
    const powers = step.spectra > 0 ? produce(rows, step.spectra, absent, out, delayed?.table) : undefined;
    out.doneWriting(compute, step.spectra, step.gaps, { powers });
    moveOn(step, step.waiting + samples);
  }

  return {
    plan,
    sumsPowers: engine.sumsPowers,
    description: engine.description,
    run: async (voltages, given, delays) => {
      checkChanneliseBlocks(plan, voltages, given);
      const out = cudaSpectra('channelise', given);
      checkVoltageBlock(plan, voltages);
      checkFinite(voltages);
      const step = stream.next(voltages, delays);
      await append(voltages, step.waiting);
      absent = await sendMissing(step);
      await sendDelays(delays);
      meter.around('channelise', compute, () => {
        make(voltages, step, out);
      });
      stream.advance(voltages, step);
    },
    filter: (voltages, spectra, out, delays) => {
      out.writing(compute);
      const powers = produce(voltages, spectra, undefined, out, delays);
      out.doneWriting(compute, spectra, [], { powers });
    },
    get saturated() {
      if (saturated === undefined) {
        session.call('cuMemcpyDtoHAsync', counterOnHost.pointer, counter.pointer, 8, compute.handle);
        session.call('cuStreamSynchronize', compute.handle);
        saturated = Number(new BigUint64Array(counterOnHost.buffer)[0]);
      }
      return saturated;
    },
    get produced() {
      return stream.produced;
    },
    reset: () => {
      stream.reset();
      clearCount();
      clearRows();
      // The next sample goes to the front, where samples may still be being moved.
      buffers[which].done.record(compute);
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await uploaded.passed();
      await closers.close();
    },
  };
}
