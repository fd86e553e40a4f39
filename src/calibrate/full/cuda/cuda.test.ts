/** The shared cases on a card; skipped without one, with a message. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeCuda, openCuda } from '../../../backend/cuda/cuda.js';
import { fullBatchOf, fullCases, fullSample } from '../cases.js';
import { solveFullReference } from '../reference.js';
import { prepareCudaFullSolver } from './prepare.js';

const POLARISED = [[0, 0, 0], [0.05, 0.6, 0.1], [-0.3, 0.1, 0.2]] as const; // prettier-ignore
const BEAMS = [[0.1, 0, 0], [-0.2, 0, 0], [0.3, 0, 0]] as const; // prettier-ignore
const UNPOLARISED = [[0, 0, 0], [0, 0, 0], [0, 0, 0]] as const; // prettier-ignore

const presence = describeCuda();
if (!presence.present) {
  it('full polarisation on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda', () => {
    describe('on the chip where it fits', () => {
      fullCases(() => openCuda());
    });
    describe('from memory', () => {
      fullCases(() => openCuda(), {
        prepare: async (plan, backend) => {
          assert.ok(backend.kind === 'cuda');
          return prepareCudaFullSolver(plan, backend, { hold: 'memory' });
        },
      });
    });
    // One block a solve, many, and more than one wave of them; 300 stations of a general model fill the chip.
    for (const [channels, stations, polarised] of [
      [7, 3, POLARISED],
      [200, 20, POLARISED],
      [9, 64, POLARISED],
      [2, 129, POLARISED],
      [30, 150, POLARISED],
      [30, 150, BEAMS],
      [20, 256, UNPOLARISED],
      [1, 300, POLARISED],
    ] as const)
      it(`${channels} × ${stations} stations, autocorrelations too`, async () => {
        const backend = await openCuda();
        const sample = fullSample({ seed: 1, stations, channels, noiseJy: 3, polarised });
        const batch = fullBatchOf(sample, { kind: 'fixed', count: 3 }, 'include');
        const wanted = fullBatchOf(sample, { kind: 'fixed', count: 3 }, 'include');
        await solveFullReference(wanted);
        const solver = await prepareCudaFullSolver(batch, backend);
        await solver.solve(batch);
        await solver.close();
        await backend.close();
        wanted.gains.forEach((value, n) => {
          assert.ok(Math.abs(batch.gains[n] - value) < 1e-5, `gain element ${n}`);
        });
      });
  });
}
