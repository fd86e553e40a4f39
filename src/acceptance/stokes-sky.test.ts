/**
 * Stokes parameters of images are the sky's: compared with visibilities summed here with independent Jones matrices.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../core/axes.js';
import { addSeconds, parseInstant, type Instant } from '../core/instant.js';
import { inTemporaryFolder } from '../core/testing/temporary-folder.js';
import { readFitsImage, visibilityFormatFor, type VisibilityHeader } from '../formats/index.js';
import { skyFrame, type SkyPosition } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { noAlteredSets } from '../formats/testing/altered-sets.js';
import { corella, corellaHere } from './corella.js';
import { knownTelescope } from './known-sky.js';

const START = parseInstant('2026-03-01T12:00:00Z', 'start');
const C_M_PER_S = 299_792_458;
const FREQUENCY_HZ = 150e6;
type Three = readonly [number, number, number];
type Stokes = readonly [i: number, q: number, u: number, v: number];

const difference = (a: Three, b: Three): Three => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const product = (a: Three, b: Three): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a: Three): Three => {
  const size = Math.sqrt(product(a, a));
  return [a[0] / size, a[1] / size, a[2] / size];
};

/** Apparent direction of a position, and its east and north there, by small steps along each. */
function seen(telescope: Telescope, moment: Instant, { raDeg, decDeg }: SkyPosition) {
  const frame = skyFrame(telescope.site, moment);
  const at = (ra: number, dec: number): Three => {
    const { x, y, z } = frame.directionEnu({ raDeg: ra, decDeg: dec });
    return [x, y, z];
  };
  const step = 1e-3;
  const north = unit(difference(at(raDeg, decDeg + step), at(raDeg, decDeg - step)));
  const east = unit(difference(at(raDeg + step, decDeg), at(raDeg - step, decDeg)));
  return { direction: at(raDeg, decDeg), north, east };
}

/** [[X of a field along east, along north], [Y of both]]. */
type Jones = readonly (readonly [number, number])[];

/** Dipoles on the ground, one pointing east and one north, receive the component of the field along them. */
const dipoles = ({ east, north }: ReturnType<typeof seen>): Jones => [
  [east[0], north[0]],
  [east[1], north[1]],
];

/** A dish has X horizontal and Y vertical. */
function dish({ east, north }: ReturnType<typeof seen>): Jones {
  // The vertical has the components east_up and north_up on the sky; to its left, from north through east, is X.
  const size = Math.hypot(east[2], north[2]);
  const [upEast, upNorth] = [east[2] / size, north[2] / size];
  return [
    [upNorth, -upEast],
    [upEast, upNorth],
  ];
}

const IDEAL: Jones = [
  [1, 0],
  [0, 1],
];

interface Written {
  readonly telescope: Telescope;
  readonly position: SkyPosition;
  readonly stokes: Stokes;
  readonly moments: readonly Instant[];
  readonly durationS: number;
  readonly jones: (sky: ReturnType<typeof seen>) => Jones;
  readonly header?: Partial<VisibilityHeader>;
}

async function write(path: string, of: Written): Promise<void> {
  const { telescope, position, stokes, jones } = of;
  const [I, Q, U, V] = stokes;
  const places = telescope.stations.map(({ eastM, northM, upM }): Three => [eastM, northM, upM]);
  const baselines = (places.length * (places.length + 1)) / 2;
  const writer = await visibilityFormatFor(path).createVisibilities(path, {
    telescope,
    polarisations: 2,
    frequenciesHz: Float64Array.of(FREQUENCY_HZ),
    channelWidthHz: 1e4,
    object: 'spot',
    history: [],
    units: 'Jy',
    phaseCentre: position,
    ...of.header,
  });
  for (const start of of.moments) {
    const sky = seen(telescope, addSeconds(start, of.durationS / 2), position);
    const [[a, b], [c, d]] = jones(sky);
    // Fields along east and north: ⟨EE⟩ = I − Q, ⟨NN⟩ = I + Q, ⟨E·conj N⟩ = U − iV.
    const xx = a * a * (I - Q) + b * b * (I + Q) + 2 * a * b * U;
    const yy = c * c * (I - Q) + d * d * (I + Q) + 2 * c * d * U;
    const xyRe = a * c * (I - Q) + b * d * (I + Q) + (a * d + b * c) * U;
    const xyIm = -(a * d - b * c) * V;
    const values = new Float64Array(8 * baselines);
    let at = 0;
    places.forEach((one, i) => {
      for (const other of places.slice(0, i + 1)) {
        const angle =
          (2 * Math.PI * FREQUENCY_HZ * product(difference(one, other), sky.direction)) / C_M_PER_S;
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        for (const [re, im] of [
          [xx, 0],
          [xyRe, xyIm],
          [xyRe, -xyIm],
          [yy, 0],
        ]) {
          // prettier-ignore
          values[at++] = re * cos - im * sin;
          values[at++] = re * sin + im * cos;
        }
      }
    });
    await writer.append({
      start,
      durationS: of.durationS,
      stations: places.length,
      polarisations: 2,
      channels: 1,
      visibilities: visibilitiesCBPP(values, 1, baselines, 2),
      counts: countsCB(new Float64Array(baselines).fill(1), 1, baselines),
      flaggedInputs: new Uint8Array(2 * places.length),
    });
  }
  await writer.finish();
}

