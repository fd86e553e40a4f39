import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { into } from './run.js';
import type { Observation } from './schema.js';

const observation = (path: string, more: Partial<Observation> = {}): Observation => ({
  corella: 1,
  source: { recording: 'x' },
  products: [{ visibilities: path }],
  ...more,
});

describe('the folder that outputs go into', () => {
  it('is put before every output', () => {
    const made = into(
      observation('a/../b.uvh5', {
        source: { stream: 'kraken:host', 'noise-gains': 'noise.json' },
        front: { 'equaliser-out': 'levels.json' },
        flags: { out: 'flags.json' },
      }),
      'made',
    );
    assert.deepEqual(made.products, [{ visibilities: 'made/b.uvh5' }]);
    assert.equal(made.source['noise-gains'], 'made/noise.json');
    assert.equal(made.front?.['equaliser-out'], 'made/levels.json');
    assert.equal(made.flags?.out, 'made/flags.json');
  });

  it('holds every output', () => {
    for (const path of ['../b.uvh5', 'a/../../b.uvh5', '/tmp/b.uvh5', '..'])
      assert.throws(() => into(observation(path), 'made'), /products\.visibilities: .* is outside made/);
    assert.throws(
      () => into(observation('b.uvh5', { flags: { out: '../f.json' } }), 'made'),
      /flags\.out: \.\.\/f\.json is outside made/,
    );
    assert.deepEqual(into(observation('/made/b.uvh5'), '/made').products, [{ visibilities: '/made/b.uvh5' }]);
    assert.deepEqual(into(observation('..b.uvh5'), 'made').products, [{ visibilities: 'made/..b.uvh5' }]);
  });
});
