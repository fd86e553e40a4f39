/** A satellite that crosses the sky of a simulated recording is found at its name, in every image. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { findSources, observe, type SkyImage } from '../index.js';
import { useOrbits } from '../sky/orbits/orbits.js';
import { corellaHere } from './corella.js';

/** Of the day of the pass: 85° above LWA-SV, 0.9° a second. */
const ISS = [
  'ISS',
  '1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927',
  '2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537',
];

const awayDeg = (one: Vector3, other: Vector3): number =>
  Math.acos(Math.min(1, dot(one, other))) * DEGREES_PER_RADIAN;

describe('a satellite', () => {
  const folder = temporaryFolder('moving-satellite');
  const at = (name: string): string => join(folder, name);
  after(() => useOrbits([]));

  it('moves through a simulated recording by its orbit, and is in every image where its name is', async () => {
    await writeFile(at('iss.tle'), ISS.join('\n'));
    const orbits = ['--orbits', 'iss.tle'];
    const sky = [
      '--telescope',
      'lwasv',
      '--stations',
      '24',
      '--sources',
      'ISS:1e5',
      '--perfect',
      '--noise',
      '1e4',
      ...orbits,
    ];
    const band = ['--rate', '50kHz', '--frequency', '60MHz', '--time', '2008-09-20T09:32:28Z'];
    const made = await corellaHere(
      folder,
      'simulate',
      ...sky,
      ...band,
      '--duration',
      '5s',
      '-o',
      'v.sigmf-meta',
    );
    assert.equal(made.code, 0, made.stderr);
    const imaged = async (flags: object): Promise<readonly Seen[]> => {
      const found: Seen[] = [];
      for await (const item of observe({
        ...{ corella: 1, source: { recording: at('v.sigmf-meta') }, orbits: at('iss.tle'), flags },
        front: { channels: 8 },
        products: [{ images: null, every: '1s', pixels: 128 }],
      }))
        if (item.kind === 'images') found.push(brightest(item.image));
      return found;
    };
    const seen = await imaged({});
    assert.equal(seen.length, 5);
    // Within 1.5 pixels of 0.9°.
    for (const { directionEnu, named } of seen)
      assert.ok(awayDeg(directionEnu, named) < 1.4, `${awayDeg(directionEnu, named)}° from its name`);
    assert.ok(awayDeg(seen[0].directionEnu, seen[4].directionEnu) > 3);
    // Blank where it is, it is not the brightest any more.
    for (const { directionEnu, named } of await imaged({ sky: ['satellites@2deg'] }))
      assert.ok(awayDeg(directionEnu, named) > 2, `${awayDeg(directionEnu, named)}°`);
  });
});

interface Seen {
  /** Of the brightest pixel. */
  readonly directionEnu: Vector3;
  /** Where a picture has the name. */
  readonly named: Vector3;
}

function brightest({ image, plan, frame }: SkyImage): Seen {
  const { pixels, pixelSize, channels, products, axes } = plan;
  const size = pixels * pixels;
  let [peak, place] = [-Infinity, 0];
  for (let at = 0; at < size; at++) {
    let sum = 0;
    // XX and YY.
    for (let c = 0; c < channels; c++) for (const p of [0, 1]) sum += image[(c * products + p) * size + at];
    if (sum > peak) [peak, place] = [sum, at];
  }
  const [x, y] = [(place % pixels) - pixels / 2, Math.floor(place / pixels) - pixels / 2].map(
    (one) => one * pixelSize,
  );
  const z = Math.sqrt(1 - x * x - y * y);
  const [iss] = findSources(['ISS']);
  return {
    directionEnu: {
      x: x * axes.l.x + y * axes.m.x + z * axes.n.x,
      y: x * axes.l.y + y * axes.m.y + z * axes.n.y,
      z: x * axes.l.z + y * axes.m.z + z * axes.n.z,
    },
    named: frame.directionEnu(iss.position(frame)),
  };
}
