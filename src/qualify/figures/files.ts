/**
 * A source in the east through every file format we write, read back by our own readers and by others' if installed.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { baselineCount, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, formatInstant, secondsBetween } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { openFile, readFitsImage, visibilityFormatFor } from '../../formats/index.js';
import { averageChannels, measureSource, placeOf, stokesI } from '../../image/index.js';
import { imageIntegration } from '../../compose/index.js';
import { writeSkyFits, written } from '../../stages/index.js';
import { directionFromAltAz, skyFrame } from '../../sky/frame.js';
import { loadTelescope } from '../../telescope/load.js';
import type { Telescope } from '../../telescope/telescope.js';
import { START } from '../engines.js';
import { all, atMost, type Check, type Figure, type Rig } from '../figure.js';

const CHANNELS = 4;
const STATIONS = 32;
const DURATION_S = 2;
const WIDTH_HZ = 25e3;
const frequenciesHz = Float64Array.from({ length: CHANNELS }, (_, c) => 50e6 + c * WIDTH_HZ);
const EAST = { altitudeDeg: 50, azimuthDeg: 90 };

export const filesFigure: Figure = {
  name: 'files',
  title: 'Times, labels and orientation in files',
  about:
    'Visibilities of one source 40° east of the zenith, by formula, are written as UVFITS and UVH5 and imaged to FITS; each is read back. Times, frequencies, weights and values must be those written, and the source must lie in the east: to the left in the file, at a larger right ascension.',
  measure: async (rig) => {
    const telescope = await someStations();
    const integration = eastern(telescope);
    const checks: Check[] = [];
    for (const name of ['east.uvh5', 'east.uvfits'])
      checks.push(...(await throughVisibilities(rig, telescope, integration, join(rig.folder, name))));
    const path = join(rig.folder, 'east.fits');
    const image = await throughImage(rig, telescope, integration, path);
    const others = await byAstropy(path, image.position);
    return {
      checks: [...checks, ...image.checks, ...others.checks],
      remarks: [
        ...others.remarks,
        'every format against casacore, WSClean, astropy, h5py and pyuvdata: npm run test:clients',
      ],
    };
  },
};

async function someStations(): Promise<Telescope> {
  const whole = await loadTelescope('lwasv');
  const every = Math.floor(whole.stations.length / STATIONS);
  return { ...whole, stations: whole.stations.filter((_, s) => s % every === 0).slice(0, STATIONS) };
}

/** Unpolarised: XX and YY equal, cross products 0. */
function eastern({ stations }: Telescope): Integration {
  const towards = directionFromAltAz(EAST.altitudeDeg, EAST.azimuthDeg);
  const count = stations.length;
  const baselines = baselineCount(count);
  const values = new Float64Array(8 * CHANNELS * baselines);
  const metres = stations.map(
    ({ eastM, northM, upM }) => eastM * towards.x + northM * towards.y + upM * towards.z,
  );
  let at = 0;
  for (let c = 0; c < CHANNELS; c++)
    for (let i = 0; i < count; i++)
      for (let j = 0; j <= i; j++, at += 8) {
        const phase = (2 * Math.PI * frequenciesHz[c] * (metres[i] - metres[j])) / SPEED_OF_LIGHT_M_PER_S;
        for (const product of [0, 6]) {
          values[at + product] = 1000 * Math.cos(phase);
          values[at + product + 1] = 1000 * Math.sin(phase);
        }
      }
  return {
    start: START,
    durationS: DURATION_S,
    channels: CHANNELS,
    stations: count,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, CHANNELS, baselines, 2),
    counts: countsCB(new Float64Array(CHANNELS * baselines).fill(1000), CHANNELS, baselines),
    flaggedInputs: new Uint8Array(2 * count),
  };
}

const imageOf = ({ backend }: Rig, telescope: Telescope, integration: Integration) =>
  imageIntegration(
    integration,
    { backend, telescope, frequenciesHz, weight: 'natural', autos: 'leave-out' },
    { field: { kind: 'all-sky' }, pixels: 128, kernelSize: 5 },
  );

