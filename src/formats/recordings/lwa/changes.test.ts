/** Changes within an LWA recording, and mismatched files, are refused by name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeDrx, encodeTbn } from '../../testing/encoders.js';
import { readWhole, writeSample } from '../../testing/reading.js';
import { lwa } from './lwa.js';

const tag = 283_685_766_952_000_000n;
const code = (): number => 1;
const DRX_BYTES = 4128;
const TBN_BYTES = 1048;

describe('LWA recordings', () => {
  it('that are tuned anew are refused with when and from what to what; one odd frame is damaged', async () => {
    // 2³⁰ of 2³² cycles of 196 MHz is 49 MHz, 2²⁹ half of it. The third of three times of two inputs.
    const tbn = encodeTbn({ tag, frames: 3, inputs: 2, code });
    tbn.writeUInt32BE(2 ** 29, 4 * TBN_BYTES + 8);
    const damaged = await readWhole(lwa, tbn);
    assert.deepEqual([damaged.recording.tally?.invalid, damaged.gaps.length], [1, 1]);
    tbn.writeUInt32BE(2 ** 29, 5 * TBN_BYTES + 8);
    const changed = /is tuned anew at 2015-11-13T00:59:22.*, from 49 MHz to 24.5 MHz; split the recording/;
    await assert.rejects(lwa.open(writeSample(tbn)), changed);

    const drx = encodeDrx({ tag, frames: 3, offset: 0, code });
    for (const k of [8, 9]) drx.writeUInt32BE(2 ** 29, k * DRX_BYTES + 24);
    await assert.rejects(lwa.open(writeSample(drx)), changed);
    // Tuning 2 did not change.
    await (await lwa.open(writeSample(drx), { tuning: 2 })).close();
  });

  it('that are tuned anew far from both ends are refused as they are read', async () => {
    const frame = encodeDrx({ tag, frames: 1, offset: 0, code }).subarray(0, DRX_BYTES);
    const frames = 4200;
    const bytes = Buffer.concat(Array.from({ length: frames }, () => frame));
    for (let k = 0; k < frames; k++) {
      bytes.writeBigUInt64BE(tag + BigInt(k * 4096 * 10), k * DRX_BYTES + 16);
      if (k === 2100 || k === 2101) bytes.writeUInt32BE(2 ** 29, k * DRX_BYTES + 24);
    }
    const recording = await lwa.open(writeSample(bytes));
    assert.ok(recording.kind === 'voltages');
    await assert.rejects(async () => {
      for await (const block of recording.blocks(2 ** 20)) assert.ok(block.samples > 0);
    }, /is tuned anew/);
    await recording.close();
  });

  it('of two beams are refused, and a frame of another beam is counted', async () => {
    const drx = encodeDrx({ tag, frames: 8, offset: 0, code });
    drx[4 * DRX_BYTES + 4] = (drx[4 * DRX_BYTES + 4] & ~7) | 2;
    assert.equal((await readWhole(lwa, drx, { blockSamples: 10_000 })).recording.tally?.invalid, 1);
    for (let at = 0; at < drx.length; at += 2 * DRX_BYTES) drx[at + 4] = (drx[at + 4] & ~7) | 2;
    await assert.rejects(
      lwa.open(writeSample(drx)),
      /holds frames of beams 2 and 4; give each beam its own file/,
    );
  });

  it('of stands that lack a polarisation are refused, unless each input is to be read by itself', async () => {
    const without = (...lost: number[]): Buffer =>
      encodeTbn({ tag, frames: 3, inputs: 8, code, drop: (a) => (lost.includes(a) ? 'drop' : 'keep') });
    // Stand 2 has no Y and stand 3 no X: the rest alternate, and are not a pair.
    const bytes = without(3, 4);
    await assert.rejects(
      lwa.open(writeSample(bytes)),
      /lacks Y of stand 2, X of stand 3; give source\.polarisations: 1/,
    );
    const single = await readWhole(lwa, bytes, { polarisations: 1 });
    assert.deepEqual([single.recording.inputs, single.recording.polarisations], [6, 1]);
    await assert.rejects(lwa.open(writeSample(without(3))), /lacks Y of stand 2; give/);
    // X of every stand is a recording of one polarisation, not of two.
    const x = without(1, 3, 5, 7);
    assert.equal((await readWhole(lwa, x)).recording.polarisations, 1);
    await assert.rejects(lwa.open(writeSample(x), { polarisations: 2 }), /lacks Y of stand 1, Y of stand 2/);
  });
});
