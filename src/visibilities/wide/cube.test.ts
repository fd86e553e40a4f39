/** Cubes with channels that lack data: a plane without data has no value. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import { parseInstant } from '../../core/instant.js';
import { skyFrame } from '../../sky/frame.js';
import { fixedCentre } from '../../sky/phase-centre.js';
import { imageWide, type WideSkyImage } from './image.js';
import { picturePlane, standingChannel } from './products.js';
import type { WideSettings } from './settings.js';
import { arrayOf, pointSeen, type Seen } from './testing.js';

const PIXELS = 32;
const telescope = arrayOf(8, 30);
const frequenciesHz = Float64Array.of(100e6, 101e6, 102e6, 103e6);
const start = parseInstant('2022-06-21T20:00:00Z');
const at = skyFrame(telescope.site, start).zenith;

const cubeOf = (weight: Seen['weight'], settings: Partial<WideSettings>): Promise<WideSkyImage> =>
  imageWide(
    () => [pointSeen({ telescope, frequenciesHz, start, at, fluxJy: 10, ...(weight && { weight }) })],
    { backend: openReference(), telescope, frequenciesHz, channelWidthHz: 1e6, polarisations: 2 },
    {
      centre: fixedCentre('here', at),
      field: { pixels: PIXELS, cellDeg: 0.5 },
      stokes: 'I',
      weighting: { kind: 'natural' },
      channels: 'apart',
      ...settings,
    },
  );

/** The centre pixel of each plane, where the source is. */
const middles = ({ image }: WideSkyImage): number[] =>
  Array.from({ length: image.length / PIXELS ** 2 }, (_, plane) =>
    Math.round(image[plane * PIXELS ** 2 + PIXELS * (PIXELS / 2) + PIXELS / 2]),
  );

describe('a cube with channels that lack data', () => {
  it('has no value where nothing was measured, nor a beam', async () => {
    const sky = await cubeOf((c) => (c === 2 ? 0 : 1), {});
    assert.deepEqual(middles(sky), [10, 10, NaN, 10]);
    assert.deepEqual(sky.empty, [{ channel: 2, product: 'I' }]);
    assert.ok(sky.beam.subarray(2 * PIXELS ** 2, 3 * PIXELS ** 2).every(Number.isNaN));
    // The middle channel is lost: another channel's beam represents the cube.
    assert.deepEqual([standingChannel(sky), sky.fittedBeams[2]], [1, undefined]);
    assert.ok(sky.fittedBeams[1]);
  });

  it('is CLEANed where there is something', async () => {
    const sky = await cubeOf((c) => (c === 1 ? 0 : 1), { clean: { thresholdJy: 0.5 } });
    assert.deepEqual(middles(sky), [10, NaN, 10, 10]);
    assert.equal(sky.cleaned?.facts.length, 3);
  });

  it('keeps hands apart: one that is lost is neither a zero nor half of I', async () => {
    const lost: Seen['weight'] = (c, _i, _j, pi, pj) =>
      (c === 1 && pi + pj === 2) || (c === 2 && pi !== pj) ? 0 : 1;
    const sky = await cubeOf(lost, { stokes: 'IQUV' });
    // XX, YY, Re XY, Im XY of each channel.
    assert.deepEqual(middles(sky), [10, 10, 0, 0, 10, NaN, 0, 0, 10, 10, NaN, NaN, 10, 10, 0, 0]);
    assert.equal(Math.round(picturePlane(sky)[PIXELS * (PIXELS / 2) + PIXELS / 2]), 10);
    // I alone uses the remaining hand and names it.
    const alone = await cubeOf(lost, {});
    assert.deepEqual([middles(alone), alone.empty], [[10, 10, 10, 10], []]);
    assert.equal(alone.hands.one * 3, alone.hands.both);
  });

  it('is refused as IQUV where no channel has both hands', async () => {
    await assert.rejects(
      cubeOf((c, _i, _j, pi, pj) => (pi === pj && pi === c % 2 ? 0 : 1), { stokes: 'IQUV' }),
      /no data are left for Stokes I: no channel has both hands/,
    );
  });
});
