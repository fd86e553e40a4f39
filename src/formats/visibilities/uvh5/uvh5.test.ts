import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineIndex } from '../../../core/axes.js';
import { addSeconds, secondsBetween } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot } from '../../../core/vector.js';
import { skyFrame } from '../../../sky/frame.js';
import { openHdf5 } from '../../hdf5/read.js';
import { createUvh5 } from './write.js';
import { baselines, folder, header, integration, nextPath, readAll, start, telescope } from './testing.js';

describe('UVH5', () => {
  it('gives back what was written: values, counts, flags, times, telescope', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header, { values: 'complex128' });
    const written = Array.from({ length: 70 }, (_, k) => integration(k));
    written[3].flaggedInputs[2] = 1;
    written[3].counts[baselineIndex(2, 0)] = 0;
    for (const one of written) await writer.append(one);
    await writer.finish();
    const { file, all } = await readAll(path);
    assert.deepEqual(file.telescope, telescope);
    assert.deepEqual([...file.header.frequenciesHz], [159e6, 160e6]);
    assert.ok(Math.abs(file.header.phaseCentre.raDeg - 250) < 1e-9);
    assert.deepEqual(file.header.history, header.history);
    assert.equal(file.integrationCount, 70);
    all.forEach((one, k) => {
      // A Julian Date in one double resolves 40 µs.
      assert.ok(Math.abs(secondsBetween(one.start, written[k].start)) < 5e-5);
      if (k === 3) return;
      assert.deepEqual(one.counts, written[k].counts);
      one.visibilities.forEach((value, at) => {
        // Two phase rotations and a division in float64: a few units of 1e-16 × 1.5e4.
        assert.ok(Math.abs(value - written[k].visibilities[at]) < 1e-10);
      });
    });
    assert.deepEqual([...all[3].flaggedInputs], [0, 0, 1, 0, 0, 0]);
    assert.equal(all[3].counts[baselineIndex(2, 0)], 0);
    assert.equal(all[3].counts[baselineIndex(2, 1)], written[3].counts[baselineIndex(2, 1)]);
  });

  it('keeps whole sums bit for bit, fringes running', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header, { values: 'int32' });
    const written = integration(0);
    await writer.append(written);
    await writer.finish();
    const raw = await openHdf5(path);
    // Row 1 is antennas 0 and 1; its XY (third product) is conj(V₀₁[X][Y]) = V₁₀[Y][X].
    const from = 2 * (baselineIndex(1, 0) * 4 + 2);
    assert.deepEqual(
      [...raw.dataset('Data/visdata').rows(1, 1).subarray(4, 6)],
      [written.visibilities[from], written.visibilities[from + 1]],
    );
    // uvw = r₂ − r₁, east, north, up.
    assert.deepEqual([...raw.dataset('Header/uvw_array').rows(1, 1)], [12, -3, 0.5]);
    await raw.close();
    const { all } = await readAll(path);
    assert.deepEqual(all[0].visibilities, written.visibilities);
    const half = integration(1);
    half.visibilities[0] = 0.5;
    const refusing = await createUvh5(nextPath(), header, { values: 'int32' });
    await assert.rejects(refusing.append(half), /no whole number of at most 32 bits/);
    await refusing.abandon();
  });

  it('a copy of a drift scan drifts, value by value', async () => {
    const [drifting, copy] = [nextPath(), nextPath()];
    const writer = await createUvh5(drifting, { ...header, fringes: 'running' }, { values: 'complex128' });
    await writer.append(integration(0));
    await writer.finish();
    const there = await readAll(drifting);
    assert.equal(there.file.header.fringes, 'running');
    const again = await createUvh5(copy, there.file.header, { values: 'complex128' });
    await again.append(there.all[0]);
    await again.finish();
    const [one, two] = await Promise.all([openHdf5(drifting), openHdf5(copy)]);
    // 0 and −0 are equal.
    const numbers = (file: typeof one, name: string): number[] =>
      Array.from(file.dataset(name).rows(0, 6), (value) => value + 0);
    for (const name of ['Data/visdata', 'Header/uvw_array'])
      assert.deepEqual(numbers(two, name), numbers(one, name), name);
    assert.equal(two.text('Header/phase_center_catalog/0/cat_type'), 'unprojected');
    await one.close();
    await two.close();
    // A file with stopped fringes is marked as such.
    const stopped = nextPath();
    const stopping = await createUvh5(stopped, header, { values: 'complex64' });
    await stopping.append(integration(0));
    await stopping.finish();
    assert.equal((await readAll(stopped)).file.header.fringes, undefined);
  });

  it('stops fringes: a source beside the centre has the phase +2π(ul + vm + w(n − 1))', async () => {
    const path = nextPath();
    const middle = addSeconds(start, 1);
    const frame = skyFrame(telescope.site, middle);
    const source = frame.directionEnu({ raDeg: 262, decDeg: -24 });
    const one = integration(0);
    one.visibilities.fill(0);
    one.counts.fill(10);
    const position = telescope.stations.map((s) => ({ x: s.eastM, y: s.northM, z: s.upM }));
    for (let c = 0; c < 2; c++) {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j <= i; j++) {
          // Our convention: V_ij = I·e^(+2πi f (r_i − r_j)·ŝ/c), summed over 10 samples.
          const delayS = (dot(position[i], source) - dot(position[j], source)) / SPEED_OF_LIGHT_M_PER_S;
          const phase = 2 * Math.PI * header.frequenciesHz[c] * delayS;
          for (const pair of [0, 3]) {
            const at = 2 * ((c * baselines + baselineIndex(i, j)) * 4 + pair);
            one.visibilities[at] = 10 * Math.cos(phase);
            one.visibilities[at + 1] = 10 * Math.sin(phase);
          }
        }
      }
    }
    const writer = await createUvh5(path, header, { values: 'complex128' });
    await writer.append(one);
    await writer.finish();
    const axes = frame.tangentAxes(header.phaseCentre);
    const [l, m, n] = [dot(axes.l, source), dot(axes.m, source), dot(axes.n, source)];
    assert.ok(l > 0.05 && m > 0.05, 'east and north of the centre');
    const raw = await openHdf5(path);
    const uvw = raw.dataset('Header/uvw_array').rows(0, baselines);
    const values = raw.dataset('Data/visdata').rows(0, baselines);
    for (let row = 0; row < baselines; row++) {
      for (let c = 0; c < 2; c++) {
        const [u, v, w] = uvw.subarray(3 * row, 3 * row + 3);
        const phase =
          ((2 * Math.PI * header.frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S) * (u * l + v * m + w * (n - 1));
        const at = 2 * ((row * 2 + c) * 4);
        assert.ok(Math.abs(values[at] - Math.cos(phase)) < 1e-9);
        assert.ok(Math.abs(values[at + 1] - Math.sin(phase)) < 1e-9);
      }
    }
    await raw.close();
  });

  it('leaves a readable file with every finished integration when it is cut off', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header);
    for (let k = 0; k < 3; k++) await writer.append(integration(k));
    const part = readdirSync(folder).find((name) => name.endsWith('.part')) ?? '';
    const left = nextPath();
    copyFileSync(join(folder, part), left);
    const { all } = await readAll(left);
    assert.equal(all.length, 3);
    await writer.abandon();
    assert.ok(!readdirSync(folder).some((name) => name.endsWith('.part')));
  });

  it('refuses to finish empty, and a time twice', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header);
    await assert.rejects(writer.finish(), /no integration was written/);
    const twice = await createUvh5(path, header);
    await twice.append(integration(0));
    await assert.rejects(twice.append(integration(0)), /two integrations are at Julian Date/);
    await twice.abandon();
  });
});
