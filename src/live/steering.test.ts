import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBackend } from '../backend/select.js';
import { gainsCA, spectraCAT } from '../core/axes.js';
import type { CanonicalSpectra, Integration } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { rational } from '../core/clock/rational.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import { addSamples, instant, parseInstant, secondsBetween } from '../core/instant.js';
import type { SpectraSource } from '../core/sources.js';
import type { Telescope } from '../telescope/telescope.js';
import { Steering, type From } from './steering.js';
import { contextOf, runOn } from './testing.js';
import { Timeline } from './timeline.js';

const by = { who: 'test', authenticated: true };
const RATE_HZ = 100;
/** Ten ticks per spectrum; the first spectrum is at tick 5000. */
const clock = { epoch: instant(1_781_000_000), tickRateHz: rational(1000n) };
const start = instantOfTick(clock, 5000n);
const telescope: Telescope = {
  name: 'pair',
  title: 'Two antennas',
  site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1400 },
  stations: [0, 10].map((eastM, s) => ({ name: `s${s}`, eastM, northM: 0, upM: 0 })),
  polarisations: 1,
  band: { lowHz: 10e6, highHz: 88e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 200, channels: 2, bits: 8 },
  beamExponent: 0,
};

/** Blocks of a quarter of a second, all ones; `between` is called during each block. */
function sourceOf(blocks: number, between: (block: number) => void): SpectraSource {
  const live = {
    kind: 'spectra' as const,
    type: 'ci8' as const,
    inputs: 2,
    polarisations: 1 as const,
    channels: 2,
    spectrumRateHz: RATE_HZ,
    frequenciesHz: Float64Array.of(60e6, 60.1e6),
    channelWidthHz: 100e3,
    start,
    close: nothingToClose,
    clock,
    startTick: 5000n,
    // eslint-disable-next-line @typescript-eslint/require-await
    async *blocks(): AsyncGenerator<CanonicalSpectra> {
      for (let k = 0; k < blocks; k++) {
        const spectra = spectraCAT(new Int8Array(2 * 2 * 2 * 25).fill(1), 'ci8', 2, 2, 25);
        yield { samples: 25, spectra, gaps: [], start: addSamples(start, 25 * k, RATE_HZ) };
        between(k);
      }
    },
  };
  return live;
}

async function integrations(
  blocks: number,
  steering: Steering,
  between: (block: number) => void,
): Promise<Integration[]> {
  const backend = await openBackend('reference');
  const made: Integration[] = [];
  const source = sourceOf(blocks, between);
  const products = [{ visibilities: null, integration: 1, align: 'first-sample' as const }];
  const context = await contextOf(source, { backend, telescope, products });
  await runOn(source, { ...context, steering }, { integration: (one) => void made.push(one) });
  await backend.close();
  return made;
}

const begun = (): Steering => new Steering({ flaggedInputs: new Uint8Array(2), integrationS: 1 });
const secondsOf = (one: Integration): number => secondsBetween(start, one.start);

describe('steering', () => {
  it('flags from the tick that was answered, to the spectrum', async () => {
    const steering = begun();
    let from: From | undefined;
    const made = await integrations(16, steering, (block) => {
      // the sixth block belongs to the second integration, which keeps its flags
      if (block !== 5) return;
      from = steering.next();
      steering.flags.set(from.at, Uint8Array.of(0, 1));
    });
    assert.equal(from?.tick, 5000n + 2n * 1000n);
    assert.deepEqual(instantOfTick(clock, from.tick), from.at);
    assert.deepEqual(
      made.map((one) => [secondsOf(one), [...one.flaggedInputs]]),
      [
        [0, [0, 0]],
        [1, [0, 0]],
        [2, [0, 1]],
        [3, [0, 1]],
      ],
    );
  });
  it('takes a later time, and refuses one that is over', async () => {
    const steering = begun();
    const answers: (bigint | string)[] = [];
    await integrations(8, steering, (block) => {
      if (block !== 2) return;
      answers.push(
        steering.next(addSamples(start, 250, RATE_HZ)).tick,
        steering.next(addSamples(start, 300, RATE_HZ)).tick,
      );
      try {
        steering.next(addSamples(start, 50, RATE_HZ));
      } catch (error) {
        answers.push((error as Error).message);
      }
    });
    assert.deepEqual(answers.slice(0, 2), [8000n, 8000n]);
    assert.match(String(answers[2]), /is before the next integration/);
    assert.throws(() => begun().next(), /no data have arrived yet/);
  });
  it('integrates for longer from the tick that was answered, with a new file', async () => {
    const steering = begun();
    let tick = 0n;
    const made = await integrations(20, steering, (block) => {
      if (block === 5) tick = steering.make({ integrationS: 1.5 }, by).from.tick;
    });
    assert.equal(tick, 7000n);
    // every 1.5 s from 2 s on, by the stream epoch's own count: 3, 4.5; then the data end at 5
    assert.deepEqual(
      made.map((one) => [secondsOf(one), one.durationS]),
      [
        [0, 1],
        [1, 1],
        [2, 1],
        [3, 1.5],
        [4.5, 0.5],
      ],
    );
    assert.deepEqual(
      made.map((one) => steering.fileNumber.at(one.start)),
      [0, 0, 1, 1, 1],
    );
  });
  it('leaves flagged inputs out of the direct images, gains or none', () => {
    const steering = begun();
    const at = parseInstant('2026-06-21T04:00:00Z');
    steering.flags.set(at, Uint8Array.of(1, 0));
    assert.deepEqual([...steering.directGains(at, 2).solved], [0, 1, 0, 1]);
    assert.deepEqual([...steering.directGains(at, 2).gains], [1, 0, 1, 0, 1, 0, 1, 0]);
    assert.equal(
      steering.directGains(at, 2),
      steering.directGains(at, 2),
      'the same until something changes',
    );
    const gains = gainsCA(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8), 2, 2);
    steering.gains.set(at, { gains, solved: Uint8Array.of(1, 1, 1, 0) });
    assert.deepEqual([...steering.directGains(at, 2).solved], [0, 1, 0, 0]);
    assert.equal(steering.directGains(at, 2).gains, gains);
  });
});

describe('a timeline', () => {
  it('holds what held when data began, and the last change replaces what comes after it', () => {
    const line = new Timeline('a');
    const at = (second: number) => instant(1000 + second);
    line.set(at(10), 'b');
    line.set(at(20), 'c');
    assert.deepEqual(
      [0, 10, 15, 20, 99].map((second) => line.at(at(second))),
      ['a', 'b', 'b', 'c', 'c'],
    );
    line.set(at(12), 'd');
    assert.deepEqual(
      [11, 12, 99].map((second) => line.at(at(second))),
      ['b', 'd', 'd'],
    );
    // Flags are cumulative: flagging input 5 from 11 on does not flag input 0, due at 20, any earlier.
    const flags = new Timeline<readonly number[]>([]);
    flags.change(at(20), (before) => [...before, 0]);
    flags.change(at(11), (before) => [...before, 5]);
    assert.deepEqual(
      [10, 11, 19, 20].map((second) => flags.at(at(second))),
      [[], [5], [5], [0, 5]],
    );
    assert.deepEqual(flags.since(at(15)), [[5], [0, 5]]);
    for (let second = 100; second < 1000; second++) line.set(at(second), String(second));
    assert.deepEqual([line.at(at(999)), line.latest, line.at(at(900))], ['999', '999', '900']);
  });
});
