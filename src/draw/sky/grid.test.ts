import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../../core/instant.js';
import { skyFrame } from '../../sky/frame.js';
import { zenithAxes } from '../../image/cases.js';
import { placeOf, planImage, type ImageField, type ImagePlan } from '../../image/index.js';
import { equatorialGrid, fieldReach, horizontalGrid, offsetGrid, roundAngle, type SkyGrid } from './grid.js';
import type { Place } from './view.js';

const planFor = (field: ImageField, axes: ImagePlan['axes'] = zenithAxes): ImagePlan =>
  planImage({
    pixels: 16,
    field,
    stationsM: [{ x: 0, y: 0, z: 0 }],
    axes,
    frequenciesHz: Float64Array.of(60e6),
    polarisations: 1,
  });
const wholeSky = planFor({ kind: 'all-sky' });
const frameAt = (longitudeDeg: number) =>
  skyFrame({ latitudeDeg: 34, longitudeDeg, heightM: 0 }, instant(946_728_000));
const frame = frameAt(-107);

/** Distance of a point from the nearest segment of a grid. */
function distanceFrom(grid: SkyGrid, { l, m }: Place): number {
  let least = Infinity;
  for (const line of grid.flatMap(({ pieces }) => pieces)) {
    for (let k = 1; k < line.length; k++) {
      const [a, b] = [line[k - 1], line[k]];
      const [dl, dm] = [b.l - a.l, b.m - a.m];
      const along = ((l - a.l) * dl + (m - a.m) * dm) / (dl * dl + dm * dm);
      const t = Math.min(1, Math.max(0, along));
      least = Math.min(least, Math.hypot(l - a.l - t * dl, m - a.m - t * dm));
    }
  }
  return least;
}