/** The planes of an image at a pixel from its centre, by their Stokes codes. */
async function planesAt(path: string, east = 0, north = 0): Promise<Map<number, number>> {
  const { pixels, planes, values, details } = await readFitsImage(path);
  const at = (pixels / 2 + north) * pixels + pixels / 2 + east;
  const [first, step] = [Number(details.CRVAL4), Number(details.CDELT4)];
  return new Map(
    Array.from({ length: planes }, (_, p) => [first + p * step, values[p * pixels * pixels + at]]),
  );
}

function assertStokes(found: Map<number, number>, wanted: Stokes, tolerance: number): void {
  wanted.forEach((value, k) => {
    const got = found.get(k + 1) ?? Number.NaN;
    assert.ok(
      Math.abs(got - value) <= tolerance * wanted[0],
      `${'IQUV'[k]} is ${got}, not ${value} (${JSON.stringify([...found])})`,
    );
  });
}

const array = knownTelescope({ stations: 14, radiusM: 20, frequenciesHz: [FREQUENCY_HZ], sources: [] });
const dishes = knownTelescope({ stations: 8, radiusM: 400, frequenciesHz: [FREQUENCY_HZ], sources: [] });
const STOKES: Stokes = [10, 3, -1.5, 0.8];
const WIDE = ['--stokes', 'IQUV', '--centre', 'zenith', '--field', '180', '--pixels', '128', '--no-picture'];

/** A source in the exact centre of a pixel of such an image, at an offset east and north of the centre. */
function onPixel(east: number, north: number): SkyPosition {
  const frame = skyFrame(array.site, addSeconds(START, 1));
  const { l, m, n } = frame.tangentAxes(frame.zenith);
  const [a, b] = [east / 64, north / 64];
  const c = Math.sqrt(1 - a * a - b * b);
  return frame.positionOf({
    x: a * l.x + b * m.x + c * n.x,
    y: a * l.y + b * m.y + c * n.y,
    z: a * l.z + b * m.z + c * n.z,
  });
}

const snapshot = (position: SkyPosition): Written => ({
  telescope: array,
  position,
  stokes: STOKES,
  moments: [START],
  durationS: 2,
  jones: dipoles,
});

