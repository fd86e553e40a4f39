import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { senderOutcomes, outcomes, type Outcome, type ReceiveAccount } from '../receive/index.js';
import { LossWatch } from './loss-watch.js';

/** Packets placed and missing at one look, by sender. */
interface Came {
  readonly placed: readonly number[];
  readonly missing?: readonly number[];
  readonly duplicateIdPackets?: readonly number[];
  readonly edge?: number;
  readonly refused?: number;
  readonly others?: Partial<Record<Outcome, number>>;
}

/** The account after all looks. */
class LossCase {
  private readonly counts = Object.fromEntries(outcomes.map((name) => [name, 0])) as Record<Outcome, number>;
  private readonly placed: number[];
  private readonly missing: number[];
  private readonly duplicateIdPackets: number[];
  private edge = 0;
  private refused = 0;

  constructor(senders: number) {
    this.placed = Array.from({ length: senders }, () => 0);
    this.missing = this.placed.slice();
    this.duplicateIdPackets = this.placed.slice();
  }

  account({
    placed,
    missing = [],
    duplicateIdPackets = [],
    edge = 0,
    refused = 0,
    others = {},
  }: Came): ReceiveAccount {
    this.edge += edge;
    this.refused += refused;
    for (const [n, count] of placed.entries()) {
      this.placed[n] += count;
      this.counts.placed += count;
      this.missing[n] += missing[n] ?? 0;
      this.duplicateIdPackets[n] += duplicateIdPackets[n] ?? 0;
    }
    for (const [name, count] of Object.entries(others)) this.counts[name as Outcome] += count;
    const sender = Object.fromEntries(senderOutcomes.map((name) => [name, 0]));
    return {
      packets: Object.values(this.counts).reduce((sum, count) => sum + count),
      bytes: 0,
      blocks: 0,
      skippedBlocks: 0,
      resyncs: 0,
      untimedBlocks: 0,
      edgeCells: this.edge,
      refusedResyncs: this.refused,
      missingCells: this.missing.reduce((sum, count) => sum + count),
      outcomes: { ...this.counts },
      senders: this.placed.map((count, n) => ({
        source: n,
        name: `st${n}`,
        newestTick: undefined,
        duplicateIdPackets: this.duplicateIdPackets[n],
        missingCells: this.missing[n],
        outcomes: { ...sender, placed: count } as ReceiveAccount['senders'][number]['outcomes'],
      })),
    };
  }
}

/** The messages at each look, given what arrived since the previous one. */
function said(looks: readonly Came[]): string[][] {
  const account = new LossCase(looks[0].placed.length);
  const watch = new LossWatch(10);
  return looks.map((came) => watch.look(account.account(came)));
}

const WHOLE: Came = { placed: [1000, 1000] };

