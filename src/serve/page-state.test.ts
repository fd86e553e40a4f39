import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageCPML, weightsCP } from '../core/axes.js';
import { rational } from '../core/clock/rational.js';
import { averageChannels, stokesI } from '../image/index.js';
import type { ReceiveAccount } from '../receive/index.js';
import { AlarmState } from './alarms.js';
import { ImageHistory } from './image-history.js';
import type { SkyHead } from './messages.js';
import { colourRange, spectrumAt, stokesPlane } from './planes.js';
import { faultsOf, type Measured } from './rules.js';
import { SenderRates } from './senders.js';

/** Two senders with this many placed and missing packet slots. */
const account = (
  cells: readonly (readonly [placed: number, missing: number])[],
  ringFull = 0,
): ReceiveAccount => {
  const outcomes = { placed: 0, duplicate: 0, late: 0, early: 0, other_epoch: 0, ring_full: 0 };
  return {
    packets: 0,
    bytes: 0,
    blocks: 0,
    skippedBlocks: 0,
    resyncs: 0,
    refusedResyncs: 0,
    untimedBlocks: 0,
    missingCells: 0,
    edgeCells: 0,
    outcomes: { ...outcomes, misaligned: 0, unknown_source: 0, invalid: 0, control: 0, ring_full: ringFull },
    senders: cells.map(([placed, missing], n) => ({
      source: n,
      name: `board ${n}`,
      missingCells: missing,
      newestTick: BigInt(1000 * placed),
      duplicateIdPackets: 0,
      outcomes: { ...outcomes, placed, ring_full: ringFull },
    })),
  };
};

describe('senders', () => {
  it('reports loss over a second, a minute and the run, and its cause', () => {
    const book = new SenderRates(rational(1_000_000n));
    // board 1 loses everything in the last of 100 seconds, board 0 nothing
    for (let second = 0; second <= 100; second++)
      book.tick(
        account([
          [10 * second, 0],
          [10 * Math.min(99, second), second === 100 ? 10 : 0],
        ]),
        second,
      );
    const [good, bad] = book.view()?.senders ?? [];
    assert.deepEqual(good.lostPercent, { second: 0, minute: 0, run: 0 });
    assert.equal(bad.lostPercent.second, 100);
    assert.ok(Math.abs(bad.lostPercent.minute - 100 / 60) < 1e-9);
    assert.equal(bad.lostPercent.run, 1);
    assert.equal(good.status, 'whole');
    assert.match(bad.status, /never came/);
    // 10 ticks of a thousand samples at 1 MHz late
    assert.equal(bad.behindMs, 10);
    for (let second = 101; second <= 104; second++)
      book.tick(
        account(
          [
            [10 * second, 0],
            [990, 10 * (second - 99)],
          ],
          second,
        ),
        second,
      );
    assert.equal(book.silentS(1), 5);
    assert.match(book.view()?.senders[1].status ?? '', /silent/);
    assert.match(book.view()?.senders[0].status ?? '', /whole/);
  });
  it('no sender is silent after the end of a capture, and all of it is tested', () => {
    const book = new SenderRates(undefined, 'capture');
    const rows = account([
      [100, 0],
      [90, 10],
    ]);
    const end = { ...rows, missingCells: 10 };
    for (const second of [0, 1, 200, 300]) book.tick(end, second);
    assert.deepEqual(
      book.view()?.senders.map(({ silentS, status }) => [silentS, status]),
      [
        [0, 'whole'],
        [0, 'never came: sender or network'],
      ],
    );
    // Without the slots before its first packet and after its last.
    book.tick({ ...end, edgeCells: end.missingCells }, 301);
    assert.equal(book.view()?.senders[1].status, 'whole');
  });
  it('what is before the first packet of a capture and after its last is not lost', () => {
    const book = new SenderRates(undefined, 'capture');
    // 300 slots before and after for each; the second lost two of a hundred.
    const rows = account([
      [100, 300],
      [98, 302],
    ]);
    book.tick({ ...rows, missingCells: 602, edgeCells: 600 }, 1);
    assert.deepEqual(
      book.view()?.senders.map(({ lostPercent, missing, status }) => [lostPercent.run, missing, status]),
      [
        [0, 0, 'whole'],
        [2, 2, 'never came: sender or network'],
      ],
    );
  });
  it('reports that packets are late, not that two senders share a name, where each leaves a hole', () => {
    const tick = (duplicateIdPackets: number, late: number, missing: number): string | undefined => {
      const book = new SenderRates(undefined);
      book.tick(account([[0, 0]]), 0);
      const now = account([[1960, missing]]);
      const [sender] = now.senders;
      const senders = [{ ...sender, duplicateIdPackets, outcomes: { ...sender.outcomes, late } }];
      book.tick({ ...now, senders }, 1);
      return book.view()?.senders[0].status;
    };
    assert.match(tick(39, 40, 40) ?? '', /too late/);
    assert.match(tick(1900, 1900, 40) ?? '', /two senders share its name/);
  });
  it('reports when the loss is ours', () => {
    const book = new SenderRates(undefined);
    book.tick(account([[0, 0]]), 0);
    book.tick(account([[10, 5]], 5), 1);
    assert.match(book.view()?.senders[0].status ?? '', /ours: the chain/);
  });
});

