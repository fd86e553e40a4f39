import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullLines } from './full-lines.js';

/** One channel of two stations, whose X receive so much of Y. */
const withLeakage = (part: number) =>
  ({
    gains: Float64Array.of(1, 0, 1, 0, 1, 0, 1, 0),
    leakage: Float64Array.of(part, 0, 0, 0, part, 0, 0, 0),
    solved: Uint8Array.of(1, 1, 1, 1),
    frame: { openRotations: Uint8Array.of(0), errorRad: Float64Array.of(1e-3) },
  }) as never;

describe('leakage', () => {
  it('above 50 % is reported with a warning', () => {
    assert.ok(
      fullLines([withLeakage(0.6)]).some((line) => /warning: leakage above 50.0 %.*--feeds/.test(line)),
    );
    assert.ok(!fullLines([withLeakage(0.4)]).some((line) => line.includes('warning')));
  });
});
