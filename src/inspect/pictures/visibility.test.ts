import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trio } from '../../formats/testing/trio.js';
import { renderCanvas } from '../../draw/testing.js';
import { antennaPicture } from './antenna.js';
import { baselineCollector, pairNamed } from './baseline.js';
import { fileOf, integrationOf, wordsOf } from '../testing.js';
import { uvCoverage } from './uv.js';
import { visibilityPicture } from './visibility.js';

const shape = { stations: 3, channels: 2 };
const frequenciesHz = Float64Array.of(100e6, 150e6);

describe('a picture of baselines', () => {
  it('has both polarisations, and stations by their names', () => {
    const one = integrationOf(0, shape, ({ i, j, p }) => [1 + i + j + p, 0]);
    const words = wordsOf(visibilityPicture(fileOf([one], frequenciesHz), one, 'v'));
    for (const title of ['XX: amplitude, median of 2 channels', 'YY: phase of V_ij at 150 MHz'])
      assert.ok(words.includes(title), words.join('\n'));
    assert.ok(words.includes('XX with s0: phase') && words.includes('YY with s0: amplitude'));
    // once along each side of four squares, once beside each of four bands
    assert.equal(words.filter((word) => word === 's2').length, 12);
  });

  it('has the phases of the channel nearest the middle that has weight', () => {
    const flagged = integrationOf(0, { stations: 3, channels: 6 }, ({ c }) =>
      c > 1 && c < 5 ? undefined : [1, 0],
    );
    const band = Float64Array.from({ length: 6 }, (_, c) => (100 + c) * 1e6);
    const words = wordsOf(visibilityPicture(fileOf([flagged], band), flagged, 'v'));
    assert.ok(words.includes('XX: phase of V_ij at 101 MHz'), words.join('\n'));
    assert.ok(words.includes('XX with s0: phase'));
  });
});

describe('a picture of one baseline', () => {
  /** The phase of V_20 is 40° in XX and −50° in YY, slightly more in each second channel. */
  const value = ({ i, j, p, c }: { i: number; j: number; p: number; c: number }): [number, number] => {
    const angle = (((p === 0 ? 40 : -50) + 10 * c) * Math.PI) / 180;
    return i === 2 && j === 0 ? [3 * Math.cos(angle), 3 * Math.sin(angle)] : [1, 0];
  };
  const dotsOf = (picture: ReturnType<ReturnType<typeof baselineCollector>['picture']>): number[] =>
    picture.shapes.flatMap((one) => {
      if (one.kind !== 'area' || one.points.length < 12) return [];
      const ys = one.points.map(({ y }) => y);
      return [(Math.min(...ys) + Math.max(...ys)) / 2];
    });

  it('is dots over frequency where there is one integration, and turns round with the names', () => {
    const file = fileOf([integrationOf(0, shape, value)], frequenciesHz);
    const drawn = (names: string): number[] => {
      const pair = baselineCollector(file, pairNamed(file, names));
      pair.add(integrationOf(0, shape, value));
      // a legend of two, then the dots of two products: amplitudes first
      return dotsOf(pair.picture('v')).slice(-6, -2);
    };
    // the second plot's frame is 270 high from −190° to 190°
    const top = 84 + 26 + 370;
    const level = (degrees: number): number => top + 270 * (1 - (degrees + 190) / 380);
    const near = (found: readonly number[], wanted: readonly number[]): void => {
      found.forEach((y, k) => {
        assert.ok(Math.abs(y - level(wanted[k])) < 0.1, `${found.join()} ${wanted.map(level).join()}`);
      });
    };
    near(drawn('s2,s0'), [40, 50, -50, -40]);
    near(drawn('s0,s2'), [-40, -50, 50, 40]);
  });

  it('is a map over time and frequency where there are more, empty where data are missing', () => {
    const all = [0, 4, 8].map((startS) =>
      integrationOf(startS, shape, (sample) => (startS === 4 && sample.i === 1 ? undefined : value(sample))),
    );
    const file = fileOf(all, frequenciesHz);
    const pair = baselineCollector(file, pairNamed(file, 's1,s0'));
    for (const one of all) pair.add(one);
    const picture = pair.picture('v');
    const words = wordsOf(picture);
    assert.ok(
      words.some((word) => word.startsWith('s1 – s0, 10.0 m apart')),
      words.join('\n'),
    );
    assert.ok(words.includes('YY: phase') && words.includes('time (s)'));
    const { rgb, width } = renderCanvas(picture);
    const at = (x: number, y: number): number[] => [
      ...rgb.subarray(3 * (y * width + x), 3 * (y * width + x) + 3),
    ];
    // panels are 400 high from 110 on; the second of three integrations is in the middle
    assert.deepEqual(at(300, 310), [96, 104, 116]);
    assert.notDeepEqual(at(300, 150), [96, 104, 116]);
  });

  it('refuses names that are none, and reports which was meant', () => {
    const file = fileOf([integrationOf(0, shape, value)], frequenciesHz, {
      ...trio,
      stations: trio.stations.map((station, s) => ({ ...station, name: `stand${s}` })),
    });
    assert.throws(
      () => pairNamed(file, 'stand0'),
      /does not name two stations; give them like stand0,stand1/,
    );
    assert.throws(() => pairNamed(file, 'stand0,stnad2'), /no station 'stnad2'; did you mean stand2\?/);
    assert.throws(() => pairNamed(file, 'stand0,x'), /it has stand0, stand1, stand2/);
    assert.deepEqual(pairNamed(file, 'stand2, stand0'), [2, 0]);
  });
});

