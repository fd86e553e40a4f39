import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandsBetween, elderOf } from './adopt.js';

const state = (flagged: number[] = [], integrationS = 1, recording = true) => ({
  flagged,
  integrationS,
  recording,
});

describe('a machine that joins an observation late', () => {
  it('does what the others were sent meanwhile, and nothing else', () => {
    assert.deepEqual(commandsBetween(state([1, 2]), state([1, 2])), []);
    assert.deepEqual(commandsBetween(state([2]), state([3, 4], 5, false)), [
      ['flags', { inputs: [3, 4], flag: true }],
      ['flags', { inputs: [2], flag: false }],
      ['integration', { seconds: 5 }],
      ['recording', { do: 'stop' }],
    ]);
  });

  it('follows the eldest of the others, and reports where they differ', () => {
    const said: string[] = [];
    const machineState = (machine: string, startedUnixS: number, flagged: number[]) => ({
      machine,
      startedUnixS,
      minutes: [],
      steered: state(flagged),
    });
    const say = (line: string) => said.push(line);
    assert.equal(elderOf([machineState('me', 1, [9])], 'me', say), undefined);
    assert.deepEqual(elderOf([machineState('me', 1, [9]), machineState('b', 3, [4])], 'me', say), state([4]));
    assert.deepEqual(said, []);
    assert.deepEqual(elderOf([machineState('b', 3, [4]), machineState('a', 2, [5])], 'me', say), state([5]));
    assert.match(said[0], /differ.*a, the eldest/);
  });
});
