import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uvwR, visibilitiesRC, weightsRC } from '../../core/axes.js';
import { collectRows, joinedBlocks } from './collect.js';
import { boundsOf, type WideRows } from './rows.js';

const block = (first: number, rows: number, frequencyHz = 3e8): WideRows => ({
  uvwM: uvwR(
    Float64Array.from({ length: 3 * rows }, (_, k) => first + Math.floor(k / 3)),
    rows,
  ),
  frequenciesHz: Float64Array.of(frequencyHz, frequencyHz),
  visibilities: visibilitiesRC(new Float32Array(4 * rows).fill(first), rows, 2),
  weights: weightsRC(new Float32Array(2 * rows).fill(first + 1), rows, 2),
});

describe('blocks of rows', () => {
  it('are put together until there are enough, and parted where channels differ', async () => {
    const passed: WideRows[] = [];
    const collector = collectRows((rows) => {
      passed.push(rows);
      return Promise.resolve();
    }, 10);
    const reused = block(0, 2);
    await collector.add(reused);
    reused.uvwM.fill(99);
    await collector.add(block(2, 3));
    await collector.add(block(5, 1));
    await collector.add(block(6, 1, 2e8));
    await collector.flush();
    await collector.flush();
    assert.deepEqual(
      passed.map(({ uvwM }) => [...uvwM].filter((_, k) => k % 3 === 0)),
      [[0, 1, 2, 3, 4], [5], [6]],
    );
    assert.deepEqual([...passed[0].weights], [1, 1, 1, 1, 3, 3, 3, 3, 3, 3]);
    assert.deepEqual([...(passed[0].visibilities ?? [])].slice(6, 10), [0, 0, 2, 2]);
  });

  it('pass as they are where all planes are held', async () => {
    const blocks = [block(0, 2), block(2, 1)];
    const w = { planes: 5 } as never;
    const whole: WideRows[] = [];
    for await (const rows of joinedBlocks(blocks, { planesHeld: 5, w })) whole.push(rows);
    assert.deepEqual(whole, blocks);
    const joined: WideRows[] = [];
    for await (const rows of joinedBlocks(blocks, { planesHeld: 4, w }, 100)) joined.push(rows);
    assert.equal(joined.length, 1);
    assert.equal(joined[0].weights.length, 6);
  });

  it('give the range of |w| in wavelengths', () => {
    const uvwM = uvwR(Float64Array.of(9, 9, -4, 0, 0, 2), 2);
    const frequenciesHz = Float64Array.of(299_792_458, 3 * 299_792_458);
    assert.deepEqual(boundsOf([{ uvwM, frequenciesHz }]), {
      leastWLambda: 2,
      mostWLambda: 12,
      visibilities: 4,
    });
    assert.deepEqual(boundsOf([]), { leastWLambda: 0, mostWLambda: 0, visibilities: 0 });
  });
});
