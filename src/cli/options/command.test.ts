import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { addBackendOptions, nameOptionsInErrors, parseCount, parseWhole, refuseGiven } from './command.js';

const program = (run: (command: Command) => void = () => undefined): Command => {
  const command = addBackendOptions(
    new Command('x')
      .exitOverride()
      .option('--pixels <number>', 'x', parseCount, 128)
      .option('--skip <bytes>', 'x', parseWhole),
  );
  command.action(() => {
    run(command);
  });
  nameOptionsInErrors(command);
  return command;
};
const parse = (...words: readonly string[]): Record<string, unknown> =>
  program().parse(words, { from: 'user' }).opts();

describe('options', () => {
  it('are whole numbers where they count, and backends by name', () => {
    assert.deepEqual(parse('--pixels', '64', '--skip', '0', '--backend', 'cpu', '--threads', '1'), {
      ...{ pixels: 64, skip: 0, backend: 'cpu', threads: 1 },
    });
    assert.deepEqual(parse(), { pixels: 128, backend: 'auto' });
  });

  it('are refused by their own names', () => {
    assert.throws(() => parse('--pixels', '0'), /--pixels: '0' is not a whole number above 0/);
    assert.throws(() => parse('--pixels', '6.5'), /--pixels: '6.5'/);
    assert.throws(() => parse('--threads', 'two'), /--threads: 'two'/);
    assert.throws(() => parse('--skip=-1'), /--skip: '-1' is negative; give 0 or more/);
    assert.throws(() => parse('--skip=1e99'), /--skip: '1e99' is too large; give at most/);
    for (const text of [' ', '1.5', 'x']) {
      assert.throws(() => parse(`--skip=${text}`), /--skip: '.*' is not a whole number/, text);
    }
    assert.throws(
      () => parse('--backend', 'gpu'),
      /--backend: 'gpu' is not a backend; choose auto, reference/,
    );
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
