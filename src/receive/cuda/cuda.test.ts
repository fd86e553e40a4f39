/** The corner turn on a GPU matches unpackCell, with bits missing and memory full of garbage. Skipped without a GPU. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { downloadInto } from '../../backend/cuda/transfer.js';
import { chips } from '../../packets/chips.js';
import { allStreams } from '../../packets/testing/streams.js';
import { tryTurn } from '../testing/try-turn.js';
import type { CornerTurn } from '../turn.js';
import { prepareCellFront, shapeOf } from './front.js';
import { cannotTurn } from './plan.js';

const presence = describeCuda();
if (!presence.present) {
  it('the corner turn on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe("the corner turn on a card is unpackCell's", onCard);
}

function onCard(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());
  const large = chips.plan({ boards: [1, 2, 3], channels: 80, firstChannel: 0, subbands: 2 });
  const streams = [...allStreams.map(({ plan }) => plan), large].filter(
    (plan) => cannotTurn(plan, plan.inputs % 2 === 0 ? 2 : 1) === undefined,
  );
  for (const stream of streams) {
    it(`${stream.format}, ${stream.channels} channels, ${stream.inputs} inputs`, () =>
      tryTurn(stream, (plan): CornerTurn => async (block, { first, end }, target) => {
        const front = await prepareCellFront(plan, backend);
        const samples = (end - first) * stream.samplesPerSlot;
        // Every block of spectra is used, each full of garbage beforehand.
        for (let n = 0; n < 4; n++) {
          await front.send(block);
          const spectra = front.turn(0, samples, []);
          const { session } = backend;
          await front.arrived();
          const bytes = shapeOf(plan).channels * stream.inputs * spectra.pitchBytes;
          const { compute } = session.streams;
          spectra.reading(compute);
          session.call('cuMemsetD8Async', spectra.pointer, 77, bytes, compute.handle);
          spectra.doneReading(compute);
        }
        await front.send(block);
        const spectra = front.turn(first * stream.samplesPerSlot, samples, []);
        target.set(await spectra.read());
        // Kernels read whole spans, so the samples after the last one are zero.
        const raw = new Uint8Array(shapeOf(plan).channels * stream.inputs * spectra.pitchBytes);
        const memory = { pointer: spectra.pointer, sizeBytes: raw.length, close: () => Promise.resolve() };
        await downloadInto(backend.session, memory, raw);
        for (let row = 0; row < raw.length; row += spectra.pitchBytes) {
          const tail = raw.subarray(row + 2 * samples, row + 128 * Math.ceil((2 * samples) / 128));
          assert.ok(tail.every((byte) => byte === 0));
        }
        await front.close();
      }));
  }
}
