import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editDistance, meantName } from './spelling.js';

describe('spelling', () => {
  it('counts letters inserted, left out and changed', () => {
    assert.equal(editDistance('kitten', 'sitting'), 3);
    assert.equal(editDistance('', 'abc'), 3);
    assert.equal(editDistance('same', 'same'), 0);
    assert.equal(editDistance('godo', 'good'), 1);
  });

  it('finds what was begun or misspelt, and nothing that is only short', () => {
    const names = ['gains.json', 'run.sigmf-data', 'run.sigmf-meta', 'visibilities.uvfits'];
    assert.equal(meantName('run', names), 'run.sigmf-meta');
    assert.equal(meantName('run.sigmf', names), 'run.sigmf-meta');
    assert.equal(meantName('visibilites.uvfits', names), 'visibilities.uvfits');
    assert.equal(meantName('Gains.json', names), 'gains.json');
    assert.equal(meantName('visibilities.uvh5', names), undefined);
    assert.equal(meantName('ab', ['cd', 'xy']), undefined);
    assert.equal(meantName('', names), undefined);
    assert.equal(meantName('u.sigmf-data', ['t.sigmf-data']), undefined);
    assert.equal(meantName('t.sigmf-dta', ['t.sigmf-data']), 't.sigmf-data');
  });
});
