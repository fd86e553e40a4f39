import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../../core/random.js';
import { robustBackground, smoothBackground, structureOf, whitened } from './background.js';
import { findBursts } from './bursts.js';
import { flagPlane } from './interference.js';
import { GOOD, MISSING, sumThreshold, TAKEN, thresholdOf } from './sum-threshold.js';

/** Flags of one line along frequency, as a string of . (good), - (missing), x (flagged). */
function along(values: readonly number[], missing: readonly number[] = []): string {
  const state = new Uint8Array(values.length);
  for (const at of missing) state[at] = MISSING;
  sumThreshold(Float64Array.from(values), state, { times: 1, channels: values.length }, 6);
  return Array.from(state, (one) => ({ [GOOD]: '.', [MISSING]: '-', [TAKEN]: 'x' })[one]).join('');
}

describe('SumThreshold by hand', () => {
  it('lowers the threshold of longer windows: 6, 4, 2.667, 1.778', () => {
    const found = [1, 2, 4, 8].map((samples) => thresholdOf(6, samples));
    [6, 4, 8 / 3, 16 / 9].forEach((wanted, k) => {
      assert.ok(Math.abs(found[k] - wanted) < 1e-12);
    });
    // A window with one sample missing, or flagged, has three: 6/1.5^1.585 = 3.155.
    assert.ok(Math.abs(thresholdOf(6, 3) - 3.1554) < 1e-4);
  });

  it('takes one sample above 6, two of 4.5 together, four of 2.7, and not two of 3.9', () => {
    assert.equal(along([0, 6.1, 0, 0]), '.x..');
    assert.equal(along([0, 5.9, 0, 0]), '....');
    assert.equal(along([0, 4.5, 4.5, 0]), '.xx.');
    // (3.9 + 3.9)/2 is below 4, and over four samples (7.8)/4 = 1.95 is below 2.667.
    assert.equal(along([0, 3.9, 3.9, 0]), '....');
    assert.equal(along([2.7, 2.7, 2.7, 2.7]), 'xxxx');
    assert.equal(along([2.6, 2.6, 2.6, 2.6]), '....');
  });

  it('leaves what a shorter window took out of the mean of a longer one', () => {
    // Only 100 is flagged. Of the others no window's mean is above its threshold, with 100 in it every one would be.
    assert.equal(along([0, 0, 100, 0, 0, 0, 0, 0]), '..x.....');
    // Three are left of a window of four, whose mean is held to χ₃ = 3.155: 2.7 is not above it, 3.2 is.
    assert.equal(along([2.7, 2.7, 100, 2.7, 0, 0, 0, 0]), '..x.....');
    assert.equal(along([3.2, 3.2, 100, 3.2, 0, 0, 0, 0]), 'xxxx....');
  });

  it('leaves ends of a window that are below half of its threshold', () => {
    // No four have a mean above 2.667; all eight have 14.8/8 = 1.85, which is above 1.778, and half of that is 0.889.
    assert.equal(along([0.7, 2.5, 2.5, 0, 2.5, 2.2, 2.2, 2.2]), '.xxxxxxx');
    assert.equal(along([0.9, 2.5, 2.5, 0, 2.5, 2.2, 2.2, 2.2]), 'xxxxxxxx');
  });

  it('does not take a lone sample among missing ones for a long window', () => {
    // In any window of four there is one sample, so 6 is the threshold and not 2.667.
    assert.equal(along([0, 3, 0, 0], [0, 2, 3]), '-.--');
    assert.equal(along([0, 6.1, 0, 0], [0, 2, 3]), '-x--');
  });

  it('runs along time as along frequency', () => {
    const values = new Float64Array(16);
    const state = new Uint8Array(16);
    for (const t of [1, 2]) values[4 * t + 3] = 4.5;
    sumThreshold(values, state, { times: 4, channels: 4 }, 6);
    assert.deepEqual(
      [...state.keys()].filter((at) => state[at] === TAKEN),
      [7, 11],
    );
  });

  it('looks for excess alone', () => {
    assert.equal(along([0, -100, 0, 0]), '....');
  });
});

