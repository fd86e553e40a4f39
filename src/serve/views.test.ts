import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSeconds, instant } from '../core/instant.js';
import { Steering } from '../live/index.js';
import type { LiveState } from './live-state.js';
import { recordingOf } from './views.js';

const start = instant(1_790_000_000);
const begin = (): Steering => new Steering({ flaggedInputs: new Uint8Array(2), integrationS: 10 });

/** This long after the start of the data, and after the last write. */
function stateAt(steering: Steering, dataS: number, writtenAgoS: number): string {
  const begun = { shown: { steering, integrationS: 10 }, files: {} } as unknown as LiveState['begun'];
  const newestUnixS = Date.now() / 1000 - writtenAgoS;
  const minutes = { written: 1, unwritten: 0, fileCount: 1, newestUnixS, newestPath: 'v.uvh5' };
  return recordingOf({ begun, newest: addSeconds(start, dataS), minutes }).state;
}

describe('whether it is recording', () => {
  it('a shorter integration that was asked for counts when it holds', () => {
    const steering = begin();
    steering.integration.set(addSeconds(start, 20), 0.5);
    assert.equal(stateAt(steering, 19, 9), 'recording');
    // The last long integration may still be on its way to disk.
    assert.equal(stateAt(steering, 20.3, 10.3), 'recording');
    assert.equal(stateAt(steering, 30, 10), 'stalled');
  });

  it('who stopped records until then, and who began again is given time for the first', () => {
    const steering = begin();
    steering.recording.set(addSeconds(start, 20), false);
    steering.recording.set(addSeconds(start, 100), true);
    assert.equal(stateAt(steering, 19, 9), 'recording');
    assert.equal(stateAt(steering, 19, 60), 'stalled');
    assert.equal(stateAt(steering, 60, 40), 'stopped');
    assert.equal(stateAt(steering, 105, 85), 'stopped');
    assert.equal(stateAt(steering, 130, 110), 'stalled');
  });
});
