/** The --flag option of commands: what its values flag. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inputsOf, rulesOf } from './plan.js';
import type { FlagsPart } from './parts/flags.js';
import { flagRules } from './shorthands.js';
import type { Telescope } from '../telescope/telescope.js';

const frequenciesHz = Float64Array.from({ length: 8 }, (_, c) => 150e6 + 1e6 * c);

function flagged(
  text: string,
  names: readonly string[] = ['s0', 's1', 's2', 's3'],
  polarisations: 1 | 2 = 2,
): { readonly inputs: readonly number[]; readonly channels: readonly number[] } {
  const filled = flagRules.fill(text);
  const flags = Object.fromEntries(
    Object.entries(filled).map(([name, value]) => [name.slice('flags.'.length), value]),
  ) as FlagsPart;
  const stations = names.map((name) => ({ name }));
  const marked = (flags?: ArrayLike<number>): number[] =>
    Array.from(flags ?? []).flatMap((flag, k) => (flag === 1 ? [k] : []));
  const rules = rulesOf(flags, { stations, polarisations, frequenciesHz }, undefined);
  return {
    inputs: marked(inputsOf(flags, { polarisations }, { stations } as unknown as Telescope)),
    channels: rules.flatMap(({ channels }) => marked(channels)),
  };
}

describe('--flag', () => {
  it('takes inputs, stations and channels in one list', () => {
    assert.deepEqual(flagged('7,channels=3,s1'), { inputs: [2, 3, 7], channels: [3] });
    assert.deepEqual(flagged('s1:Y,channels=3+5-6'), { inputs: [3], channels: [3, 5, 6] });
    assert.throws(() => flagged('s0,s1,s2,s3'), /flags\.inputs: .* leave out every input; keep some/);
  });

  it('refuses a number after channels=, which would be an input', () => {
    assert.throws(
      () => flagged('channels=3-4,7'),
      /'7' after channels=3-4 would be an input; write channels=3-4\+7 for channels/,
    );
    assert.throws(
      () => flagged('channels=151MHz..152MHz,153MHz..154MHz'),
      /write channels=151MHz\.\.152MHz\+/,
    );
  });

  it('distinguishes stations whose names are numbers, have colons, or are those of others', () => {
    assert.throws(
      () => flagged('1', ['0', '1', '2']),
      /'1' is an input's number and a station's name; write 1-1 for the input, 1:X,1:Y for the station/,
    );
    assert.deepEqual(flagged('1-1,2:X', ['0', '1', '2']).inputs, [1, 4]);
    assert.deepEqual(flagged('5', ['0', '1', '2']).inputs, [5]);
    // With one polarisation they are the same.
    assert.deepEqual(flagged('1', ['0', '1', '2'], 1).inputs, [1]);
    assert.deepEqual(flagged('VLA:N8,VLA:N9:X', ['VLA:N8', 'VLA:N9', 'a']).inputs, [0, 1, 2]);
    assert.throws(
      () => flagged('a', ['a', 'b', 'a']),
      /'a' is the name of 2 stations; give inputs by number/,
    );
    assert.throws(() => flagged('a&b', ['a', 'b', 'a']), /'a' is the name of 2 antennas/);
  });

  it('refuses times that end before they begin', () => {
    assert.throws(
      () => flagged('times=2026-06-21T05:00:00Z..2026-06-21T04:00:00Z'),
      /ends before it begins; write the earlier time first/,
    );
  });
});
