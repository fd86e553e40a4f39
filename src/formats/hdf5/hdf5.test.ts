import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openOutput } from '../io/output.js';
import { openHdf5 } from './read.js';
import { createHdf5, type GroupPlan, type GrowingFile } from './write.js';

const folder = temporaryFolder('hdf5');
const int64 = (...values: number[]): Uint8Array => new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
const float64 = (...values: number[]): Uint8Array => new Uint8Array(Float64Array.from(values).buffer);

/** An output in memory, which can be examined after every write. */
function inMemory(path: string): GrowingFile & { snapshot(): Buffer; journal: Buffer[] } {
  let bytes = Buffer.alloc(0);
  const journal: Buffer[] = [];
  return {
    path,
    journal,
    get sizeBytes() {
      return bytes.length;
    },
    write: (more) => {
      bytes = Buffer.concat([bytes, more]);
      journal.push(Buffer.from(bytes));
      return Promise.resolve();
    },
    writeAt: (position, more) => {
      bytes = Buffer.from(bytes);
      bytes.set(more, position);
      journal.push(Buffer.from(bytes));
      return Promise.resolve();
    },
    snapshot: () => bytes,
  };
}

describe('HDF5', () => {
  it('writes every kind of value so that libhdf5 reads it', async () => {
    const path = join(folder, 'kinds.h5');
    const output = await openOutput(path);
    const file = await createHdf5(output, {
      kind: 'group',
      items: {
        whole: { kind: 'fixed', type: 'int64', dims: [], bytes: int64(-5) },
        reals: { kind: 'fixed', type: 'float64', dims: [2, 2], bytes: float64(1, -2.5, 3, 1e300) },
        large: {
          kind: 'fixed',
          type: 'float64',
          dims: [300],
          bytes: float64(...Array.from({ length: 300 }, (_, k) => k)),
        },
        text: { kind: 'fixed', type: { textBytes: 5 }, dims: [], bytes: Buffer.from('galah') },
        texts: { kind: 'fixed', type: { textBytes: 3 }, dims: [2], bytes: Buffer.from('ab\0cde') },
        truths: { kind: 'fixed', type: 'boolean', dims: [3], bytes: Uint8Array.of(1, 0, 1) },
        whole32: {
          kind: 'fixed',
          type: 'int32',
          dims: [2],
          bytes: new Uint8Array(Int32Array.of(7, -8).buffer),
        },
        deep: {
          kind: 'group',
          items: {
            deeper: {
              kind: 'group',
              items: {
                complex: {
                  kind: 'fixed',
                  type: 'complex64',
                  dims: [1],
                  bytes: new Uint8Array(Float32Array.of(1.5, -2).buffer),
                },
                precise: { kind: 'fixed', type: 'complex128', dims: [1], bytes: float64(0.1, 0.2) },
                exact: {
                  kind: 'fixed',
                  type: 'complex-int32',
                  dims: [1],
                  bytes: new Uint8Array(Int32Array.of(-3, 4).buffer),
                },
              },
            },
          },
        },
      },
    });
    await file.commit();
    await output.finish();
    const read = await openHdf5(path);
    assert.equal(read.number('whole'), -5);
    assert.deepEqual([...read.numbers('reals')], [1, -2.5, 3, 1e300]);
    assert.equal(read.numbers('large')[299], 299);
    assert.equal(read.text('text'), 'galah');
    assert.deepEqual(read.texts('texts'), ['ab', 'cde']);
    assert.deepEqual([...read.numbers('truths')], [1, 0, 1]);
    assert.deepEqual([...read.numbers('whole32')], [7, -8]);
    assert.deepEqual([...read.numbers('deep/deeper/complex')], [1.5, -2]);
    assert.deepEqual([...read.dataset('deep/deeper/precise').rows(0, 1)], [0.1, 0.2]);
    assert.deepEqual([...read.numbers('deep/deeper/exact')], [-3, 4]);
    assert.deepEqual(read.keys('deep'), ['deeper']);
    assert.ok(!read.has('deep/shallow'));
    assert.throws(() => read.number('nothing'), /has no nothing/);
    await read.close();
  });

  it('indexes thousands of chunks over several levels', async () => {
    const output = inMemory('levels');
    const plan = { kind: 'growing', type: 'float64', rowDims: [2], chunkRows: 3 } as const;
    const file = await createHdf5(output, { kind: 'group', items: { x: plan } });
    const sizes = [1, 63, 64, 65, 4096, 4097, 4200];
    for (let chunk = 0; chunk < 4200; chunk++) {
      await file.append('/x', float64(...Array.from({ length: 6 }, (_, k) => chunk * 6 + k)));
      output.journal.length = 0;
      if (!sizes.includes(chunk + 1)) continue;
      await file.commit();
      const path = join(folder, `levels-${chunk}.h5`);
      writeFileSync(path, output.snapshot());
      const read = await openHdf5(path);
      const dataset = read.dataset('x');
      const { shape } = dataset;
      assert.deepEqual(shape, [3 * (chunk + 1), 2]);
      const all = dataset.rows(0, shape[0]);
      assert.ok(all.every((value, k) => value === k));
      await read.close();
    }
  });

  it('is whole after every single write', async () => {
    const output = inMemory('journal');
    let count = 0;
    const plan: GroupPlan = {
      kind: 'group',
      items: {
        fixed: { kind: 'fixed', type: 'float64', dims: [], bytes: float64(42) },
        count: { kind: 'changing', type: 'int64', bytes: () => int64(count) },
        x: { kind: 'growing', type: 'float64', rowDims: [], chunkRows: 2 },
        y: { kind: 'growing', type: 'int64', rowDims: [], chunkRows: 1 },
      },
    };
    const file = await createHdf5(output, plan);
    const committed: number[] = [];
    for (let k = 0; k < 4; k++) {
      await file.append('/x', float64(k, k + 0.5));
      await file.append('/y', int64(k));
      count++;
      await file.commit();
      committed.push(output.journal.length);
    }
    for (let step = committed[0] - 1; step < output.journal.length; step++) {
      const done = committed.filter((at) => at <= step + 1).length;
      const path = join(folder, `journal-${step}.h5`);
      writeFileSync(path, output.journal[step]);
      const read = await openHdf5(path);
      assert.equal(read.number('count'), done);
      assert.equal(read.number('fixed'), 42);
      assert.deepEqual(
        [...read.numbers('x')],
        Array.from({ length: 2 * done }, (_, k) => k / 2),
      );
      assert.deepEqual(
        [...read.numbers('y')],
        Array.from({ length: done }, (_, k) => k),
      );
      await read.close();
    }
  });

  it('refuses what is no HDF5, or cut short, in one line', async () => {
    const output = inMemory('cut');
    const file = await createHdf5(output, {
      kind: 'group',
      items: { large: { kind: 'fixed', type: 'float64', dims: [300], bytes: new Uint8Array(2400) } },
    });
    await file.commit();
    const cut = join(folder, 'cut.h5');
    writeFileSync(cut, output.snapshot().subarray(0, 1000));
    await assert.rejects(openHdf5(cut), {
      name: 'CorellaError',
      message: /cannot be opened as HDF5.*copy it again$/,
    });
    writeFileSync(cut, readFileSync(import.meta.filename));
    await assert.rejects(openHdf5(cut), { name: 'CorellaError' });
    await assert.rejects(openHdf5(join(folder, 'nowhere')), /there is no such file/);
  });

  it('reads a sound file where a damaged one of the same name was refused', async () => {
    const path = join(folder, 'again.h5');
    const output = inMemory(path);
    const reals = { kind: 'fixed', type: 'float64', dims: [1], bytes: float64(7) } as const;
    const file = await createHdf5(output, {
      kind: 'group',
      items: { Header: { kind: 'group', items: { reals } }, Data: { kind: 'group', items: { reals } } },
    });
    await file.commit();
    const sound = output.snapshot();
    // Every list of names loses its signature, so that libhdf5 fails in the middle of a walk.
    const damaged = Buffer.from(sound.toString('latin1').replaceAll('SNOD', 'ZZZZ'), 'latin1');
    for (let round = 0; round < 3; round++) {
      writeFileSync(path, damaged);
      await assert.rejects(async () => {
        const opened = await openHdf5(path);
        try {
          opened.number('Header/reals');
        } finally {
          await opened.close();
        }
      }, /again\.h5: .*it is damaged or cut short/);
      writeFileSync(path, sound);
      const opened = await openHdf5(path);
      assert.equal(opened.number('Header/reals'), 7);
      await opened.close();
    }
  });
});
