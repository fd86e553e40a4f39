/** Wide images of whole observations, compared with formulae that share no code with the imager. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import {
  baselineCount,
  baselineIndex,
  countsCB,
  gainsCA,
  uvwB,
  visibilitiesCBPP,
  weightsCBPP,
} from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import type { GainsFile } from '../../formats/index.js';
import { measureSource } from '../../image/index.js';
import { skyFrame } from '../../sky/frame.js';
import { fixedCentre, localCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { matchGains } from '../../stages/index.js';
import { imageWide } from './image.js';
import { imageWideSeries } from './series.js';
import { picturePlane } from './products.js';
import type { WideSettings } from './settings.js';
import type { WideSetup } from './survey.js';

const C_M_PER_S = 299_792_458;
type Place = readonly [number, number, number];

function telescopeOf(places: readonly Place[], polarisations: 1 | 2 = 1): Telescope {
  return {
    name: 'test',
    title: 'test',
    polarisations,
    beamExponent: 0,
    site: { latitudeDeg: -30.7, longitudeDeg: 21.4, heightM: 1050 },
    stations: places.map(([eastM, northM, upM], s) => ({ name: `s${s}`, eastM, northM, upM })),
    band: { lowHz: 1e6, highHz: 2e9 },
    recording: { centreFrequencyHz: 1e8, sampleRateHz: 1e6, channels: 1, bits: 8 },
  };
}

const natural: Pick<WideSettings, 'weighting' | 'stokes' | 'channels'> = {
  weighting: { kind: 'natural' },
  stokes: 'I',
  channels: 'together',
};

/** x_i conj(x_j) of sources in these directions with running fringes, as from a correlator. */
function observed(
  telescope: Telescope,
  frequenciesHz: Float64Array,
  when: Pick<Integration, 'start' | 'durationS'>,
  sources: readonly { readonly towards: Place; readonly fluxJy: number }[],
): Integration {
  const stations = telescope.stations.length;
  const baselines = baselineCount(stations);
  const channels = frequenciesHz.length;
  const values = new Float64Array(2 * channels * baselines);
  for (const { towards, fluxJy } of sources) {
    const path = telescope.stations.map(
      ({ eastM, northM, upM }) => eastM * towards[0] + northM * towards[1] + upM * towards[2],
    );
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++) {
          const angle = (2 * Math.PI * frequenciesHz[c] * (path[i] - path[j])) / C_M_PER_S;
          const at = 2 * (c * baselines + baselineIndex(i, j));
          values[at] += fluxJy * Math.cos(angle);
          values[at + 1] += fluxJy * Math.sin(angle);
        }
      }
    }
  }
  return {
    ...when,
    channels,
    stations,
    polarisations: 1,
    visibilities: visibilitiesCBPP(values, channels, baselines, 1),
    counts: countsCB(new Float64Array(channels * baselines).fill(1), channels, baselines),
    flaggedInputs: new Uint8Array(stations),
  };
}

/**
 * Towards 206.3926° −65.4543°, and towards 206.4426° −65.5343°, every five minutes from 2022-06-21T20:00:00Z, seen
 * from −30.7°, 21.4° E, 1050 m: east, north and up by ERFA (astropy 5.2.1, no air). The first is 40° from the zenith
 * in the middle of the hour.
 */
