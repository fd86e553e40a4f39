/**
 * The shared cases on every path of a card, and the sizes that only a card's tiling could get wrong. Without a card all
 * of it is skipped, with a message; plan.test.ts has the tests that need none.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  cudaPaths,
  describeCuda,
  openCuda,
  type CudaBackend,
  type CudaPath,
} from '../../backend/cuda/cuda.js';
import { findDevices } from '../../backend/cuda/device.js';
import { spectraCAT } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { correlateBlocks, correlateCases, whole } from '../cases.js';
import { planCorrelation, type CorrelateOptions } from '../plan.js';
import { correlateReference, type CorrelateBlock } from '../reference-testing.js';
import { fullScaleSpectra, randomSpectra } from '../samples.testing.js';

const presence = describeCuda();
const paths = presence.present
  ? (Object.keys(cudaPaths) as CudaPath[]).filter((path) =>
      cudaPaths[path].runsOn(findDevices()[0].capability),
    )
  : [];

if (!presence.present) {
  it('the X-engine on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
}

for (const path of paths) {
  describe(`cuda, ${cudaPaths[path].title}`, () => {
    correlateCases(() => openCuda({ path }));
    sizes(path);
  });
}

function sizes(path: CudaPath): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda({ path });
  });
  after(() => backend.close());

  const agree = async (
    options: CorrelateOptions,
    blocks: (plan: ReturnType<typeof planCorrelation>) => CorrelateBlock[],
  ) => {
    const plan = planCorrelation(options);
    const given = blocks(plan);
    const got = await correlateBlocks(plan, backend, given);
    const want = correlateReference(plan, given);
    const wrong = got.visibilities.findIndex((value, n) => value !== want.visibilities[n]);
    assert.equal(
      wrong,
      -1,
      `element ${wrong} is ${got.visibilities[wrong]}, not ${want.visibilities[wrong]}`,
    );
    assert.deepEqual(got.counts, want.counts);
  };

  // Every tile shape: one tile, several, pairs with and without a last half, rows past the last input.
  const tilings = [
    { stations: 32, polarisations: 2, channels: 3, samples: 200 },
    { stations: 64, polarisations: 2, channels: 2, samples: 1000 },
    { stations: 100, polarisations: 1, channels: 2, samples: 500 },
    { stations: 100, polarisations: 2, channels: 2, samples: 136 },
    { stations: 128, polarisations: 2, channels: 1, samples: 2048 },
    { stations: 200, polarisations: 2, channels: 1, samples: 72 },
    { stations: 256, polarisations: 2, channels: 1, samples: 333 },
    { stations: 301, polarisations: 1, channels: 2, samples: 100 },
    { stations: 512, polarisations: 2, channels: 1, samples: 65 },
    // More tiles than multiprocessors: persistent blocks must continue correctly from tile to tile.
    { stations: 5, polarisations: 2, channels: 900, samples: 130 },
    { stations: 70, polarisations: 1, channels: 300, samples: 64 },
    { stations: 96, polarisations: 2, channels: 40, samples: 100 },
  ] as const;
  for (const { stations, polarisations, channels, samples } of tilings) {
    it(`${stations} stations, ${polarisations} pol, ${channels} channels, ${samples} samples, twice`, async () => {
      await agree({ stations, polarisations, channels, type: 'ci8' }, (plan) => [
        whole(fullScaleSpectra(plan, samples, randomStream(1, path, stations)), samples),
        whole(randomSpectra(plan, samples, randomStream(2, path, stations)), samples),
      ]);
    });
  }

  it('one block longer than int32 holds', async () => {
    const samples = 140_001;
    await agree({ stations: 3, polarisations: 1, channels: 1, type: 'ci8' }, () => {
      const rows = new Int8Array(3 * samples * 2).fill(127);
      rows.fill(-127, 2 * samples, 4 * samples);
      return [whole(spectraCAT(rows, 'ci8', 1, 3, samples), samples)];
    });
  });

  it('reads back what was written', async () => {
    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      const plan = planCorrelation({ stations: 5, polarisations: 2, channels: 3, type });
      const spectra = randomSpectra(plan, 37, randomStream(3, type));
      const block = backend.allocateSpectra({ type, channels: 3, inputs: 10, capacity: 50 });
      await block.write(spectra, 37);
      assert.deepEqual(await block.read(), spectra);
      await block.close();
    }
  });

  it('refuses what breaks the contract, naming it', async () => {
    const plan = planCorrelation({ stations: 3, polarisations: 1, channels: 2, type: 'ci8' });
    const spectra = randomSpectra(plan, 20, randomStream(4, path));
    spectra[2 * ((1 * 3 + 2) * 20 + 13) + 1] = -128;
    await assert.rejects(
      correlateBlocks(plan, backend, [whole(spectra, 20)]),
      /channel 1, input 2, sample 13 holds −128/,
    );
  });

  it('refuses more memory than the card has, saying how much', () => {
    assert.throws(
      () => backend.allocateSpectra({ type: 'ci8', channels: 1 << 20, inputs: 4096, capacity: 4096 }),
      /needs .* of device memory, .* has .* left; take fewer channels/,
    );
  });
}
