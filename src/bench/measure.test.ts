import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { closes } from '../core/closing.js';
import { runCase } from './bench.js';
import { benches, benchNames } from './index.js';
import { measure, medianRatio, quantile, spreadOf } from './measure.js';

describe('measuring', () => {
  it('quantiles lie linearly between neighbours', () => {
    // sorted 1, 2, 4, 8: the median is halfway from 2 to 4, the quartiles 1.75 and 5
    assert.equal(quantile([8, 1, 4, 2], 0.5), 3);
    assert.equal(quantile([8, 1, 4, 2], 0.25), 1.75);
    assert.equal(quantile([5], 0.9), 5);
    assert.deepEqual(spreadOf([8, 1, 4, 2]), { median: 3, spread: (5 - 1.75) / 3 });
  });

  it('divides within rounds, so that a slow round cancels', () => {
    // twice as fast in every round, although the machine slowed tenfold in the middle one
    assert.equal(medianRatio([20, 2, 18], [10, 1, 9]), 2);
  });

  it('gives contestants their turns one after another, and none always the same one behind it', async () => {
    const order: string[] = [];
    const contestant = (name: string) => ({
      run: () => {
        order.push(name);
        return Promise.resolve(1);
      },
    });
    const rates = await measure([contestant('a'), contestant('b')], { rounds: 2, secondsPerTurn: 0 });
    // The first pair warms up; then rounds, forwards and backwards.
    assert.equal(order.join(''), 'ab' + 'abba' + 'abba');
    assert.deepEqual(
      rates.map((each) => each.length),
      [2, 2],
    );
  });
});

describe('a bench', () => {
  it('makes a row with rate, ceiling and fraction, and closes what it opened', async () => {
    const [correlate] = benches;
    const backend = openReference();
    const small = correlate.cases(backend).at(-1);
    assert.ok(small);
    const row = await runCase('correlate', backend, small, undefined, { rounds: 1, secondsPerTurn: 0 });
    assert.deepEqual([row.kernel, row.backend, row.isa, row.unit], ['correlate', 'reference', null, 'TOPS']);
    assert.ok(row.median > 0 && row.ceiling > 0);
    assert.ok(Math.abs(row.fraction - row.median / row.ceiling) < 1e-12 * row.fraction);
    assert.ok(!('ratio' in row));
  });

  it('states the peer and the ratio where there is one', async () => {
    let closed = 0;
    const contestant = { title: 'sums', name: 'a peer', run: () => Promise.resolve(1) };
    const row = await runCase(
      'nothing',
      openReference(),
      {
        parameters: { stations: 3 },
        unit: 'things',
        scale: 1,
        prepare: (closers) => {
          closers.keep({
            close: closes(() => {
              closed++;
            }),
          });
          return Promise.resolve({ ours: contestant, ceiling: contestant, peer: contestant });
        },
      },
      undefined,
      { rounds: 3, secondsPerTurn: 0 },
    );
    assert.equal(row.peerName, 'a peer');
    assert.ok(row.ratio !== undefined && row.ratio > 0);
    assert.equal(closed, 1);
  });
});

describe('names of benchmarks', () => {
  it('are those of the help', () => {
    assert.deepEqual(
      benches.map(({ kernel }) => kernel),
      [...benchNames],
    );
  });
});
