import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { addSeconds, parseInstant, secondsBetween } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { createFilterbank, holdsFilterbank, repairFilterbank, openFilterbank } from './filterbank.js';
import type { FilterbankHeader } from './header.js';

const start = parseInstant('2026-06-21T04:00:00.123456789Z');
const header: FilterbankHeader = {
  sourceName: 'B0329+54',
  rawDataFile: 'run.sigmf-meta',
  firstChannelHz: 150e6,
  channelStepHz: -25e3,
  // 0.3 s: two values per row.
  channels: 3,
  planes: 2,
  bits: 32,
  start,
  valueS: 0.3,
  beam: 2,
  beams: 7,
  position: { raDeg: 53.2475, decDeg: -4.5787 },
  azimuthDeg: 12.5,
  zenithAngleDeg: 33,
  pointingAt: (moment) => ({
    position: { raDeg: 53.2475, decDeg: -4.5787 },
    azimuthDeg: 12.5 + secondsBetween(start, moment),
    zenithAngleDeg: 33,
  }),
  telescope: { name: 'garden', site: { latitudeDeg: 0, longitudeDeg: 90, heightM: 10 } },
};

/** Five values of two planes and three channels; no data for channel 1 in the second row. */
const given = Array.from({ length: 30 }, (_, n) => (n * 37) % 251);
const counts = Float32Array.from(given, (_, n) => (n >= 12 && n < 24 && n % 3 === 1 ? 0 : 4));
const levels = {
  scale: Float32Array.of(2, 4, 8, 0.5, 1, 16),
  offset: Float32Array.of(64, 32, 0, 10, -5, 1),
};
const kinds = { 8: Uint8Array, 16: Uint16Array, 32: Float32Array } as const;

const written = async (bits: 8 | 16 | 32, end: 'finish' | 'keep' = 'finish'): Promise<string> => {
  const path = join(temporaryFolder('psrfits'), 'a.sf');
  const writer = await createFilterbank(path, { ...header, bits });
  const values = new kinds[bits](given.map((one) => (bits === 16 ? one * 261 : bits === 8 ? one : one / 3)));
  const about = bits === 32 ? {} : { levels };
  // For any division into appends.
  await writer.append(values.subarray(0, 18), { ...about, counts: counts.subarray(0, 18) });
  await writer.append(values.subarray(18), { ...about, counts: counts.subarray(18) });
  await writer[end]();
  return path;
};

/** The expected value read back, after rounding to the file's bits. */
const worth = (bits: 8 | 16 | 32, n: number): number => {
  if (counts[n] === 0) return NaN;
  if (bits === 32) return Math.fround(given[n] / 3);
  const stored = bits === 16 ? given[n] * 261 : given[n];
  return (stored - levels.offset[n % 6]) / levels.scale[n % 6];
};