async function throughVisibilities(
  rig: Rig,
  telescope: Telescope,
  integration: Integration,
  path: string,
): Promise<Check[]> {
  const frame = skyFrame(telescope.site, addSeconds(START, DURATION_S / 2));
  await written(
    () =>
      visibilityFormatFor(path).createVisibilities(path, {
        telescope,
        polarisations: 2,
        frequenciesHz,
        channelWidthHz: WIDTH_HZ,
        phaseCentre: frame.zenith,
        object: 'zenith',
        history: ['corella qualify'],
      }),
    (append) => append(integration),
  );
  const kind = path.slice(path.lastIndexOf('.') + 1).toUpperCase();
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error(`${path} was written as visibilities`);
    const checks: Check[] = [];
    let integrations = 0;
    for await (const read of file.integrations()) {
      integrations++;
      let off = 0;
      // Sums of 1000 samples each; floats of 24 bits, phased and unphased during the conversion.
      integration.visibilities.forEach((value, n) => {
        const b = Math.floor(n / 8);
        const mean = read.counts[b] > 0 ? read.visibilities[n] / read.counts[b] : NaN;
        off = Math.max(off, Math.abs(mean - value / 1000));
      });
      const offS = Math.abs(secondsBetween(START, read.start));
      const weights = read.counts.filter((value, n) => value === integration.counts[n]).length;
      const labels = file.header.frequenciesHz.filter(
        (hz, c) => Math.abs(hz - frequenciesHz[c]) < 1e-3,
      ).length;
      const found = await imageOf(rig, file.telescope, read);
      const place = placeOf(found.plan, directionFromAltAz(EAST.altitudeDeg, EAST.azimuthDeg));
      const plane = stokesI(averageChannels(found.image, found.plan, found.weights), found.plan, 0);
      const source = place ? measureSource(plane, found.plan, place, 64) : { errorPixels: NaN };
      checks.push(
        atMost(`${kind}: values`, off, 1e-5, 'of the source'),
        atMost(`${kind}: time`, offS, 1e-4, 's'),
        all(`${kind}: frequencies`, labels, CHANNELS),
        all(`${kind}: weights`, weights, integration.counts.length),
        atMost(
          `${kind}: brightest spot of the whole sky from its place in the east`,
          source.errorPixels,
          0.5,
          'pixels',
        ),
      );
    }
    return [all(`${kind}: integrations`, integrations, 1), ...checks];
  } finally {
    await file.close();
  }
}

interface Placed {
  readonly checks: readonly Check[];
  /** Position of the source, J2000. */
  readonly position: { readonly raDeg: number; readonly decDeg: number };
}

async function throughImage(
  rig: Rig,
  telescope: Telescope,
  integration: Integration,
  path: string,
): Promise<Placed> {
  const sky = await imageOf(rig, telescope, integration);
  await writeSkyFits(path, sky, {
    telescope,
    method: 'From visibilities',
    unit: 'Jy/beam',
    channelWidthHz: WIDTH_HZ,
    channels: 'average',
    history: ['corella qualify', formatInstant(START)],
  });
  const position = sky.frame.positionOf(directionFromAltAz(EAST.altitudeDeg, EAST.azimuthDeg));
  const { pixels, values } = await readFitsImage(path);
  const plane = values.subarray(0, pixels * pixels);
  let best = -1;
  plane.forEach((value, at) => {
    if (!Number.isNaN(value) && (best < 0 || value > plane[best])) best = at;
  });
  const east = (best % pixels) - pixels / 2;
  return {
    position,
    checks: [all('FITS image: brightest pixel east of the centre', east > pixels / 8 ? 1 : 0, 1)],
  };
}

const run = promisify(execFile);

/** Astropy's own reading of the file's coordinates, if it is installed. */
async function byAstropy(
  path: string,
  { raDeg, decDeg }: Placed['position'],
): Promise<{ readonly checks: readonly Check[]; readonly remarks: readonly string[] }> {
  const script = [
    'import sys, json, numpy',
    'from astropy.io import fits',
    'from astropy.wcs import WCS',
    'h = fits.open(sys.argv[1])[0]',
    'd = h.data.reshape((-1,) + h.data.shape[-2:])[0]',
    'y, x = numpy.unravel_index(numpy.nanargmax(d), d.shape)',
    'w = WCS(h.header).celestial',
    'c = w.pixel_to_world(x, y)',
    'print(json.dumps([float(c.ra.deg), float(c.dec.deg), float(x - d.shape[1] / 2), h.header["DATE-OBS"]]))',
  ].join('\n');
  try {
    const { stdout } = await run('python3', ['-c', script, path], { timeout: 60_000 });
    const [foundRa, foundDec, column] = JSON.parse(stdout) as [number, number, number, string];
    const [dec, dec0] = [foundDec * RADIANS_PER_DEGREE, decDeg * RADIANS_PER_DEGREE];
    const hour = (foundRa - raDeg) * RADIANS_PER_DEGREE;
    const cosine = Math.sin(dec) * Math.sin(dec0) + Math.cos(dec) * Math.cos(dec0) * Math.cos(hour);
    const apart = Math.acos(Math.min(1, cosine)) * DEGREES_PER_RADIAN;
    return {
      checks: [
        atMost('FITS image by astropy: brightest pixel from the source’s J2000 place', apart, 1.5, '°'),
        all('FITS image by astropy: east on the left', column < 0 ? 1 : 0, 1),
      ],
      remarks: [],
    };
  } catch (error) {
    const said = String(error);
    if (/ENOENT|ModuleNotFoundError|No module named/.test(said))
      return { checks: [], remarks: ['astropy is not installed: FITS was read by our own reader alone'] };
    const why = said.trim().split('\n').at(-1) ?? '';
    return {
      checks: [all('FITS image read by astropy', 0, 1)],
      remarks: [`astropy could not read it: ${why}`],
    };
  }
}
