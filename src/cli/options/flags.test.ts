import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trio } from '../../formats/testing/trio.js';
import { Command } from 'commander';
import { nameOptionsInErrors } from './command.js';
import { addFlagRulesOption, parseFlagRules, parseFlags } from './flags.js';
import { addPartOptions } from './part-options.js';

const flagged = (text: string | undefined, polarisations: 1 | 2 = 2): number[] =>
  [...parseFlags(text, 3 * polarisations, polarisations, trio)].flatMap((flag, a) =>
    new Array<number>(flag).fill(a),
  );

describe('inputs to leave out', () => {
  it('are named by number, by range, by station and by feed', () => {
    assert.deepEqual(flagged(undefined), []);
    assert.deepEqual(flagged(' 1, 3-5 '), [1, 3, 4, 5]);
    assert.deepEqual(flagged('s1'), [2, 3]);
    assert.deepEqual(flagged('s1:Y,s2:x'), [3, 4]);
    // Circular feeds as calibrate names them.
    assert.deepEqual(flagged('s0:R,s1:L'), [0, 3]);
    assert.deepEqual(flagged('s1', 1), [1]);
    assert.deepEqual(flagged('s1:X', 1), [1]);
  });

  it('are refused where there are none of that name', () => {
    assert.throws(() => flagged('6'), /--flag: 6 is outside inputs 0 to 5/);
    assert.throws(() => flagged('4-2'), /4-2 is outside/);
    assert.throws(() => flagged('s3'), /'s3' is no station here/);
    assert.throws(() => flagged('s1:X:Y'), /'s1:X' is no station here/);
    assert.throws(() => flagged('s1:Z'), /'s1:Z' names no polarisation/);
    assert.throws(() => flagged('s1:Y', 1), /'s1:Y' names no polarisation/);
    assert.throws(() => parseFlags('s1', 6, 2), /'s1' is no station here/);
  });
});

const context = (names: readonly string[], polarisations: 1 | 2 = 2) => ({
  stations: names.map((name) => ({ name })),
  polarisations,
  frequenciesHz: Float64Array.from({ length: 8 }, (_, c) => 150e6 + 1e6 * c),
});
const rules = (text: string, names: readonly string[] = ['s0', 's1', 's2', 's3'], polarisations: 1 | 2 = 2) =>
  parseFlagRules(text, context(names, polarisations)).map(({ inputs, channels }) => ({
    ...(inputs && { inputs: [...inputs].flatMap((flag, a) => (flag === 1 ? [a] : [])) }),
    ...(channels && { channels: [...channels].flatMap((flag, c) => (flag === 1 ? [c] : [])) }),
  }));

describe('--flag', () => {
  const given = (...words: string[]): string | undefined => {
    const command = addFlagRulesOption(new Command()).exitOverride();
    return command.parse(words, { from: 'user' }).opts<{ flag?: string }>().flag;
  };
  it('given again adds to what was said before', () => {
    const text = given('--flag', 's1:Y,channels=3', '--flag', '7', '--flag', 'channels=4-5');
    assert.deepEqual(rules(text ?? ''), [{ inputs: [3, 7] }, { channels: [3] }, { channels: [4, 5] }]);
  });

  it('refuses a number after channels=, which would be an input', () => {
    assert.throws(
      () => rules('channels=3-4,7'),
      /'7' after channels=3-4 would be an input; write channels=3-4\+7 for channels/,
    );
    assert.throws(() => rules('channels=151MHz..152MHz,153MHz..154MHz'), /write channels=151MHz\.\.152MHz\+/);
    assert.deepEqual(rules('7,channels=3,s1'), [{ inputs: [2, 3, 7] }, { channels: [3] }]);
  });

  it('tells stations apart whose names are numbers, have colons, or are those of others', () => {
    assert.throws(
      () => rules('1', ['0', '1', '2']),
      /'1' is an input's number and a station's name; write 1-1 for the input, 1:X,1:Y for the station/,
    );
    assert.deepEqual(rules('1-1,2:X', ['0', '1', '2']), [{ inputs: [1, 4] }]);
    assert.deepEqual(rules('5', ['0', '1', '2']), [{ inputs: [5] }]);
    // Of one polarisation they are the same.
    assert.deepEqual(rules('1', ['0', '1', '2'], 1), [{ inputs: [1] }]);
    assert.deepEqual(rules('VLA:N8,VLA:N9:X', ['VLA:N8', 'VLA:N9', 'a']), [{ inputs: [0, 1, 2] }]);
    assert.throws(() => rules('a', ['a', 'b', 'a']), /'a' is the name of 2 stations; give inputs by number/);
    assert.throws(() => rules('a&b', ['a', 'b', 'a']), /'a' is the name of 2 antennas/);
  });

  it('refuses times that end before they begin', () => {
    assert.throws(
      () => rules('times=2026-06-21T05:00:00Z..2026-06-21T04:00:00Z'),
      /ends before it begins; write the earlier time first/,
    );
  });
});

describe('options that choose a part', () => {
  it('are not replaced by a second one without a word', () => {
    const command = addPartOptions(new Command()).exitOverride();
    nameOptionsInErrors(command);
    for (const option of ['--times', '--channels', '--flags'])
      assert.throws(
        () => command.parse([option, 'a', option, 'b'], { from: 'user' }),
        new RegExp(`${option}: is given twice, 'a' and 'b'; give it once`),
      );
  });
});
