import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBackend } from '../backend/select.js';
import { gainsCA, spectraCAT } from '../core/axes.js';
import type { CanonicalSpectra } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { addSamples, parseInstant, secondsBetween } from '../core/instant.js';
import type { SpectraSource } from '../core/sources.js';
import type { Telescope } from '../telescope/telescope.js';
import type { CalibratedAt } from '../stages/index.js';
import { imagesIn } from './clocks.js';
import { LiveProducts } from './products.js';
import { runEpochs, type NightEvent } from './run-epochs.js';
import { Steering } from './steering.js';
import { contextOf, runOn } from './testing.js';

const by = { who: 'test', authenticated: true };
const RATE_HZ = 1000;
const start = parseInstant('2026-06-21T04:00:00Z');
const frequenciesHz = Float64Array.of(60e6, 60.1e6);

/** Two antennas need a wide one. */
const KERNEL = { visibilities: {}, direct: { kernel: 7 } } as const;

/** Seconds of samples of value 1. */
const ones = (seconds: number, between: (second: number) => void): SpectraSource => ({
  kind: 'spectra',
  type: 'ci8',
  inputs: 2,
  polarisations: 1,
  channels: 2,
  spectrumRateHz: RATE_HZ,
  frequenciesHz,
  channelWidthHz: 100e3,
  start,
  close: nothingToClose,
  // eslint-disable-next-line @typescript-eslint/require-await
  async *blocks(): AsyncGenerator<CanonicalSpectra> {
    for (let k = 0; k < seconds; k++) {
      const spectra = spectraCAT(new Int8Array(8 * RATE_HZ).fill(1), 'ci8', 2, 2, RATE_HZ);
      yield { samples: RATE_HZ, spectra, gaps: [], start: addSamples(start, RATE_HZ * k, RATE_HZ) };
      between(k);
    }
  },
});

const telescope: Telescope = {
  name: 'pair',
  title: 'Two antennas',
  polarisations: 1,
  beamExponent: 0,
  site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1400 },
  stations: [0, 10].map((eastM, s) => ({ name: `s${s}`, eastM, northM: 0, upM: 0 })),
  band: { lowHz: 10e6, highHz: 88e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 200, channels: 2, bits: 8 },
};

/** The length of each integration in spectra, and the number of spectra in it. */
async function lengths(
  everyS: number,
  integrationS: number,
  steer: (steering: Steering, second: number) => void = () => undefined,
): Promise<number[][]> {
  const backend = await openBackend('reference');
  const steering = new Steering({ flaggedInputs: new Uint8Array(2), integrationS });
  const made: number[][] = [];
  const source = ones(6, (second) => {
    steer(steering, second);
  });
  const products = [
    { visibilities: null, integration: integrationS },
    { images: null, every: everyS, pixels: 64 },
  ];
  const context = await contextOf(source, { backend, telescope, products });
  await runOn(
    source,
    { ...context, steering },
    {
      integration: ({ durationS, counts }) => void made.push([Math.round(durationS * RATE_HZ), counts[0]]),
    },
  );
  await backend.close();
  return made;
}

describe('a run whose end was asked for', () => {
  it('gives up data that wait too long, and reports it once', async () => {
    const backend = await openBackend('reference');
    const events: NightEvent[] = [];
    let integrations = 0;
    const source = (): SpectraSource => ones(6, () => undefined);
    const products = [{ visibilities: null, integration: 1 }];
    const context = await contextOf(source(), { backend, telescope, products });
    const summary = await runEpochs({
      input: { sessions: () => [source(), source()], stop: () => undefined },
      prepare: () => Promise.resolve({ products: new LiveProducts(context) }),
      isOverdue: () => integrations >= 2,
      onEvent: (event) => {
        events.push(event);
        if (event.kind === 'integration') integrations++;
      },
    });
    await backend.close();
    assert.equal(summary.sessions, 1);
    assert.ok(summary.dataS < 6);
    const notes = events.flatMap((event) => (event.kind === 'note' ? [event.text] : []));
    assert.equal(notes.length, 1);
    assert.match(notes[0], /still wait are given up/);
  });
});