const well: Measured = {
  isLive: true,
  dataAgeS: 0.1,
  senders: [{ name: 'board 0', silentS: 0, lostPercent: 0, status: 'whole' }],
  ringFull: 0,
  kernelDrops: 0,
  resyncs: 0,
  clockErrorS: 0.01,
  load: [{ resource: 'chain', ratio: 0.5, forS: 0 }],
  image: { ageS: 0.5, everyS: 0.2 },
  file: { ageS: 1, everyS: 1, unwritten: 0 },
  changedInputs: [],
  inputs: 32,
  gains: { ageS: 10, everyS: 60, unsolved: 0 },
  disk: { freeBytes: 1e12, hours: 100 },
  check: { differing: 0, failed: 0 },
};
const idsOf = (measured: Partial<Measured>): string[] =>
  faultsOf({ ...well, ...measured }).map(({ id }) => id);

describe('alarms', () => {
  it('are silent when all is well', () => {
    assert.deepEqual(idsOf({}), []);
  });
  const cases: readonly (readonly [string, Partial<Measured>])[] = [
    ['silent', { dataAgeS: 3.1 }],
    ['silent:board 0', { senders: [{ name: 'board 0', silentS: 3, lostPercent: 0, status: '' }] }],
    ['losing:board 0', { senders: [{ name: 'board 0', silentS: 0, lostPercent: 1, status: '' }] }],
    ['ring_full', { ringFull: 1 }],
    ['kernel', { kernelDrops: 1 }],
    ['resync', { resyncs: 1 }],
    ['clock', { clockErrorS: -0.51 }],
    ['load:chain', { load: [{ resource: 'chain', ratio: 0.96, forS: 10 }] }],
    ['image', { image: { ageS: 5.1, everyS: 0.2 } }],
    ['file', { file: { ageS: 3.1, everyS: 1, unwritten: 0 } }],
    ['file', { file: { ageS: 1, everyS: 1, unwritten: 1 } }],
    ['level', { changedInputs: [{ name: 'stand1:X', db: -3.2 }] }],
    ['gains', { gains: { ageS: 181, everyS: 60, unsolved: 0 } }],
    ['unsolved', { gains: { ageS: 1, unsolved: 4 } }],
    ['disk', { disk: { freeBytes: 1e9, hours: 0.9 } }],
    ['check', { check: { differing: 1, failed: 1 } }],
  ];
  for (const [id, measured] of cases)
    it(`${id} states what, where and how to go on`, () => {
      const [fault, ...more] = faultsOf({ ...well, ...measured });
      assert.deepEqual([fault.id, more], [id, []]);
      for (const words of [fault.what, fault.where, fault.fix])
        assert.ok(words.length > 3 || fault.id.includes(':'), words);
    });
  it('name why images are late by what is measured', () => {
    const fixOf = (measured: Partial<Measured>, id = 'image'): string =>
      faultsOf({
        ...well,
        image: { ageS: 60, everyS: 1 },
        file: { ageS: 60, everyS: 1, unwritten: 0 },
        ...measured,
      })
        .filter((fault) => fault.id === id)
        .map(({ fix }) => fix)
        .join();
    for (const id of ['image', 'file']) {
      assert.match(fixOf({ dataAgeS: 10 }, id), /^no data come/);
      const chain = { load: [{ resource: 'chain', ratio: 0.9, forS: 0 }] };
      assert.match(
        fixOf(chain, id),
        /^this machine is too slow: the chain is busy 90 % of the time; take fewer/,
      );
      const disk = { load: [...chain.load, { resource: 'disk', ratio: 0.88, forS: 0 }] };
      assert.match(fixOf(disk, id), /^the disk is too slow/);
      assert.match(fixOf({ ringFull: 7 }, id), /too slow: 7 packets were dropped/);
      assert.match(fixOf({}, id), /^data come and are processed: see whether/);
    }
    const late = { image: { ageS: 60, everyS: 1, leftOut: 12 } };
    assert.match(fixOf(late), /^this machine is too slow: 12 images were left out as packets waited/);
  });
  it('list the cause first, and under it what follows from it', () => {
    const book = new AlarmState();
    const listed = (measured: Partial<Measured>, unixS: number): (string | undefined)[][] => {
      book.update(faultsOf({ ...well, ...measured }), unixS);
      return book.all.map(({ id, because }) => [id, because]);
    };
    const late = { image: { ageS: 60, everyS: 1 }, file: { ageS: 60, everyS: 1, unwritten: 0 } };
    // The alarm that nothing is written is active since 100 s, that no data arrive only since 101 s.
    listed(late, 100);
    assert.deepEqual(listed({ ...late, dataAgeS: 60 }, 101), [
      ['silent', undefined],
      ['file', 'silent'],
      ['image', 'silent'],
    ]);
    const losing = { name: 'board 0', silentS: 0, lostPercent: 20, status: 'ours: the chain is too slow' };
    // The cause is a warning, its consequences are alarms; a clock is unrelated.
    assert.deepEqual(
      listed(
        {
          ringFull: 5,
          senders: [losing],
          clockErrorS: 0.6,
          load: [{ resource: 'chain', ratio: 1, forS: 11 }],
        },
        102,
      ),
      [
        ['load:chain', undefined],
        ['ring_full', 'load:chain'],
        ['losing:board 0', 'ring_full'],
        ['clock', undefined],
      ],
    );
    // A sender's own losses are not a consequence of our full ring.
    const own = { ...losing, status: 'never came: sender or network' };
    assert.deepEqual(listed({ ringFull: 5, senders: [own] }, 103).sort(), [
      ['losing:board 0', undefined],
      ['ring_full', undefined],
    ]);
    assert.deepEqual(
      listed({ disk: { freeBytes: 1, hours: 0 }, file: { ageS: 1, everyS: 1, unwritten: 2 } }, 104),
      [
        ['disk', undefined],
        ['file', 'disk'],
      ],
    );
  });
  it('keep their beginning, go by themselves, and are seen once', () => {
    const changes: string[] = [];
    const book = new AlarmState(({ id }, isUp) => changes.push(`${isUp ? '+' : '-'}${id}`));
    const [full] = faultsOf({ ...well, ringFull: 3 });
    assert.equal(book.update([full], 100), true);
    assert.equal(book.update([full], 105), false);
    assert.equal(book.acknowledge('nothing'), undefined);
    assert.equal(book.acknowledge('ring_full')?.acknowledged, true);
    book.update([full], 106);
    assert.deepEqual([book.all[0].sinceUnixS, book.all[0].acknowledged], [100, true]);
    assert.equal(book.update([], 107), true);
    book.update([full], 200);
    assert.deepEqual([book.all[0].sinceUnixS, book.all[0].acknowledged], [200, false]);
    assert.deepEqual(changes, ['+ring_full', '-ring_full', '+ring_full']);
  });
});

