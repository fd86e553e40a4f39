// Files with the structure of published ones, made by hand with astropy and h5py (shapes.py), read by Corella and
// compared with the results of those libraries: GLEAM's catalogue, a skyh5 model, CalFITS, ehtim's and Astrogeo's
// UVFITS.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { openFile, prepareSkyModels, readGainFile } from '../../dist/formats/index.js';
import { parseSources } from '../../dist/sky/chosen-sources.js';
import { peers, record } from './peers.js';

if (!peers.has('astropy') || !peers.has('h5py')) {
  console.log('      passed over: files in the shape of others (astropy or h5py is not here)');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'corella-shapes-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const made = spawnSync(peers.python, [new URL('shapes.py', import.meta.url).pathname, folder], {
  encoding: 'utf8',
});
if (made.status !== 0) {
  console.log(`FAIL  shapes.py\n${made.stderr}`);
  process.exit(1);
}
const model = z.array(z.tuple([z.string(), z.number(), z.number(), z.number()]));
const amplitudes = z.array(z.number());
const reported = z
  .object({
    'gleam.fits': model,
    'model.skyh5': model,
    'gains.calfits': z.array(z.array(z.array(z.array(z.tuple([z.number(), z.number()]).nullable())))),
    'ehtim.uvfits': amplitudes,
    'astrogeo_vis.fits': amplitudes,
  })
  .parse(JSON.parse(made.stdout));

/**
 * @param {number} found
 * @param {number} wanted
 */
const close = (found, wanted) => {
  assert.ok(Math.abs(found - wanted) <= 1e-6 * Math.abs(wanted), `${found} where ${wanted} belongs`);
};
for (const name of /** @type {const} */ (['gleam.fits', 'model.skyh5'])) {
  const path = join(folder, name);
  await prepareSkyModels(path);
  // Fixed positions: no frame is needed.
  const sources = parseSources(path)(/** @type {never} */ (undefined));
  assert.equal(sources.length, reported[name].length);
  reported[name].forEach(([source, raDeg, decDeg, fluxJy], k) => {
    const place = sources[k].position(/** @type {never} */ (undefined));
    assert.deepEqual([sources[k].name, place.raDeg, place.decDeg], [source, raDeg, decDeg]);
    close(sources[k].fluxJy(150e6), fluxJy);
  });
  console.log(`ok    ${name}: ${sources.length} sources as astropy and h5py read them`);
}
const gains = await readGainFile(join(folder, 'gains.calfits'));
reported['gains.calfits'].forEach((channels, t) => {
  const { gains: values, solved } = [gains, ...(gains.later ?? [])][t];
  channels.forEach((antennas, c) => {
    antennas.forEach((terms, row) => {
      terms.forEach((wanted, q) => {
        // Antennas a and c are stations 0 and 2 of three.
        const input = c * 6 + 4 * row + q;
        assert.equal(solved[input], wanted === null ? 0 : 1);
        if (wanted) assert.deepEqual([...values.subarray(2 * input, 2 * input + 2)], wanted);
      });
    });
  });
});
console.log('ok    gains.calfits: gains as astropy reads them');
record({ format: 'calfits', peer: 'astropy', direction: 'read', files: 1, numbers: 32 });
for (const name of /** @type {const} */ (['ehtim.uvfits', 'astrogeo_vis.fits'])) {
  const file = await openFile(join(folder, name));
  assert.ok(file.kind === 'visibilities' && file.header.object === 'M87');
  for await (const { passThrough, polarisations } of file.integrations()) {
    assert.ok(passThrough && polarisations === 2);
    // Pairs (0, 1), (0, 2), (1, 2) are baselines 1, 3, 4; RR is the first of four products and LL the last.
    [1, 3, 4].forEach((b, k) => {
      [0, 3].forEach((product, q) => {
        const at = 2 * (4 * b + product);
        close(Math.hypot(passThrough.means[at], passThrough.means[at + 1]), reported[name][2 * k + q]);
      });
    });
  }
  await file.close();
  record({ format: 'uvfits', peer: 'astropy', direction: 'read', files: 1, numbers: 6 });
  console.log(`ok    ${name}: amplitudes as astropy reads them`);
}
