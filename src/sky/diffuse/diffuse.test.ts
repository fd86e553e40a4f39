import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skyCells } from './cells.js';
import { fluxOfTemperature } from './diffuse.js';
import { equatorial, galactic } from './equatorial.js';
import { galacticKelvin408, skyKelvin } from './galaxy.js';

const close = (found: number, wanted: number, tolerance: number): void => {
  assert.ok(Math.abs(found - wanted) <= tolerance, `${found} where ${wanted} belongs`);
};

describe('Galactic coordinates', () => {
  it('are those of the literature, there and back', () => {
    // Sgr A*: 17h45m40.04s −29°00′28.1″ is l = 359.944°, b = −0.046°; the Crab 83.6331° 22.0145° is l = 184.557°, b = −5.784°.
    for (const [raDeg, decDeg, lDeg, bDeg] of [
      [266.41683, -29.00781, 359.9442, -0.0462],
      [83.63308, 22.0145, 184.5575, -5.7843],
    ]) {
      const found = galactic({ raDeg, decDeg });
      close(found.lDeg, lDeg, 1e-3);
      close(found.bDeg, bDeg, 1e-3);
      const back = equatorial(found);
      close(back.raDeg, raDeg, 1e-9);
      close(back.decDeg, decDeg, 1e-9);
    }
  });
});

describe('a diffuse sky', () => {
  it('is as bright as its formula: a finer sum along the line of sight', () => {
    for (const [lDeg, bDeg] of [
      [0, 0],
      [10, 3],
      [90, 20],
      [180, 0],
      [0, 90],
    ]) {
      const [cosL, cosB, sinB] = [Math.cos((lDeg * Math.PI) / 180), Math.cos((bDeg * Math.PI) / 180), Math.sin((bDeg * Math.PI) / 180)]; // prettier-ignore
      let sum = 0;
      for (let s = 0.0005; s < 50; s += 0.001) {
        const fromAxis = Math.sqrt(8.5 ** 2 + (s * cosB) ** 2 - 2 * 8.5 * s * cosB * cosL);
        sum += 0.001 * 43.1 * ((fromAxis + 0.1) / 3.41) ** 0.46 * Math.exp(-fromAxis / 3.41) * Math.exp(-(((s * sinB) / 1.12) ** 1.23)); // prettier-ignore
      }
      close(galacticKelvin408(lDeg, bDeg) / sum, 1, 5e-3);
    }
    // 100 K at 408 MHz, at half the frequency: 100·2^2.51 + 1.2·(0.204)^−2.58 = 569.6 + 72.5.
    close(skyKelvin(100, 204e6), 569.6 + 72.5, 0.2);
  });

  it('is flux by Rayleigh and Jeans', () => {
    // 1000 K over 1 sr at 100 MHz: 2·1.380649e-23·1000·(1/2.99792)²·1e26 = 307 236 Jy.
    close(fluxOfTemperature(1000, 100e6, 1), 307_236, 1);
  });

  it('falls into cells that fill the hemisphere', () => {
    const cells = skyCells(3.3);
    const { directionsEnu, solidAnglesSr, cellDeg } = cells;
    assert.ok(cellDeg <= 3.3);
    close(solidAnglesSr.reduce((sum, angle) => sum + angle, 0), 2 * Math.PI, 1e-9); // prettier-ignore
    directionsEnu.forEach((direction, cell) => {
      assert.equal(cells.cellOf(direction), cell);
    });
    assert.equal(cells.cellOf({ x: 0.6, y: 0, z: -0.8 }), -1);
    const [largest, least] = [Math.max(...solidAnglesSr), Math.min(...solidAnglesSr)];
    assert.ok(largest / least < 1.4, `${largest} ${least}`);
  });
});
