import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError } from '../../core/errors.js';
import { angleUnits, readQuantity } from '../../fields/index.js';
import { choosePixels } from './settings.js';

describe('the pixels of a field', () => {
  /** Ten thousand kilometres at 8 GHz. */
  const LONGEST = 2.7e8;

  it('that is far too wide for the beam are refused, with options that work', () => {
    let error: unknown;
    try {
      choosePixels({ widthDeg: 20 }, LONGEST);
    } catch (caught) {
      error = caught;
    }
    assert.ok(error instanceof CorellaError);
    assert.match(error.what, /20deg takes \d+ pixels of 0\.19mas .* more than 32768/);
    const named = (option: string): number =>
      readQuantity(
        new RegExp(`images\\.${option}: (\\S+?)(,|$)`).exec(error.fix ?? '')?.[1] ?? '',
        angleUnits,
      ) ?? 0;
    assert.ok(named('field') > 0 && named('cell') > 0, error.fix);
    assert.ok(choosePixels({ widthDeg: named('field') }, LONGEST).pixels <= 1026);
    assert.ok(choosePixels({ widthDeg: 20, cellDeg: named('cell') }, LONGEST).pixels <= 1040);
  });
});
