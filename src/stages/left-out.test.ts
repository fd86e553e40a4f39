import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadTelescope } from '../telescope/load.js';
import { imagedInputs } from './left-out.js';

describe('what images leave out', () => {
  it('nothing where nothing is flagged', async () => {
    const telescope = await loadTelescope('lwasv');
    const frequenciesHz = Float64Array.of(50e6);
    assert.deepEqual(imagedInputs({ telescope, frequenciesHz, flaggedInputs: new Uint8Array(512) }), {
      telescope,
    });
  });

  it('flagged inputs have no gain; a station without any stands where another does', async () => {
    const telescope = await loadTelescope('lwasv');
    const flaggedInputs = new Uint8Array(512);
    // One polarisation of the first, all of the last: LWA-SV's outrigger.
    for (const input of [1, 510, 511]) flaggedInputs[input] = 1;
    const { telescope: imaged, calibrated } = imagedInputs({
      telescope,
      flaggedInputs,
      frequenciesHz: Float64Array.of(50e6, 60e6),
    });
    assert.ok(calibrated && typeof calibrated !== 'function');
    assert.deepEqual(
      [...calibrated.solved].flatMap((solved, at) => (solved === 0 ? [at] : [])),
      [1, 510, 511, 513, 1022, 1023],
    );
    assert.deepEqual(imaged.stations.slice(0, 255), telescope.stations.slice(0, 255));
    assert.equal(imaged.stations[255].eastM, telescope.stations[0].eastM);
    assert.equal(imaged.stations[255].name, 'stand256');
    const widthM = Math.max(...imaged.stations.map(({ eastM }) => Math.abs(eastM)));
    assert.ok(widthM < 70);
  });
});