describe('integrations of several images', () => {
  it('lengths that are no whole number of images are refused, with those that are', () => {
    assert.equal(imagesIn(1, 1 / 3), 3);
    assert.equal(imagesIn(0.3, 0.1), 3);
    assert.equal(imagesIn(1, 0.333333333333), 3);
    assert.throws(() => imagesIn(1, 0.3333333), /0\.9999999s; or products\.images\.every 0\.333333333333s/);
    assert.throws(() => imagesIn(0.5000000001, 0.5), /give products\.visibilities\.integration .* 0\.5s/);
  });

  it('last as long as they state, where an image is no whole number of spectra', async () => {
    for (const everyS of [1 / 3, 0.333333333333, 1 / 7])
      assert.deepEqual(await lengths(everyS, 1), Array<number[]>(6).fill([1000, 1000]));
    assert.deepEqual((await lengths(0.3, 0.6)).slice(1, 4), Array<number[]>(3).fill([600, 600]));
  });

  it('and so do those that are steered', async () => {
    const made = await lengths(0.5, 0.5, (steering, second) => {
      if (second === 1)
        assert.throws(() => steering.make({ integrationS: 0.5000000001 }, by), /no whole number/);
      if (second === 2) steering.make({ integrationS: 1 }, by);
    });
    assert.ok(made.every(([lasts, held]) => lasts === held));
    assert.ok(made.some(([lasts]) => lasts === 1000));
  });
});

describe('gains that change in time', () => {
  /** All inputs have equal gains: 1 at the start, growing by 1 per second. */
  const growing: CalibratedAt = (moment) => {
    const gain = 1 + secondsBetween(start, moment);
    const gains = Float64Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? gain : 0));
    return { gains: gainsCA(gains, 2, 2), solved: new Uint8Array(4).fill(1) };
  };
  const peaks = async (
    by: 'visibilities' | 'direct',
    how: 'given' | 'steered' | 'none',
  ): Promise<number[]> => {
    const backend = await openBackend('reference');
    const calibrated = how === 'none' ? undefined : growing;
    const flaggedInputs = new Uint8Array(2);
    const made: number[] = [];
    const source = ones(3, () => undefined);
    const products = [{ images: null, every: 1, method: by, ...KERNEL[by], pixels: 64 }];
    const context = await contextOf(source, { backend, telescope, products, calibrated });
    const steering =
      how === 'steered' ? new Steering({ flaggedInputs, integrationS: 1, calibrated }) : undefined;
    await runOn(
      source,
      { ...context, steering },
      {
        image: (sky) => {
          made.push(sky.image.reduce((most, value) => (value > most ? value : most), 0));
        },
        noImage: (why) => assert.fail(why),
      },
    );
    await backend.close();
    return made;
  };

  for (const by of ['visibilities', 'direct'] as const)
    it(`calibrate each image by those of its middle: ${by}, given or steered`, async () => {
      const plain = await peaks(by, 'none');
      assert.equal(plain.length, 3);
      for (const how of ['given', 'steered'] as const)
        (await peaks(by, how)).forEach((peak, k) => {
          // 1.5, 2.5 and 3.5 at the middles of the seconds.
          assert.ok(Math.abs((peak / plain[k]) * (1.5 + k) ** 2 - 1) < 1e-3, `${how}: image ${k}`);
        });
    });
});

describe('a run that falls behind', () => {
  for (const by of ['visibilities', 'direct'] as const)
    it(`leaves out whole images (${by}), and every sample is in the integrations`, async () => {
      const backend = await openBackend('reference');
      const [counts, images]: [number[], number[]] = [[], []];
      let leftOut = 0;
      let second = -1;
      const source = ones(6, (k) => {
        second = k;
      });
      const products = [
        { visibilities: null, integration: 1 },
        { images: null, every: 0.5, method: by, ...KERNEL[by], pixels: 64 },
      ];
      const late = { isBehind: () => second === 1 || second === 2, leftOut: () => leftOut++ };
      await runOn(
        source,
        { ...(await contextOf(source, { backend, telescope, products })), late },
        {
          integration: (integration) => void counts.push(integration.counts[0]),
          image: (sky) => void images.push(sky.durationS),
        },
      );
      await backend.close();
      assert.deepEqual(counts, Array<number>(6).fill(1000));
      assert.deepEqual(images, Array<number>(12 - leftOut).fill(0.5));
      assert.equal(leftOut, 4);
    });
});
