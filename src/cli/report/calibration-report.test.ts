import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FullPolarisation } from '../../visibilities/index.js';
import { fullLines, unconvergedLine } from './calibration-report.js';

it('what did not converge is listed by channel and time', () => {
  const summary = {
    unconverged: [{ channel: 0, polarisation: 0, lastChange: 1e-3, timeUtc: '1970-01-01T00:00:10.000Z' }],
    solves: 3,
  } as Parameters<typeof unconvergedLine>[0];
  assert.match(
    unconvergedLine(summary, Float64Array.of(1e8)) ?? '',
    /^1 of 3 solves did not converge and have no gains: channel 0 \(at 100 MHz\) at 1970-01-01T00:00:10/,
  );
  assert.equal(unconvergedLine({ ...summary, unconverged: [] }, Float64Array.of(1e8)), undefined);
});

describe('leakage', () => {
  it('above 50 % is reported with a warning', () => {
    const full: FullPolarisation = {
      ...{ medianLeakage: 0.1, openRotations: 0, errorRad: 1e-3 },
      largestLeakage: 0.6,
    };
    assert.ok(
      fullLines(full).some((line) => /warning: leakage above 50.0 %.*products\.gains\.feeds/.test(line)),
    );
    assert.ok(!fullLines({ ...full, largestLeakage: 0.4 }).some((line) => line.includes('warning')));
  });
});
