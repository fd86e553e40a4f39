/**
 * Images of arrays with heights and slopes by every command, compared with an independent Fourier sum over the
 * correlated visibilities. From visibilities within 0.1 % of the peak; direct within the reported bound, or refused
 * with a number.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Integration } from '../core/blocks.js';
import { addSeconds } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { openFile } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { corellaHere, withFolder } from './corella.js';

const C_M_PER_S = 299_792_458;
const FREQUENCY_HZ = 150e6;
const SITE = { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 };
const PIXELS = 32;
const COMMON = ['--pixels', String(PIXELS), '--no-picture'];

/** Stations in a circle of 20 m: heights with the given rms in wavelengths over a slope that rises to the east. */
function writeArray(folder: string, heightWavelengths: number, slopeDeg: number): void {
  const random = randomStream(4, 'heights');
  const rows = Array.from({ length: 16 }, (_, s) => {
    const [radius, angle] = [10 * Math.sqrt(random.uniform()), 2 * Math.PI * random.uniform()];
    const eastM = radius * Math.cos(angle);
    const heightM = (heightWavelengths * random.gaussian() * C_M_PER_S) / FREQUENCY_HZ;
    const upM = eastM * Math.tan((slopeDeg * Math.PI) / 180) + heightM;
    return `s${s},${eastM.toFixed(3)},${(radius * Math.sin(angle)).toFixed(3)},${upM.toFixed(4)}`;
  });
  writeFileSync(join(folder, 'array.csv'), ['name,east_m,north_m,up_m', ...rows, ''].join('\n'));
  const description = {
    name: 'array',
    title: 'array',
    positions: 'array.csv',
    polarisations: 2,
    beamExponent: 0.8,
    site: SITE,
    band: { lowHz: 50e6, highHz: 350e6 },
    recording: { centreFrequencyHz: FREQUENCY_HZ, sampleRateHz: 1e5, channels: 4, bits: 8 },
  };
  writeFileSync(join(folder, 'array.json'), JSON.stringify(description));
}

interface Truth {
  readonly integration: Integration;
  readonly frequenciesHz: Float64Array;
}

async function readTruth(path: string): Promise<Truth> {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error(`${path} holds no visibilities`);
    for await (const integration of file.integrations())
      return { integration, frequenciesHz: file.header.frequenciesHz };
    throw new Error(`${path} is empty`);
  } finally {
    await file.close();
  }
}

/** The first plane of a FITS file, and the position of a pixel by its header. */
function readPlane(path: string) {
  const bytes = readFileSync(path);
  const cards = new Map<string, number>();
  let end = 0;
  for (let at = 0; end === 0; at += 80) {
    const card = bytes.toString('latin1', at, at + 80);
    cards.set(card.slice(0, 8).trim(), Number(card.slice(10).split('/')[0]));
    if (card.startsWith('END')) end = Math.ceil((at + 80) / 2880) * 2880;
  }
  const of = (name: string): number => cards.get(name) ?? Number.NaN;
  const pixels = of('NAXIS1');
  const radians = Math.PI / 180;
  return {
    pixels,
    centre: { raDeg: of('CRVAL1'), decDeg: of('CRVAL2') },
    valueAt: (column: number, row: number): number => bytes.readFloatBE(end + 4 * (row * pixels + column)),
    /** Direction cosines towards east and north of the centre. */
    cosinesOf: (column: number, row: number): [number, number] => [
      (column + 1 - of('CRPIX1')) * of('CDELT1') * radians,
      (row + 1 - of('CRPIX2')) * of('CDELT2') * radians,
    ],
  };
}

