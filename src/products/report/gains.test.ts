import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FullPolarisation } from '../solve/index.js';
import { messagesIn } from '../../messages/index.js';
import { fullLines, unconvergedMessages } from './gains.js';

it('what did not converge is listed by channel and time', () => {
  const summary = {
    unconverged: [{ channel: 0, polarisation: 0, lastChange: 1e-3, timeUtc: '1970-01-01T00:00:10.000Z' }],
    solves: 3,
  } as Parameters<typeof unconvergedMessages>[0];
  const [{ code, data }] = unconvergedMessages(summary, Float64Array.of(1e8));
  assert.equal(code, 'calibrate.unconverged');
  assert.deepEqual(data, {
    unconverged: 1,
    solves: 3,
    channels: [0],
    firstHz: 1e8,
    timesUtc: ['1970-01-01T00:00:10.000Z'],
  });
  assert.deepEqual(unconvergedMessages({ ...summary, unconverged: [] }, Float64Array.of(1e8)), []);
});

describe('leakage', () => {
  it('above 50 % is reported with a warning', () => {
    const full: FullPolarisation = {
      medianLeakage: 0.1,
      openRotations: 0,
      errorRad: 1e-3,
      largestLeakage: 0.6,
    };
    const [{ code, severity, data }] = messagesIn(fullLines(full));
    assert.deepEqual(
      { code, severity, data },
      { code: 'calibrate.leakage-high', severity: 'warning', data: { largest: 0.6, most: 0.5 } },
    );
    assert.deepEqual(messagesIn(fullLines({ ...full, largestLeakage: 0.4 })), []);
  });
});
