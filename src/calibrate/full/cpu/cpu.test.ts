import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { compiledLevels } from '../../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { fullBatchOf, fullCases, fullSample } from '../cases.js';
import { solveFullReference } from '../reference.js';
import { prepareCpuFullSolver } from '../../cpu/prepare.js';

const library = loadNative();

describe('full polarisation on the processor', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      fullCases(() => openCpu({ isa, threads: 2 }));
      for (const [channels, stations, threads] of [
        [5, 3, 2],
        [2, 64, 1],
        [1, 131, 3],
        [3, 129, 2],
      ] as const)
        it(`${channels} × ${stations} stations on ${threads} thread(s), autocorrelations too`, async () => {
          const cpu = await openCpu({ isa, threads });
          const sample = fullSample({ seed: 1, stations, channels, noiseJy: 3 });
          const batch = fullBatchOf(sample, { kind: 'fixed', count: 2 }, 'include');
          const wanted = fullBatchOf(sample, { kind: 'fixed', count: 2 }, 'include');
          await solveFullReference(wanted);
          const solver = prepareCpuFullSolver(batch, cpu);
          await solver.solve(batch);
          await cpu.close();
          // Float32 keeps 6e-8; a sum of 131 terms that partly cancel loses one digit, twice over two steps.
          wanted.gains.forEach((value, n) => {
            assert.ok(Math.abs(batch.gains[n] - value) < 5e-6, `gain element ${n}`);
          });
        });
    });
  }
});