const byErfa: readonly (readonly number[])[] = [
  [-0.172106686049, -0.590870412277, 0.788195054864, -0.17124607611, -0.591878479559, 0.787625956182],
  [-0.180291817811, -0.59283849361, 0.784880488307, -0.179409451629, -0.593836826982, 0.784327783255],
  [-0.188390668235, -0.594897514739, 0.781412761016, -0.187486968068, -0.595885873562, 0.780876854885],
  [-0.196399361561, -0.597046490311, 0.777793532491, -0.195474759879, -0.598024638715, 0.777274822531],
  [-0.204314065178, -0.599284391923, 0.774024534733, -0.203369004452, -0.600252098924, 0.773523409966],
  [-0.212130991453, -0.601610148614, 0.770107571415, -0.211165923946, -0.602567188229, 0.769624412447],
  [-0.219846399543, -0.604022647382, 0.766044517021, -0.218861787092, -0.604968798729, 0.765579695862],
  [-0.227456597189, -0.606520733713, 0.761837315949, -0.226452910984, -0.607455781122, 0.761391195831],
  [-0.234957942481, -0.609103212133, 0.757487981577, -0.23393566284, -0.610026945248, 0.757060916784],
  [-0.2423468456, -0.611768846784, 0.752998595305, -0.24130646174, -0.612681060664, 0.752590931002],
  [-0.249619770538, -0.614516362012, 0.748371305554, -0.248561780338, -0.615416857227, 0.747983377621],
  [-0.256773236786, -0.617344442977, 0.74360832674, -0.255698146552, -0.618233025706, 0.743240461611],
  [-0.263803821005, -0.620251736285, 0.738711938213, -0.262712145227, -0.621128218408, 0.738364452724],
];

