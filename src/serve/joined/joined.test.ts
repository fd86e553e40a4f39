import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageCPML, weightsCP } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import type { Frame } from '../image-history.js';
import type { MachineWord, MinuteView, SkyHead } from '../messages.js';
import { handSums, stokesPlane, type HandSums } from '../planes.js';
import { Combiner } from './combine.js';
import { MachineStates, type Changed } from './machine-states.js';
import { decodePart, encodePart, isShared } from './part.js';

const PIXELS = 8;
const CHANNELS = 6;
const PRODUCTS = 4;
const SIZE = PIXELS * PIXELS;

/** An image of six channels with different weights, one of them without data; a corner is blank. */
function sky() {
  const random = randomStream(5, 'joined');
  const values = Float64Array.from({ length: CHANNELS * PRODUCTS * SIZE }, (_, k) =>
    k % SIZE < 3 || Math.floor(k / (PRODUCTS * SIZE)) === 4 ? NaN : random.gaussian(),
  );
  const weights = Float64Array.from({ length: CHANNELS * PRODUCTS }, () =>
    Math.round(1000 * random.uniform()),
  );
  return { values, weights };
}

const head = (time = '2026-11-16T04:00:00.500Z', more: Partial<SkyHead> = {}): SkyHead => ({
  topic: 'sky',
  shape: [PIXELS, PIXELS],
  time,
  durationS: 1,
  number: 3,
  ageS: 0.2,
  everyS: 1,
  pixelSize: 0.1,
  halfWidth: 1,
  unit: 'counts',
  method: 'visibilities',
  low: 0,
  high: 1,
  peak: 1,
  sources: [],
  ...more,
});

/** The sums of channels from `first` to before `end`. */
function part(first: number, end: number): HandSums {
  const { values, weights } = sky();
  const channels = end - first;
  return handSums(
    imageCPML(values.slice(first * PRODUCTS * SIZE, end * PRODUCTS * SIZE), channels, PRODUCTS, PIXELS),
    { channels, products: PRODUCTS, pixels: PIXELS },
    weightsCP(weights.slice(first * PRODUCTS, end * PRODUCTS), channels, PRODUCTS),
  );
}

const sent = (machine: string, first: number, end: number, from = head()) =>
  decodePart(
    encodePart(from, machine, part(first, end), [60e6 + first * 1e5, 60e6 + (end - 1) * 1e5], end - first),
  );

/** A combiner; by default all machines are connected. */
function combining(known: readonly string[], expected = known) {
  const frames: Frame[] = [];
  const combiner = new Combiner({ expected: () => expected, known: () => known }, (frame) =>
    frames.push(frame),
  );
  return { combiner, frames };
}

describe('images of several machines', () => {
  it('are together the image of one, channels by their weights', () => {
    const { combiner, frames } = combining(['high', 'low', 'middle']);
    combiner.add(sent('low', 0, 2), 0);
    combiner.add(sent('high', 4, 6), 0);
    assert.equal(frames.length, 0);
    combiner.add(sent('middle', 2, 4), 0);
    const { values, weights } = sky();
    const whole = stokesPlane(
      imageCPML(values, CHANNELS, PRODUCTS, PIXELS),
      { channels: CHANNELS, products: PRODUCTS, pixels: PIXELS },
      weightsCP(weights, CHANNELS, PRODUCTS),
    );
    const [{ plane, head: made }] = frames;
    const peak = whole.reduce((most, value) => Math.max(most, Number.isNaN(value) ? 0 : Math.abs(value)), 0);
    whole.forEach((value, at) => {
      assert.ok(
        Number.isNaN(value) ? Number.isNaN(plane[at]) : Math.abs(plane[at] - value) <= 1e-6 * peak,
        `${at}`,
      );
    });
    assert.equal(made.without, undefined);
  });

  it('are shown without who is missing, and report it', () => {
    const { combiner, frames } = combining(['high', 'low']);
    combiner.add(sent('low', 0, 3), 10);
    combiner.tick(11);
    assert.equal(frames.length, 0);
    combiner.tick(12.5);
    assert.deepEqual(frames[0].head.without, ['high']);
    // A part that arrives after its instant was shown is not shown again.
    combiner.add(sent('high', 3, 6), 12.6);
    assert.deepEqual([frames.length, combiner.late], [1, 1]);
    // A disconnected machine is not waited for.
    const gone = combining(['high', 'low'], ['low']);
    gone.combiner.add(sent('low', 0, 3), 0);
    assert.deepEqual(gone.frames[0].head.without, ['high']);
  });

  it('are not added up where they do not fit, and the reason is given', () => {
    const { combiner, frames } = combining(['high', 'low', 'other']);
    combiner.add(sent('low', 0, 3), 0);
    combiner.add(sent('other', 2, 4), 0);
    combiner.add(sent('high', 3, 6, head(undefined, { unit: 'Jy/beam' })), 0);
    assert.deepEqual(frames[0].head.without, ['high', 'other']);
    assert.match(combiner.troubleOf('other') ?? '', /channels that low has/);
    assert.match(combiner.troubleOf('high') ?? '', /Jy\/beam.*gains to all or to none/);
    assert.equal(combiner.troubleOf('low'), undefined);
  });

  it('go round whole and once a second, the same on all machines', () => {
    const at = (fraction: number, durationS: number, everyS = durationS) =>
      isShared({ start: { unixSeconds: 9, fraction }, durationS }, everyS);
    assert.deepEqual([at(0, 0.04), at(0.04, 0.04), at(0.99999999, 0.04), at(0.02, 0.3), at(0.5, 2)], [true, false, true, true, true]); // prettier-ignore
    assert.equal(at(0, 0.4, 1), false);
  });

  it('are refused where they are damaged', () => {
    const bytes = encodePart(head(), 'low', part(0, 2), [1, 2], 2);
    assert.throws(() => decodePart(bytes.subarray(0, 4)), /too short/);
    assert.throws(() => decodePart(bytes.subarray(0, bytes.length - 4)), /does not hold the pixels/);
    const changed = Uint8Array.from(bytes);
    changed[9] = 0;
    assert.throws(() => decodePart(changed), /no JSON/);
  });
});

