import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { addSeconds, parseInstant, secondsBetween } from '../../../core/instant.js';
import { randomStream } from '../../../core/random.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot } from '../../../core/vector.js';
import { directionFromAltAz, skyFrame } from '../../../sky/frame.js';
import type { Station, Telescope } from '../../../telescope/telescope.js';
import { readUnit } from '../../fits/fits.js';
import { readTable } from '../../fits/table.js';
import type { VisibilityHeader } from '../../format.js';
import { openInput } from '../../io/input.js';
import { openFile, visibilityFormatFor } from '../../registry.js';
import { createUvfits } from './write.js';

const start = parseInstant('2026-06-21T23:59:59.25Z');
const site = { latitudeDeg: -26.7033194, longitudeDeg: 116.67081524, heightM: 377.827 };
const telescope = (stations: readonly Station[], polarisations: 1 | 2 = 2): Telescope => ({
  name: 'few',
  title: 'A few antennas',
  site,
  stations,
  polarisations,
  band: { lowHz: 5e7, highHz: 3.5e8 },
  recording: { centreFrequencyHz: 1.5e8, sampleRateHz: 1e6, channels: 2, bits: 4 },
  beamExponent: 1.5,
});
const station = (name: string, eastM: number, northM: number, upM: number): Station => ({
  name,
  eastM,
  northM,
  upM,
});

const header = (of: Telescope, frequenciesHz: number[], polarisations: 1 | 2 = 2): VisibilityHeader => ({
  telescope: of,
  polarisations,
  frequenciesHz: Float64Array.from(frequenciesHz),
  channelWidthHz: 1e5,
  phaseCentre: skyFrame(site, addSeconds(start, 1)).zenith,
  object: 'zenith',
  history: ['made by a test'],
});

function randomIntegration(of: VisibilityHeader, seed: number): Integration {
  const stations = of.telescope.stations.length;
  const channels = of.frequenciesHz.length;
  const baselines = baselineCount(stations);
  const random = randomStream(seed, 'visibilities');
  const counts = Float64Array.from({ length: channels * baselines }, () => 1 + random.below(1000));
  const products = of.polarisations ** 2;
  const visibilities = Float64Array.from({ length: channels * baselines * products * 2 }, (_, n) =>
    Math.round(counts[Math.floor(n / (2 * products))] * random.gaussian()),
  );
  // Autocorrelations are their own conjugates: real on the diagonal, YX = conj(XY).
  for (let at = 0; at < visibilities.length / 2; at++) {
    const b = Math.floor(at / products) % baselines;
    const i = Math.floor((Math.sqrt(8 * b + 1) - 1) / 2);
    if (baselineIndex(i, i) !== b) continue;
    const product = at % products;
    if (product === 0 || product === 3) visibilities[2 * at + 1] = 0;
    if (product === 2) {
      visibilities[2 * at] = visibilities[2 * at - 2];
      visibilities[2 * at + 1] = -visibilities[2 * at - 1];
    }
  }
  return {
    start: addSeconds(start, 2 * seed),
    durationS: 2,
    channels,
    stations,
    polarisations: of.polarisations,
    visibilities: visibilitiesCBPP(visibilities, channels, baselines, of.polarisations),
    counts: countsCB(counts, channels, baselines),
    flaggedInputs: new Uint8Array(stations * of.polarisations),
  };
}

