import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { takenBoxes } from './boxes.js';
import { extendRuns } from './extend.js';
import { Judge } from './judge.js';
import { planKurtosis, windowEdges } from './plan.js';
import { presentIn } from './present.js';
import { allocateScreened, screen } from './screen.js';
import { KurtosisTally } from './tally.js';

const asked = { type: 'cf32', channels: 4, inputs: 4, polarisations: 1 } as const;
const edges = Int32Array.of(0, 256);

/** S1 and S2 of 256 powers that have this spectral kurtosis: M S2/S1² = 1 + SK (M − 1)/(M + 1), with S1 = M. */
const sumsOf = (kurtosis: number): [number, number] => [256, 256 * (1 + (kurtosis * 255) / 257)];

/** [c][a] */
const sums = (of: (c: number, a: number) => number, channels = 4, inputs = 4): Float64Array =>
  Float64Array.from(
    Array.from({ length: channels }, (_, c) =>
      Array.from({ length: inputs }, (__, a) => sumsOf(of(c, a))),
    ).flat(2),
  );

describe('judgement', () => {
  it('takes what lies beyond the limits: of 256 spectra at 3 σ about 0.68 and 1.5', () => {
    const judge = new Judge(planKurtosis(asked));
    const values = [0.6, 0.66, 0.7, 1, 1.4, 1.46, 1.55, 2];
    const verdicts = values.map(
      (kurtosis) =>
        judge.judge(
          edges,
          sums((c, a) => (c === 1 && a === 2 ? kurtosis : 1)),
          undefined,
        ).offenders[6],
    );
    assert.deepEqual(verdicts, [2, 2, 0, 0, 0, 0, 1, 1]);
  });

  it('takes one polarisation and leaves the other, or both where stations are counted', () => {
    const loud = sums((c, a) => (c === 3 && a === 3 ? 2 : 1));
    const plan = planKurtosis({ ...asked, polarisations: 2 });
    const judgement = new Judge(plan).judge(edges, loud, undefined);
    const { mask, offenders } = judgement;
    assert.deepEqual([...mask.subarray(12)], [0, 0, 0, 1]);
    assert.equal(mask.indexOf(1), 15);
    assert.deepEqual([...offenders.subarray(12)], [0, 0, 0, 1]);
    assert.deepEqual(takenBoxes(judgement, plan), [
      { firstChannel: 3, endChannel: 4, firstInput: 3, endInput: 4, firstSample: 0, endSample: 256 },
    ]);
    const whole = new Judge(planKurtosis({ ...asked, polarisations: 2, takes: 'stations' }));
    assert.deepEqual([...whole.judge(edges, loud, undefined).mask.subarray(12)], [0, 0, 1, 1]);
  });

  describe('together, without being asked', () => {
    /** Windows, channels and inputs of noise: kurtoses a standard deviation of 256 spectra about 1, and what is added. */
    const noisy = (
      windows: number,
      channels: number,
      inputs: number,
      added: (w: number, c: number, a: number) => number,
      strength = 1,
    ): { readonly cuts: Int32Array; readonly made: Float64Array } => {
      const random = randomStream(5, 'kurtoses');
      const made: number[] = [];
      for (let w = 0; w < windows; w++)
        for (let c = 0; c < channels; c++)
          for (let a = 0; a < inputs; a++) {
            // Between the limits: what is beyond them is not asked here.
            const noise = strength * Math.max(-0.17, Math.min(0.2, 0.125 * random.gaussian()));
            made.push(...sumsOf(1 + noise + added(w, c, a)));
          }
      return {
        cuts: Int32Array.from({ length: windows + 1 }, (_, n) => 256 * n),
        made: Float64Array.from(made),
      };
    };
    const plan = planKurtosis({ ...asked, channels: 16, inputs: 4 });
    const judged = (
      added: (w: number, c: number, a: number) => number,
      bursts: 'keep' | 'take' = 'keep',
      strength = 1,
    ) => {
      const { cuts, made } = noisy(32, 16, 4, added, strength);
      return new Judge({ ...plan, bursts }).judge(cuts, made, undefined);
    };
    const takenIn = ({ mask }: { readonly mask: Uint8Array }, w: number, c: number): number =>
      mask.subarray((w * 16 + c) * 4, (w * 16 + c + 1) * 4).reduce((sum, one) => sum + one, 0);

    it('noise stays', () => {
      const { mask, everywhere } = judged(() => 0);
      assert.equal(mask.includes(1), false);
      assert.deepEqual(everywhere, []);
    });

    it('what stays for long in one channel is found by its mean, and its neighbours are left', () => {
      const made = judged((_, c) => (c === 5 ? 0.1 : 0));
      const taken = Array.from({ length: 32 }, (_, w) => takenIn(made, w, 5));
      assert.ok(taken.reduce((sum, one) => sum + one, 0) > 0.95 * 128, taken.join(' '));
      assert.equal(takenIn(made, 3, 4) + takenIn(made, 3, 6), 0);
      assert.equal(made.offenders[5 * 4], 9);
    });

    it('windows go with their neighbours, where three quarters of a stretch are taken', () => {
      const extended = (text: string): string => {
        const heard = Uint8Array.from(text, (one) => Number(one));
        extendRuns(heard);
        return heard.join('');
      };
      assert.equal(extended('0001000'), '0001000');
      assert.equal(extended('0001110000'), '0011111000');
      assert.equal(extended('1110111000'), '1111111100');
      assert.equal(extended('110'), '110');
      assert.equal(extended('0000'), '0000');
    });

    it('what is there for a few windows takes those', () => {
      const made = judged((w, c) => (c === 9 && w >= 8 && w < 16 ? -0.12 : 0));
      for (let w = 8; w < 16; w++) assert.equal(takenIn(made, w, 9), 4, `window ${w}`);
      assert.equal(made.offenders[(8 * 16 + 9) * 4], 10);
      const others = Array.from({ length: 32 }, (_, w) => (w >= 4 && w < 20 ? 0 : takenIn(made, w, 9)));
      assert.ok(others.every((one) => one === 0));
    });

    it('others go with two of four inputs that offend alike, and stay with one', () => {
      const inputsOff = (many: number) => judged((w, c, a) => (w === 7 && c === 3 && a < many ? -0.6 : 0));
      const at = (7 * 16 + 3) * 4;
      assert.deepEqual([...inputsOff(1).offenders.subarray(at, at + 4)], [2, 0, 0, 0]);
      assert.deepEqual([...inputsOff(2).offenders.subarray(at, at + 4)], [2, 2, 10, 10]);
      // On either side of noise they are no crowd.
      const apart = judged((w, c, a) => (w === 7 && c === 3 && a < 2 ? (a === 0 ? -0.6 : 1) : 0));
      assert.deepEqual([...apart.offenders.subarray(at, at + 4)], [2, 1, 0, 0]);
    });

    it('beside what all hear less is enough, of the same side', () => {
      // Of four inputs one sigma of the mean is 0.0625: 0.17 is beyond two, and below the limit of 4.5. A tenth of usual noise.
      const weak = (w: number, c: number): boolean => (w === 11 && c === 6) || (w === 20 && c === 12);
      const beside = (by: number) =>
        judged((w, c) => (w === 10 && c === 5 ? -0.6 : weak(w, c) ? by : 0), 'keep', 0.1);
      const drifting = beside(-0.17);
      assert.equal(takenIn(drifting, 10, 5), 4);
      assert.equal(takenIn(drifting, 11, 6), 4);
      assert.equal(takenIn(drifting, 20, 12), 0);
      assert.equal(takenIn(beside(0.17), 11, 6), 0);
      // A burst of most channels is over with its window.
      const burst = judged((w, c) => (w === 10 && c < 12 ? 1 : weak(w, c) ? 0.17 : 0), 'keep', 0.1);
      assert.deepEqual(burst.everywhere, [10]);
      assert.equal(takenIn(burst, 11, 6), 0);
    });

    it('what is in all channels is told and stays, or goes', () => {
      const burst = (w: number): number => (w === 20 ? 0.15 : 0);
      const kept = judged(burst);
      assert.deepEqual(kept.everywhere, [20]);
      assert.equal(kept.mask.includes(1), false);
      const taken = judged(burst, 'take');
      assert.deepEqual(taken.everywhere, [20]);
      assert.equal(
        taken.mask.reduce((sum, one) => sum + one, 0),
        64,
      );
    });

    it('inputs that hear the same noise are no crowd, and what all channels have is usual', () => {
      const random = randomStream(6, 'alike');
      const alike = new Map<number, number>();
      const common = (w: number, c: number): number => {
        const key = 16 * w + c;
        if (!alike.has(key)) alike.set(key, Math.max(-0.1, Math.min(0.1, 0.11 * random.gaussian())));
        return alike.get(key) ?? 0;
      };
      assert.equal(judged(common).mask.includes(1), false);
      assert.equal(judged(() => 0.03).mask.includes(1), false);
    });
  });

  it('keeps what most inputs hear in most channels, or takes it when told', () => {
    const everywhere = sums((c, a) => (c < 3 && a < 3 ? 3 : 1));
    for (const [bursts, taken] of [
      ['keep', 0],
      ['take', 9],
    ] as const) {
      const plan = planKurtosis({ ...asked, bursts });
      const judgement = new Judge(plan).judge(edges, everywhere, undefined);
      assert.deepEqual(judgement.everywhere, [0]);
      assert.equal(
        judgement.mask.reduce((sum, one) => sum + one, 0),
        taken,
      );
      const tally = new KurtosisTally(plan);
      tally.add(judgement, 512);
      const { episodes, ...account } = tally.account();
      assert.deepEqual(episodes, [
        {
          ...{ kind: 'everywhere', firstSpectrum: 512, endSpectrum: 768, channels: 3 },
          ...{ fromChannel: 0, toChannel: 2, fate: bursts === 'keep' ? 'kept' : 'taken' },
        },
      ]);
      assert.equal(account.taken, 256 * taken);
      assert.equal(account.samples, 256 * 16);
      assert.deepEqual([...account.byChannel], taken > 0 ? [768, 768, 768, 0] : [0, 0, 0, 0]);
      assert.deepEqual([...account.byInput], taken > 0 ? [768, 768, 768, 0] : [0, 0, 0, 0]);
      assert.deepEqual(account.byTime, { spectraPerStretch: 256, taken: [0, 0, 256 * taken] });
    }
  });

  it('counts no samples of flagged inputs, which are not looked at', () => {
    const plan = planKurtosis({ ...asked, flaggedInputs: Uint8Array.of(0, 1, 0, 0) });
    // Ten spectra of channel 2 never came, of a flagged input and of another.
    const presence = { places: Int32Array.of(9, 10), lost: Uint32Array.of(10, 10) };
    const tally = new KurtosisTally(plan);
    tally.add(
      new Judge(plan).judge(
        edges,
        sums(() => 1),
        presence,
      ),
      0,
    );
    assert.equal(tally.account().samples, 256 * 4 * 3 - 10);
  });

  it('together: what none of the inputs alone would show', () => {
    const weak = sums((c) => (c === 2 ? 1.3 : 1));
    const each = new Judge(planKurtosis(asked)).judge(edges, weak, undefined);
    assert.equal(each.mask.includes(1), false);
    const together = new Judge(planKurtosis({ ...asked, over: 'inputs' })).judge(edges, weak, undefined);
    assert.deepEqual([...together.mask], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
  });

  it('takes two windows of which one is loud for half of the time: alone it looks like noise', () => {
    // S1 and S2 of 128 powers of 1 and 128 of 100 beside 256 of noise: SK of the first is nearly 1.
    const half = [128 + 128 * 100, 128 * 2 + 128 * 100 ** 2];
    const quiet = sumsOf(1);
    const both = Int32Array.of(0, 256, 512);
    const plan = planKurtosis({ ...asked, channels: 1, inputs: 2 });
    const { mask, offenders } = new Judge(plan).judge(
      both,
      Float64Array.of(...half, ...quiet, ...quiet, ...quiet),
      undefined,
    );
    assert.deepEqual([...mask], [1, 0, 1, 0]);
    assert.deepEqual([...offenders], [5, 0, 5, 0]);
    const alone = new Judge(plan).judge(edges, Float64Array.of(...half, ...quiet), undefined);
    assert.deepEqual([...alone.mask], [0, 0]);
  });

  it('takes what lies between two that were taken, or between one and the end, and neighbours of three', () => {
    const plan = planKurtosis({ ...asked, channels: 1, inputs: 1 });
    const many = (kurtoses: readonly number[]): readonly number[] => {
      const cuts = Int32Array.from({ length: kurtoses.length + 1 }, (_, n) => 256 * n);
      return [
        ...new Judge(plan).judge(cuts, Float64Array.from(kurtoses.flatMap(sumsOf)), undefined).offenders,
      ];
    };
    assert.deepEqual(many([1, 1, 0.5, 1, 2, 1, 1]), [0, 9, 2, 6, 1, 9, 0]);
    assert.deepEqual(many([1, 2, 1, 1]), [5, 1, 0, 0]);
  });

  it('reads sums and marks of marked groups alone, of the windows beside them, and of those that lack samples', () => {
    const flaggedInputs = new Uint8Array(38);
    flaggedInputs[3] = 1;
    const plan = planKurtosis({
      ...{ ...asked, channels: 12, inputs: 38, polarisations: 2, realChannels: 1, flaggedInputs },
    });
    const groups = 3;
    const random = randomStream(8, 'poison');
    const judge = new Judge(plan);
    for (const windows of [1, 2, 9]) {
      const cuts = Int32Array.from({ length: windows + 1 }, (_, n) => 256 * n);
      const cells = windows * 12 * 38;
      const isLoud = Uint8Array.from({ length: cells }, () => (random.uniform() < 0.004 ? 1 : 0));
      const all = Float64Array.from(
        [...isLoud].flatMap((loud) => sumsOf(loud === 1 ? 2.5 : 1 + 0.1 * random.gaussian())),
      );
      const gap = { firstInput: 20, endInput: 21, firstChannel: 2, endChannel: 4 };
      const gaps = windows === 9 ? [{ ...gap, firstSample: 1000, endSample: 1100 }] : [];
      const presence = presentIn(plan, cuts, gaps);
      const fencing = judge.fencing(cuts);
      assert.ok(fencing);
      const screened = allocateScreened(plan, windows);
      screen(plan, fencing, all, screened);
      // What the host marks itself: the window that lacks something, and the one before.
      const isMarked = Uint8Array.from(screened.groupMarks, (marks) => (marks === 0 ? 0 : 1));
      for (const place of presence?.places ?? []) {
        const row = Math.floor(place / 38);
        for (const at of [row, row - 12]) isMarked[at * groups + Math.floor((place % 38) / 16)] = 1;
      }
      const poisoned = all.slice();
      let left = 0;
      for (let at = 0; at < isMarked.length; at++) {
        // [w][c][a / 16]: a window before or after is all channels' groups away.
        if ([at, at - 12 * groups, at + 12 * groups].some((one) => isMarked[one] === 1)) continue;
        const [row, first] = [Math.floor(at / groups), 16 * (at % groups)];
        const [from, to] = [row * 38 + first, row * 38 + Math.min(38, first + 16)];
        poisoned.fill(NaN, 2 * from, 2 * to);
        screened.marks.fill(255, from, to);
        left += to - from;
      }
      assert.ok(left > cells / 10 && left < cells);
      const expected = new Judge(plan).judge(cuts, all, presence);
      assert.ok(expected.taken.length > 0);
      assert.deepEqual(judge.judge(cuts, poisoned, presence, screened), expected);
    }
  });

  it('tells what sweeps through the band, and nothing of a carrier that stands still', () => {
    const plan = planKurtosis({ ...asked, channels: 12 });
    const tally = new KurtosisTally(plan);
    const judge = new Judge(plan);
    for (let w = 0; w < 30; w++) {
      // From window 10 on, one channel after the other from the highest down; channel 5 all the time.
      const judgement = judge.judge(
        edges,
        sums((c) => (c === 5 || c === 21 - w ? 3 : 1), 12),
        undefined,
      );
      tally.add(judgement, 256 * w);
    }
    const { episodes, episodeCount } = tally.account();
    assert.equal(episodeCount, 1);
    const [{ kind, fromChannel, toChannel, channels, fate }] = episodes;
    assert.deepEqual(
      { kind, fromChannel, toChannel, fate },
      { kind: 'sweep', fromChannel: 11, toChannel: 0, fate: 'taken' },
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

  it('refuses what it cannot do', () => {
    assert.throws(() => planKurtosis({ ...asked, spectraPerWindow: 10 }), /spectra in a window is 10/);
    assert.throws(() => planKurtosis({ ...asked, sigmas: 0 }), /sigmas is 0/);
    assert.throws(() => planKurtosis({ ...asked, flaggedInputs: new Uint8Array(3) }), /3 input flags for 4/);
  });
});
