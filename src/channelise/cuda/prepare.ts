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
  type Stream,
} from '../../backend/cuda/session.js';
import { cudaSpectra, SPAN_BYTES, type CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { voltageSizeBytes } from '../../core/axes.js';
import type { SpectraBlock, VoltageBlock } from '../../core/blocks.js';
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
import { checkChanneliseBlocks, openStream, type StreamStep } from '../stream.js';

const INTEGER_BYTES = 2;

export const prepareCudaChanneliser = (
  plan: ChannelisePlan,
  backend: CudaBackend,
  options: EngineOptions = {},
): Promise<CudaChanneliser> =>
  preparing(
    async (closers) =>
      new CudaChanneliser(plan, backend, closers, await prepareParts(plan, backend, closers, options)),
  );

async function prepareParts(
  plan: ChannelisePlan,
  backend: CudaBackend,
  closers: Closers,
  options: EngineOptions,
) {
  const { session, shop } = backend;
  const { inputs, blockSamples, capacity, mostDelaySamples } = plan;
  // Memory for the waiting samples and the longest block; rows that open anywhere are read 16 bytes further.
  const sampleBytes = voltageSizeBytes(plan.inputType);
  const pitchBytes = roundUp((mostWaiting(plan) + blockSamples) * sampleBytes + 16, 128);
  const allocate = (what: string, bytes: number): DeviceMemory => closers.keep(session.allocate(what, bytes));
  const createEvent = (): CudaEvent => closers.keep(session.createEvent());
  /** On the card and on the host; `sent` passes when the host's may be written again. */
  const table = (what: string, bytes: number) => ({
    onCard: allocate(what, bytes),
    onHost: closers.keep(session.allocatePinned(what, bytes)),
    sent: createEvent(),
    bytes,
  });
  const saturated = 'the count of saturated samples';
  const counter = allocate(saturated, 8);
  return {
    pitchBytes,
    counter,
    counterOnHost: closers.keep(session.allocatePinned(saturated, 8)),
    engine: await prepareEngine(plan, backend, counter, closers, options),
    ...(await shop.prepare(planStream())),
    buffers: [0, 1].map(() => ({
      memory: allocate(`voltages of ${inputs} inputs`, inputs * pitchBytes),
      /** The buffer is no longer being read. */
      done: createEvent(),
    })),
    missing: table('missing spectra', inputs * capacity),
    delays: mostDelaySamples === undefined ? undefined : table('delays', inputs * INPUT_DELAY.bytes),
    uploaded: createEvent(),
  };
}

type Parts = Awaited<ReturnType<typeof prepareParts>>;
type Table = Parts['missing'];

class CudaChanneliser implements Channeliser {
  readonly sumsPowers: Channeliser['sumsPowers'];
  private readonly stream: ReturnType<typeof openStream>;
  private readonly sampleBytes: number;
  /** Pinned copy of pageable voltages in transfer; made when first needed. */
  private staging: PinnedMemory | undefined;
  private which = 0;
  private counted: number | undefined = 0;
  private isClosed = false;

  constructor(
    readonly plan: ChannelisePlan,
    private readonly backend: CudaBackend,
    private readonly closers: Closers,
    private readonly parts: Parts,
  ) {
    this.sumsPowers = parts.engine.sumsPowers;
    this.stream = openStream(plan);
    this.sampleBytes = voltageSizeBytes(plan.inputType);
    this.clear();
  }

  async run(voltages: VoltageBlock, given: SpectraBlock, delays?: RunDelays): Promise<void> {
    const { plan, stream, backend } = this;
    checkChanneliseBlocks(plan, voltages, given);
    const out = cudaSpectra('channelise', given);
    checkFinite(voltages);
    const step = stream.next(voltages, delays);
    await this.append(voltages, step.waiting);
    const missing = await this.sendMissing(step);
    await this.sendDelays(delays);
    backend.meter.around('channelise', this.compute, () => {
      this.make(voltages, step, out, missing);
    });
    stream.advance(voltages, step);
  }

  /**
   * Outside the stream: the spectra of voltages on the card, in order on the compute stream. Does not wait, and keeps
   * no history. Where the plan has delays, they give the first sample of each row: delays : [a], as written by
   * `writeDelays`.
   */
  filter(voltages: DeviceVoltages, spectra: number, out: CudaSpectraBlock, delays?: DeviceMemory): void {
    out.writing(this.compute);
    const powers = this.produce(voltages, spectra, undefined, out, delays);
    out.doneWriting(this.compute, spectra, [], { powers });
  }

  get saturated(): number {
    if (this.counted === undefined) {
      const { session } = this.backend;
      const { counter, counterOnHost } = this.parts;
      session.call('cuMemcpyDtoHAsync', counterOnHost.pointer, counter.pointer, 8, this.compute.handle);
      session.call('cuStreamSynchronize', this.compute.handle);
      this.counted = Number(counterOnHost.view(BigUint64Array, 1)[0]);
    }
    return this.counted;
  }

  /** For reports: the kernels, the number of passes. */
  get description(): string {
    return this.parts.engine.description;
  }

  get produced(): number {
    return this.stream.produced;
  }

  reset(): void {
    this.stream.reset();
    this.clear();
    // The next sample goes to the front, where samples may still be being moved.
    this.parts.buffers[this.which].done.record(this.compute);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.parts.uploaded.passed();
    await this.closers.close();
  }

  private get compute(): Stream {
    return this.backend.session.streams.compute;
  }

  private clear(): void {
    const { counter, buffers, delays } = this.parts;
    // Before a stream's first sample delayed rows have zeros, marked missing, never old float values.
    for (const { pointer, sizeBytes } of [counter, ...(delays ? buffers.map(({ memory }) => memory) : [])])
      this.backend.session.call('cuMemsetD8Async', pointer, 0, sizeBytes, this.compute.handle);
    this.counted = 0;
  }

  /** Copies the block after the waiting samples. */
  private async append({ samples, voltages }: VoltageBlock, waiting: number): Promise<void> {
    const { session, meter } = this.backend;
    const { uploaded, buffers, pitchBytes } = this.parts;
    const { inputs } = this.plan;
    const { upload } = session.streams;
    const { memory, done } = buffers[this.which];
    const rowBytes = samples * this.sampleBytes;
    if (rowBytes === 0) return;
    const pinned = session.pinnedAddress(voltages);
    const host = pinned ?? (await this.stage(voltages));
    done.holdBack(upload);
    const rows = {
      host,
      hostPitchBytes: rowBytes,
      widthBytes: rowBytes,
      rows: inputs,
      device: offsetBy(memory.pointer, waiting * this.sampleBytes),
      devicePitchBytes: pitchBytes,
    };
    meter.around('upload', upload, () => {
      session.copyRows(rows, 'up', upload);
    });
    meter.sent({ bytes: inputs * rowBytes, isCopied: pinned === undefined });
    uploaded.record(upload);
    // The caller may write to its own memory again once this resolves.
    if (pinned !== undefined) await uploaded.passed();
  }

  private async stage({ buffer, byteOffset, byteLength }: ArrayBufferView): Promise<bigint> {
    const { inputs, blockSamples } = this.plan;
    const { session } = this.backend;
    await this.parts.uploaded.passed(); // the staging memory may still be in transfer
    const bytes = inputs * blockSamples * this.sampleBytes;
    this.staging ??= this.closers.keep(session.allocatePinned('voltages', bytes));
    this.staging.view(Uint8Array, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength));
    return this.staging.pointer;
  }

  /** Fills the host's table once it may be written, and copies so many bytes of it. */
  private async send(
    { onCard, onHost, sent }: Table,
    bytes: number,
    fill: (view: Uint8Array) => void,
  ): Promise<void> {
    await sent.passed();
    fill(onHost.view(Uint8Array, bytes));
    const { session } = this.backend;
    session.call('cuMemcpyHtoDAsync', onCard.pointer, onHost.pointer, bytes, this.compute.handle);
    sent.record(this.compute);
  }

  /** missing : [a][t] on the card, or undefined where every spectrum is there. */
  private async sendMissing({ gaps, spectra }: StreamStep): Promise<DeviceMemory | undefined> {
    if (gaps.length === 0) return undefined;
    const { missing } = this.parts;
    await this.send(missing, this.plan.inputs * spectra, (flags) => {
      flags.fill(0);
      for (const { firstInput, endInput, firstSample, endSample } of gaps)
        for (let a = firstInput; a < endInput; a++)
          flags.fill(1, a * spectra + firstSample, a * spectra + endSample);
    });
    return missing.onCard;
  }

  private async sendDelays(given: RunDelays | undefined): Promise<void> {
    const { mostDelaySamples = 0 } = this.plan;
    const { delays } = this.parts;
    if (!delays || !given) return;
    await this.send(delays, delays.bytes, ({ buffer, byteOffset, byteLength }) => {
      writeDelays(new DataView(buffer, byteOffset, byteLength), given, mostDelaySamples, this.sampleBytes);
    });
  }

  private produce(
    from: DeviceVoltages,
    spectra: number,
    missing: DeviceMemory | undefined,
    out: CudaSpectraBlock,
    delays: DeviceMemory | undefined,
  ): PowerCells | undefined {
    const { plan, compute } = this;
    if (delays === undefined && plan.mostDelaySamples !== undefined)
      refuse('channelise', 'no delays were given to a plan with delays', 'give them');
    const powers = this.parts.engine.launch(from, spectra, missing, delays, out, compute);
    this.counted = undefined;
    if (plan.outputType === 'cf32') return powers;
    const dataBytes = spectra * INTEGER_BYTES;
    const tailBytes = roundUp(dataBytes, SPAN_BYTES) - dataBytes;
    if (tailBytes === 0) return powers;
    const rows = plan.channels * plan.inputs;
    const tail = offsetBy(out.pointer, dataBytes);
    const { session } = this.backend;
    session.call('cuMemsetD2D8Async', tail, out.pitchBytes, 0, tailBytes, rows, compute.handle);
    return powers;
  }

  /** Moves the samples for the next window to the front of the other buffer. */
  private moveOn({ consumed }: StreamStep, inAll: number): void {
    if (consumed === 0) return;
    const { moveWaiting, buffers, pitchBytes } = this.parts;
    const { inputs } = this.plan;
    const bytes = (inAll - consumed) * this.sampleBytes;
    const { memory, done } = buffers[this.which];
    const other = buffers[1 - this.which].memory;
    moveWaiting.set([memory.pointer, other.pointer, pitchBytes, consumed * this.sampleBytes, bytes, inputs]);
    const grid = [Math.max(1, Math.min(64, Math.ceil(bytes / 4096))), Math.min(inputs, 65_535)] as const;
    if (bytes > 0) moveWaiting.launch({ grid, threads: 256 }, this.compute);
    done.record(this.compute);
    this.which = 1 - this.which;
  }

  private make(
    { samples }: VoltageBlock,
    step: StreamStep,
    out: CudaSpectraBlock,
    missing: DeviceMemory | undefined,
  ): void {
    const { compute } = this;
    const { uploaded, buffers, pitchBytes, delays } = this.parts;
    uploaded.holdBack(compute);
    out.writing(compute);
    const rows = { pointer: buffers[this.which].memory.pointer, pitchBytes };
    const powers =
      step.spectra > 0 ? this.produce(rows, step.spectra, missing, out, delays?.onCard) : undefined;
    out.doneWriting(compute, step.spectra, step.gaps, { powers });
    this.moveOn(step, step.waiting + samples);
  }
}
