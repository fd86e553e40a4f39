import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chips } from '../../packets/chips.js';
import { allStreams } from '../../packets/testing/streams.js';
import { planRing } from '../plan.js';
import { cannotTurn, planTurn, fragmentCorners, turnLaunch } from './plan.js';

describe('the plan of the corner turn on a card', () => {
  it('takes spectra of four and eight bits, and gives the reason for others', () => {
    const can = allStreams.filter(({ plan }) => cannotTurn(plan, 2) === undefined);
    assert.deepEqual(can.map(({ plan }) => plan.format).sort(), ['chips', 'snap2', 'spead-feng']);
    const vdif = allStreams.find(({ plan }) => plan.format === 'vdif');
    assert.ok(vdif);
    assert.match(cannotTurn(vdif.plan, 2) ?? '', /hold voltages/);
  });

  it('leaves stations whose polarisations come apart to the processor', () => {
    const plan = chips.plan({ boards: [1], channels: 2, firstChannel: 0 });
    const odd = { ...plan, senders: [{ ...plan.senders[0], firstInput: 1, endInput: 33 }] };
    assert.match(cannotTurn(odd, 2) ?? '', /polarisations/);
    assert.equal(cannotTurn(odd, 1), undefined);
  });

  it('puts each sender and each part of its band where it belongs', () => {
    const plan = chips.plan({ boards: [5, 9], channels: 4, firstChannel: 100, subbands: 2 });
    // (first input, first channel) of board 5's two subbands, then board 9's.
    assert.deepEqual([...fragmentCorners(plan)], [0, 0, 0, 4, 32, 0, 32, 4]);
  });

  it("knows LWA-SV's block: 16 boards × 132 channels, 1000 samples in 16 spans of 64", () => {
    const boards = Array.from({ length: 16 }, (_, n) => n + 1);
    const plan = planRing(chips.plan({ boards, channels: 132, firstChannel: 0 }));
    assert.equal(plan.slotsPerBlock, 1000);
    assert.deepEqual(turnLaunch(plan.stream, 1000), { grid: [16, 2112], threads: 256, items: 2112 });
    const { defines } = planTurn(plan);
    assert.deepEqual([defines.CELL_BYTES, defines.STEP_C, defines.STEP_A, defines.WIDE], [4224, 32, 1, 32]);
  });
});
