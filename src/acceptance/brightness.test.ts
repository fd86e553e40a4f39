/** Brightness: apparent or corrected for the beam, and which of the two is reported. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readFitsImage } from '../formats/index.js';
import { directionFromAltAz, skyFrame } from '../sky/frame.js';
import { corellaHere } from './corella.js';
import { knownTelescope, randomGains, writeKnownSky, type KnownSource } from './known-sky.js';

const C = 299_792_458;
const STATIONS = 10;
type Beam = (altDeg: number, azDeg: number, frequencyHz: number) => readonly [x: number, y: number];

/** Voltages computed independently of the program's code. */
const sine = (degrees: number): number => Math.sin((degrees * Math.PI) / 180);
const cosine = (degrees: number): number => Math.cos((degrees * Math.PI) / 180);
const mwaDipole: Beam = (alt, az, f) => {
  const ground =
    Math.sin(((2 * Math.PI * 0.278 * f) / C) * sine(alt)) / Math.sin((2 * Math.PI * 0.278 * f) / C);
  const [east, north] = [cosine(alt) * sine(az), cosine(alt) * cosine(az)];
  return [ground * Math.sqrt(1 - east ** 2), ground * Math.sqrt(1 - north ** 2)];
};
/** Σ over four elements is sin(4φ/2)/(4·sin(φ/2)) along each side. */
const mwaTile: Beam = (alt, az, f) => {
  const along = (cosineTo: number): number => {
    const phase = (Math.PI * 1.1 * f * cosineTo) / C;
    return Math.abs(phase) < 1e-9 ? 1 : Math.sin(4 * phase) / (4 * Math.sin(phase));
  };
  const array = Math.abs(along(cosine(alt) * sine(az)) * along(cosine(alt) * cosine(az)));
  const [x, y] = mwaDipole(alt, az, f);
  return [array * x, array * y];
};
/** J₁ by its power series. */
const airy14: Beam = (alt, _az, f) => {
  const x = (Math.PI * 14 * f * cosine(alt)) / C;
  let [term, sum] = [1, 0];
  for (let k = 0; k < 40; k++) {
    sum += term;
    term *= -((x / 2) ** 2) / ((k + 1) * (k + 2));
  }
  return [sum, sum];
};
/** 4 × 4 with delays in steps of 435 ps towards 30° over azimuth 70°, 1 where it points. */
const lowTile: Beam = (alt, az, f) => {
  const arrayTo = (altDeg: number, azDeg: number): number => {
    let [re, im] = [0, 0];
    for (let k = 0; k < 16; k++) {
      const [east, north] = [1.1 * ((k % 4) - 1.5), 1.1 * (Math.floor(k / 4) - 1.5)];
      const early = (a: number, z: number): number =>
        (east * cosine(a) * sine(z) + north * cosine(a) * cosine(z)) / C;
      const phase = 2 * Math.PI * f * (early(altDeg, azDeg) - 435e-12 * Math.round(early(30, 70) / 435e-12));
      re += Math.cos(phase);
      im += Math.sin(phase);
    }
    return Math.hypot(re, im);
  };
  const [[x, y], [x0, y0]] = [mwaDipole(alt, az, f), mwaDipole(30, 70, f)];
  const part = arrayTo(alt, az) / arrayTo(30, 70);
  return [(part * x) / x0, (part * y) / y0];
};
/** A dish of 25 m that points two degrees above the source, and MeerKAT's a third of a degree above it. */
const airy25: Beam = (_alt, _az, f) => {
  const x = (Math.PI * 25 * f * sine(2)) / C;
  let [term, sum] = [1, 0];
  for (let k = 0; k < 40; k++) {
    sum += term;
    term *= -((x / 2) ** 2) / ((k + 1) * (k + 2));
  }
  return [sum, sum];
};
const meerkat: Beam = (_alt, _az, f) => {
  const x = (1.189 * 0.3 * f) / ((57.5 / 60) * 1.5e9);
  const voltage = Math.cos(Math.PI * x) / (1 - 4 * x * x);
  return [voltage, voltage];
};
const power16: Beam = (alt) => [sine(alt) ** 0.8, sine(alt) ** 0.8];

interface Case {
  readonly element: string;
  readonly beam: Beam;
  readonly frequencyHz: number;
  readonly altitudes: readonly number[];
  /** Where it points, and the position of the calibrator; the zenith by default. */
  readonly towards?: (altDeg: number) => readonly [altDeg: number, azDeg: number];
}

