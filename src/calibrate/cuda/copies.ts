/** Arrays of a solve to a card and back, through page-locked memory of its own. */
import type { CudaEvent, CudaSession, DeviceMemory, PinnedMemory } from '../../backend/cuda/session.js';
import { offsetBy } from '../../backend/cuda/session.js';
import type { Closers } from '../../core/closing.js';

export class Copies {
  private readonly up: PinnedMemory;
  private readonly down: PinnedMemory;
  private readonly arrived: CudaEvent;

  constructor(
    private readonly session: CudaSession,
    closers: Closers,
    most: { readonly upBytes: number; readonly downBytes: number },
  ) {
    this.up = closers.keep(session.allocatePinned('a calibration', most.upBytes));
    this.down = closers.keep(session.allocatePinned('gains', most.downBytes));
    this.arrived = closers.keep(session.createEvent());
  }

  async send(to: DeviceMemory, values: NodeJS.TypedArray): Promise<void> {
    const { session, up } = this;
    up.view(Uint8Array, values.byteLength).set(
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    );
    const { handle } = session.streams.compute;
    session.call('cuMemcpyHtoDAsync', to.pointer, up.pointer, values.byteLength, handle);
    await this.settled();
  }

  /** Fills the values. */
  async receive<Values extends Float32Array | Float64Array | Int32Array>(
    from: DeviceMemory,
    values: Values,
    offsetBytes = 0,
  ): Promise<Values> {
    const { session, down } = this;
    const source = offsetBy(from.pointer, offsetBytes);
    const { handle } = session.streams.compute;
    session.call('cuMemcpyDtoHAsync', down.pointer, source, values.byteLength, handle);
    await this.settled();
    new Uint8Array(values.buffer).set(down.view(Uint8Array, values.byteLength));
    return values;
  }

  private async settled(): Promise<void> {
    this.arrived.record(this.session.streams.compute);
    await this.arrived.passed();
  }
}
