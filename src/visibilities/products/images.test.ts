import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadTelescope } from '../../telescope/load.js';
import { correctionOf } from './images.js';

describe('the beam of a file of several targets', () => {
  it('is refused where beams follow the target: they cannot point at all of them', async () => {
    const telescope = await loadTelescope('eda2');
    const asked = { element: 'airy:25', 'beam-corrected': true };
    assert.throws(
      () => correctionOf(asked, 'all', telescope),
      /airy:25 points at the target: one beam would be used/,
    );
    assert.equal(correctionOf(asked, 'A', telescope)?.name, 'airy:25');
    assert.equal(correctionOf({ ...asked, element: 'cosine:1' }, 'all', telescope)?.name, 'cosine:1');
    assert.equal(correctionOf({ element: 'airy:25' }, 'all', telescope), undefined);
  });
});
