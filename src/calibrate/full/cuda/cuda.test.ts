/** The shared cases on a card; without one they are skipped, saying so. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeCuda, openCuda } from '../../../backend/cuda/cuda.js';
import { fullBatchOf, fullCases, fullSample } from '../cases.js';
import { solveFullReference } from '../reference.js';
import { prepareCudaFullSolver } from './prepare.js';

const presence = describeCuda();
if (!presence.present) {
  it('full polarisation on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda', () => {
    fullCases(() => openCuda());
    for (const [channels, stations] of [
      [7, 3],
      [2, 129],
      [1, 300],
    ] as const)
      it(`${channels} × ${stations} stations, autocorrelations too`, async () => {
        const backend = await openCuda();
        const sample = fullSample({ seed: 1, stations, channels, noiseJy: 3 });
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