describe('backgrounds', () => {
  const shape = { times: 3, channels: 5 };
  it('are running medians, along frequency blind for bursts, along time for carriers', () => {
    const wide = { times: 11, channels: 13 };
    // A carrier in channel 2.
    const values = Float64Array.from({ length: 143 }, (_, at) => (at % 13 === 2 ? 50 : 1));
    const none = new Uint8Array(143);
    assert.deepEqual([...robustBackground(values, none, wide, 'along frequency')], new Array(143).fill(1));
    assert.deepEqual([...robustBackground(values, none, wide, 'along time')], [...values]);
    // Bad samples do not count: two of eleven times are missing in channel 0, and nine are too few.
    const state = Uint8Array.from({ length: 143 }, (_, at) => (at === 0 || at === 13 ? MISSING : GOOD));
    const [first, second] = robustBackground(values, state, wide, 'along time').subarray(26, 28);
    assert.ok(Number.isNaN(first) && second === 1);
  });
  it('distinguish structure from noise', () => {
    // Channels 0, 1, 2, 3, 4 for all times: medians of channels scatter by MAD 1 · 1.4826; of times not at all.
    const steps = Float64Array.from({ length: 15 }, (_, at) => at % 5);
    const { ofChannels, ofTimes } = structureOf(steps, new Uint8Array(15), shape);
    // Less what noise of 1 makes of medians of three: π/2/3.
    assert.ok(Math.abs(ofChannels - Math.sqrt(1.4826 ** 2 - Math.PI / 6)) < 1e-9);
    assert.equal(ofTimes, 0);
  });
  it('the smooth background of one level is that level, whether few samples are missing or many', () => {
    for (const every of [37, 3]) {
      const values = new Float64Array(30 * 40).fill(5);
      const state = new Uint8Array(values.length);
      for (let at = 0; at < state.length; at += every) {
        state[at] = MISSING;
        values[at] = 1e6;
      }
      for (const middle of smoothBackground(values, state, { times: 30, channels: 40 }))
        assert.ok(Math.abs(middle - 5) < 1e-9, `one of ${every}: ${middle}`);
    }
  });

  it('are means by a Gaussian of what is good', () => {
    const state = Uint8Array.of(0, 0, 1);
    // Of samples 0 and 1, seen from 0: (2 + 4·e^(−1/32))/(1 + e^(−1/32)) with σ = 4.
    const next = Math.exp(-1 / 32);
    const found = smoothBackground(Float64Array.of(2, 4, 1e9), state, { times: 1, channels: 3 });
    assert.ok(Math.abs(found[0] - (2 + 4 * next) / (1 + next)) < 1e-12);
    assert.ok(found[2] < 4, 'what is missing has no say');
  });
  it('whiten by the middle and its deviation', () => {
    // Ratios −0.2, −0.1, 0, 0.1, 0.2: median 0, deviations 0, 0.1, 0.1, 0.2, 0.2, whose median is 0.1; σ = 0.14826.
    const found = whitened(
      Float64Array.of(0.8, 0.9, 1, 1.1, 1.2),
      new Float64Array(5).fill(1),
      new Uint8Array(5),
    );
    [-0.2, -0.1, 0, 0.1, 0.2].forEach((value, k) => {
      assert.ok(Math.abs(found[k] - value / 0.14826) < 1e-9);
    });
  });
});

describe('a plane of noise', () => {
  const shape = { times: 64, channels: 64 };
  const noise = (): Float64Array => {
    const random = randomStream(3, 'plane');
    return Float64Array.from({ length: 64 * 64 }, () => Math.hypot(random.gaussian(), random.gaussian()));
  };
  const takenOf = (values: Float64Array): Uint8Array => {
    const state = new Uint8Array(values.length);
    flagPlane(values, state, shape, 6);
    return state;
  };
  it('loses less than one sample in a thousand, and a carrier, a pulse and a drifting tone are found', () => {
    const clean = takenOf(noise());
    assert.ok(clean.filter((one) => one === TAKEN).length < 4, 'false alarms');
    const values = noise();
    const isHit = (t: number, c: number): boolean =>
      c === 20 || (t === 40 && c > 30) || c === 5 + Math.floor(t / 8);
    for (let at = 0; at < values.length; at++) if (isHit(Math.floor(at / 64), at % 64)) values[at] += 6;
    const state = takenOf(values);
    let [hits, found, wrong] = [0, 0, 0];
    for (let at = 0; at < values.length; at++) {
      const hit = isHit(Math.floor(at / 64), at % 64);
      if (hit) hits++;
      if (hit && state[at] === TAKEN) found++;
      if (!hit && state[at] === TAKEN) wrong++;
    }
    assert.ok(found > 0.98 * hits, `${found} of ${hits}`);
    assert.ok(wrong < 0.02 * hits, `${wrong} beside them`);
  });
});

