import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trioGains } from '../formats/testing/gain-subjects.js';
import { gainMatrices, lookAtGains } from './gains.js';

describe('a look at gains', () => {
  // The gain of input a in channel c is n + (n + ½)i, n = 6c + a; that of input 1 in channel 1 is unsolved.
  it('has one row an input, of the channels that are solved', () => {
    const look = lookAtGains(trioGains);
    assert.deepEqual([look.solvedInputs, look.unsolved], [5, []]);
    assert.deepEqual(
      look.inputs.map(({ name }) => name),
      ['s0:X', 's0:Y', 's1:X', 's1:Y', 's2:X', 's2:Y'],
    );
    // Of two channels the stronger one is the median.
    assert.equal(look.inputs[0].amplitude, Math.hypot(6, 6.5));
    assert.equal(look.inputs[1].amplitude, Math.hypot(1, 1.5));
    assert.ok(Math.abs((look.inputs[0].phaseDeg ?? 0) - 47.29061004) < 1e-8);
    assert.equal(look.inputs[1].phaseDeg, undefined);
  });

  it('counts channels that have no gains at all, and looks at the others', () => {
    const first = trioGains.solved.map((mark, at) => (at < 6 ? 0 : mark));
    const look = lookAtGains({ ...trioGains, solved: first });
    // Only channel 1 is left, in which input 1 is unsolved.
    assert.deepEqual([look.emptyChannels, look.solvedInputs, look.unsolved], [1, 5, ['s0:Y']]);
    const none = lookAtGains({ ...trioGains, solved: new Uint8Array(12) });
    assert.deepEqual([none.emptyChannels, none.solvedInputs, none.unsolved.length], [2, 0, 6]);
  });

  it('names inputs that have no gain at all', () => {
    const solved = trioGains.solved.map((mark, at) => (at % 6 === 4 ? 0 : mark));
    const look = lookAtGains({ ...trioGains, solved });
    assert.deepEqual([look.solvedInputs, look.unsolved], [4, ['s2:X']]);
    assert.equal(look.inputs[4].amplitude, undefined);
  });

  it('is drawn [input][channel], in decibels from the middle, unsolved gains left open', () => {
    const { amplitudeDb, phaseDeg, middle } = gainMatrices(trioGains);
    // Eleven amplitudes rise with n: the sixth is that of n = 5.
    assert.equal(middle, Math.hypot(5, 5.5));
    assert.ok(Math.abs(amplitudeDb[2 * 2 + 1] - 20 * Math.log10(Math.hypot(8, 8.5) / middle)) < 1e-12);
    assert.equal(amplitudeDb[2 * 5], 0);
    assert.ok(Number.isNaN(amplitudeDb[2 * 1 + 1]) && Number.isNaN(phaseDeg[2 * 1 + 1]));
  });
});