describe('planes', () => {
  it('are those of the imagers: Stokes I over the band, a channel without data left out', () => {
    const plan = { channels: 3, products: 4, pixels: 4, polarisations: 2, pixelSize: 0.5 } as const;
    const image = imageCPML(
      Float64Array.from({ length: 3 * 4 * 16 }, (_, k) =>
        k % 16 === 0 || (k >= 64 && k < 128) ? NaN : Math.sin(k),
      ),
      3,
      4,
      4,
    );
    const expected = stokesI(averageChannels(image, plan), plan, 0);
    const plane = stokesPlane(image, plan);
    for (let at = 0; at < 16; at++)
      assert.ok(
        Object.is(plane[at], NaN) ? Number.isNaN(expected[at]) : Math.abs(plane[at] - expected[at]) < 1e-6,
        `${at}`,
      );
    // channels count by their weights, X and Y each by their own
    const weights = weightsCP(Float64Array.from([1, 5, 0, 0, 9, 9, 0, 0, 3, 2, 0, 0]), 3, 4);
    const weighted = stokesI(averageChannels(image, plan, weights), plan, 0);
    stokesPlane(image, plan, weights).forEach((value, at) => {
      assert.ok(
        Number.isNaN(weighted[at]) ? Number.isNaN(value) : Math.abs(value - weighted[at]) < 1e-6,
        `${at}`,
      );
    });
    // the pixel one east and one north of the centre (2, 2)
    const spectrum = spectrumAt(image, plan, 0.5, 0.5);
    assert.equal(spectrum[1], null);
    assert.ok(Math.abs((spectrum[0] ?? NaN) - (Math.sin(15) + Math.sin(31)) / 2) < 1e-12);
    assert.deepEqual(spectrumAt(image, plan, 5, 0), []);
  });
  it('have a range that shows the noise and reaches the source', () => {
    const plane = Float32Array.from({ length: 10_000 }, (_, k) => (k === 5000 ? 20 : Math.sin(k)));
    const { low, high, peak } = colourRange(plane);
    assert.ok(low < -0.9 && low > -1 && high > 0.9 && peak === 20);
    const flat = colourRange(new Float32Array(100));
    assert.ok(flat.high > flat.low);
  });
});

