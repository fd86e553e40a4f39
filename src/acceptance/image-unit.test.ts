/**
 * Fixed dipoles without a stated beam: every command shows a source with the same brightness, that of a direct Fourier
 * sum over the mean power of their projection, (1 + sin²(altitude))/2.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { directionFromAltAz, skyFrame } from '../sky/frame.js';
import { corellaHere } from './corella.js';

const START = '2026-06-21T04:00:00Z';
const [ALT, AZ, HZ] = [35, 40, 60e6];
/** (1 + sin²(35°))/2 by hand: sin(35°) = 0.573576. */
const POWER = 0.664495;
const SITE = { latitudeDeg: 34, longitudeDeg: -107, heightM: 2000 };
/** East and north, in metres. */
const PLACES = [[0, 0], [9, 2], [-7, 5], [3, -11], [-12, -6], [15, 8], [-3, 14], [11, -13], [-16, 9], [6, 19]] as const; // prettier-ignore

/** Title, command, its file, and how far it may be off: a restored beam is not the dirty one off its centre. */
const makers = [
  ['a dirty image', 'image v.uvh5 --pixels 64 --no-picture -o NAME.fits', 'NAME.fits'],
  ['its Stokes I', 'image v.uvh5 --pixels 64 --stokes I --no-picture -o NAME.fits', 'NAME.fits'],
  ['a CLEANed image', 'image v.uvh5 --pixels 64 --clean --no-picture -o NAME.fits', 'NAME.fits', 0.08],
  ['its dirty one', 'image v.uvh5 --pixels 64 --clean --no-picture -o NAME.fits', 'NAME-dirty.fits'],
  ['a series', 'image v.uvh5 --pixels 64 --every 60ms -o NAME.fits', 'NAME.fits'],
  ['one hand of its two', 'image x.uvh5 --pixels 64 --no-picture -o NAME.fits', 'NAME.fits'],
  ['a direct image', 'image --direct v.sigmf-meta --no-autos --pixels 64 --no-picture -o NAME.fits', 'NAME.fits'],
  ['a direct series', 'image --direct v.sigmf-meta --no-autos --pixels 64 --every 60ms -o NAME.fits', 'NAME.fits'],
  ['live', 'live v.sigmf-meta --no-page --image 60ms --picture NAME.fits', 'NAME.fits'],
  ['live, direct', 'live v.sigmf-meta --no-page --image 60ms --direct --picture NAME.fits', 'NAME.fits'],
  ['run', 'run NAME.yaml', 'NAME.fits', 0.02, ''],
  ['run, a series', 'run NAME.yaml', 'NAME.fits', 0.02, ', every: 60ms'],
] as const; // prettier-ignore

/** East is to the left in the file; columns are counted from the west here. */
function firstPlane(bytes: Buffer) {
  const text = bytes.toString('latin1');
  const blocks = 1 + Math.floor(text.search(/END {77}/) / 2880);
  const number = (key: string): number => Number(new RegExp(`${key.padEnd(8)}= +(\\S+)`).exec(text)?.[1]);
  const pixels = number('NAXIS1');
  return {
    header: text
      .slice(0, 2880 * blocks)
      .replaceAll(/ *HISTORY /g, '')
      .replaceAll(/ {2,}/g, ' '),
    pixels,
    pixelSize: number('CDELT2') * (Math.PI / 180),
    valueAt: (row: number, column: number) =>
      bytes.readFloatBE(2880 * blocks + 4 * (row * pixels + pixels - 1 - column)),
  };
}

