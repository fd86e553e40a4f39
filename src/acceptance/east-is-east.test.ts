/**
 * The most common error in this field is an image mirrored or conjugated by a wrong convention. One source 30° from the
 * zenith goes through every command; east must be east in the fringes, in the FITS by its own coordinates, and in the
 * PNG, in direct images and in those from visibilities; likewise north.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { baselineIndex } from '../core/axes.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { openFile, readFitsImage } from '../formats/index.js';
import { corella, withFolder } from './corella.js';

const ALTITUDE_DEG = 60;
const places = [
  { name: 'east', azimuthDeg: 90, l: 0.5, m: 0 },
  { name: 'north', azimuthDeg: 0, l: 0, m: 0.5 },
] as const;

async function ok(folder: string, ...words: readonly string[]): Promise<void> {
  const ran = await corella(folder, ...words);
  assert.equal(ran.code, 0, `corella ${words.join(' ')}\n${ran.stderr}`);
}

for (const { name, azimuthDeg, l, m } of places) {
  describe(`a source 30° ${name} of the zenith`, () => {
    it(`comes out ${name} everywhere`, async () => {
      await withFolder(async (folder) => {
        const backend = ['--backend', 'reference', '--quiet'] as const;
        const source = `spot@${ALTITUDE_DEG}:${azimuthDeg}:50000`;
        await ok(folder, 'simulate', '--telescope', 'eda2', '--stations', '24', '--time', '2026-03-01T12:00:00Z',
          '--sources', source, '--perfect', '--rate', '800kHz', '--frequency', '100MHz', '--duration', '2ms', '--noise', '5000', '--quiet'); // prettier-ignore
        await ok(
          folder,
          'correlate',
          'voltages.sigmf-meta',
          '--channels',
          '8',
          '--taps',
          '4',
          '-o',
          'visibilities.uvfits',
          ...backend,
        );
        await ok(folder, 'image', 'visibilities.uvfits', '--pixels', '64', '-o', 'image.fits', ...backend);
        await ok(
          folder,
          'image',
          '--direct',
          'voltages.sigmf-meta',
          '--channels',
          '8',
          '--taps',
          '4',
          '--pixels',
          '64',
          ...backend,
        );

        await fringesPoint(join(folder, 'visibilities.uvfits'), { l, m });
        for (const image of ['image', 'voltages']) {
          await fitsPoints(join(folder, `${image}.fits`), { l, m });
          await pngPoints(join(folder, `${image}.png`), { l, m });
        }
      });
    });
  });
}

/** V_ij = I e^(+2πi f (r_i − r_j)·ŝ/c): checked on visibilities read back from the file. */
async function fringesPoint(path: string, { l, m }: { l: number; m: number }): Promise<void> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  const { stations } = file.telescope;
  const frequencyHz = file.header.frequenciesHz[4];
  for await (const integration of file.integrations()) {
    const baselines = integration.counts.length / integration.channels;
    let agreement = 0;
    let pairs = 0;
    for (let i = 0; i < stations.length; i++) {
      for (let j = 0; j < i; j++) {
        const towards =
          l * (stations[i].eastM - stations[j].eastM) +
          m * (stations[i].northM - stations[j].northM) +
          Math.sqrt(1 - l * l - m * m) * (stations[i].upM - stations[j].upM);
        const expected = (2 * Math.PI * frequencyHz * towards) / SPEED_OF_LIGHT_M_PER_S;
        const at = 2 * 4 * (4 * baselines + baselineIndex(i, j));
        agreement += Math.cos(
          Math.atan2(integration.visibilities[at + 1], integration.visibilities[at]) - expected,
        );
        pairs++;
      }
    }
    // Noise of a tenth of the flux leaves the mean cosine near 1; a flipped sign leaves it near 0.
    assert.ok(agreement / pairs > 0.95, `fringes agree to ${agreement / pairs}`);
  }
  await file.close();
}

/** The brightest pixel's direction by the file's own CRVAL, CDELT and CRPIX, as other programs read it. */
async function fitsPoints(path: string, expected: { l: number; m: number }): Promise<void> {
  const { details, pixels, planes } = await readFitsImage(path);
  const bytes = await readFile(path);
  const dataStart = bytes.length - Math.ceil((4 * planes * pixels * pixels) / 2880) * 2880;
  let best = 0;
  for (let k = 0; k < pixels * pixels; k++) {
    const value = bytes.readFloatBE(dataStart + 4 * k);
    if (
      value > bytes.readFloatBE(dataStart + 4 * best) ||
      Number.isNaN(bytes.readFloatBE(dataStart + 4 * best))
    )
      best = k;
  }
  const cosine = (axis: 1 | 2, pixel: number): number =>
    ((pixel + 1 - Number(details[`CRPIX${axis}`])) * Number(details[`CDELT${axis}`]) * Math.PI) / 180;
  // FITS's x increases with positive CDELT1, towards the east of right ascension: SIN's x is our l.
  const l = cosine(1, best % pixels);
  const m = cosine(2, Math.floor(best / pixels));
  const pixel = (Number(details.CDELT2) * Math.PI) / 180;
  assert.ok(
    Math.hypot(l - expected.l, m - expected.m) < 1.5 * pixel,
    `${path}: brightest at l = ${l}, m = ${m}`,
  );
}

/** North is up and east to the left: the brightest part of the picture is on that side. */
async function pngPoints(path: string, expected: { l: number; m: number }): Promise<void> {
  const { width: whole, height, data, channels } = decode(await readFile(path));
  // The sky is 900 of the height's 1048; beside it, for few stations, is the dirty beam.
  const width = Math.round((900 * height) / 1048);
  let sumX = 0;
  let sumY = 0;
  let bright = 0;
  for (let k = 0; k < data.length / channels; k++) {
    const [red, green, blue] = [data[k * channels], data[k * channels + 1], data[k * channels + 2]];
    const [x, y] = [k % whole, Math.floor(k / whole)];
    // The top of the inferno map is yellow; text is white or grey, the colour bar is below the sky.
    if (red > 240 && green > 150 && blue < 120 && x < width && y < width * 1.02) {
      sumX += x;
      sumY += y;
      bright++;
    }
  }
  assert.ok(bright > 0, `${path}: nothing bright in the picture`);
  // The zenith is in the middle of the width, and (96 + 405)/900 of the width from the top.
  const right = sumX / bright / width - 0.5;
  const down = sumY / bright / width - (96 + 405) / 900;
  assert.ok(Math.abs(-right - 0.42 * expected.l) < 0.06, `${path}: ${right} of the width to the right`);
  assert.ok(Math.abs(-down - 0.42 * expected.m) < 0.06, `${path}: ${down} of the width below the zenith`);
}
