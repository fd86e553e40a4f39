/** Images divided by the beam recover the source's flux, at any time and with any station. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { kindsOf } from '../../sky/beams/powers.js';
import { skyFrame } from '../../sky/frame.js';
import { fixedCentre } from '../../sky/phase-centre.js';
import { correctedWide, withoutResponse } from './brightness.js';
import { imageWide } from './image.js';
import { imageWideSeries } from './series.js';
import type { WideSettings } from './settings.js';
import { arrayOf, pointSeen } from './testing.js';

const PIXELS = 32;
const MIDDLE = PIXELS * (PIXELS / 2) + PIXELS / 2;
const telescope = arrayOf(8, 20);
const start = parseInstant('2022-06-21T20:00:00Z');
const at = skyFrame(telescope.site, addSeconds(start, 3 * 3600)).zenith;
/** sin(altitude), the base of cosine beams. */
const up = (moment: typeof start): number => skyFrame(telescope.site, moment).directionEnu(at).z;
const cosine: ElementBeam = {
  name: 'cosine',
  title: 'cosine',
  pointing: 'zenith',
  voltage: (_hz, { z }) => [z, z],
};

async function seenOver(
  beam: ElementBeam,
  integrations: readonly Integration[],
  frequenciesHz: Float64Array,
  settings: Partial<WideSettings> = {},
): Promise<number[]> {
  const setup = { backend: openReference(), telescope, frequenciesHz, channelWidthHz: 1e6, polarisations: 2 } as const; // prettier-ignore
  const made = await imageWide(
    () => integrations,
    { ...setup, kinds: kindsOf(beam, telescope.stations.length) },
    {
      centre: fixedCentre('here', at),
      field: { pixels: PIXELS, cellDeg: 0.5 },
      stokes: 'I',
      weighting: { kind: 'natural' },
      channels: 'together',
      ...settings,
    },
  );
  const { image } = correctedWide(made, beam, telescope, at);
  return Array.from({ length: image.length / PIXELS ** 2 }, (_, p) => image[p * PIXELS ** 2 + MIDDLE]);
}

const isTen = (value: number, within = 1e-3): void => {
  assert.ok(Math.abs(value / 10 - 1) < within, `${value} of 10`);
};

describe('wide images over the beam', () => {
  const one = Float64Array.of(100e6);

  it('of two moments hours apart, by the weight of each, with no data in between', async () => {
    const integrations = [0, 3 * 3600].map((s, k) => {
      const moment = addSeconds(start, s);
      return pointSeen({
        telescope,
        frequenciesHz: one,
        start: moment,
        at,
        fluxJy: 10,
        voltage: () => up(addSeconds(moment, 0.5)),
        weight: () => (k === 0 ? 3 : 1),
      });
    });
    isTen((await seenOver(cosine, integrations, one))[0]);
    isTen((await seenOver(cosine, integrations, one, { weighting: { kind: 'uniform' } }))[0]);
  });

  it('of channels far apart, each at its own frequency and by its weight', async () => {
    const frequenciesHz = Float64Array.of(50e6, 60e6, 70e6, 80e6);
    const ofHz = (hz: number): number => 1 - (hz / 90e6) ** 2;
    const narrow: ElementBeam = { ...cosine, voltage: (hz) => [ofHz(hz), ofHz(hz)] };
    const seen = pointSeen({
      telescope,
      frequenciesHz,
      start: addSeconds(start, 3 * 3600),
      at,
      fluxJy: 10,
      voltage: (_s, c) => ofHz(frequenciesHz[c]),
      weight: (c) => 1 + c,
    });
    isTen((await seenOver(narrow, [seen], frequenciesHz))[0]);
    for (const value of await seenOver(narrow, [seen], frequenciesHz, { channels: 'apart' })) isTen(value);
  });

  const half = { ...cosine, name: 'half', voltage: () => [0.5, 0.25] as const };
  const full = { ...cosine, name: 'full', voltage: () => [1, 1] as const };
  const mixed: ElementBeam = {
    ...cosine,
    perStation: telescope.stations.map((_, s) => (s < 4 ? half : full)),
  };
  const voltage = (s: number, _c: number, p: number): number => (s < 4 ? [0.5, 0.25][p] : 1);
  /** Station 0 is lost, station 1 has no Y, and pairs with the last station have more weight. */
  const seen = pointSeen({
    telescope,
    frequenciesHz: one,
    start: addSeconds(start, 3 * 3600),
    at,
    fluxJy: 10,
    voltage,
    weight: (_c, i, j, pi, pj) => {
      if (i === 0 || j === 0 || (i === 1 && pi === 1) || (j === 1 && pj === 1)) return 0;
      return i === 7 || j === 7 ? 5 : 1;
    },
  });

  it('of stations that differ, by the pairs that are there', async () => {
    const [xx, yy] = await seenOver(mixed, [seen], one, { stokes: 'IQUV' });
    isTen(xx);
    isTen(yy);
  });
});

describe('wide images of bare dipoles', () => {
  const bare = { ...telescope, mount: 'fixed' } as const;
  const frequenciesHz = Float64Array.of(100e6);
  /** From the zenith down to 15° in six hours, at 30.7° south. */
  const integrations = [3, 5, 7, 9].map((hour) => {
    const moment = addSeconds(start, hour * 3600);
    const power = (1 + up(addSeconds(moment, 0.5)) ** 2) / 2;
    const voltage = (): number => Math.sqrt(power);
    return pointSeen({ telescope, frequenciesHz, start: moment, at, fluxJy: 10, voltage });
  });
  const setup = {
    ...{ backend: openReference(), telescope: bare, frequenciesHz, channelWidthHz: 1e6 },
    polarisations: 2,
    kinds: { ofStation: telescope.stations.map(() => 0), count: 1 },
  } as const;
  const settings = {
    centre: fixedCentre('here', at),
    field: { pixels: PIXELS, cellDeg: 0.5 },
    stokes: 'I',
    weighting: { kind: 'natural' },
    channels: 'together',
  } as const;

  it('have their fluxes after hours, dirty and CLEANed', async () => {
    const dirty = withoutResponse(await imageWide(() => integrations, setup, settings), bare, undefined);
    isTen(dirty.image[MIDDLE]);
    const made = await imageWide(() => integrations, setup, { ...settings, clean: { autoMask: 5 } });
    const cleaned = withoutResponse(made, bare, undefined);
    // CLEAN takes the flux as constant, which changes by a half.
    isTen(cleaned.image[MIDDLE], 0.12);
    isTen(cleaned.cleaned?.dirty[MIDDLE] ?? 0);
    const model = cleaned.cleaned?.model.reduce((sum, value) => sum + value, 0) ?? 0;
    isTen(model, 0.12);
    // Beside an image divided by a beam the others still are.
    isTen(withoutResponse(made, bare, cosine).cleaned?.dirty[MIDDLE] ?? 0);
    assert.ok(made.image[MIDDLE] < 9);
  });

  it('have them in each of a series, and in one of all of it', async () => {
    for (const everyS of [7200, 9 * 3600]) {
      const { images } = await imageWideSeries(() => integrations, setup, settings, everyS);
      assert.equal(images.length, everyS === 7200 ? 4 : 1);
      for (const { plane } of images) isTen(plane[MIDDLE]);
    }
    const kept = await imageWideSeries(
      () => integrations,
      { ...setup, response: 'kept' },
      settings,
      9 * 3600,
    );
    assert.ok(kept.images[0].plane[MIDDLE] < 9);
  });
});
