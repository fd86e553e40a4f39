/**
 * Simulated drift scans against formulae that share no code with what they test: the Sun by the Astronomical Almanac's
 * low precision (0.01°), sidereal time by its polynomial, directions by hour angle and declination.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { parsePhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { fringeCollector } from './collect.js';
import { fringesOf, type Fringes } from './numbers.js';

const C = 299_792_458;
const START = '2026-06-21T09:30:00Z';
const LATITUDE = 52.4;
const LONGITUDE = 4.9;

/** Nominal positions, and the corrections that give the true ones. */
const stations = [
  { name: 'east', eastM: 12, northM: 0, upM: 0, off: [0, 0, 0] },
  { name: 'west', eastM: -8, northM: 3, upM: 0, off: [0.31, 0.12, -0.1] },
  { name: 'north', eastM: 1, northM: 15, upM: 0.5, off: [-0.2, 0.4, 0.05] },
] as const;
const telescope: Telescope = {
  name: 'roof',
  title: 'three dishes on a roof',
  polarisations: 1,
  beamExponent: 0,
  site: { latitudeDeg: LATITUDE, longitudeDeg: LONGITUDE, heightM: 5 },
  stations,
  band: { lowHz: 1.4e9, highHz: 1.43e9 },
  recording: { centreFrequencyHz: 1.42e9, sampleRateHz: 2.4e6, channels: 16, bits: 8 },
};

/** East, north, up, of the Sun `seconds` after START. */
function sunEnu(seconds: number): readonly [number, number, number] {
  const rad = Math.PI / 180;
  const days = (Date.parse(START) / 1000 + seconds) / 86_400 + 2_440_587.5 - 2_451_545;
  const anomaly = (357.528 + 0.9856003 * days) * rad;
  const longitude =
    (280.46 + 0.9856474 * days + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly)) * rad;
  const obliquity = (23.439 - 4e-7 * days) * rad;
  const ra = Math.atan2(Math.cos(obliquity) * Math.sin(longitude), Math.cos(longitude));
  const dec = Math.asin(Math.sin(obliquity) * Math.sin(longitude));
  const sidereal = (280.46061837 + 360.98564736629 * days + LONGITUDE) * rad;
  const hour = sidereal - ra;
  const [sl, cl] = [Math.sin(LATITUDE * rad), Math.cos(LATITUDE * rad)];
  return [
    -Math.cos(dec) * Math.sin(hour),
    cl * Math.sin(dec) - sl * Math.cos(dec) * Math.cos(hour),
    sl * Math.sin(dec) + cl * Math.cos(dec) * Math.cos(hour),
  ];
}

interface Scan {
  readonly times: number;
  readonly everyS: number;
  readonly noise: number;
  /** Beam on the source over time, from 0 to 1. */
  readonly beam: (x: number) => number;
  /** Cable delay of each station. */
  readonly delaysS: readonly number[];
  readonly isTrue: boolean;
  readonly seed?: number;
}

const CHANNELS = 16;
const frequencies = Float64Array.from({ length: CHANNELS }, (_, c) => 1.4192e9 + c * 150e3);

function scanned({ times, everyS, noise, beam, delaysS, isTrue, seed = 1 }: Scan): Fringes {
  const random = randomStream(seed, 'drift');
  const collector = fringeCollector(
    { telescope, polarisations: 1, frequenciesHz: frequencies, channelWidthHz: 150e3 },
    'test',
  );
  const baselines = baselineCount(3);
  for (let t = 0; t < times; t++) {
    const sun = sunEnu((t + 0.5) * everyS);
    const values = new Float64Array(2 * CHANNELS * baselines);
    for (let c = 0; c < CHANNELS; c++)
      for (let i = 0, b = 0; i < 3; i++)
        for (let j = 0; j <= i; j++, b++) {
          const at = 2 * (c * baselines + b);
          if (i === j) {
            values[at] = 10 + i;
            continue;
          }
          const [one, two] = [stations[i], stations[j]];
          const off = isTrue ? 1 : 0;
          const metres =
            sun[0] * (one.eastM - two.eastM + off * (one.off[0] - two.off[0])) +
            sun[1] * (one.northM - two.northM + off * (one.off[1] - two.off[1])) +
            sun[2] * (one.upM - two.upM + off * (one.off[2] - two.off[2]));
          // A cable makes its signal later.
          const turns = frequencies[c] * (metres / C - delaysS[i] + delaysS[j]);
          const amplitude = beam(t / times);
          values[at] = amplitude * Math.cos(2 * Math.PI * turns) + noise * random.gaussian();
          values[at + 1] = amplitude * Math.sin(2 * Math.PI * turns) + noise * random.gaussian();
        }
    const one: Integration = {
      start: addSeconds(parseInstant(START), t * everyS),
      durationS: everyS,
      channels: CHANNELS,
      stations: 3,
      polarisations: 1,
      flaggedInputs: new Uint8Array(3),
      visibilities: visibilitiesCBPP(values, CHANNELS, baselines, 1),
      counts: countsCB(new Float64Array(CHANNELS * baselines).fill(1), CHANNELS, baselines),
    };
    collector.add(one);
  }
  return fringesOf(collector.series(), parsePhaseCentre('Sun', 'test'));
}

const apart = (one: number, two: number): number => Math.abs(((((one - two) % 360) + 540) % 360) - 180);
const bell = (x: number): number => Math.exp(-(((x - 0.5) / 0.3) ** 2));