describe('a few integrations', () => {
  it('show a carrier and a burst, of which a running median along time shows nothing', () => {
    for (const times of [4, 6, 10]) {
      const random = randomStream(7, `few ${times}`);
      const isHit = (at: number): boolean => at % 64 === 20 || Math.floor(at / 64) === 2;
      const values = Float64Array.from(
        { length: times * 64 },
        (_, at) => Math.hypot(random.gaussian(), random.gaussian()) + (isHit(at) ? 10 : 0),
      );
      const state = new Uint8Array(values.length);
      flagPlane(values, state, { times, channels: 64 }, 6);
      for (let at = 0; at < state.length; at++)
        if (isHit(at)) assert.equal(state[at], TAKEN, `${at} of ${times} integrations`);
    }
  });
});

describe('planes of pure noise', () => {
  // Amplitudes are Rayleigh's without a source, and Rice's with one.
  for (const [times, channels, planes, source] of [
    [3, 1024, 20, 0],
    [5, 64, 400, 0],
    [10, 64, 200, 0],
    [30, 64, 100, 0],
    [60, 128, 30, 0],
    [60, 128, 30, 1],
    [300, 64, 12, 6],
  ])
    it(`of ${times} × ${channels} samples, a source of ${source} σ: less than 0.012 % is flagged`, () => {
      const random = randomStream(3, `${times} ${channels} ${source}`);
      let flagged = 0;
      for (let k = 0; k < planes; k++) {
        const values = Float64Array.from({ length: times * channels }, () =>
          Math.hypot(source + random.gaussian(), random.gaussian()),
        );
        const state = new Uint8Array(values.length);
        flagPlane(values, state, { times, channels }, 6);
        flagged += state.filter((one) => one === TAKEN).length;
      }
      const part = flagged / (planes * times * channels);
      assert.ok(part < 1.2e-4, `${(100 * part).toFixed(4)} %`);
    });
});

describe('a burst that crosses carriers', () => {
  const shape = { times: 60, channels: 64 };
  const middlesS = Float64Array.from({ length: 60 }, (_, t) => t);
  const frequenciesHz = Float64Array.from({ length: 64 }, (_, c) => 100e6 + 1e5 * c);
  const found = (isHit: (t: number, c: number) => boolean) => {
    const state = new Uint8Array(60 * 64);
    for (let at = 0; at < state.length; at++) if (isHit(Math.floor(at / 64), at % 64)) state[at] = TAKEN;
    return findBursts(state, shape, middlesS, frequenciesHz);
  };
  it('is as long as itself, and the carriers are no part of it', () => {
    const isCarrier = (t: number, c: number): boolean =>
      (c === 20 && t < 40) || c === 41 || (c === 43 && t > 10);
    const bursts = found((t, c) => t === 17 || t === 30 || isCarrier(t, c));
    assert.deepEqual(
      bursts.map(({ firstTime, lastTime, channels }) => [firstTime, lastTime, channels]),
      [
        [17, 17, 61],
        [30, 30, 61],
      ],
    );
    for (const { cells } of bursts)
      for (let at = 0; at < cells.length; at++)
        if (isCarrier(Math.floor(at / 64), at % 64)) assert.equal(cells[at], 0);
  });
  it('nor are they of one that sweeps', () => {
    // t = 4148.808 s · DM · ν⁻²: over 100 to 106.3 MHz 0.0477 s a pc/cm³, so 40 s are 838 pc/cm³.
    const lateS = (c: number): number => 4148.808 * 838 * ((100 + c / 10) ** -2 - 106.3 ** -2);
    const [pulse, ...others] = found((t, c) => Math.abs(t - 5 - lateS(c)) <= 1 || c === 20);
    assert.equal(others.length, 0);
    assert.equal(pulse.channels, 63);
    assert.ok(pulse.dispersion !== undefined && Math.abs(pulse.dispersion - 838) < 30, `${pulse.dispersion}`);
    for (let t = 0; t < 60; t++) assert.equal(pulse.cells[t * 64 + 20], 0);
  });
});