describe('UVFITS', () => {
  const folder = temporaryFolder('uvfits');
  const write = async (
    name: string,
    of: VisibilityHeader,
    ...integrations: Integration[]
  ): Promise<string> => {
    const path = join(folder, `${name}.uvfits`);
    const writer = await visibilityFormatFor(path).createVisibilities(path, of);
    for (const one of integrations) await writer.append(one);
    await writer.finish();
    return path;
  };
  const read = async (path: string) => {
    const file = await openFile(path);
    assert.ok(file.kind === 'visibilities');
    const integrations: Integration[] = [];
    for await (const one of file.integrations()) integrations.push(one);
    await file.close();
    return { file, integrations };
  };
  /** The groups as bare numbers, parameters first. */
  const rawGroups = async (path: string, groupElements: number): Promise<Float32Array[]> => {
    const file = await openInput(path);
    const unit = await readUnit(file, 0);
    assert.ok(unit);
    const bytes = await readFile(path);
    await file.close();
    const groups = unit.dataBytes / 4 / groupElements;
    return Array.from({ length: groups }, (_, g) =>
      Float32Array.from({ length: groupElements }, (_unused, n) =>
        bytes.readFloatBE(unit.dataStart + 4 * (g * groupElements + n)),
      ),
    );
  };

  it('holds V₁₂ of (lower, higher), phased: numbers worked out by hand', async () => {
    // Station 1 is 100 m above station 0 and the phase centre is the zenith, so for A1 = 1, A2 = 2 WW = (r₁ − r₂)·n/c =
    // −100 m/c. At f = c/400 m the phase f·WW is −1/4 turn and stopping the fringes multiplies by e^(+2πi/4) = i. The
    // means are V_10 = [XX 1+2i, XY 3+4i; YX 5+6i, YY 7+8i], first letter for station 1. The file's (A1, A2) is (0, 1):
    // S[p1 p2] = i·conj(V_10[p2][p1]):
    //   XX i(1−2i) = 2+i    YY i(7−8i) = 8+7i    XY i(5−6i) = 6+5i    YX i(3−4i) = 4+3i
    const frequencyHz = SPEED_OF_LIGHT_M_PER_S / 400;
    const of = header(telescope([station('low', 0, 0, 0), station('high', 0, 0, 100)]), [frequencyHz]);
    const visibilities = new Float64Array(3 * 8);
    visibilities.set(
      [9, 0, 1, 2, 1, -2, 6, 0].map((v) => 4 * v),
      0,
    );
    visibilities.set(
      [1, 2, 3, 4, 5, 6, 7, 8].map((v) => 4 * v),
      8,
    );
    const path = await write('hand', of, {
      ...randomIntegration(of, 0),
      visibilities: visibilitiesCBPP(visibilities, 1, 3, 2),
      counts: countsCB(Float64Array.of(4, 4, 4), 1, 3),
    });
    const [auto, cross] = await rawGroups(path, 7 + 12);
    const near = (actual: Float32Array, expected: number[]): void => {
      expected.forEach((value, n) => {
        assert.ok(Math.abs(actual[n] - value) < 2e-6, `element ${n}: ${actual[n]} where ${value} is due`);
      });
    };
    assert.ok(Math.abs(cross[2] * SPEED_OF_LIGHT_M_PER_S + 100) < 1e-4, 'WW = (r1 − r2)·n/c');
    assert.deepEqual([auto[5], cross[5], cross[6]], [257, 258, 2]);
    near(cross.subarray(7), [2, 1, 4, 8, 7, 4, 6, 5, 4, 4, 3, 4]);
    // Autocorrelations of station 0: XX 9, YY 6, XY = ⟨X conj(Y)⟩ = 1+2i in our order.
    near(auto.subarray(7), [9, 0, 4, 6, 0, 4, 1, 2, 4, 1, -2, 4]);
    const { integrations } = await read(path);
    near(Float32Array.from(integrations[0].visibilities), [...visibilities]);
  });

  it('puts a source in the east where imagers look for it: S = I·e^(+2πi f (UU l + VV m + WW (n − 1)))', async () => {
    const stations = [station('a', 0, 0, 0), station('b', 31, 5, 1), station('c', -12, 40, -2)];
    const of = header(telescope(stations, 1), [1.5e8, 1.51e8], 1);
    const middle = addSeconds(start, 1);
    const frame = skyFrame(site, middle);
    const toSource = directionFromAltAz(60, 90);
    const { l, m, n } = frame.tangentAxes(of.phaseCentre);
    assert.ok(dot(toSource, l) > 0.49, 'the source is in the east');
    const one = randomIntegration(of, 0);
    const visibilities = new Float64Array(2 * 6 * 2);
    for (let c = 0; c < 2; c++) {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j <= i; j++) {
          const [p, q] = [stations[i], stations[j]];
          const apart = { x: p.eastM - q.eastM, y: p.northM - q.northM, z: p.upM - q.upM };
          const phase = (2 * Math.PI * of.frequenciesHz[c] * dot(apart, toSource)) / SPEED_OF_LIGHT_M_PER_S;
          const at = 2 * (c * 6 + baselineIndex(i, j));
          const count = one.counts[c * 6 + baselineIndex(i, j)];
          visibilities[at] = count * Math.cos(phase);
          visibilities[at + 1] = count * Math.sin(phase);
        }
      }
    }
    const path = await write('east', of, { ...one, visibilities: visibilitiesCBPP(visibilities, 2, 6, 1) });
    for (const group of await rawGroups(path, 7 + 6)) {
      for (let c = 0; c < 2; c++) {
        const turns =
          of.frequenciesHz[c] *
          (group[0] * dot(toSource, l) + group[1] * dot(toSource, m) + group[2] * (dot(toSource, n) - 1));
        // Single-precision uvw of 40 m at 150 MHz: 20 turns · 2⁻²⁴ · 2π, and that of the value: below 1e-5.
        assert.ok(Math.abs(group[7 + 3 * c] - Math.cos(2 * Math.PI * turns)) < 2e-5);
        assert.ok(Math.abs(group[8 + 3 * c] - Math.sin(2 * Math.PI * turns)) < 2e-5);
      }
    }
  });

  for (const [name, stations, polarisations] of [
    ['two polarisations', 4, 2],
    ['one polarisation', 3, 1],
    ['more than 255 antennas', 257, 1],
  ] as const) {
    it(`comes back as it went: ${name}`, async () => {
      const random = randomStream(5, name);
      const place = (): number => 300 * (random.uniform() - 0.5);
      const of = header(
        telescope(
          Array.from({ length: stations }, (_, s) => station(`station ${s}`, place(), place(), place() / 9)),
          polarisations,
        ),
        [1.5e8, 1.501e8],
        polarisations,
      );
      const sent = [randomIntegration(of, 0), randomIntegration(of, 1)];
      sent[1].flaggedInputs[polarisations] = 1;
      sent[0].counts[1] = 0;
      sent[0].visibilities.fill(0, 2 * polarisations ** 2, 4 * polarisations ** 2);
      const { file, integrations } = await read(await write(name, of, ...sent));
      assert.equal(integrations.length, 2);
      integrations.forEach((got, k) => {
        const want = sent[k];
        assert.ok(Math.abs(secondsBetween(want.start, got.start)) < 1e-8, 'times to better than 10 ns');
        assert.equal(got.durationS, 2);
        assert.deepEqual(got.flaggedInputs, want.flaggedInputs);
        let at = 0;
        for (let c = 0; c < 2; c++) {
          for (let i = 0; i < stations; i++) {
            for (let j = 0; j <= i; j++) {
              const b = c * baselineCount(stations) + baselineIndex(i, j);
              const dead = polarisations === 1 && k === 1 && (i === 1 || j === 1);
              assert.equal(got.counts[b], dead ? 0 : want.counts[b]);
              for (let p = 0; p < polarisations ** 2; p++) {
                const [pi, pj] = [Math.floor(p / polarisations), p % polarisations];
                const flagged = k === 1 && ((i === 1 && pi === 0) || (j === 1 && pj === 0));
                for (const part of [0, 1]) {
                  const value = flagged ? 0 : want.visibilities[at + part];
                  // Two roundings to single precision, of values up to a few thousand.
                  assert.ok(Math.abs(got.visibilities[at + part] - value) < 4e3 * 2 ** -22);
                }
                at += 2;
              }
            }
          }
        }
      });
      const near = (x: number, y: number): boolean => Math.abs(x - y) < 1e-8;
      file.telescope.stations.forEach((got, s) => {
        const want = of.telescope.stations[s];
        assert.equal(got.name, want.name);
        assert.ok(near(got.eastM, want.eastM) && near(got.northM, want.northM) && near(got.upM, want.upM));
      });
      assert.deepEqual({ ...file.telescope, stations: [] }, { ...of.telescope, stations: [] });
      assert.deepEqual(file.header.frequenciesHz, of.frequenciesHz);
      assert.deepEqual(file.header.phaseCentre, of.phaseCentre);
      assert.deepEqual([file.header.object, file.header.channelWidthHz], ['zenith', 1e5]);
      assert.ok(file.header.history.includes('made by a test'));
    });
  }

  it('gives antenna positions in the axes of the local meridian', async () => {
    // At latitude φ: 10 m east is (0, 10, 0), 10 m north (−10 sin φ, 0, 10 cos φ), 10 m up (10 cos φ, 0, 10 sin φ).
    const places = [station('e', 10, 0, 0), station('n', 0, 10, 0), station('u', 0, 0, 10)];
    const of = header(telescope(places, 1), [1e8], 1);
    const file = await openInput(await write('axes', of, randomIntegration(of, 0)));
    const primary = await readUnit(file, 0);
    const unit = primary && (await readUnit(file, primary.end));
    assert.ok(unit);
    const found = (await readTable(file, unit)).numbers('STABXYZ', 3);
    await file.close();
    const [sin, cos] = [
      Math.sin((site.latitudeDeg * Math.PI) / 180),
      Math.cos((site.latitudeDeg * Math.PI) / 180),
    ];
    [
      [0, 10, 0],
      [-10 * sin, 0, 10 * cos],
      [10 * cos, 0, 10 * sin],
    ].forEach((wanted, s) => {
      wanted.forEach((value, axis) => {
        assert.ok(Math.abs(found[s][axis] - value) < 1e-9, `station ${s}, axis ${axis}: ${found[s][axis]}`);
      });
    });
  });

  it('leaves a readable file with every finished integration when it is cut off', async () => {
    const of = header(telescope([station('a', 0, 0, 0), station('b', 30, 5, 1)]), [1.5e8]);
    const writer = await createUvfits(join(folder, 'run.uvfits'), of);
    const integrations = [1, 2, 3].map((k) => ({
      ...randomIntegration(of, k),
      start: addSeconds(start, 2 * k),
    }));
    for (const [k, one] of integrations.entries()) {
      await writer.append(one);
      const part = (await readdir(folder)).find((name) => name.endsWith('.part')) ?? '';
      await copyFile(join(folder, part), join(folder, 'left.uvfits'));
      const file = await openFile(join(folder, 'left.uvfits'));
      assert.ok(file.kind === 'visibilities');
      assert.equal(file.integrationCount, k + 1);
      let latest: Integration | undefined;
      for await (const found of file.integrations()) latest = found;
      await file.close();
      assert.deepEqual(latest?.counts, one.counts);
    }
    await writer.abandon();
    await rm(join(folder, 'left.uvfits'));
  });

  it('refuses what it cannot write, and leaves nothing', async () => {
    const of = header(telescope([station('a', 0, 0, 0)]), [1e8, 1.1e8, 1.3e8]);
    const path = join(folder, 'bad.uvfits');
    await assert.rejects(createUvfits(path, of), /channel 1 is not evenly spaced/);
    const even = header(of.telescope, [1e8]);
    const writer = await createUvfits(path, even);
    const wrong = randomIntegration(header(of.telescope, [1e8, 2e8]), 0);
    await assert.rejects(
      writer.append(wrong),
      /1 × 2 × 2 stations × channels × polarisations where the file has 1 × 1 × 2/,
    );
    await assert.rejects(writer.finish(), /no integration was written/);
    assert.ok(!(await readdir(folder)).some((name) => name.includes('bad')));
  });
});