describe('PSRFITS in search mode', () => {
  for (const bits of [8, 16, 32] as const)
    it(`comes back as it was written, at ${bits} bits`, async () => {
      const path = await written(bits);
      assert.ok(await holdsFilterbank(path));
      const file = await openFilterbank(path);
      assert.deepEqual([file.format, file.values, file.leftOverBytes], ['psrfits', 5, 0]);
      const close = (found: number, wanted: number): void => {
        assert.ok(
          Number.isNaN(wanted)
            ? Number.isNaN(found)
            : Math.abs(found - wanted) <= 1e-4 * (1 + Math.abs(wanted)),
          `${found}, not ${wanted}`,
        );
      };
      const all = await file.read(0, 5);
      assert.equal(all.length, 30);
      all.forEach((one, n) => {
        close(one, worth(bits, n));
      });
      // Across the ends of rows.
      (await file.read(1, 3)).forEach((one, n) => {
        close(one, worth(bits, n + 6));
      });
      await assert.rejects(file.read(4, 2), /of 5 were asked for/);
      const { position, start: begun, azimuthDeg, ...others } = file.header;
      const { channels, planes, valueS, firstChannelHz, channelStepHz, beam, beams, sourceName } = others;
      assert.deepEqual(
        [channels, planes, valueS, firstChannelHz, beam, beams, sourceName],
        [3, 2, 0.3, 150e6, 2, 7, 'B0329+54'],
      );
      assert.ok(Math.abs(channelStepHz + 25e3) < 1e-4);
      assert.ok(Math.abs(secondsBetween(start, begun)) < 1e-9);
      assert.ok(Math.abs((position?.raDeg ?? 0) - 53.2475) < 1e-6);
      assert.ok(Math.abs((position?.decDeg ?? 0) + 4.5787) < 1e-6);
      // In the middle of the first row.
      assert.ok(Math.abs((azimuthDeg ?? 0) - 12.8) < 1e-5);
      await file.close();
    });

  it('has the cards of feeds and backend without which other readers refuse it', async () => {
    const file = await openFilterbank(await written(8));
    const cards = ['FD_HAND', 'FD_SANG', 'FD_XYPH', 'FD_MODE', 'FA_REQ', 'BE_PHASE', 'BE_DCC', 'BE_DELAY'];
    assert.deepEqual(
      cards.map((name) => file.keywords[name]),
      [-1, 45, 0, 'FA', 0, 0, 0, 0],
    );
    assert.ok('TCYCLE' in file.keywords && 'BECONFIG' in file.keywords);
    await file.close();
  });

  it('is laid out as its definition states, byte for byte', async () => {
    const bytes = readFileSync(await written(8));
    assert.equal(bytes.length % 2880, 0);
    const text = bytes.toString('latin1');
    const card = (name: string): string =>
      new RegExp(`${name.padEnd(8)}= +('[^']*'|[^ /]+)`).exec(text)?.[1].replaceAll("'", '').trim() ?? '';
    assert.equal(card('TDIM11'), '(3,2,2)');
    assert.deepEqual(
      ['STT_IMJD', 'STT_SMJD', 'STT_OFFS'].map((name) => Number(card(name))),
      [61_212, 14_400, 0.123456789],
    );
    assert.deepEqual([card('NAXIS2'), card('NSBLK'), card('NSTOT'), card('TFORM11')], ['3', '2', '5', '12B']);
    assert.deepEqual(
      [card('RA'), card('DEC'), card('TELESCOP')],
      ['03:32:59.4000', '-04:34:43.320', 'garden'],
    );
    // On the equator, 90° east: along y, above the Earth's radius.
    assert.ok(Math.abs(Number(card('ANT_Y')) - 6_378_147) < 1 && Math.abs(Number(card('ANT_X'))) < 1);
    const rowBytes = 40 + 3 * 12 + 6 * 8 + 12;
    assert.equal(Number(card('NAXIS1')), rowBytes);
    const rows = text.indexOf('XTENSION') + 2 * 2880;
    const [second] = [rows + rowBytes];
    assert.equal(bytes.readDoubleBE(second), 0.6);
    assert.ok(Math.abs(bytes.readDoubleBE(second + 8) - 0.9) < 1e-12);
    assert.deepEqual(
      [0, 4, 8].map((at) => bytes.readFloatBE(second + 40 + 24 + at)),
      [1, 0, 1],
    );
    // The third value, its first plane: unchanged.
    assert.deepEqual([...bytes.subarray(second + rowBytes - 12, second + rowBytes - 9)], given.slice(12, 15));
  });

  it('that was killed is whole but for the row that was begun', async () => {
    const path = await written(32);
    const rowBytes = 40 + 3 * 12 + 6 * 8 + 48;
    const bytes = readFileSync(path);
    const rows = bytes.toString('latin1').indexOf('XTENSION') + 2 * 2880;
    const card = (name: string, value: number): void => {
      bytes.write(
        `${name.padEnd(8)}= ${String(value).padStart(20)}`,
        bytes.indexOf(name.padEnd(8)),
        'latin1',
      );
    };
    // Two rows are counted, a third is partly written, and there is no padding.
    card('NAXIS2', 2);
    card('NSTOT', 4);
    writeFileSync(path, bytes.subarray(0, rows + 2 * rowBytes));
    appendFileSync(path, Buffer.alloc(70, 1));
    const cut = await openFilterbank(path);
    assert.deepEqual([cut.values, cut.leftOverBytes], [4, 70]);
    await cut.close();
    assert.equal(await repairFilterbank(path), 4);
    assert.equal(statSync(path).size % 2880, 0);
    const whole = await openFilterbank(path);
    assert.deepEqual([whole.values, whole.leftOverBytes], [4, 0]);
    (await whole.read(0, 4)).forEach((one, n) => {
      assert.ok(Object.is(one, worth(32, n)));
    });
    await whole.close();
    assert.equal(await repairFilterbank(path), 4);
    truncateSync(path, rows + rowBytes);
    await assert.rejects(repairFilterbank(path), /2 rows were written, and 1 are there/);
  });

  it('ended early it holds what was given', async () => {
    const file = await openFilterbank(await written(8, 'keep'));
    assert.equal(file.values, 5);
    await file.close();
  });

  it('of others: four polarisations whose axes begin with one bin', async () => {
    const path = join(temporaryFolder('psrfits'), 'four.sf');
    const writer = await createFilterbank(path, { ...header, planes: 4, bits: 8 });
    await writer.append(Uint8Array.from({ length: 24 }, (_, n) => n));
    await writer.finish();
    const bytes = readFileSync(path);
    const put = (card: string, from: string, to: string): void => {
      const at = bytes.indexOf(card);
      assert.ok(bytes.subarray(at, at + 80).includes(from));
      bytes.write(`${card}= '${to}'`.padEnd(80), at, 'latin1');
    };
    put('TDIM11  ', '(3,4,2)', '(1,3,4,2)');
    put('POL_TYPE', 'IQUV', 'AABBCRCI');
    writeFileSync(path, bytes);
    const file = await openFilterbank(path);
    assert.deepEqual([file.header.planes, file.values], [4, 2]);
    assert.deepEqual(
      [...(await file.read(0, 2))],
      Array.from({ length: 24 }, (_, n) => n),
    );
    await file.close();
    put('TDIM11  ', '(1,3,4,2)', '(4,3,2)');
    writeFileSync(path, bytes);
    await assert.rejects(openFilterbank(path), /TDIM of its data is \(4,3,2\)/);
  });

  it('of others: bits below a byte from the highest on, an offset of zero, rows that begin later', async () => {
    const path = await written(8);
    const bytes = readFileSync(path);
    const put = (name: string, value: string): void => {
      bytes.write(`${name.padEnd(8)}= ${value.padStart(20)}`, bytes.indexOf(name.padEnd(8)), 'latin1');
    };
    // The same bytes hold four values of four bits each.
    put('NBITS', '4');
    put('NSBLK', '4');
    put('NSTOT', '0');
    put('TBIN', '0.15');
    put('ZERO_OFF', '7.5');
    const rows = bytes.toString('latin1').indexOf('XTENSION') + 2 * 2880;
    for (let row = 0; row < 3; row++) {
      const at = rows + row * (40 + 36 + 48 + 12) + 8;
      bytes.writeDoubleBE(bytes.readDoubleBE(at) + 60, at);
    }
    writeFileSync(path, bytes);
    const file = await openFilterbank(path);
    assert.equal(file.values, 12);
    assert.ok(Math.abs(secondsBetween(addSeconds(start, 60), file.header.start)) < 1e-9);
    const [first, second] = await file.read(0, 1);
    assert.ok(Math.abs(first - ((given[0] >> 4) - 7.5 - 64) / 2 - 0) < 1e-5, String(first));
    assert.ok(Math.abs(second - ((given[0] & 15) - 7.5 - 32) / 4) < 1e-5);
    await file.close();
    const gone = rows + 2 * (40 + 36 + 48 + 12) + 8;
    bytes.writeDoubleBE(bytes.readDoubleBE(gone) + 5, gone);
    writeFileSync(path, bytes);
    await assert.rejects(openFilterbank(path), /rows are missing/);
  });
});
