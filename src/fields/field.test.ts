import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import {
  aboutField,
  angleDeg,
  channelList,
  field,
  fieldsOf,
  frequencyHz,
  inputList,
  problemsOf,
  requiredField,
  timeList,
  timeS,
  whole,
  withDefaults,
  type Problem,
} from './index.js';

const part = z.strictObject({
  taps: field(whole, { help: 'taps', changes: 'never', range: { least: 1, most: 256 }, default: 8 }),
  every: field(timeS, { help: 'cadence', changes: 'cut', range: { above: 0 }, unit: 's' }),
  inner: field(
    z.union([z.strictObject({ deep: field(whole, { help: 'deep', changes: 'cut' }) }), z.string()]),
    {
      help: 'a part',
      changes: 'never',
    },
  ),
  name: requiredField(z.string(), { help: 'name', changes: 'never' }),
});

function problems(value: unknown): readonly Problem[] {
  const checked = part.safeParse(value);
  assert.ok(!checked.success, JSON.stringify(value));
  return problemsOf(part, checked.error.issues, value);
}

describe('fields', () => {
  it('of one shared type keep their own declarations', () => {
    const one = requiredField(whole, { help: 'one', changes: 'never' });
    const two = requiredField(whole, { help: 'two', changes: 'cut' });
    assert.equal(aboutField(one)?.help, 'one');
    assert.equal(aboutField(two)?.help, 'two');
    assert.equal(aboutField(whole), undefined);
  });

  it('that were not given stay away, and defaults are filled in when asked for', () => {
    const given = part.parse({ name: 'a' });
    assert.deepEqual(given, { name: 'a' });
    const filled = withDefaults(part, given);
    // The type contains the default.
    const taps: number = filled.taps;
    assert.equal(taps, 8);
    assert.deepEqual(withDefaults(part, part.parse({ name: 'a', taps: 4 })), { name: 'a', taps: 4 });
  });

  it('are checked against their range, which the words name', () => {
    assert.deepEqual(problems({ name: 'a', taps: 0 }), [
      { path: ['taps'], what: '0 is out of range', fix: 'give a whole number, from 1 to 256' },
    ]);
    for (const taps of [257, 1.5, '8', null, true]) assert.equal(problems({ name: 'a', taps }).length, 1);
    assert.equal(problems({ name: 'a', every: '0s' })[0].what, '0 is out of range');
    assert.deepEqual(part.parse({ name: 'a', taps: 256, every: '1ns' }), {
      name: 'a',
      taps: 256,
      every: 1e-9,
    });
    assert.equal(problems({})[0].what, 'is missing');
  });

  it('of parts within parts are listed by their paths', () => {
    assert.deepEqual(
      fieldsOf(part).map(({ path }) => path.join('.')),
      ['taps', 'every', 'inner.deep', 'name'],
    );
  });

  it('of a part with a short form are explained by the form that was meant', () => {
    assert.deepEqual(problems({ name: 'a', inner: { deep: 'x' } })[0], {
      path: ['inner', 'deep'],
      what: '"x" is not allowed',
      fix: 'give a whole number',
    });
    assert.deepEqual(problems({ name: 'a', inner: { dep: 1 } })[0].fix, "did you mean 'deep'?");
  });
});

describe('quantities of fields', () => {
  it('are numbers in the base unit, or text with a unit', () => {
    assert.deepEqual(
      ['40ms', ' 2 S ', '3min', '1h', 0.25, '.5'].map((text) => timeS.parse(text)),
      [0.04, 2, 180, 3600, 0.25, 0.5],
    );
    assert.deepEqual(
      ['74MHz', '25 khz', 12].map((text) => frequencyHz.parse(text)),
      [74e6, 25e3, 12],
    );
    assert.deepEqual(
      ['2arcmin', '30"', 3].map((text) => angleDeg.parse(text)),
      [2 / 60, 30 / 3600, 3],
    );
    for (const wrong of ['', '40 parsecs', '1e999', 'toString', '1,5', null, [], Number.NaN, '4 0ms'])
      assert.equal(timeS.safeParse(wrong).success, false, String(wrong));
    assert.equal(frequencyHz.safeParse('40ms').success, false);
  });
});

describe('lists of words', () => {
  it('take numbers as words, and a word alone', () => {
    assert.deepEqual(inputList.parse([12, '30-33', 'stand17:Y']), ['12', '30-33', 'stand17:Y']);
    assert.deepEqual(channelList.parse('151MHz..152MHz'), ['151MHz..152MHz']);
    assert.deepEqual(channelList.parse(7), ['7']);
    assert.deepEqual(timeList.parse('2026-06-21T04:00:00Z..'), ['2026-06-21T04:00:00Z..']);
    for (const wrong of ['4x', '5-', '151MHz', '', -1, 1.5])
      assert.equal(channelList.safeParse([wrong]).success, false, String(wrong));
    for (const wrong of ['..', '2026..x', '2026-06-21T04:00:00Z'])
      assert.equal(timeList.safeParse([wrong]).success, false, wrong);
  });
});