describe('fixed dipoles without a stated beam', () => {
  const folder = temporaryFolder('image-unit');
  const file = (name: string): string => join(folder, name);
  const corella = async (line: string): Promise<void> => {
    const { code, stderr } = await corellaHere(folder, ...line.split(' '), '--quiet', '--overwrite');
    assert.equal(code, 0, `${line}: ${stderr}`);
  };
  let integrations: Integration[] = [];
  before(async () => {
    const csv = PLACES.map(([east, north], s) => `s${s},${east},${north},0`).join('\n');
    await writeFile(file('field.csv'), `name,east_m,north_m,up_m\n${csv}\n`);
    const telescope = {
      ...{ name: 'field', title: 'Field', site: SITE, positions: 'field.csv', polarisations: 2, mount: 'fixed' },
      ...{ band: { lowHz: 30e6, highHz: 90e6 }, beamExponent: 0 },
      recording: { centreFrequencyHz: HZ, sampleRateHz: 20e3, channels: 2, bits: 8 },
    }; // prettier-ignore
    await writeFile(file('field.json'), JSON.stringify(telescope));
    await corella(`simulate --telescope field.json --sources spot@${ALT}:${AZ}:1000 --perfect --noise 1 --time ${START} --duration 121ms -o v.sigmf-meta`); // prettier-ignore
    await corella('correlate v.sigmf-meta --integration 60ms -o v.uvh5');
    await corella('convert v.uvh5 x.uvh5 --flag ' + PLACES.map((_, s) => `s${s}:Y`).join(','));
    const opened = await openFile(file('v.uvh5'));
    assert.ok(opened.kind === 'visibilities');
    for await (const one of opened.integrations()) integrations.push(one);
    await opened.close();
    integrations = integrations.slice(0, 2);
  });

  /** (XX + YY)/2 of a direct Fourier sum over all pairs. */
  function summed(
    direction: { readonly x: number; readonly y: number },
    {
      hands,
      autos,
      first,
    }: { readonly hands: readonly (0 | 1)[]; readonly autos: boolean; readonly first: boolean },
  ): number {
    let [sum, weight] = [0, 0];
    for (const { visibilities, counts } of first ? integrations.slice(0, 1) : integrations)
      for (let i = 0; i < PLACES.length; i++)
        for (let j = 0; j <= i; j++)
          for (const p of hands) {
            if (i === j && !autos) continue;
            // Both orders of a pair; of the first of two channels, 10 kHz apart.
            const times = i === j ? 1 : 2;
            const at = 2 * (4 * baselineIndex(i, j) + 3 * p);
            const path = (PLACES[i][0] - PLACES[j][0]) * direction.x + (PLACES[i][1] - PLACES[j][1]) * direction.y;
            const angle = (2 * Math.PI * HZ * path) / 299_792_458;
            sum += times * (visibilities[at] * Math.cos(angle) + visibilities[at + 1] * Math.sin(angle));
            weight += times * counts[baselineIndex(i, j)];
          } // prettier-ignore
    return sum / weight;
  }

  for (const [number, [title, line, made, within = 0.02, more]] of makers.entries())
    it(`are seen at ${ALT}° by ${title} as on the sky, and the header states it`, async () => {
      const name = (text: string): string => text.replaceAll('NAME', `made${number}`);
      if (more !== undefined)
        await writeFile(
          file(name('NAME.yaml')),
          `corella: 1\nsource: {recording: v.sigmf-meta}\nproducts: [{images: ${name('NAME.fits')}, picture: false${more}}]\n`,
        );
      await corella(name(line));
      const { header, pixels, pixelSize, valueAt } = firstPlane(await readFile(file(name(made))));
      // To the nearest pixel, whose direction is exact enough for 2 %: the array is 30 m wide.
      const frame = skyFrame(SITE, addSeconds(parseInstant(START, 'test'), 0.06));
      const { l, m, n } = frame.tangentAxes(frame.zenith);
      const source = directionFromAltAz(ALT, AZ);
      const along = (axis: typeof l): number => axis.x * source.x + axis.y * source.y + axis.z * source.z;
      const [column, row] = [l, m].map((axis) => Math.round(along(axis) / pixelSize + pixels / 2));
      const [a, b] = [column, row].map((k) => (k - pixels / 2) * pixelSize);
      const c = Math.sqrt(1 - a * a - b * b);
      const towards = (k: 'x' | 'y'): number => a * l[k] + b * m[k] + c * n[k];
      const of = {
        hands: line.includes('x.uvh5') ? ([0] as const) : ([0, 1] as const),
        first: (line + (more ?? '')).includes('60ms'),
        autos: line.includes('--direct') && !line.includes('--no-autos'),
      };
      const expected = summed({ x: towards('x'), y: towards('y') }, of) / POWER;
      const found = valueAt(row, column);
      assert.ok(Math.abs(found / expected - 1) < within, `${found}, where ${expected} are`);
      assert.match(header, /divided by the mean power of X and Y of bare dipoles/);
    });
});