describe('grids', () => {
  it('draw altitude 60° at half the radius, and the pole at the latitude’s altitude', () => {
    const altitudes = horizontalGrid(wholeSky).filter(({ kind }) => kind === 'parallel');
    assert.deepEqual(
      altitudes.map(({ text }) => text),
      ['15°', '30°', '45°', '60°', '75°'],
    );
    assert.ok(altitudes[3].pieces[0].every(({ l, m }) => Math.abs(Math.hypot(l, m) - 0.5) < 1e-9));
    const grid = equatorialGrid({ ...wholeSky, axes: frame.tangentAxes(frame.zenith) }, frame);
    // declination +60° circles the pole, which is at m = cos 34°, l = 0 (J2000 axes at J2000)
    const circle = grid.find(({ text }) => text === '+60°')?.pieces[0];
    assert.ok(circle && circle.length > 200 && circle.every(({ m }) => m > 0));
    const middle = circle.reduce((sum, { l }) => sum + l, 0) / circle.length;
    assert.ok(Math.abs(middle) < 0.01, `${middle}`);
  });

  const fields = [
    { widthDeg: 2, centre: frame.zenith, longitudeDeg: -107, decStep: 1 / 3, raStep: 0.5 },
    { widthDeg: 20, centre: frame.zenith, longitudeDeg: -107, decStep: 5, raStep: 5 },
    // contains RA 0h, which is at the zenith at 80° E
    { widthDeg: 10, centre: { raDeg: 0.5, decDeg: 30 }, longitudeDeg: 80, decStep: 2, raStep: 2.5 },
    // the pole inside the field, and just outside
    { widthDeg: 20, centre: { raDeg: 100, decDeg: 85 }, longitudeDeg: -107, decStep: 5, raStep: 30 },
    { widthDeg: 4, centre: { raDeg: 100, decDeg: 86 }, longitudeDeg: -107, decStep: 1, raStep: 15 },
  ];
  for (const { widthDeg, centre, longitudeDeg, decStep, raStep } of fields) {
    it(`keep all of a field ${widthDeg}° wide at declination ${centre.decDeg.toFixed(0)}°, and little beside`, () => {
      const frame = frameAt(longitudeDeg);
      const plan = planFor({ kind: 'field', widthDeg }, frame.tangentAxes(centre));
      const grid = equatorialGrid(plan, frame);
      const half = Math.sin((widthDeg / 2) * (Math.PI / 180));
      let seen = 0;
      const check = (raDeg: number, decDeg: number): void => {
        const direction = frame.directionEnu({ raDeg, decDeg });
        const place = direction.z > 0.02 ? placeOf(plan, direction) : undefined;
        if (!place || Math.max(Math.abs(place.l), Math.abs(place.m)) > half) return;
        // every fifth point is enough, and covers every line
        if (seen++ % 5 !== 0) return;
        // A tenth of a picture's pixel.
        const off = distanceFrom(grid, place) / (half / 405);
        assert.ok(off < 0.1, `RA ${raDeg}° Dec ${decDeg}°: ${off} pixels from any line`);
      };
      for (let dec = -90 + decStep; dec < 90; dec += decStep)
        for (let ra = 0; ra < 360; ra += 0.37) check(ra, dec);
      for (let ra = 0; ra < 360; ra += raStep)
        for (let dec = decStep - 90; dec <= 90 - decStep; dec += 0.37) check(ra, dec);
      assert.ok(seen > 10, `${seen} places`);
      const lines = grid.flatMap(({ pieces }) => pieces);
      const points = lines.reduce((sum, line) => sum + line.length, 0);
      assert.ok(points < 60 * 100, `${points} points`);
    });
  }

  it('are as close as a field is narrow, and named to the minute or second', () => {
    const texts = (widthDeg: number, centre: { raDeg: number; decDeg: number }): string[] => {
      const at = frameAt(80);
      const plan = planFor({ kind: 'field', widthDeg }, at.tangentAxes(centre));
      return equatorialGrid(plan, at).map(({ text }) => text);
    };
    assert.deepEqual(texts(2, { raDeg: 0, decDeg: 30 }).slice(0, 3), ['+28°40′', '+29°', '+29°20′']);
    const fine = texts(0.1, { raDeg: 0, decDeg: 30 });
    assert.ok(fine.includes('+30°01′') && fine.includes('23h59m50s') && fine.includes('0h'), fine.join());
    assert.ok(texts(20, { raDeg: 0, decDeg: 1 }).includes('−5°'));
  });

  it('have offsets from the centre in the unit that fits', () => {
    const texts = (widthDeg: number): string[] =>
      offsetGrid(planFor({ kind: 'field', widthDeg }))
        .filter(({ kind }) => kind === 'parallel')
        .map(({ text }) => text);
    assert.deepEqual(texts(20 / 3.6e6), ['−10 mas', '−5 mas', '0 mas', '5 mas', '10 mas']);
    assert.deepEqual(texts(90 / 3600), ['−40″', '−20″', '0″', '20″', '40″']);
    assert.deepEqual(texts(0.5), ['−15′', '−10′', '−5′', '0′', '5′', '10′', '15′']);
    // 5″ east of the centre are 5″ in direction cosines.
    const [line] = offsetGrid(planFor({ kind: 'field', widthDeg: 20 / 3600 })).filter(({ kind, text }) => kind === 'meridian' && text === '5″'); // prettier-ignore
    assert.ok(Math.abs(line.pieces[0][0].l - (5 / 3600) * (Math.PI / 180)) < 1e-14);
    assert.equal(roundAngle(3 / 3.6e9).text(1), '0.002 mas');
  });

  it('reach to a field’s corners and no further', () => {
    const reach = fieldReach({ field: { kind: 'field', widthDeg: 2 } }, { lonDeg: 10, latDeg: 60 });
    // the corner is √2 degrees away; at 60° a degree of longitude is half a degree of sky
    assert.ok(reach.latitudes[0] < 60 - 1.414 && reach.latitudes[0] > 60 - 1.5);
    assert.ok(reach.longitudes[1] > 10 + 2.828 && reach.longitudes[1] < 10 + 3);
    assert.deepEqual(fieldReach({ field: { kind: 'all-sky' } }, { lonDeg: 10, latDeg: 60 }), {
      longitudes: [0, 360],
      latitudes: [-90, 90],
    });
  });
});
