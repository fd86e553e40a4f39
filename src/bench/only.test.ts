import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BenchCase, Parameters } from './bench.js';
import { parseOnly, pickCases } from './only.js';

const named = (parameters: Parameters): BenchCase => ({
  parameters,
  unit: 'things/s',
  scale: 1,
  prepare: () => Promise.reject(new Error('only picked, never run')),
});
const kernels = [
  {
    kernel: 'filter',
    cases: [
      named({ channels: 1024, taps: 8, type: 'ci8' }),
      named({ channels: 4096, taps: 8, type: 'ci8' }),
      named({ channels: 4096, taps: 16, type: 'ci8' }),
    ],
  },
  { kernel: 'solve', cases: [named({ stations: 256 })] },
];
const pick = (text: string): readonly (readonly [string, readonly Parameters[]])[] =>
  pickCases(kernels, parseOnly(text)).map(({ kernel, cases }) => [
    kernel,
    cases.map((each) => each.parameters),
  ]);

describe('cases picked by their parameters', () => {
  it('have every value that was asked for', () => {
    assert.deepEqual(pick('taps=8'), [
      [
        'filter',
        [
          { channels: 1024, taps: 8, type: 'ci8' },
          { channels: 4096, taps: 8, type: 'ci8' },
        ],
      ],
    ]);
    assert.deepEqual(pick('channels=4096, taps=16'), [
      ['filter', [{ channels: 4096, taps: 16, type: 'ci8' }]],
    ]);
    assert.deepEqual(pick('stations=256'), [['solve', [{ stations: 256 }]]]);
  });

  it('are all of them where no product is asked for', () => {
    assert.deepEqual(pickCases(kernels, new Map()), kernels);
    assert.deepEqual(pickCases([{ kernel: 'elsewhere', cases: [] }], parseOnly('taps=8')), []);
  });

  it('unknown names, values and mixtures are refused with what there is', () => {
    assert.throws(
      () => pick('chanels=4096'),
      /--only: filter, solve has no parameter 'chanels'; choose channels, taps, type, stations$/,
    );
    assert.throws(() => pick('channels=2048'), /no case has channels=2048; choose 1024, 4096$/);
    assert.throws(() => pick('channels=1024,taps=16'), /no case has channels=1024 and taps=16 together/);
    assert.throws(() => pick('channels=4096,stations=256'), /together/);
  });

  it('what is not name=value is refused', () => {
    for (const text of ['channels', 'channels=', '=8', '', 'taps=8,', 'taps=8=8']) {
      assert.throws(() => parseOnly(text), /is not name=value/, text);
    }
    assert.throws(() => parseOnly('taps=8,taps=16'), /taps is given twice/);
  });
});