/** (XX + YY)/2 towards every pixel of a file, by its header: Σ V e^(−2πi f (r_i − r_j)·ŝ/c) over ordered pairs. */
async function errorOf(
  folder: string,
  name: string,
  { integration, frequenciesHz }: Truth,
  autos: boolean,
): Promise<number> {
  const { stations: places, ...telescope } = await loadTelescope(join(folder, 'array.json'));
  const { start, durationS, visibilities, counts, stations } = integration;
  const frame = skyFrame(telescope.site, addSeconds(start, durationS / 2));
  const { pixels, centre, valueAt, cosinesOf } = readPlane(join(folder, name));
  // The scale within an image is that of the apparent sky (docs/conventions.md).
  const axes = frame.tangentAxes(centre);
  let [worst, peak, shown] = [0, 0, 0];
  const exact = new Float64Array(pixels * pixels).fill(Number.NaN);
  for (let at = 0; at < pixels * pixels; at++) {
    const [column, row] = [at % pixels, Math.floor(at / pixels)];
    const value = valueAt(column, row);
    if (Number.isNaN(value)) continue;
    shown++;
    const [l, m] = cosinesOf(column, row);
    const n = Math.sqrt(1 - l * l - m * m);
    const along = (axis: 'x' | 'y' | 'z'): number => l * axes.l[axis] + m * axes.m[axis] + n * axes.n[axis];
    const [x, y, z] = [along('x'), along('y'), along('z')];
    const paths = places.map(({ eastM, northM, upM }) => eastM * x + northM * y + upM * z); // prettier-ignore
    let [sum, weight, b] = [0, 0, 0];
    frequenciesHz.forEach((frequencyHz) => {
      const turns = paths.map((path) => (-2 * Math.PI * frequencyHz * path) / C_M_PER_S);
      const [cos, sin] = [turns.map(Math.cos), turns.map(Math.sin)];
      for (let i = 0; i < stations; i++)
        for (let j = 0; j <= i; j++, b++) {
          if (i === j && !autos) continue;
          const [turnRe, turnIm] = [cos[i] * cos[j] + sin[i] * sin[j], sin[i] * cos[j] - cos[i] * sin[j]];
          const orders = i === j ? 1 : 2;
          for (const product of [0, 3]) {
            const [re, im] = [visibilities[2 * (4 * b + product)], visibilities[2 * (4 * b + product) + 1]];
            sum += orders * (re * turnRe - im * turnIm);
            weight += orders * counts[b];
          }
        }
    });
    exact[at] = sum / weight;
    worst = Math.max(worst, Math.abs(value - exact[at]));
    peak = Math.max(peak, Math.abs(exact[at]));
  }
  assert.ok(shown > 350, `${shown} pixels are shown`);
  // Plans are valid while the edge is within a hundredth of a pixel of its header position: that is no brightness
  // error.
  const steps = exact.map((here, at) =>
    Math.max(Math.abs(here - exact[at + 1]), Math.abs(here - exact[at + pixels])),
  );
  const steepest = steps.reduce((most, step) => (step > most ? step : most), 0);
  return Math.max(0, worst - 0.01 * steepest) / peak;
}

const REFUSED = /off by up to \d+ % of a source|gridding kernels are \d+ % wrong/;

interface Imaging {
  readonly method: string;
  readonly predictedError: number;
}