describe('eight dishes over two kilometres at 1.4 GHz, an hour, 40° from the zenith', () => {
  const random = randomStream(8, 'dishes');
  const telescope = telescopeOf(
    Array.from({ length: 8 }, (_, k): Place => {
      const angle = (2 * Math.PI * k) / 8;
      const radius = 1000 * (0.3 + 0.7 * random.uniform());
      return [radius * Math.cos(angle), radius * Math.sin(angle), 5 * random.gaussian()];
    }),
  );
  const frequenciesHz = Float64Array.of(1.399e9, 1.4e9, 1.401e9);
  const begin = parseInstant('2022-06-21T20:00:00Z');
  // Short, so that running fringes are not smeared: this tests positions, not durations.
  const integrations = (source: 0 | 1): Integration[] =>
    byErfa.map((row, k) =>
      observed(telescope, frequenciesHz, { start: addSeconds(begin, 300 * k - 0.0005), durationS: 0.001 }, [
        { towards: [row[3 * source], row[3 * source + 1], row[3 * source + 2]], fluxJy: 2 },
      ]),
    );
  const setup: WideSetup = {
    backend: openReference(),
    telescope,
    frequenciesHz,
    channelWidthHz: 1e6,
    polarisations: 1,
    fringes: 'stopped',
  };
  const centre = fixedCentre('source', { raDeg: 206.3926, decDeg: -65.4543 });

  it('a source at the centre, and one 5′ away, are found to 0.05 beam and 1 % of their flux', async () => {
    for (const [source, raDeg, decDeg] of [
      [0, 206.3926, -65.4543],
      [1, 206.4426, -65.5343],
    ] as const) {
      // The SIN projection, written out.
      const [ra, dec, ra0, dec0] = [raDeg, decDeg, 206.3926, -65.4543].map((deg) => (deg * Math.PI) / 180);
      const l = Math.cos(dec) * Math.sin(ra - ra0);
      const m = Math.sin(dec) * Math.cos(dec0) - Math.cos(dec) * Math.sin(dec0) * Math.cos(ra - ra0);
      // A small image centred on the source, 3″ per pixel, or on its neighbour's position in a wider one.
      const cellDeg = 3 / 3600;
      const pixels = source === 0 ? 32 : 220;
      const sky = await imageWide(() => integrations(source), setup, {
        ...natural,
        centre,
        field: { pixels, cellDeg },
      });
      const plane = picturePlane(sky);
      const pixelSize = sky.pixels.pixelCosine;
      const found = measureSource(plane, { pixels, pixelSize }, { l, m }, 6);
      const beam = sky.fittedBeams[0];
      assert.ok(beam);
      const beamPixels = beam.minorDeg / cellDeg;
      assert.ok(found.errorPixels < 0.05 * beamPixels, `${found.errorPixels / beamPixels} beams off`);
      assert.ok(Math.abs(found.peak / 2 - 1) < 0.01, `${found.peak} Jy`);
    }
  });

  it('gains of several times are drawn between them, for each integration its own', async () => {
    const stations = telescope.stations.map((_, station) => station);
    // Over the hour a station's gain grows by 5 % and its phase by 0.4 rad times the station's number: known at both
    // ends and a third.
    const gainAt = (station: number, hours: number): readonly [number, number] => {
      const size = 1 + 0.05 * station * hours;
      return [size * Math.cos(0.4 * station * hours), size * Math.sin(0.4 * station * hours)];
    };
    const at = (hours: number) => ({
      time: addSeconds(begin, 3600 * hours),
      gains: gainsCA(
        Float64Array.from([0, 1, 2].flatMap(() => stations.flatMap((station) => gainAt(station, hours)))),
        3,
        8,
      ),
      solved: new Uint8Array(8 * frequenciesHz.length).fill(1),
      solutions: [],
    });
    const file: GainsFile = {
      ...at(0),
      later: [at(1 / 3), at(1)],
      telescope: 'test',
      polarisations: 1,
      frequenciesHz,
      stations: telescope.stations.map(({ name }) => name),
      referenceStation: 0,
      sources: [],
      history: [],
    };
    const uncalibrated = integrations(0).map((integration, k) => {
      const { visibilities } = integration;
      const gains = stations.map((station) => gainAt(station, k / 12));
      for (let c = 0, n = 0; c < frequenciesHz.length; c++) {
        for (let i = 0; i < 8; i++) {
          for (let j = 0; j <= i; j++, n += 2) {
            const re = gains[i][0] * gains[j][0] + gains[i][1] * gains[j][1];
            const im = gains[i][1] * gains[j][0] - gains[i][0] * gains[j][1];
            const [x, y] = [visibilities[n], visibilities[n + 1]];
            visibilities[n] = re * x - im * y;
            visibilities[n + 1] = re * y + im * x;
          }
        }
      }
      return integration;
    });
    const settings = { ...natural, centre, field: { pixels: 32, cellDeg: 3 / 3600 } };
    const peakWith = async (calibrated: NonNullable<WideSetup['calibrated']>): Promise<number> =>
      picturePlane(await imageWide(() => uncalibrated, { ...setup, calibrated }, settings))[16 * 33];
    const moving = await peakWith((moment) => matchGains(file, 'gains', telescope, frequenciesHz, moment));
    assert.ok(Math.abs(moving / 2 - 1) < 1e-3, `${moving} of 2 Jy`);
    const still = await peakWith(matchGains(file, 'gains', telescope, frequenciesHz));
    assert.ok(still < 1.8, `${still} of 2 Jy with those of the first time alone`);
    const series = await imageWideSeries(
      () => uncalibrated,
      { ...setup, calibrated: (moment) => matchGains(file, 'gains', telescope, frequenciesHz, moment) },
      settings,
      300,
    );
    for (const { plane } of series.images) assert.ok(Math.abs(plane[16 * 33] / 2 - 1) < 1e-3);
    assert.ok(series.images.every(({ exposureS = 0 }) => Math.abs(exposureS - 0.001) < 1e-9));
  });

  it('and CLEANed to the flux it has', async () => {
    const sky = await imageWide(() => integrations(0), setup, {
      ...natural,
      centre,
      field: { pixels: 48, cellDeg: 3 / 3600 },
      clean: { thresholdJy: 0.002 },
    });
    assert.ok(Math.abs((sky.cleaned?.facts[0].fluxJy ?? 0) / 2 - 1) < 0.01);
    // Of a millisecond every five minutes.
    assert.equal(sky.integrations, byErfa.length);
    assert.ok(Math.abs(sky.exposureS - 0.001 * byErfa.length) < 1e-9, String(sky.exposureS));
    assert.ok(Math.abs(sky.durationS - 300 * (byErfa.length - 1)) < 0.01, String(sky.durationS));
    assert.ok(Math.abs(picturePlane(sky)[24 * 49] / 2 - 1) < 0.01);
  });
});