describe('Stokes parameters of a snapshot of fixed dipoles', () => {
  it('are those of the sky above 30° of altitude, and Q and U have no value below 20°', () =>
    inTemporaryFolder('stokes', async (folder) => {
      for (const [east, north] of [
        [0, 0],
        [20, -10],
        [-35, 30],
        [30, 44],
        [-5, -54],
      ] as const) {
        // prettier-ignore
        await write(join(folder, 'v.uvh5'), snapshot(onPixel(east, north)));
        const words = ['image', 'v.uvh5', ...WIDE, '--feeds', 'fixed', '-o', 'sky.fits', '--overwrite'];
        const { code, stderr } = await corellaHere(folder, ...words);
        assert.equal(code, 0, stderr);
        assertStokes(await planesAt(join(folder, 'sky.fits'), east, north), STOKES, 2e-3);
        const low = await planesAt(join(folder, 'sky.fits'), 62, 0);
        assert.deepEqual([2, 3].map((plane) => Number.isNaN(low.get(plane))), [true, true]); // prettier-ignore
        assert.ok(Number.isFinite(low.get(1)) && Number.isFinite(low.get(4)));
      }
    }));

  it('of a file that does not state its feeds are I and V alone, with a warning; and are not corrected twice', () =>
    inTemporaryFolder('stokes', async (folder) => {
      const position = onPixel(-35, 30);
      await write(join(folder, 'v.uvh5'), snapshot(position));
      const { code, stdout } = await corellaHere(folder, 'image', 'v.uvh5', ...WIDE, '-o', 'v.fits');
      assert.equal(code, 0);
      assert.match(stdout, /Q and U are left out: the file does not state/);
      assert.deepEqual([...(await planesAt(join(folder, 'v.fits'))).keys()], [1, 4]);
      // Treated as corrected, its values are those of the feeds: the earlier behaviour of images.
      await corellaHere(folder, 'image', 'v.uvh5', ...WIDE, '--feeds', 'corrected', '-o', 'raw.fits');
      const raw = await planesAt(join(folder, 'raw.fits'), -35, 30);
      assert.ok(Math.hypot((raw.get(2) ?? 0) - STOKES[1], (raw.get(3) ?? 0) - STOKES[2]) > 1);
      // Already rotated, by the file's own statement or by an option.
      const header = { feedFrame: 'sky' } as const;
      await write(join(folder, 'sky.uvh5'), { ...snapshot(position), jones: () => IDEAL, header });
      await corellaHere(folder, 'image', 'sky.uvh5', ...WIDE, '-o', 'sky.fits');
      assertStokes(await planesAt(join(folder, 'sky.fits'), -35, 30), STOKES, 2e-3);
      const twice = await corellaHere(
        folder,
        'image',
        'sky.uvh5',
        ...WIDE,
        '--feeds',
        'fixed',
        '-o',
        'x.fits',
      );
      assert.equal(twice.code, 1);
      assert.match(twice.stderr, /states that the rotation of its feeds is applied/);
    }));

  it('over long times are refused, with what to do instead', () =>
    inTemporaryFolder('stokes', async (folder) => {
      const moments = [0, 200, 400].map((s) => addSeconds(START, s));
      await write(join(folder, 'v.uvh5'), { ...snapshot(onPixel(0, 0)), moments });
      const { code, stderr } = await corellaHere(
        ...[folder, 'image', 'v.uvh5', ...WIDE, '--feeds', 'fixed', '-o', 'v.fits'],
      );
      assert.equal(code, 1);
      assert.match(stderr, /make a series/);
    }));
});

describe('Stokes parameters of a field that dishes follow', () => {
  const position = { raDeg: 80, decDeg: -5 };
  const moments = Array.from({ length: 25 }, (_, k) =>
    addSeconds(parseInstant('2026-01-01T12:00:00Z'), 900 * k),
  );
  const track: Written = {
    telescope: dishes,
    position,
    stokes: STOKES,
    moments,
    durationS: 10,
    jones: dish,
  };
  const field = ['--stokes', 'IQUV', '--field', '2', '--pixels', '64', '--no-picture', '-o', 'track.fits'];

  it('are those of the sky after six hours, in every format', () =>
    inTemporaryFolder('stokes', async (folder) => {
      for (const name of ['t.uvh5', 't.uvfits', ...(noAlteredSets ? [] : ['t.ms'])]) {
        // As in our own correlated files: mount and frame are in the file.
        const telescope: Telescope = { ...dishes, mount: 'altaz' };
        await write(join(folder, name), { ...track, telescope, header: { feedFrame: 'feeds' } });
        const { code, stdout, stderr } = await corellaHere(folder, 'image', name, ...field, '--overwrite');
        assert.equal(code, 0, stderr);
        assert.match(stdout, /at the edge of the field Q and U are off by up to/);
        assertStokes(await planesAt(join(folder, 'track.fits')), STOKES, 2e-3);
      }
    }));

  it('are those of the sky by --feeds alone, and lost where the rotation is left in', () =>
    inTemporaryFolder('stokes', async (folder) => {
      await write(join(folder, 't.uvh5'), track);
      await corellaHere(folder, 'image', 't.uvh5', ...field, '--feeds', 'altaz');
      assertStokes(await planesAt(join(folder, 'track.fits')), STOKES, 2e-3);
      await corellaHere(folder, 'image', 't.uvh5', ...field, '--feeds', 'corrected', '--overwrite');
      const smeared = await planesAt(join(folder, 'track.fits'));
      assert.ok(Math.hypot((smeared.get(2) ?? 0) - 3, (smeared.get(3) ?? 0) + 1.5) > 1);
    }));
});