describe('bursts', () => {
  const shape = { times: 16, channels: 8 };
  const middlesS = Float64Array.from({ length: 16 }, (_, t) => t);
  const frequenciesHz = Float64Array.from({ length: 8 }, (_, c) => 100e6 + 1e6 * c);
  const found = (isHit: (t: number, c: number) => boolean) => {
    const state = new Uint8Array(128);
    for (let at = 0; at < 128; at++) if (isHit(Math.floor(at / 8), at % 8)) state[at] = TAKEN;
    return findBursts(state, shape, middlesS, frequenciesHz);
  };
  it('are short and broad: a flash is one, a carrier and a tone in two channels are none', () => {
    const [flash, ...others] = found((t) => t === 5);
    assert.deepEqual([flash.firstTime, flash.lastTime, flash.channels, others.length], [5, 5, 8, 0]);
    assert.equal(flash.dispersion, undefined);
    assert.deepEqual(
      found((_t, c) => c === 3),
      [],
    );
    assert.deepEqual(
      found((t, c) => c === 3 || (t === 4 && c === 4)),
      [],
    );
  });
  it('are found where every other cell is lost, and are separate where a time is between', () => {
    const halves = found((t, c) => t === 5 && c % 2 === 0);
    assert.deepEqual(halves.length, 0, 'of eight channels only neighbours hang together');
    const wide = { times: 16, channels: 128 };
    const state = new Uint8Array(16 * 128);
    for (let c = 0; c < 128; c++) if (c % 8 < 5) for (const t of [3, 9]) state[t * 128 + c] = TAKEN;
    const frequencies = Float64Array.from({ length: 128 }, (_, c) => 100e6 + 1e5 * c);
    const bursts = findBursts(state, wide, middlesS, frequencies);
    assert.deepEqual(
      bursts.map(({ firstTime, lastTime, channels }) => [firstTime, lastTime, channels]),
      [
        [3, 3, 80],
        [9, 9, 80],
      ],
    );
  });
  it('give the dispersion of a pulse that arrives late at low frequencies', () => {
    // t = 4148.808 s · DM · ν⁻²: over 100 to 107 MHz 0.0525 s a pc/cm³, so 12 s are 228 pc/cm³.
    const lateS = (c: number): number => 4148.808 * 228 * ((100 + c) ** -2 - 107 ** -2);
    const [pulse] = found((t, c) => Math.abs(t - 1 - lateS(c)) <= 1);
    assert.ok(pulse.dispersion !== undefined && Math.abs(pulse.dispersion - 228) < 15, `${pulse.dispersion}`);
    // Of a weak pulse, a piece in the middle of the band and single channels at its ends are found; a carrier is not
    // part of it.
    const middle = (c: number): boolean => c === 0 || (c >= 2 && c <= 4) || c === 7;
    const [weak, ...more] = found(
      (t, c) => (middle(c) && Math.abs(t - 1 - lateS(c)) <= 1) || (c === 1 && t < 2),
    );
    assert.deepEqual([weak.channels, more.length], [5, 0]);
    assert.ok(weak.dispersion !== undefined && Math.abs(weak.dispersion - 228) < 25, `${weak.dispersion}`);
    // The same sweep upwards in frequency is no pulse.
    const [, wrongWay] = [0, found((t, c) => Math.abs(t - 1 - lateS(7 - c)) <= 1)[0]];
    assert.equal(wrongWay.dispersion, undefined);
  });
});