describe('files whose fringes are stopped are imaged with the uvw they hold', () => {
  for (const ground of ['flat', 'sloping', 'hilly'] as const) {
    it(`${ground}: the Fourier sum of what is stored`, async () => {
      const random = randomStream(9, ground);
      const stations = 6;
      const telescope = telescopeOf(Array.from({ length: stations }, (): Place => [0, 0, 0]));
      const baselines = baselineCount(stations);
      const frequenciesHz = Float64Array.of(100e6, 103e6);
      const uvw = new Float64Array(3 * baselines).fill(Number.NaN);
      const means = new Float64Array(4 * baselines);
      const weights = new Float64Array(2 * baselines);
      const rows: { readonly uvw: number[]; readonly re: number; readonly im: number; readonly weight: number; readonly hz: number }[] = []; // prettier-ignore
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j < i; j++) {
          const b = baselineIndex(i, j);
          const [u, v] = [40 * random.gaussian(), 40 * random.gaussian()];
          const w = ground === 'flat' ? 0 : ground === 'sloping' ? 0.3 * u : 10 * random.gaussian();
          uvw.set([u, v, w], 3 * b);
          for (const [c, hz] of frequenciesHz.entries()) {
            const [re, im] = [random.gaussian(), random.gaussian()];
            // Means are kept unphased: the file's value with its own w phase restored.
            const angle = (2 * Math.PI * hz * w) / C_M_PER_S;
            means[2 * (c * baselines + b)] = re * Math.cos(angle) - im * Math.sin(angle);
            means[2 * (c * baselines + b) + 1] = re * Math.sin(angle) + im * Math.cos(angle);
            const weight = (i + c) % 4 === 3 ? -1 : 1 + i;
            weights[c * baselines + b] = weight;
            if (weight > 0) rows.push({ uvw: [u, v, w], re, im, weight, hz });
          }
        }
      }
      const start = parseInstant('2022-06-21T20:00:00Z');
      const phaseCentre = skyFrame(telescope.site, start).zenith;
      const integration: Integration = {
        start,
        durationS: 1,
        channels: 2,
        stations,
        polarisations: 1,
        visibilities: visibilitiesCBPP(new Float64Array(4 * baselines), 2, baselines, 1),
        counts: countsCB(new Float64Array(2 * baselines), 2, baselines),
        flaggedInputs: new Uint8Array(stations),
        passThrough: {
          means: visibilitiesCBPP(means, 2, baselines, 1),
          weights: weightsCBPP(weights, 2, baselines, 1),
          stopped: { phaseCentre, uvwM: uvwB(uvw, baselines) },
        },
      };
      const sky = await imageWide(
        () => [integration],
        { backend: openReference(), telescope, frequenciesHz, channelWidthHz: 1e6, polarisations: 1 },
        { ...natural, centre: fixedCentre('here', phaseCentre), field: { pixels: 32, cellDeg: 1 } },
      );
      const total = rows.reduce((sum, { weight }) => sum + weight, 0);
      for (let at = 0; at < 32 * 32; at++) {
        const l = (((at % 32) - 16) * Math.PI) / 180;
        const m = ((Math.floor(at / 32) - 16) * Math.PI) / 180;
        const n = Math.sqrt(1 - l * l - m * m);
        let sum = 0;
        for (const {
          uvw: [u, v, w],
          re,
          im,
          weight,
          hz,
        } of rows) {
          const angle = (2 * Math.PI * hz * (u * l + v * m + w * (n - 1))) / C_M_PER_S;
          sum += weight * (re * Math.cos(angle) + im * Math.sin(angle));
        }
        assert.ok(Math.abs(sky.image[at] - sum / total) < 1e-6, `pixel ${at}`);
      }
    });
  }
});

