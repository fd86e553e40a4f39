/** What is flagged and what is kept, in spectra with known interference. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { randomStream } from '../core/random.js';
import { decide } from './decide.js';
import { prepareFlagger } from './index.js';
import { ABOVE, BELOW, Decision, UNTESTED, WIDER } from './decision.js';
import { planKurtosis, windowEdges, type KurtosisPlan } from './plan.js';
import { noisySpectra, type Strength } from './samples.testing.js';
import { LimitTables } from './tables.js';
import { KurtosisTally } from './tally.js';

const shape = { type: 'cf32', channels: 16, inputs: 4 } as const;
const [WINDOW, WINDOWS] = [256, 32];

async function decision(strength: Strength, windows = WINDOWS): Promise<Decision> {
  const plan = planKurtosis({ ...shape, polarisations: 1, spectraPerWindow: WINDOW });
  const reference = openReference();
  const flagger = await prepareFlagger(plan, reference);
  const samples = WINDOW * windows;
  const block = reference.allocateSpectra({ ...shape, capacity: samples });
  await block.write(noisySpectra({ ...shape, samples }, randomStream(5, 'rules'), strength), samples);
  const made = await flagger.run(block);
  await flagger.close();
  return made;
}

/** How many inputs of a window's channel are flagged. */
const flaggedIn = ({ mask }: Decision, w: number, c: number): number =>
  mask.subarray((w * 16 + c) * 4, (w * 16 + c + 1) * 4).reduce((sum, one) => sum + one, 0);

describe('a carrier and a burst together', () => {
  /** Wideband pulses in every fourth window, a twelfth of it long. */
  const pulse = (t: number): boolean =>
    Math.floor(t / WINDOW) % 4 === 1 && t % WINDOW >= 40 && t % WINDOW < 60;
  for (const [name, carrier, strength] of [
    ['a carrier stronger than the pulses', 30, 4],
    ['a carrier weaker than the pulses', 2, 10],
    ['a carrier that leaves the kurtosis of noise with the pulses', 4.5, 10],
  ] as const)
    it(`${name} is flagged in every window, and the bursts are kept`, async () => {
      const made = await decision((c, _, t) => ({
        noise: pulse(t) ? strength : 1,
        carrier: c === 5 ? carrier : 0,
      }));
      assert.deepEqual(
        [...made.everywhere],
        Array.from({ length: 8 }, (_, n) => 4 * n + 1),
      );
      for (let w = 0; w < WINDOWS; w++) assert.equal(flaggedIn(made, w, 5), 4, `window ${w}`);
      for (const w of made.everywhere)
        for (let c = 0; c < 16; c++)
          if (c !== 5) assert.equal(flaggedIn(made, w, c), 0, `window ${w}, channel ${c}`);
    });
});

describe('a radar of 3 dB', () => {
  it('that is on for a twentieth of every window is flagged in each of sixteen', async () => {
    // Noise has a power of 2, the radar one of 4: SK is 1.15, where one window has limits of 0.70 and 1.50.
    const made = await decision((c, _, t) => ({ noise: 1, carrier: c === 5 && t % WINDOW < 13 ? 2 : 0 }), 16);
    for (let w = 0; w < 16; w++) assert.equal(flaggedIn(made, w, 5), 4, `window ${w}`);
    const others = made.mask.reduce((sum, one) => sum + one, 0) - 64;
    assert.ok(others < 0.01 * made.mask.length, `${others} beside it`);
  });
});

