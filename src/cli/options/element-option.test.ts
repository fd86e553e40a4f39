import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadTelescope } from '../../telescope/load.js';
import { correctionOf } from './element-option.js';

describe('--element of a file of several targets', () => {
  it('is refused where beams follow the target: they cannot point at all of them', async () => {
    const telescope = await loadTelescope('eda2');
    const asked = { element: 'airy:25', beamCorrected: true, target: 'all' } as const;
    await assert.rejects(
      correctionOf(asked, telescope),
      /airy:25 points at the target: one beam would stand/,
    );
    assert.equal((await correctionOf({ ...asked, target: 'A' }, telescope))?.name, 'airy:25');
    assert.equal((await correctionOf({ ...asked, element: 'cosine:1' }, telescope))?.name, 'cosine:1');
  });
});