describe('whole skies of arrays that are not flat', () => {
  it('hills of a wavelength: a source keeps its place and its flux', async () => {
    const random = randomStream(10, 'hills');
    const telescope = telescopeOf(
      Array.from({ length: 24 }, (): Place => {
        const [east, north] = [28 * (random.uniform() - 0.5), 28 * (random.uniform() - 0.5)];
        return [east, north, 2 * random.gaussian() + 0.15 * east];
      }),
    );
    const start = parseInstant('2022-06-21T20:00:00Z');
    const frame = skyFrame(telescope.site, addSeconds(start, 0.5));
    const towards: Place = [0.6, -0.4, Math.sqrt(1 - 0.52)];
    const sky = await imageWide(
      () => [observed(telescope, Float64Array.of(150e6), { start, durationS: 1 }, [{ towards, fluxJy: 3 }])],
      {
        backend: openReference(),
        telescope,
        channelWidthHz: 1e5,
        polarisations: 1,
        frequenciesHz: Float64Array.of(150e6),
      },
      {
        ...natural,
        centre: localCentre('zenith', { x: 0, y: 0, z: 1 }),
        field: { widthDeg: 180, pixels: 128 },
      },
    );
    const { l, m } = frame.tangentAxes(frame.zenith);
    const along = (axis: typeof l): number => axis.x * towards[0] + axis.y * towards[1] + axis.z * towards[2];
    const found = measureSource(
      picturePlane(sky),
      { pixels: 128, pixelSize: sky.pixels.pixelCosine },
      { l: along(l), m: along(m) },
      5,
    );
    assert.ok(found.errorPixels < 0.1, `${found.errorPixels} pixels off`);
    assert.ok(Math.abs(found.peak / 3 - 1) < 0.02, `${found.peak} Jy`);
    assert.equal(sky.pixels.field.kind, 'all-sky');
    assert.ok(Number.isNaN(sky.image[0]));
  });

  it('a centre below the horizon is refused, with how far', async () => {
    const telescope = telescopeOf([[0, 0, 0], [10, 0, 0]]); // prettier-ignore
    const start = parseInstant('2022-06-21T20:00:00Z');
    const zenith = skyFrame(telescope.site, start).zenith;
    await assert.rejects(
      imageWide(
        () => [observed(telescope, Float64Array.of(1e8), { start, durationS: 1 }, [])],
        {
          backend: openReference(),
          telescope,
          channelWidthHz: 1e5,
          polarisations: 1,
          frequenciesHz: Float64Array.of(1e8),
        },
        {
          ...natural,
          centre: fixedCentre('down', { raDeg: (zenith.raDeg + 180) % 360, decDeg: -zenith.decDeg }),
          field: { pixels: 16, cellDeg: 1 },
        },
      ),
      /down is 90\.0° below the horizon/,
    );
  });
});

describe('a series', () => {
  it('one image of every interval: a source that shines in the second alone is in the second alone', async () => {
    const random = randomStream(11, 'series');
    const telescope = telescopeOf(
      Array.from({ length: 10 }, (): Place => [
        40 * random.uniform(),
        40 * random.uniform(),
        random.uniform(),
      ]),
    );
    const frequenciesHz = Float64Array.of(60e6);
    const begin = parseInstant('2022-06-21T20:00:00Z');
    const towards: Place = [0.3, 0.2, Math.sqrt(1 - 0.13)];
    const integrations = Array.from({ length: 7 }, (_, k) => {
      const isOn = k === 2 || k === 3;
      // Julian Dates in files are inaccurate by some tens of microseconds.
      const start = addSeconds(begin, 0.5 * k - (k === 2 ? 4e-5 : 0));
      return observed(
        telescope,
        frequenciesHz,
        { start, durationS: 0.5 },
        isOn ? [{ towards, fluxJy: 5 }] : [],
      );
    });
    const series = await imageWideSeries(
      () => integrations,
      { backend: openReference(), telescope, frequenciesHz, channelWidthHz: 1e5, polarisations: 1 },
      { ...natural, centre: localCentre('zenith', { x: 0, y: 0, z: 1 }), field: { pixels: 48 } },
      1,
    );
    assert.deepEqual(
      series.images.map(({ durationS }) => Number(durationS.toFixed(3))),
      [1, 1, 1, 0.5],
    );
    const peaks = series.images.map(({ plane }) => plane.reduce((a, b) => (b > a ? b : a), 0));
    assert.ok(peaks[1] > 4 && peaks[0] === 0 && peaks[2] === 0 && peaks[3] === 0, peaks.join(' '));
    const centres = new Set(series.images.map(({ centre }) => centre.raDeg));
    assert.equal(centres.size, 1);
  });
});