describe('losses of a run', () => {
  it('are reported when they begin and when they are over', () => {
    const lost: Came = { placed: [900, 1000], missing: [100, 0] };
    assert.deepEqual(said([WHOLE, WHOLE, lost, lost, lost, WHOLE, WHOLE, WHOLE, WHOLE]), [
      [],
      [],
      ['5 % of packets missing in 10.0 s; most of st0: 100'],
      [],
      [],
      [],
      [],
      ['packets are whole again; 300 were missing in 30.0 s'],
      [],
    ]);
  });

  it('name the sender that has gone, and none where all lose alike', () => {
    assert.deepEqual(said([WHOLE, WHOLE, { placed: [0, 1000], missing: [1000, 0] }])[2], [
      '50 % of packets missing in 10.0 s: no packets from st0',
    ]);
    const three = { placed: [1000, 1000, 1000] };
    assert.deepEqual(said([three, three, { placed: [980, 980, 980], missing: [20, 20, 20] }])[2], [
      '2 % of packets missing in 10.0 s',
    ]);
  });

  it('name the disk where the run waits for it while the ring is full, once', () => {
    const account = new LossCase(2);
    const full: Came = { placed: [100, 100], others: { ring_full: 1800 } };
    let waitMs = 0;
    const watch = new LossWatch(10, () => waitMs);
    const disk = (came: Came, ms: number): string[] => {
      waitMs += ms;
      return watch.look(account.account(came)).filter((line) => line.includes('disk'));
    };
    assert.deepEqual(disk(WHOLE, 9000), []);
    assert.deepEqual(disk(WHOLE, 9000), []);
    assert.deepEqual(disk(full, 500), [], 'the chain itself is too slow');
    const [line] = disk(full, 8200);
    assert.match(line, /1800 packets dropped in 10.0 s, of which the run waited 8.2 s for the disk/);
    assert.deepEqual(disk(full, 9000), []);
    assert.deepEqual(disk(WHOLE, 0), []);
    assert.equal(disk(full, 6000).length, 1);
  });

  it('do not end between two bursts, and begin anew after a while', () => {
    const lost: Came = { placed: [900, 900], missing: [100, 100] };
    const lines = said([WHOLE, WHOLE, lost, WHOLE, WHOLE, lost, WHOLE, WHOLE, WHOLE, lost]);
    assert.deepEqual(
      lines.map((one) => one.length),
      [0, 0, 1, 0, 0, 0, 0, 0, 1, 1],
    );
    assert.match(lines[8][0], /400 were missing in 40.0 s/);
  });

  it('are reported for packets that came and were not used, by kind', () => {
    const odd: Came = { placed: [500, 500], others: { invalid: 900, unknown_source: 100, control: 3 } };
    assert.deepEqual(said([WHOLE, WHOLE, odd, WHOLE, WHOLE, WHOLE]), [
      [],
      [],
      [
        '50 % of the packets that came in 10.0 s are of no use: 900 damaged or of another kind, 100 of unknown senders',
      ],
      [],
      [],
      ['all packets are of use again; 1000 were not in 10.0 s'],
    ]);
  });

  it('are reported where nothing comes at all', () => {
    const nothing: Came = { placed: [0, 0] };
    assert.deepEqual(
      said([WHOLE, WHOLE, nothing, nothing, nothing, { placed: [500, 500], missing: [3500, 3500] }, WHOLE]),
      [
        [],
        [],
        ['no packet in 10.0 s; waiting'],
        [],
        [],
        ['packets again after 30.0 s; 7000 are missing'],
        [],
      ],
    );
  });

  it('are none before the first packet, at the edges of a stream epoch, below a hundredth, or of what came twice', () => {
    const nothing: Came = { placed: [0, 0] };
    const edge: Came = { placed: [1000, 1000], missing: [200, 200], edge: 400 };
    const few: Came = { placed: [1000, 1000], missing: [9, 9] };
    const twice: Came = { placed: [1000, 1000], others: { duplicate: 500 } };
    const lines = said([nothing, nothing, WHOLE, edge, few, twice]);
    assert.deepEqual(lines.flat(), []);
  });

  it('state once that two senders share a name', () => {
    const shared: Came = { placed: [1000, 1000], duplicateIdPackets: [0, 900] };
    const lines = said([WHOLE, WHOLE, { ...WHOLE, duplicateIdPackets: [3, 0] }, shared, shared]);
    assert.deepEqual(lines.slice(0, 3).flat(), []);
    assert.match(
      lines[3].join(),
      /^st1: 900 packets with this ID have another clock, .*: two senders share the ID/,
    );
    assert.deepEqual(lines[4], []);
  });

  it('packets that come late are no second sender: each leaves a hole', () => {
    const late: Came = {
      placed: [1960, 2000],
      missing: [40, 0],
      duplicateIdPackets: [39, 0],
      others: { late: 40 },
    };
    const lines = said([WHOLE, WHOLE, late, late]);
    assert.match(lines[2].join('\n'), /40 too late/);
    assert.doesNotMatch(lines.flat().join('\n'), /share the ID/);
  });

  it('jumps that were not followed: reported when they begin, not at every look', () => {
    const lines = said([
      { placed: [1000] },
      { placed: [1000], refused: 2, others: { early: 4 } },
      { placed: [1000], refused: 5 },
      { placed: [1000] },
      { placed: [1000], refused: 1 },
    ]);
    const expected = (count: number): RegExp =>
      new RegExp(`^the senders' clocks jumped ${count} time.* not followed`);
    assert.deepEqual(
      lines.map((some) => some.length),
      [0, 1, 0, 0, 1],
    );
    assert.match(lines[1][0], expected(2));
    assert.match(lines[4][0], expected(1));
  });
});