describe('a picture of the uv plane', () => {
  /** Two stations 30 m apart along the east, at the equator; the phase centre is the zenith. */
  const pair = {
    ...trio,
    site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
    stations: [
      { name: 'w', eastM: 0, northM: 0, upM: 0 },
      { name: 'e', eastM: 30, northM: 0, upM: 0 },
    ],
  };
  it('has each pair where its baseline is in wavelengths, and the opposite point', () => {
    const one = integrationOf(0, { stations: 2, channels: 1 }, () => [1, 0]);
    const file = fileOf([one], Float64Array.of(100e6), pair);
    const uv = uvCoverage(file);
    uv.add(one);
    const picture = uv.picture('v');
    const [map] = picture.shapes.flatMap((each) => (each.kind === 'raster' ? [each] : []));
    assert.equal(map.box.right - map.box.left, 723);
    const { rgb, width } = renderCanvas(picture);
    let lit = 0;
    for (let y = 115; y < 830; y++)
      for (let x = 125; x < 840; x++)
        if (rgb[3 * (y * width + x)] > 200 && rgb[3 * (y * width + x) + 2] < 180) lit++;
    // two cells of 3 × 3 pixels in the highest colour
    assert.equal(lit, 18);
    assert.ok(
      wordsOf(picture).some((words) => words.includes('one integration of 4.0 s, 1 channel: 1 samples')),
    );
  });
  it('leaves out what has no weight', () => {
    const one = integrationOf(0, { stations: 2, channels: 1 }, ({ i, j }) => (i === j ? [1, 0] : undefined));
    const uv = uvCoverage(fileOf([one], Float64Array.of(100e6), pair));
    uv.add(one);
    assert.ok(wordsOf(uv.picture('v')).some((words) => words.endsWith(': 0 samples')));
  });
});

describe('a map of the stations', () => {
  it('has north up, east to the right, and names', () => {
    const picture = antennaPicture(trio, 't', [2]);
    const place = (name: string): { x: number; y: number } => {
      const found = picture.shapes.find((each) => each.kind === 'text' && each.words === name);
      assert.ok(found?.kind === 'text', name);
      return found;
    };
    // s2 is 20 m east and 4 m north of s0
    assert.ok(place('s2').x > place('s0').x + 300 && place('s2').y < place('s0').y - 50);
    assert.ok(wordsOf(picture).includes('flagged: s2'));
  });
  it('shows the inner ones apart where a few stand far out', () => {
    const stations = Array.from({ length: 20 }, (_, s) => ({
      name: `a${s}`,
      northM: s % 5,
      upM: 0,
      eastM: s === 19 ? 1000 : Math.floor(s / 5),
    }));
    assert.ok(wordsOf(antennaPicture({ ...trio, stations }, 't')).includes('The inner ones'));
    assert.ok(!wordsOf(antennaPicture(trio, 't')).includes('The inner ones'));
  });
});