describe('heights and slopes, by every command', () => {
  const imagedDirectly = new Set<string>();
  for (const heights of [0, 0.1, 1, 5])
    for (const slopeDeg of [0, 3, 10])
      it(`heights of ${heights} wavelengths rms, a slope of ${slopeDeg}°`, () =>
        withFolder(async (folder) => {
          const run = (...words: readonly string[]) => corellaHere(folder, ...words, '--overwrite');
          const must = async (...words: readonly string[]): Promise<string> => {
            const { code, stdout, stderr } = await run(...words);
            assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}${stdout}`);
            return stdout;
          };
          const isFirst = heights + slopeDeg === 0;
          // The reference is slow: only for the first array.
          const backend = ['--backend', isFirst ? 'reference' : 'cpu'];
          writeArray(folder, heights, slopeDeg);
          // One source and equal antennas: bounds are for a source, relative to its peak.
          const sky = ['--sources', 'A@55:200:100000', '--perfect', '--time', '2026-06-21T04:00:00Z'];
          await must('simulate', '--telescope', 'array.json', '--duration', '4ms', ...sky, '-o', 'v.sigmf-meta'); // prettier-ignore
          await must('channelise', 'v.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 's.sigmf-meta', ...backend); // prettier-ignore
          await must('send', 's.sigmf-meta', '--format', 'snap2', '--to', 'p.pcap');
          await must('correlate', 's.sigmf-meta', '-o', 'v.uvh5', ...backend);
          const truth = await readTruth(join(folder, 'v.uvh5'));
          const within = async (name: string, bound: number, autos: boolean, of = truth): Promise<void> => {
            const error = await errorOf(folder, name, of, autos);
            assert.ok(error <= bound, `${name}: ${(100 * error).toFixed(3)} %, at most ${(100 * bound).toFixed(3)} %`); // prettier-ignore
          };

          // From visibilities: of a file, of a recording, and live.
          await must('image', 'v.uvh5', '-o', 'file.fits', ...COMMON, ...backend);
          await within('file.fits', 1e-3, false);
          for (const option of isFirst ? [['--kernel', '5'], ['--kernel', '7'], ['--autos']] : []) {
            const { code, stderr } = await run('image', 'v.uvh5', '-o', 'no.fits', ...option, ...COMMON);
            assert.equal(code, 1, stderr);
          }
          for (const autos of [false, true]) {
            const product = `{ images: o.fits, pixels: ${PIXELS}, picture: false, autos: ${autos} }`;
            const text = `corella: 1\nsource: { recording: s.sigmf-meta }\ntelescope: array.json\nproducts: [${product}]\n`;
            writeFileSync(join(folder, 'o.yaml'), text);
            await must('run', 'o.yaml', '--into', '.', ...backend);
            await within('o.fits', 1e-3, autos);
          }
          /** Images of packets, against the visibilities of the same run; the bound is the reported one. */
          const live = async (...how: readonly string[]): Promise<Imaging | undefined> => {
            const source = ['live', '--from', 'p.pcap', '--rate', '25kHz', '--telescope', 'array.json'];
            const products = ['--image', '4ms', '--picture', 'live.fits', '--integration', '4ms', '-o', 'live.uvh5']; // prettier-ignore
            const words = [...source, ...products, '--pixels', String(PIXELS), ...how, ...backend];
            const { code, stdout, stderr } = await run(...words, '--json');
            if (code !== 0) {
              assert.match(stderr, REFUSED);
              return undefined;
            }
            const { imaging } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { imaging: Imaging };
            assert.equal(imaging.method, how.includes('--direct') ? 'direct' : 'w-term');
            const bound = imaging.method === 'direct' ? imaging.predictedError : 1e-3;
            const of = await readTruth(join(folder, 'live.uvh5'));
            await within('live.fits', bound, imaging.method === 'direct', of);
            return imaging;
          };
          assert.ok(await live());

          for (const kernel of ['5', '7']) {
            let made = 0;
            for (const autos of [true, false]) {
              const words = ['--kernel', kernel, autos ? '--autos' : '--no-autos', ...COMMON, ...backend];
              const ran = await run('image', '--direct', 's.sigmf-meta', '-o', 'direct.fits', ...words, '--json'); // prettier-ignore
              if (ran.code !== 0) {
                assert.match(ran.stderr, REFUSED);
                continue;
              }
              const { imaging } = JSON.parse(ran.stdout) as { imaging: Imaging };
              assert.equal(imaging.method, 'direct');
              await within('direct.fits', imaging.predictedError, autos);
              made++;
              imagedDirectly.add(`${heights} ${slopeDeg}`);
            }
            assert.equal(made, (await live('--direct', '--kernel', kernel)) ? 2 : 0);
          }
        }));

  it('of which planes, and small heights, are imaged directly, and large heights are refused', () => {
    assert.deepEqual([...imagedDirectly], ['0 0', '0 3', '0 10', '0.1 0', '0.1 3', '0.1 10']);
  });
});