describe('fringes', () => {
  it('are where a formula of its own puts those of the Sun', () => {
    const { baselines, source } = scanned({
      times: 60,
      everyS: 60,
      noise: 0,
      beam: () => 1,
      delaysS: [0, 0, 0],
      isTrue: false,
    });
    assert.equal(source?.name, 'Sun');
    for (const [k, [i, j]] of [
      [1, 0],
      [2, 0],
      [2, 1],
    ].entries()) {
      const { expectedDeg, phasesDeg, amplitudes, fit } = baselines[k];
      assert.deepEqual(baselines[k].stations, [i, j]);
      for (let t = 0; t < 60; t++) {
        const sun = sunEnu(60 * (t + 0.5));
        const [one, two] = [stations[i], stations[j]];
        const metres =
          sun[0] * (one.eastM - two.eastM) +
          sun[1] * (one.northM - two.northM) +
          sun[2] * (one.upM - two.upM);
        const degrees = 360 * ((metres * (frequencies[0] + 7.5 * 150e3)) / C);
        assert.ok(apart(phasesDeg[t], degrees) < 0.01, `measured ${t}`);
        // 0.01° of 20 m at 21 cm is 6°; the fit absorbs a constant part.
        assert.ok(apart(expectedDeg?.[t] ?? Number.NaN, degrees) < 6, `expected ${t}`);
        assert.ok(Math.abs(amplitudes[t] - 1) < 1e-3);
      }
      assert.ok(fit && Math.abs(fit.eastM) < 0.01 && Math.abs(fit.meridianM ?? 0) < 0.02);
    }
  });

  it('find the baseline of two dishes within its error, through the beam and with cables of unknown length', () => {
    let [pulls, worst] = [0, 0];
    for (let seed = 1; seed <= 5; seed++) {
      const { baselines, closures } = scanned({
        times: 480,
        everyS: 30,
        noise: 1.5,
        beam: bell,
        delaysS: [0, 40e-9, -25e-9],
        isTrue: true,
        seed,
      });
      for (const {
        stations: [i, j],
        fit,
        notFitted,
        lags,
      } of baselines) {
        assert.equal(notFitted, undefined);
        assert.ok(fit?.meridianM !== undefined && fit.meridianErrorM !== undefined);
        const off = [0, 1, 2].map((axis) => stations[i].off[axis] - stations[j].off[axis]);
        const meridianM =
          -Math.sin((LATITUDE * Math.PI) / 180) * off[1] + Math.cos((LATITUDE * Math.PI) / 180) * off[2];
        assert.ok(fit.eastErrorM < 0.01 && fit.meridianErrorM < 0.08);
        // The Almanac's error for the Sun, 0.01°, is 4 mm of 20 m.
        const pull = [
          (Math.abs(fit.eastM - off[0]) - 0.004) / fit.eastErrorM,
          (Math.abs(fit.meridianM - meridianM) - 0.004) / fit.meridianErrorM,
        ];
        worst = Math.max(worst, ...pull);
        pulls += Math.max(0, pull[0]) ** 2 + Math.max(0, pull[1]) ** 2;
        const cableS = [0, 40e-9, -25e-9][j] - [0, 40e-9, -25e-9][i];
        assert.ok(lags?.peakS !== undefined && Math.abs(lags.peakS - cableS) < 50e-9, `lag ${lags?.peakS}`);
      }
      assert.equal(closures.length, 1);
      assert.ok(Math.abs(closures[0].meanDeg) < 4 * closures[0].errorDeg && closures[0].errorDeg < 5);
    }
    assert.ok(worst < 4, `worst pull ${worst}`);
    assert.ok(pulls / 30 > 0.2 && pulls / 30 < 2, `mean square pull ${pulls / 30}`);
  });

  it('fits nothing to noise, nor to a scan too short', () => {
    const { baselines } = scanned({
      times: 200,
      everyS: 30,
      noise: 1,
      beam: () => 0,
      delaysS: [0, 0, 0],
      isTrue: true,
    });
    for (const { fit, notFitted, lags } of baselines) {
      assert.equal(fit, undefined);
      assert.ok(notFitted === 'no-fringe' || notFitted === 'at-rim' || notFitted === 'too-short');
      assert.equal(lags?.peakS, undefined);
    }
    const short = scanned({
      times: 20,
      everyS: 1,
      noise: 0.1,
      beam: () => 1,
      delaysS: [0, 0, 0],
      isTrue: true,
    });
    for (const { notFitted } of short.baselines) assert.equal(notFitted, 'too-short');
  });

  it('power by input, over time and in velocity', () => {
    const { powers, velocitiesKmPerS, frequenciesHz } = scanned({
      times: 3,
      everyS: 1,
      noise: 0,
      beam: () => 1,
      delaysS: [0, 0, 0],
      isTrue: false,
    });
    assert.deepEqual(
      powers.map(({ powers: over, spectrum, name }) => [name, over[2], spectrum[5]]),
      [
        ['east', 10, 10],
        ['west', 11, 11],
        ['north', 12, 12],
      ],
    );
    // 1 MHz below the line recedes at c/1420.4.
    const at = frequenciesHz.indexOf(1.4192e9);
    assert.ok(Math.abs((velocitiesKmPerS?.[at] ?? 0) - (299_792.458 * 1.205751768) / 1420.405751768) < 1e-6);
  });
});
