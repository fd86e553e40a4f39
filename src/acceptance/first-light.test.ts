/** First light as a newcomer types it, in a bundle: in a clone `npm start` is the same, and CI runs that. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corella } from './corella.js';

const isBundle = existsSync(fileURLToPath(new URL('../../left-out-tests.json', import.meta.url)));
const skip = isBundle ? false : 'npm start is this test in a clone';

describe('first light', () => {
  it('writes all its products, close to the truth, on whatever the machine has', { skip }, async () => {
    const folder = temporaryFolder('first-light');
    const { code, stdout, stderr } = await corella(folder, 'demo');
    assert.equal(code, 0, stderr);
    for (const name of ['image.fits', 'image.png', 'direct.fits', 'direct.png', 'gains.json', 'gains.calh5'])
      assert.ok(statSync(join(folder, 'first-light', name)).size > 0, name);
    for (const name of [
      'voltages.sigmf-meta',
      'voltages.sigmf-data',
      'visibilities.uvfits',
      'visibilities.uvh5',
    ])
      assert.ok(statSync(join(folder, 'first-light', name)).size > 0, name);
    assert.match(stdout, /Cyg A +30\.2°/);
    const summary = JSON.parse(readFileSync(join(folder, 'first-light', 'summary.json'), 'utf8')) as object;
    assert.ok('sources' in summary);
  });
});