const minute = (number: number, seconds: number, presentPercent = 100): MinuteView => ({
  minute: number,
  seconds,
  presentPercent,
  integrations: seconds,
  written: seconds,
});

/** At this many seconds since 1970. */
const word = (
  machine: string,
  unixS: number,
  startedUnixS: number,
  minutes: readonly MinuteView[],
): MachineWord => ({
  machine,
  version: '1',
  page: `http://${machine}/`,
  state: 'observing',
  word: 'All is well',
  recording: 'recording',
  steerable: true,
  startedUnixS,
  minutes,
  newestSample: new Date(1000 * unixS).toISOString(),
});

describe('the machines of an observation', () => {
  it('have gone when they are silent, and come back', () => {
    const said: Changed[] = [];
    const states = new MachineStates(0, (changed) => said.push(changed));
    assert.equal(states.receive(word('low', 100, 90, []), 100), true);
    assert.equal(states.receive(word('low', 101, 90, []), 101), false);
    states.tick(104);
    assert.deepEqual(states.there, ['low']);
    states.tick(105);
    assert.deepEqual([states.there, states.names], [[], ['low']]);
    const [row] = states.rows(110, () => undefined);
    assert.deepEqual([row.awaySinceUnixS, row.silentS, row.returns], [101, 9, 0]);
    assert.match(states.faults(110, () => undefined)[0].what, /no word from it for 9/);
    assert.equal(states.receive(word('low', 130, 128, []), 130), true);
    assert.deepEqual([states.there, states.rows(130, () => undefined)[0].returns], [['low'], 1]);
    assert.deepEqual(
      said.map(({ what }) => what.split(':')[0]),
      ['is there', 'has gone', 'is back, started again'],
    );
  });

  it('know which minutes one lacks, over all of its lives', () => {
    const states = new MachineStates(0);
    // low has minutes 1 to 5; high died 20 s into minute 2 and came back 10 s before the end of minute 4.
    states.receive(word('low', 400, 1, [1, 2, 3, 4, 5].map((n) => minute(n, 60))), 400); // prettier-ignore
    states.receive(word('high', 140, 1, [minute(1, 60), minute(2, 20)]), 140);
    states.receive(word('high', 400, 290, [minute(4, 10), minute(5, 60, 50)]), 400);
    const { minutes, machines = [] } = states.observation();
    const [low, high] = machines;
    assert.deepEqual(low.missing, []);
    assert.deepEqual(high.missing, [{ fromMinute: 2, endMinute: 5, seconds: 40 + 60 + 50 }]);
    assert.deepEqual(
      high.minutes.map(({ presentPercent }) => presentPercent),
      [100, 33.33, 0, 16.67, 50],
    );
    assert.deepEqual(
      minutes.map(({ minute: n, presentPercent }) => [n, presentPercent]),
      [[1, 100], [2, 66.67], [3, 50], [4, 58.33], [5, 75]], // prettier-ignore
    );
    // With three times the channels its gaps weigh three times as much.
    states.hasChannels('high', 3);
    assert.equal(states.observation().minutes[2].presentPercent, 25);
  });

  it('have of a minute what all of their lives had', () => {
    const states = new MachineStates(0);
    states.receive(word('low', 400, 1, [minute(2, 60)]), 400);
    states.receive(word('high', 140, 1, [minute(2, 20)]), 140);
    states.receive(word('high', 400, 165, [minute(2, 15, 50)]), 400);
    const [, high] = states.observation().machines ?? [];
    assert.deepEqual(high.missing, [{ fromMinute: 2, endMinute: 3, seconds: 25 }]);
    // (20·100 + 15·50) of 60·100
    assert.equal(high.minutes[0].presentPercent, 45.83);
  });

  it('count no loss for a minute that is not over, nor for packets that no machine has', () => {
    const states = new MachineStates(0);
    const missing = () => states.observation().machines?.[1].missing;
    states.receive(word('low', 185, 1, [minute(1, 60), minute(2, 60), minute(3, 5)]), 185);
    states.receive(word('high', 183, 1, [minute(1, 60), minute(2, 58)]), 183);
    assert.deepEqual(missing(), []);
    // Integrations of a second: at 186 all machines have sent minute 2.
    states.receive(word('low', 186, 1, [minute(2, 60), minute(3, 6)]), 186);
    assert.deepEqual(missing(), [{ fromMinute: 2, endMinute: 3, seconds: 2 }]);
    states.receive(word('low', 187, 1, [minute(3, 7)]), 187);
    assert.deepEqual(missing(), [{ fromMinute: 2, endMinute: 4, seconds: 9 }]);
  });
});
