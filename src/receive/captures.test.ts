/**
 * Captures from other projects' senders, through both rings: all values match their formulae, all losses are counted.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadNative } from '../backend/cpu/library.js';
import { parseInstant } from '../core/instant.js';
import { isPresent } from '../core/presence/presence.js';
import { guessPlan, commonFormat } from '../packets/guess-plan.js';
import { capturePath, datagramsOf, mod, skipCaptures } from '../packets/testing/captures.js';
import { receivePackets, type LiveSource, type ReceiveAccount, type ReceiveSettings } from './index.js';

const natives: readonly 'native'[] = 'what' in loadNative() ? [] : ['native'];

async function received(
  name: string,
  by: 'native' | 'typescript',
  slotsPerBlock: number,
  see: (source: LiveSource, startTick: bigint, value: (c: number, a: number, t: number) => number[]) => void,
  more: Partial<ReceiveSettings> = {},
  rateHz?: number,
): Promise<ReceiveAccount> {
  const datagrams = await datagramsOf(name);
  const format = commonFormat(datagrams);
  assert.ok(format);
  const { plan } = guessPlan(format, datagrams, rateHz === undefined ? {} : { rateHz });
  assert.ok(plan);
  const reception = await receivePackets({
    stream: plan,
    from: { capture: capturePath(name) },
    epoch:
      format.epoch.from === 'packet'
        ? { from: 'packet' }
        : { from: 'operator', at: parseInstant('2025-06-15T15:06:40Z') },
    ring: { slotsPerBlock, skipTicks: 2 ** 40 },
    by,
    ...more,
  });
  for await (const source of reception.sessions()) {
    for await (const block of source.blocks(2 ** 20)) {
      const data = 'spectra' in block ? block.spectra : block.voltages;
      const each = data.length / (block.samples * plan.inputs * plan.channels);
      const { firstInput, endInput } = plan.senders[0];
      see(source, block.startTick, (c, a, t) => {
        const sender = Math.floor(a / (endInput - firstInput));
        const fragment = Math.floor(c / plan.cell.sizes.c);
        const slot = Math.floor(t / plan.samplesPerSlot);
        if (!isPresent(block.presence, sender * plan.fragments + fragment, slot)) return [];
        const at = ((c * plan.inputs + a) * block.samples + t) * each;
        return Array.from(data.subarray(at, at + each));
      });
      block.release();
    }
  }
  const account = reception.account();
  await reception.close();
  return account;
}

for (const by of ['typescript', ...natives] as const) {
  describe(`captures by ${by}`, { skip: skipCaptures }, () => {
    for (const name of ['spead-feng.pcap', 'spead-feng-multicast.pcap']) {
      it(`${name}: spead2's heaps, every value`, async () => {
        let values = 0;
        // 4 antennas, 16 channels, 32 spectra per heap, 8 heaps 65536 ticks apart.
        const band = { frequenciesHz: new Float64Array(16), channelWidthHz: 1 };
        let first: bigint | undefined;
        const account = await received(
          name,
          by,
          4,
          (_, startTick, value) => {
            first ??= startTick;
            const heap = Number((startTick - first) / 65536n);
            for (let c = 0; c < 16; c++) {
              for (let a = 0; a < 8; a++) {
                for (let t = 0; t < 4 * 32; t++) {
                  const sample = value(c, a, t);
                  if (sample.length === 0) continue;
                  const s = heap * 32 + t;
                  const expected = [0, 1].map(
                    (k) => mod(c * 17 + s * 5 + (a & 1) * 29 + k * 101 + (a >> 1) * 43, 255) - 127,
                  );
                  assert.deepEqual(sample, expected);
                  values += 2;
                }
              }
            }
          },
          { band },
          1_712_000_000,
        );
        assert.equal(values, account.outcomes.placed * 1024);
        assert.ok(account.outcomes.placed > 0 && account.outcomes.control > 0);
        assert.equal(account.outcomes.invalid, 0);
      });
    }

    it('spead-digitiser.pcap: 10 bits through the wrap of the clock, every value', async () => {
      let values = 0;
      let first: bigint | undefined;
      const account = await received(
        'spead-digitiser.pcap',
        by,
        1,
        (_, startTick, value) => {
          first ??= startTick;
          const sample = Number(startTick - first);
          for (let a = 0; a < 2; a++) {
            for (let t = 0; t < 4096; t++, values++) {
              assert.deepEqual(value(0, a, t), [mod(37 * (sample + t) + 211 * a, 1023) - 511]);
            }
          }
        },
        { band: { centreFrequencyHz: 1.4e9 } },
        1_712_000_000,
      );
      assert.deepEqual([values, account.missingCells, account.resyncs], [12 * 4096, 0, 0]);
    });

    it('chips.pcap: three lost, one doubled, two out of order', async () => {
      const account = await received('chips.pcap', by, 10, () => undefined);
      assert.deepEqual([account.outcomes.placed, account.outcomes.duplicate], [157, 1]);
      assert.deepEqual(
        account.senders.map(({ missingCells }) => missingCells),
        [0, 1, 1, 1],
      );
      assert.deepEqual([account.resyncs, account.skippedBlocks], [0, 0]);
    });
  });
}