describe('rules', () => {
  const asked = { type: 'cf32', channels: 4, inputs: 4, polarisations: 1 } as const;
  /** S1 and S2 of 256 powers that have this spectral kurtosis: M S2/S1² = 1 + SK (M − 1)/(M + 1), with S1 = M. */
  const sumsOf = (kurtosis: number): readonly number[] => [256, 256 * (1 + (kurtosis * 255) / 257)];
  const decided = (
    plan: KurtosisPlan,
    windows: number,
    kurtosis: (w: number, c: number, a: number) => number | readonly number[],
    lost?: Uint32Array,
  ): Decision => {
    const edges = Int32Array.from({ length: windows + 1 }, (_, w) => 256 * w);
    const sums: number[] = [];
    for (let w = 0; w < windows; w++)
      for (let c = 0; c < plan.channels; c++)
        for (let a = 0; a < plan.inputs; a++) {
          const made = kurtosis(w, c, a);
          sums.push(...(typeof made === 'number' ? sumsOf(made) : made));
        }
    const to = { codes: new Uint8Array(sums.length / 2), bursts: new Uint8Array(windows) };
    decide(plan, new LimitTables(plan).of(edges, lost), Float64Array.from(sums), lost, to);
    return new Decision(plan, edges, to.codes, to.bursts, lost);
  };

  it('a window is flagged beyond its limits, on either side', () => {
    const codes = [0.5, 0.69, 0.71, 1, 1.48, 1.51, 2].map(
      (kurtosis) =>
        decided(planKurtosis(asked), 1, (_, c, a) => (c === 1 && a === 2 ? kurtosis : 1)).codes[6],
    );
    assert.deepEqual(codes, [BELOW, BELOW, 0, 0, 0, ABOVE, ABOVE]);
  });

  it('one polarisation goes and the other stays, or both where stations are counted', () => {
    const dual = { ...asked, polarisations: 2 } as const;
    const loud = (_w: number, c: number, a: number): number => (c === 3 && a === 3 ? 2 : 1);
    const one = decided(planKurtosis(dual), 1, loud);
    assert.deepEqual([...one.mask.subarray(12)], [0, 0, 0, 1]);
    assert.equal(one.mask.indexOf(1), 15);
    assert.deepEqual(one.boxes, [
      { firstChannel: 3, endChannel: 4, firstInput: 3, endInput: 4, firstSample: 0, endSample: 256 },
    ]);
    const both = decided(planKurtosis({ ...dual, takes: 'stations' }), 1, loud);
    assert.deepEqual([...both.mask.subarray(12)], [0, 0, 1, 1]);
    assert.deepEqual(both.boxes, [{ ...one.boxes[0], firstInput: 2 }]);
    // Inputs 0, 1 and 3 of a row of four: one box of two stations, each counted once.
    const two = decided(planKurtosis({ ...dual, takes: 'stations' }), 1, (_, c, a) =>
      c === 3 && a !== 2 ? 2 : 1,
    );
    assert.deepEqual(two.boxes, [{ ...one.boxes[0], firstInput: 0 }]);
    assert.deepEqual([...two.byWindow], [1024]);
    assert.deepEqual([...two.byInput], [256, 256, 0, 256]);
    assert.deepEqual([...both.byInput], [0, 0, 0, 256]);
    assert.deepEqual([...both.byWindow], [512]);
  });

  it('boxes join inputs and channels that follow each other', () => {
    const { boxes } = decided(planKurtosis(asked), 1, (_, c, a) => (c > 0 && c < 3 && a > 1 ? 3 : 1));
    assert.deepEqual(boxes, [
      { firstChannel: 1, endChannel: 3, firstInput: 2, endInput: 4, firstSample: 0, endSample: 256 },
    ]);
  });

  it('two windows go of which one is loud for half of the time: alone it has the kurtosis of noise', () => {
    // S1 and S2 of 128 powers of 1 and 128 of 100.
    const half = [128 + 128 * 100, 128 * 2 + 128 * 100 ** 2];
    const plan = planKurtosis({ ...asked, channels: 1, inputs: 2 });
    const { codes } = decided(plan, 2, (w, _, a) => (w === 0 && a === 0 ? half : 1));
    assert.deepEqual([...codes], [ABOVE | WIDER, 0, ABOVE | WIDER, 0]);
    assert.deepEqual([...decided(plan, 1, (_w, _c, a) => (a === 0 ? half : 1)).codes], [0, 0]);
  });

  it('windows go with three times as many around them', () => {
    const plan = planKurtosis({ ...asked, channels: 1, inputs: 1 });
    const flagged = (text: string): string =>
      decided(plan, text.length, (w) => (text[w] === '1' ? 0.3 : 1)).mask.join('');
    assert.equal(flagged('0001000'), '0001000');
    assert.equal(flagged('00011100'), '00111110');
    assert.equal(flagged('1110111000'), '1111111100');
    assert.equal(flagged('11011'), '11111');
    assert.equal(flagged('110'), '110');
  });

  describe('means over inputs and windows', () => {
    const plan = planKurtosis({ ...asked, channels: 16 });
    /** Noise between the limits, plus interference. */
    const noisy = (
      added: (w: number, c: number, a: number) => number,
      more: Partial<KurtosisPlan> = {},
    ): Decision => {
      const random = randomStream(5, 'kurtoses');
      return decided({ ...plan, ...more }, 32, (w, c, a) => {
        const noise = Math.max(-0.17, Math.min(0.2, 0.125 * random.gaussian()));
        return 1 + noise + added(w, c, a);
      });
    };

    it('noise stays', () => {
      const { mask, everywhere } = noisy(() => 0);
      assert.equal(mask.includes(1), false);
      assert.deepEqual(everywhere, []);
    });

    it('what is in one channel for long is flagged, and its neighbours are not', () => {
      const made = noisy((_, c) => (c === 5 ? 0.1 : 0));
      const flagged = Array.from({ length: 32 }, (_, w) => flaggedIn(made, w, 5));
      assert.ok(flagged.reduce((sum, one) => sum + one, 0) > 0.95 * 128, flagged.join(' '));
      assert.equal(flaggedIn(made, 3, 4) + flaggedIn(made, 3, 6), 0);
    });

    it('what is there for a few windows is flagged in those', () => {
      const made = noisy((w, c) => (c === 9 && w >= 8 && w < 16 ? -0.12 : 0));
      for (let w = 8; w < 16; w++) assert.equal(flaggedIn(made, w, 9), 4, `window ${w}`);
      const others = Array.from({ length: 32 }, (_, w) => (w >= 4 && w < 20 ? 0 : flaggedIn(made, w, 9)));
      assert.ok(others.every((one) => one === 0));
    });

    it('one input that is far beyond its limits leaves the others, three of four do not', () => {
      const off = (many: number): number[] => {
        const at = (7 * 16 + 3) * 4;
        return [...noisy((w, c, a) => (w === 7 && c === 3 && a < many ? 50 : 0)).codes.subarray(at, at + 4)];
      };
      assert.deepEqual(off(1), [ABOVE, 0, 0, 0]);
      assert.deepEqual(off(3), [ABOVE, ABOVE, ABOVE, ABOVE | WIDER]);
    });

    it('one input with a carrier all the time is flagged alone', () => {
      const made = noisy((_w, c, a) => (c === 3 && a === 2 ? -0.6 : 0));
      for (let w = 0; w < 32; w++) assert.equal(flaggedIn(made, w, 3), 1, `window ${w}`);
    });

    it('a weak burst is kept and reported, or flagged as a whole', () => {
      const burst = (w: number): number => (w === 20 ? 0.15 : 0);
      const kept = noisy(burst);
      assert.deepEqual(kept.everywhere, [20]);
      assert.equal(kept.mask.includes(1), false);
      const flagged = noisy(burst, { bursts: 'take' });
      assert.deepEqual(flagged.everywhere, [20]);
      assert.equal(
        flagged.mask.reduce((sum, one) => sum + one, 0),
        64,
      );
    });

    it('inputs that receive the same noise scatter more, and what all channels have is no interference', () => {
      const random = randomStream(6, 'alike');
      const alike = Array.from({ length: 512 }, () =>
        Math.max(-0.1, Math.min(0.1, 0.11 * random.gaussian())),
      );
      assert.equal(noisy((w, c) => alike[16 * w + c]).mask.includes(1), false);
      assert.equal(noisy(() => 0.03).mask.includes(1), false);
    });
  });

  it('what most inputs have in most channels is kept or flagged as a whole, and counted', () => {
    for (const [bursts, flagged] of [
      ['keep', 0],
      ['take', 16],
    ] as const) {
      const plan = planKurtosis({ ...asked, bursts });
      const decision = decided(plan, 1, (_, c, a) => (c < 3 && a < 3 ? 3 : 1));
      assert.deepEqual(decision.everywhere, [0]);
      const tally = new KurtosisTally(plan);
      tally.add(decision, 512);
      const { episodes, ...account } = tally.account();
      assert.deepEqual(episodes, [
        {
          kind: 'everywhere',
          firstSpectrum: 512,
          endSpectrum: 768,
          channels: bursts === 'keep' ? 3 : 4,
          fromChannel: 0,
          toChannel: bursts === 'keep' ? 2 : 3,
          fate: bursts === 'keep' ? 'kept' : 'flagged',
        },
      ]);
      assert.equal(account.flagged, 256 * flagged);
      assert.equal(account.samples, 256 * 16);
      assert.deepEqual([...account.byChannel], Array(4).fill(64 * flagged));
      assert.deepEqual([...account.byInput], Array(4).fill(64 * flagged));
      assert.deepEqual(account.byTime, { spectraPerRange: 256, flagged: [0, 0, 256 * flagged] });
    }
  });

  it('a window that is overloaded in most channels is flagged and reported', () => {
    const plan = planKurtosis(asked);
    const decision = decided(plan, 1, () => 0.2);
    assert.equal(decision.mask.includes(0), false);
    const tally = new KurtosisTally(plan);
    tally.add(decision, 0);
    assert.equal(tally.account().episodes[0].fate, 'flagged');
  });

  it('a part of a window has the limits of what came, too little of one none', () => {
    const plan = planKurtosis({ ...asked, channels: 1, inputs: 2 });
    // 64 powers of 256 with a kurtosis of 1.6: consistent with noise for 64, and far out for 256.
    const few = [64, 64 * (1 + (1.6 * 63) / 65)];
    assert.deepEqual([...decided(plan, 1, () => few, Uint32Array.of(192, 192)).codes], [0, 0]);
    const { codes, untested, samples } = decided(plan, 1, () => 1, Uint32Array.of(240, 0));
    assert.deepEqual([...codes], [UNTESTED, 0]);
    assert.equal(untested, 1);
    assert.equal(samples, 2 * 256 - 240);
  });

  it('no samples of flagged inputs are counted: they are not tested', () => {
    const plan = planKurtosis({ ...asked, flaggedInputs: Uint8Array.of(0, 1, 0, 0) });
    const lost = new Uint32Array(16);
    // Ten spectra of channel 2 are missing, of a flagged input and of another.
    lost.fill(10, 9, 11);
    assert.equal(decided(plan, 1, () => 1, lost).samples, 256 * 4 * 3 - 10);
  });

  it('the mean over inputs flags what none of them shows alone', () => {
    const weak = (_: number, c: number): number => (c === 2 ? 1.3 : 1);
    assert.equal(decided(planKurtosis(asked), 1, weak).mask.includes(1), false);
    const { mask } = decided(planKurtosis({ ...asked, over: 'inputs' }), 1, weak);
    assert.deepEqual([...mask], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
  });

  it('what sweeps through the band is reported, and nothing of a steady carrier', () => {
    const plan = planKurtosis({ ...asked, channels: 12 });
    const tally = new KurtosisTally(plan);
    for (let n = 0; n < 30; n++)
      // From window 10 on, one channel after the other from the highest down; channel 5 all the time.
      tally.add(
        decided(plan, 1, (_, c) => (c === 5 || c === 21 - n ? 3 : 1)),
        256 * n,
      );
    const { episodes, episodeCount } = tally.account();
    assert.equal(episodeCount, 1);
    const [{ kind, fromChannel, toChannel, channels, fate }] = episodes;
    assert.deepEqual(
      { kind, fromChannel, toChannel, fate },
      { kind: 'sweep', fromChannel: 11, toChannel: 0, fate: 'flagged' },
    );
    assert.ok(channels >= 11);
  });

  it('windows are alike, begin at multiples of four or sixteen, and leave nothing out', () => {
    const plan = planKurtosis({ ...asked, spectraPerWindow: 100 });
    assert.deepEqual([...windowEdges(plan, 23)], [0]);
    assert.deepEqual([...windowEdges(plan, 24)], [0, 24]);
    assert.deepEqual([...windowEdges(plan, 149)], [0, 149]);
    assert.deepEqual([...windowEdges(plan, 250)], [0, 84, 168, 250]);
    const longer = planKurtosis({ ...asked, spectraPerWindow: 128 });
    assert.deepEqual([...windowEdges(longer, 250)], [0, 128, 250]);
    assert.deepEqual([...windowEdges(longer, 403)], [0, 128, 272, 403]);
  });

  it('what cannot be done is refused', () => {
    assert.throws(() => planKurtosis({ ...asked, spectraPerWindow: 10 }), /spectra in a window is 10/);
    assert.throws(() => planKurtosis({ ...asked, sigmas: 0 }), /sigmas is 0/);
    assert.throws(() => planKurtosis({ ...asked, flaggedInputs: new Uint8Array(3) }), /3 input flags for 4/);
  });
});