describe('a simulated polarised source', () => {
  it('is the same by both methods, and after calibration', () =>
    inTemporaryFolder('stokes', async (folder) => {
      const run = async (...words: string[]): Promise<void> => {
        const { code, stderr } = await corella(folder, ...words);
        assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
      };
      const sky = ['--sources', 'spot@50:130:20000', '--polarise', 'spot:0.3:-0.2:0.1'];
      const at = ['--telescope', 'eda2', '--stations', '24', '--time', '2026-01-15T04:00:00Z'];
      await run('simulate', ...at, ...sky, '--noise', '100', '--duration', '200ms', '-o', 'v.sigmf-meta');
      await run('correlate', 'v.sigmf-meta', '-o', 'v.uvfits', '--channels', '16');
      await run('calibrate', 'v.uvfits', ...sky, '-o', 'g.json');
      const pixels = ['--pixels', '128', '--no-picture', '--gains', 'g.json'];
      await run('image', 'v.uvfits', ...pixels, '--centre', 'zenith', '--field', '180', '--stokes', 'IQUV', '-o', 'v.fits'); // prettier-ignore
      await run(
        'image',
        '--direct',
        'v.sigmf-meta',
        '--channels',
        '16',
        '--no-autos',
        ...pixels,
        '-o',
        'd.fits',
      );
      for (const name of ['v.fits', 'd.fits']) {
        const { values, planes, pixels: side } = await readFitsImage(join(folder, name));
        assert.equal(planes, 4, name);
        const size = side * side;
        let brightest = 0;
        for (let k = 0; k < size; k++) if (values[k] > (values[brightest] || -Infinity)) brightest = k;
        const [i, ...others] = [0, 1, 2, 3].map((p) => values[p * size + brightest]);
        [0.3, -0.2, 0.1].forEach((fraction, k) => {
          assert.ok(
            Math.abs(others[k] / i - fraction) < 0.01,
            `${name}: ${'QUV'[k]} is ${others[k] / i} of I`,
          );
        });
      }
    }));
});

/** Debian's; skipped if absent. */
const python = '/usr/bin/python3';
function hasModule(name: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a cube of Stokes parameters', () => {
  for (const [module, code] of [
    [
      'astropy',
      'from astropy.io import fits\nfrom astropy.wcs import WCS\nh=fits.open(p)[0]\nw=WCS(h.header)\nd=h.data\nc=[round(float(w.sub([4]).wcs_pix2world([[k]],0)[0][0])) for k in range(4)]\nprint(c,[float(d[k,0,32,31]) for k in range(4)])',
    ],
    [
      'casacore.images',
      "from casacore.images import image\ni=image(p)\nd=i.getdata()\nc=i.coordinates().get_coordinate('stokes').get_stokes()\nprint(['IQUV'.index(s)+1 for s in c],[float(d[k,0,32,31]) for k in range(4)])",
    ],
  ] as const)
    // prettier-ignore
    it(`is read by ${module}, all four planes`, { skip: !hasModule(module) && `no ${module} for ${python}` }, () =>
      inTemporaryFolder('stokes', async (folder) => {
        const moments = [parseInstant('2026-01-01T15:00:00Z')];
        const position = { raDeg: 80, decDeg: -5 };
        await write(join(folder, 't.uvh5'), {
          telescope: dishes, position, stokes: STOKES, moments, durationS: 10, jones: dish,
        });
        const words = ['--stokes', 'IQUV', '--field', '2', '--pixels', '64', '--feeds', 'altaz'];
        await corellaHere(folder, 'image', 't.uvh5', ...words, '--no-picture', '-o', 't.fits');
        const script = `p=${JSON.stringify(join(folder, 't.fits'))}\n${code}`;
        const [codes, ...values] = execFileSync(python, ['-c', script]).toString().split('] [');
        assert.equal(codes, '[1, 2, 3, 4');
        const found = new Map(values[0].replace(']', '').split(',').map((value, k) => [k + 1, Number(value)]));
        assertStokes(found, STOKES, 2e-3);
      }));
});
