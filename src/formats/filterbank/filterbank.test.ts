import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseInstant, secondsBetween } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { createFilterbank, repairFilterbank, openFilterbank } from './filterbank.js';
import { fromSexagesimal, sexagesimal, type FilterbankHeader } from './header.js';

const header: FilterbankHeader = {
  sourceName: 'B0329+54',
  rawDataFile: 'run.sigmf-meta',
  firstChannelHz: 150e6,
  channelStepHz: -25e3,
  channels: 3,
  planes: 2,
  bits: 8,
  start: parseInstant('2026-06-21T04:00:00.123456Z'),
  valueS: 1e-3,
  position: { raDeg: 53.2475, decDeg: -54.5787 },
  azimuthDeg: 12.5,
  zenithAngleDeg: 33,
  beam: 2,
  beams: 7,
};

const written = async (bits: 8 | 16 | 32, values: Uint8Array | Uint16Array | Float32Array) => {
  const path = join(temporaryFolder('filterbank'), 'a.fil');
  const writer = await createFilterbank(path, { ...header, bits });
  await writer.append(values);
  await writer.finish();
  return path;
};

describe('filterbanks', () => {
  it('come back as they were written, at 8, 16 and 32 bits', async () => {
    const given = [0, 255, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    for (const [bits, values] of [
      [8, Uint8Array.from(given)],
      [16, Uint16Array.from(given, (one) => 200 * one)],
      [32, Float32Array.from(given, (one) => one / 3)],
    ] as const) {
      const file = await openFilterbank(await written(bits, values));
      assert.equal(file.values, 2);
      assert.deepEqual([...(await file.read(0, 2))], [...values]);
      assert.deepEqual([...(await file.read(1, 1))], [...values.subarray(6)]);
      const { start, position, ...others } = file.header;
      const { start: s, position: p, ...wanted } = header;
      assert.deepEqual(others, { ...wanted, bits, telescopeId: 0, machineId: 0 });
      assert.ok(Math.abs(secondsBetween(s, start)) < 1e-6);
      assert.ok(Math.abs((position?.raDeg ?? 0) - (p?.raDeg ?? 1)) < 15e-4 / 3600);
      assert.ok(Math.abs((position?.decDeg ?? 0) - (p?.decDeg ?? 1)) < 1e-3 / 3600);
      await file.close();
    }
  });

  it('the header is what SIGPROC writes, byte for byte', async () => {
    const bytes = readFileSync(await written(8, new Uint8Array(6)));
    assert.equal(bytes.readInt32LE(0), 12);
    assert.equal(bytes.toString('latin1', 4, 16), 'HEADER_START');
    const number = (name: string): number => bytes.readDoubleLE(bytes.indexOf(name) + name.length);
    assert.equal(number('fch1'), 150);
    assert.equal(number('foff'), -0.025);
    assert.equal(number('src_raj'), 33_259.4);
    assert.equal(number('src_dej'), -543_443.32);
    // 2026-06-21 is day 61212.
    assert.ok(Math.abs(number('tstart') - (61_212 + 14_400.123456 / 86_400)) < 1e-11);
    assert.equal(bytes.subarray(-6 - 10, -6).toString('latin1'), 'HEADER_END');
  });

  it('seconds never read 60', () => {
    assert.equal(sexagesimal(1.9999999999, 1e4), 20_000);
    assert.equal(sexagesimal(-0.0002, 1e3), -0.72);
    assert.ok(Math.abs(fromSexagesimal(-543_443.32) + 54.5787) < 1e-9);
  });

  it('a file that was cut short is made whole', async () => {
    const path = await written(8, new Uint8Array(12).fill(7));
    appendFileSync(path, Buffer.from([1, 2, 3]));
    const cut = await openFilterbank(path);
    assert.deepEqual([cut.values, cut.leftOverBytes], [2, 3]);
    await cut.close();
    assert.equal(await repairFilterbank(path), 2);
    const whole = await openFilterbank(path);
    assert.deepEqual([whole.values, whole.leftOverBytes], [2, 0]);
    await whole.close();
  });

  it('refuses headers that end, lie or have words that it cannot know', async () => {
    const path = await written(8, new Uint8Array(6));
    const bytes = readFileSync(path);
    for (const [change, said] of [
      [(one: Buffer) => one.subarray(0, 60), /ends within its header/],
      [(one: Buffer) => one.fill('x', 20, 24), /keyword 'xxxx|whose length is unknown/],
      [(one: Buffer) => (one.writeInt32LE(9, one.indexOf('nbits') + 5), one), /values of 9 bits/],
      [(one: Buffer) => (one.writeInt32LE(-1, one.indexOf('nchans') + 6), one), /-1 channels/],
    ] as const) {
      writeFileSync(path, change(Buffer.from(bytes)));
      await assert.rejects(openFilterbank(path), said);
    }
  });
});
