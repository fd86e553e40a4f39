import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { z } from 'zod';
import { field, whole } from '../../fields/index.js';
import { refuseGiven } from './command.js';
import { addFields } from './own.js';
import { computing } from './shared.js';

const options = z.strictObject({
  pixels: field(whole, {
    flag: '--pixels <number>',
    changes: 'never',
    help: 'x',
    range: { least: 1 },
    default: 128,
  }),
  skip: field(whole, { flag: '--skip <bytes>', changes: 'never', help: 'x', range: { least: 0 } }),
  ...computing,
});

const program = (run: (command: Command) => void = () => undefined): Command => {
  const command = addFields(new Command('x').exitOverride(), options);
  command.action(() => {
    run(command);
  });
  return command;
};
const parse = (...words: readonly string[]): Record<string, unknown> =>
  program().parse(words, { from: 'user' }).opts();

describe('options', () => {
  it('are whole numbers where they count, and backends by name', () => {
    assert.deepEqual(parse('--pixels', '64', '--skip', '0', '--backend', 'cpu', '--threads', '1'), {
      pixels: 64,
      skip: 0,
      backend: 'cpu',
      threads: 1,
    });
    assert.deepEqual(parse(), { pixels: 128, backend: 'auto' });
  });

  it('are refused by their own names', () => {
    assert.throws(
      () => parse('--pixels', '0'),
      /--pixels: 0 is out of range; give a whole number, at least 1/,
    );
    assert.throws(() => parse('--pixels', '6.5'), /--pixels: 6\.5 is not allowed; give a whole number/);
    assert.throws(() => parse('--threads', 'two'), /--threads: "two" is not allowed; give a whole number/);
    assert.throws(() => parse('--skip=-1'), /--skip: -1 is out of range; give a whole number, at least 0/);
    for (const text of [' ', '1.5', 'x', '1e99'])
      assert.throws(() => parse(`--skip=${text}`), /--skip: .*give a whole number/, text);
    assert.throws(() => parse('--backend', 'gpu'), /--backend: "gpu" is not allowed; give auto, reference/);
    assert.throws(() => parse('--skip', '1', '--skip', '2'), /--skip: is given twice, '1' and '2'/);
  });

  it('that mean nothing are refused when they were given, and not when they are a default', () => {
    const refusing = program((command) => {
      refuseGiven(command, ['pixels'], 'is for images');
    });
    refusing.parse([], { from: 'user' });
    assert.throws(
      () => refusing.parse(['--pixels', '128'], { from: 'user' }),
      /--pixels: is for images; leave it out/,
    );
  });
});
