/**
 * The shared cases on every path of a card, and the sizes that only a card's tiling could get wrong. Without a card they are
 * skipped with a message.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cudaPaths, describeCuda, openCuda, type CudaPath } from '../../backend/cuda/cuda.js';
import { findDevices } from '../../backend/cuda/device.js';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { beamCases, type BeamSizes } from '../cases.js';
import { planBeams } from '../plan.js';
import { prepareCudaBeamformer, prepareCudaIncoherent } from './prepare.js';

const presence = describeCuda();
const paths = presence.present
  ? (Object.keys(cudaPaths) as CudaPath[]).filter((path) =>
      cudaPaths[path].runsOn(findDevices()[0].capability),
    )
  : [];

if (!presence.present)
  it('the beamformer on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);

const bytes = { type: 'ci8', weights: 'ci8' } as const;
/** Several steps of stations, each width of a tile, more tiles than multiprocessors, incomplete tiles of beams. */
const more: BeamSizes = [
  [{ ...bytes, stations: 130, polarisations: 1, channels: 2, beams: 40 }, [256, 100]],
  [{ ...bytes, stations: 64, polarisations: 1, channels: 1, beams: 129 }, [300]],
  [{ ...bytes, stations: 200, polarisations: 2, channels: 2, beams: 33 }, [129, 260]],
  [{ ...bytes, stations: 65, polarisations: 2, channels: 1, beams: 70 }, [140]],
  [{ ...bytes, stations: 9, polarisations: 2, channels: 300, beams: 3 }, [150]],
  [{ ...bytes, stations: 300, polarisations: 1, channels: 1, beams: 256 }, [128]],
];
for (const path of paths)
  describe(`cuda, ${cudaPaths[path].title}`, () => {
    beamCases(() => openCuda({ path }), { more });
  });

describe('beams on a card of paper', () => {
  it('close all they opened, also where they cannot be prepared', async () => {
    const plan = planBeams({ ...bytes, stations: 3, polarisations: 2, channels: 2, beams: 5 });
    for (const [path, places] of [
      ['hopper', 2], // weights as given, and arranged
      ['dp4a', 1],
    ] as const)
      assert.equal(await assertClosesAll((backend) => prepareCudaBeamformer(plan, backend), path), places);
    assert.equal(await assertClosesAll((backend) => prepareCudaIncoherent(plan, backend)), 1);
  });
});
