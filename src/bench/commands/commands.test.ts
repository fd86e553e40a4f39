import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError } from '../../core/errors.js';
import { commandCases, measureCase, perData, type CommandRow } from './commands.js';
import { fileSizes, integrationOf, valuesOf, type BenchFiles } from './files.js';
import { measureCommand } from './measured.js';

const script = (text: string): readonly string[] => [process.execPath, '-e', text];

void describe('bench of commands', () => {
  void it('measures what a process used', async () => {
    const filled = await measureCommand(script('new Uint8Array(2e8).fill(1)'));
    assert.ok(filled.peakBytes > 2e8, `${filled.peakBytes}`);
    assert.ok(filled.cpuS > 0 && filled.wallS > 0);
  });

  void it("fails with the command's own words", async () => {
    await assert.rejects(
      measureCommand(script("console.error('no such file'); process.exitCode = 1")),
      (error) => error instanceof CorellaError && error.message.includes('no such file'),
    );
  });

  void it('compares a command with its peer', async () => {
    const files: BenchFiles = {
      out: (name) => name,
      recording: () => Promise.resolve('recording'),
      visibilities: () => Promise.resolve('visibilities'),
      measurementSet: () => Promise.resolve('set'),
      gains: () => Promise.resolve('gains'),
    };
    const none = (): Promise<undefined> => Promise.resolve(undefined);
    const row = await measureCase(
      {
        parameters: { command: 'a', file: 'start' },
        size: fileSizes.start,
        each: {
          command: 'a',
          reads: 'visibilities',
          words: () => Promise.resolve(['0', '--']),
          peer: () => Promise.resolve({ name: 'another', words: script('0') }),
        },
      },
      {
        corella: [process.execPath, '-e'],
        files,
        rounds: 1,
        backend: undefined,
        peers: {
          absent: [],
          h5py: none,
          casacore: none,
          wsclean: none,
          copy: () => Promise.reject(new Error('not asked for')),
        },
      },
    );
    assert.equal(row.peer, 'another');
    assert.equal(row.ratio, row.cpuS / (row.peerCpuS ?? 0));
  });

  void it('gives what more data cost, for the same amount of it whatever the sizes', () => {
    const row = (cpuS: number, peerCpuS: number): CommandRow => ({
      ...{ command: 'a', file: 'small', cpuS, wallS: cpuS, peakBytes: 1, peer: 'another', peerCpuS },
    });
    const { small, large } = fileSizes;
    const share = 48e6 / (valuesOf(large) - valuesOf(small));
    const found = perData({ command: 'a', reads: 'visibilities' }, [row(2, 1), row(12, 3)], [small, large]);
    assert.equal(found.file, 'per data');
    assert.ok(Math.abs(found.cpuS - 10 * share) < 1e-12);
    assert.ok(Math.abs((found.ratio ?? 0) - 5) < 1e-12);
  });

  void it('has 53 million values in its large file, and every command once for each size', () => {
    assert.equal(valuesOf(fileSizes.large), 53_248_000);
    assert.equal(integrationOf(fileSizes.small, 10), '128ms');
    const names = commandCases(Object.values(fileSizes)).map(
      ({ parameters }) => `${parameters.command}, ${parameters.file}`,
    );
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.includes('image IQUV of ms, large') && names.includes('demo, start'));
    assert.ok(!names.includes('demo, large'));
  });
});