const cases: readonly Case[] = [
  { element: 'lwa-dipole', beam: power16, frequencyHz: 60e6, altitudes: [90, 60, 30, 15] },
  { element: 'mwa-dipole', beam: mwaDipole, frequencyHz: 150e6, altitudes: [90, 60, 30, 15] },
  // In its main lobe, in its first sidelobe, and farther out.
  { element: 'mwa-tile', beam: mwaTile, frequencyHz: 150e6, altitudes: [90, 80, 50, 40] },
  { element: 'hera', beam: airy14, frequencyHz: 150e6, altitudes: [90, 87, 84] },
  { element: 'skala', beam: (alt) => [sine(alt) ** 1.2, sine(alt) ** 1.2], frequencyHz: 150e6, altitudes: [60, 30, 15] },
  { element: 'cosine:0.5', beam: (alt) => [sine(alt) ** 0.5, sine(alt) ** 0.5], frequencyHz: 60e6, altitudes: [60, 15] },
  { element: 'none', beam: () => [1, 1], frequencyHz: 60e6, altitudes: [15] },
  { element: 'mwa-tile@30:70', beam: lowTile, frequencyHz: 150e6, altitudes: [40, 30, 20, 15], towards: () => [30, 70] },
  { element: 'airy:25', beam: airy25, frequencyHz: 150e6, altitudes: [88, 60, 30, 15], towards: (alt) => [alt + 2, 70] },
  { element: 'meerkat', beam: meerkat, frequencyHz: 1.4e9, altitudes: [89, 60, 30, 15], towards: (alt) => [alt + 0.3, 70] },
  // Linear between its points, X and Y separate.
  { element: 'table.csv', beam: (alt) => [Math.sqrt(0.2 + (0.8 * alt) / 90), Math.sqrt(0.4 + (0.6 * alt) / 90)], frequencyHz: 60e6, altitudes: [90, 60, 15] },
]; // prettier-ignore
const START = parseInstant('2026-03-01T12:00:00Z', 'brightness');
const FLUX = [100, 0, 0, 0] as const;
const AZ = 70;

