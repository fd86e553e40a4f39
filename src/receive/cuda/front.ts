/**
 * Copies the ring's blocks to the GPU and turns them into spectra there. Packet slots are uploaded unchanged on their
 * own stream, straight from the ring's pages where those are page-locked; a kernel does the corner turn. The GPU holds
 * two blocks of packet slots, so that one is uploaded while the other is processed.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { CudaEvent, DeviceMemory, PinnedMemory } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import type { SpectraShape } from '../../core/blocks.js';
import { preparing, type Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
import { presenceRowWords } from '../../core/presence/presence.js';
import type { SpectraType } from '../../core/axes.js';
import { blockBytesOf, samplesPerBlock, type RingPlan } from '../plan.js';
import type { ArrivedBlock } from '../ring.js';
import { planTurn, fragmentCorners, turnLaunch } from './plan.js';

/** Blocks of packet slots on the GPU: one being turned, one being uploaded. */
const CELL_BLOCKS = 2;
/** Blocks of spectra: one being processed, one being turned, and one for a block that crosses the end of an image. */
export const SPECTRA_BLOCKS = 3;

type CellBlock = Pick<ArrivedBlock, 'cells' | 'presence' | 'address'>;

interface CellFront extends Closable {
  readonly shape: SpectraShape;
  /** Queues a block's upload. Its memory must not change until `arrived` has resolved. */
  send(block: CellBlock): Promise<void>;
  /** Queues the corner turn of these samples of the last block sent; SPECTRA_BLOCKS turns later spectra are reused. */
  turn(firstSample: number, samples: number, gaps: readonly SpectraGap[]): CudaSpectraBlock;
  /** Resolves when the last block sent is on the GPU. */
  arrived(): Promise<void>;
  /** Blocks sent so far, and how many of them had to be copied on the host first. */
  readonly sent: { readonly blocks: number; readonly copied: number; readonly bytes: number };
}

/** Timing marks around the queued work. */
interface FrontMarks {
  around(step: 'upload' | 'turn', queue: () => void): void;
}

interface CellSlot {
  readonly cells: DeviceMemory;
  readonly presence: DeviceMemory;
  readonly presenceOnHost: PinnedMemory;
  readonly uploaded: CudaEvent;
  readonly turned: CudaEvent;
  /** For memory that is not page-locked; allocated on first use. */
  staging?: PinnedMemory;
}

export const shapeOf = (plan: RingPlan): SpectraShape => ({
  type: plan.stream.type as SpectraType,
  channels: plan.stream.channels,
  inputs: plan.stream.inputs,
  capacity: samplesPerBlock(plan),
});

export const prepareCellFront = (
  plan: RingPlan,
  backend: CudaBackend,
  marks: FrontMarks = {
    around: (_, queue) => {
      queue();
    },
  },
): Promise<CellFront> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { upload, prepare } = session.streams;
    const { stream, slotsPerBlock } = plan;
    const cellBytes = blockBytesOf(plan);
    const rowWords = presenceRowWords(slotsPerBlock);
    const presenceBytes = 4 * stream.senders.length * stream.fragments * rowWords;
    const shape = shapeOf(plan);
    const { turnCells } = await shop.prepare(planTurn(plan));
    const boxes = closers.keep(await uploadArray(session, 'place of each fragment', fragmentCorners(stream)));
    const slots = Array.from({ length: CELL_BLOCKS }, (): CellSlot => ({
      cells: closers.keep(session.allocate('a block of packets', cellBytes)),
      presence: closers.keep(session.allocate('presence', presenceBytes)),
      presenceOnHost: closers.keep(session.allocatePinned('presence', presenceBytes)),
      uploaded: closers.keep(session.createEvent()),
      turned: closers.keep(session.createEvent()),
    }));
    const spectra = Array.from({ length: SPECTRA_BLOCKS }, () =>
      closers.keep(backend.allocateSpectra(shape)),
    );
    const sent = { blocks: 0, copied: 0, bytes: 0 };
    let turns = 0;
    const latest = (): CellSlot => slots[(sent.blocks + CELL_BLOCKS - 1) % CELL_BLOCKS];

    /** Where the GPU can copy from: the block's own pages, or a copy of them. */
    async function source(slot: CellSlot, { cells, address }: CellBlock): Promise<bigint> {
      if (address !== undefined && session.isLocked(address)) return address;
      await slot.uploaded.passed();
      slot.staging ??= closers.keep(session.allocatePinned('a block of packets', cellBytes));
      slot.staging.view(Uint8Array, cells.length).set(cells);
      sent.copied++;
      return slot.staging.pointer;
    }

    return {
      shape,
      sent,
      send: async (block) => {
        if (block.cells.length !== cellBytes || block.presence.bits.byteLength !== presenceBytes) {
          refuse(
            'packets on a card',
            `a block of ${block.cells.length} bytes where ${cellBytes} were planned`,
          );
        }
        const slot = slots[sent.blocks % CELL_BLOCKS];
        const from = await source(slot, block);
        await slot.uploaded.passed();
        slot.presenceOnHost.view(Uint32Array, presenceBytes / 4).set(block.presence.bits);
        slot.turned.holdBack(upload);
        marks.around('upload', () => {
          session.call('cuMemcpyHtoDAsync', slot.cells.pointer, from, cellBytes, upload.handle);
          session.call(
            ...(['cuMemcpyHtoDAsync', slot.presence.pointer, slot.presenceOnHost.pointer] as const),
            ...([presenceBytes, upload.handle] as const),
          );
        });
        slot.uploaded.record(upload);
        sent.blocks++;
        sent.bytes += cellBytes + presenceBytes;
      },
      turn: (firstSample, samples, gaps) => {
        const slot = latest();
        const block = spectra[turns++ % SPECTRA_BLOCKS];
        slot.uploaded.holdBack(prepare);
        block.writing(prepare);
        const { items, ...launch } = turnLaunch(stream, samples);
        marks.around('turn', () => {
          turnCells.set([
            slot.cells.pointer,
            slot.presence.pointer,
            rowWords,
            boxes.pointer,
            block.pointer,
            block.pitchBytes,
            firstSample,
            samples,
            items,
          ]);
          turnCells.launch(launch, prepare);
        });
        block.doneWriting(prepare, samples, gaps);
        slot.turned.record(prepare);
        return block;
      },
      arrived: () => latest().uploaded.passed(),
      close: () => closers.close(),
    };
  });