describe('the animation of a run', () => {
  it('takes the same memory throughout the second of two hours, and is evenly sparse', () => {
    const history = new ImageHistory();
    const held = (): number => history.all.reduce((sum, { plane }) => sum + plane.byteLength, 0);
    const head = { shape: [128, 128], pixelSize: 0.01 } as unknown as SkyHead;
    const bytes: number[] = [];
    for (let second = 0; second < 7200; second++) {
      // Of 64 KiB each, without their memory.
      history.add({ unixS: second, head, plane: { byteLength: 2 ** 16 } as Float32Array });
      if (second >= 3600) bytes.push(held());
    }
    const [least, most] = [Math.min(...bytes), Math.max(...bytes)];
    assert.ok(most - least <= 2 ** 16, `${least} to ${most} bytes`);
    assert.ok(most <= 48 * 2 ** 20);
    const times = history.all.map(({ unixS }) => unixS);
    const gaps = times.slice(1).map((unixS, k) => unixS - times[k]);
    assert.ok(Math.max(...gaps) <= 2 * Math.ceil(7200 / times.length), `${Math.max(...gaps)} s`);
  });

  it('keeps within its memory, all of the run, sparser', () => {
    const history = new ImageHistory(20 * 64);
    for (let second = 0; second < 1000; second++) {
      const head = { shape: [4, 4], pixelSize: 0.5 } as unknown as SkyHead;
      history.add({ unixS: second, head, plane: new Float32Array(16).fill(second) });
    }
    assert.ok(history.all.length <= 20 && history.all.length >= 10, `${history.all.length}`);
    assert.equal(history.all[0].unixS, 0);
    assert.ok((history.all.at(-1)?.unixS ?? 0) > 900);
    assert.ok(history.curve(0, 0).every(({ unixS, value }) => unixS === value));
  });
});