describe('brightness', () => {
  const folder = temporaryFolder('brightness');
  const file = (name: string): string => join(folder, name);
  const corella = async (...words: string[]) => {
    const ran = await corellaHere(folder, ...words, '--quiet');
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  };
  const sky = (frequencyHz: number, sources: readonly KnownSource[]) => ({
    stations: STATIONS,
    radiusM: 2e9 / frequencyHz,
    frequenciesHz: [frequencyHz],
    sources,
    jones: randomGains(3, STATIONS, 1),
  });
  const middleOf = async (name: string, plane = 0): Promise<number> => {
    const { values, pixels } = await readFitsImage(file(name));
    return values[plane * pixels * pixels + (pixels / 2) * pixels + pixels / 2];
  };
  const header = async (name: string): Promise<string> => (await readFile(file(name))).toString('latin1');

  for (const { element, beam, frequencyHz, altitudes, towards = () => [90, 0] as const } of cases) {
    it(`over ${element} comes out as it is at altitudes of ${altitudes.join('°, ')}°`, async () => {
      await writeFile(file('table.csv'), 'za_deg,x_power,y_power\n0,1,1\n45,0.6,0.7\n90,0.2,0.4\n');
      const { site } = knownTelescope(sky(frequencyHz, []));
      for (const altDeg of altitudes) {
        const [calAlt, calAz] = towards(altDeg);
        const calibrator = { altDeg: calAlt, azDeg: calAz, stokes: [50, 0, 0, 0] as const };
        const looks = { towards: towards(altDeg) };
        await writeKnownSky(file('cal.uvfits'), { ...sky(frequencyHz, [calibrator]), ...looks });
        await corella('calibrate', 'cal.uvfits', '--sources', `spot@${calAlt}:${calAz}:50`, '--element', element, '-o', 'cal.json', '--overwrite'); // prettier-ignore
        const source = { altDeg, azDeg: AZ, stokes: FLUX, beam: () => beam(altDeg, AZ, frequencyHz) };
        await writeKnownSky(file('sky.uvfits'), { ...sky(frequencyHz, [source]), ...looks });
        const { raDeg, decDeg } = skyFrame(site, { ...START, unixSeconds: START.unixSeconds + 1 }).positionOf(
          directionFromAltAz(altDeg, AZ),
        );
        const words = ['image', 'sky.uvfits', '--gains', 'cal.json', '--overwrite', '--no-picture', '-o'];
        const where = ['--centre', `${raDeg.toFixed(6)}deg ${decDeg.toFixed(6)}deg`, '--field', '1', '--pixels', '32'] as const; // prettier-ignore
        await corella(...words, 'true.fits', ...where, '--beam-corrected', '--element', element);
        const found = await middleOf('true.fits');
        assert.ok(Math.abs(found / 100 - 1) < 0.03, `${altDeg}°: ${found} Jy/beam where 100 belong`);
        if (altDeg === 90 || element === 'none') continue;
        await corella(...words, 'apparent.fits', ...where);
        const [x, y] = beam(altDeg, AZ, frequencyHz);
        const seen = (await middleOf('apparent.fits')) / 50 / (x * x + y * y);
        assert.ok(Math.abs(seen - 1) < 0.03, `${altDeg}°: apparent ${seen}`);
      }
    });
  }

  it('is in the header, and X and Y are apart round the zenith too', async () => {
    const source = { altDeg: 60, azDeg: 90, stokes: FLUX, beam: () => mwaDipole(60, 90, 150e6) };
    await writeKnownSky(file('sky.uvfits'), sky(150e6, [source]));
    await writeKnownSky(file('cal.uvfits'), sky(150e6, [{ altDeg: 90, azDeg: 0, stokes: FLUX }]));
    await corella('calibrate', 'cal.uvfits', '--sources', 'spot@90:0:100', '--element', 'mwa-dipole', '-o', 'cal.json', '--overwrite'); // prettier-ignore
    const words = ['image', 'sky.uvfits', '--gains', 'cal.json', '--overwrite', '--no-picture', '--pixels', '512', '--stokes', 'IQUV', '--cross-hand', 'known', '-o'] as const; // prettier-ignore
    await corella(...words, 'apparent.fits');
    assert.match(await header('apparent.fits'), /PBCOR {3}= +F .*brightness is apparent, times the element's beam/s); // prettier-ignore
    await corella(...words, 'true.fits', '--beam-corrected', '--element', 'mwa-dipole');
    assert.match(await header('true.fits'), /PBCOR {3}= +T .*the sky's: divided by the element's beam \(mwa-dipole/s); // prettier-ignore
    const { values, pixels } = await readFitsImage(file('true.fits'));
    const apparent = (await readFitsImage(file('apparent.fits'))).values;
    // The brightest pixel before the division: after it, the beam's slope would shift the peak.
    let peak = (pixels / 2) * pixels + pixels / 2;
    for (let at = 0; at < pixels * pixels; at++) if (apparent[at] > apparent[peak]) peak = at;
    assert.ok(Math.abs(values[peak] / 100 - 1) < 0.03, `I ${values[peak]}`);
    // XX is a quarter weaker than YY before, which would be Q; the sky has none.
    assert.ok(Math.abs(values[pixels * pixels + peak]) < 2, `Q ${values[pixels * pixels + peak]}`);
    assert.ok(apparent[pixels * pixels + peak] > 5);
  });

  it("is the file's own where it is in Jy, and needs a beam that somebody knows", async () => {
    await writeKnownSky(file('jy.uvh5'), { ...sky(150e6, [{ altDeg: 90, azDeg: 0, stokes: FLUX }]), jones: randomGains(3, STATIONS, 1), unit: 'Jy' }); // prettier-ignore
    await corella('convert', 'jy.uvh5', 'jy.uvfits', '--overwrite');
    for (const name of ['jy.uvh5', 'jy.uvfits']) {
      const ran = await corella('image', name, '-o', 'jy.fits', '--overwrite', '--no-picture');
      assert.match(ran.stdout, /Jy\/beam/, name);
    }
    const ran = await corellaHere(folder, 'image', 'jy.uvh5', '--beam-corrected', '-o', 'no.fits', '--quiet');
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /--beam-corrected: nothing is known of the beam of its stations/);
    // A user's table: power 0.5 everywhere except at the zenith.
    await writeFile(file('own.csv'), 'za_deg,x_power,y_power\n0,1,1\n1,0.5,0.5\n90,0.5,0.5\n');
    await corella(
      'image',
      'jy.uvh5',
      '--beam-corrected',
      '--element',
      'own.csv',
      '-o',
      'own.fits',
      '--no-picture',
    );
    assert.match(await header('own.fits'), /PBCOR {3}= +T/);
  });
});
