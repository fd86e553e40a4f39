import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { seenSource, SendersClock } from './seen.js';

describe("the senders' clock", () => {
  it('is read from the arrival of packets, and the least delay is kept', () => {
    const clock = new SendersClock();
    const came = (start: number, arrived: number): void => {
      clock.see({ samples: 1, start: instant(start), arrivedUnixNs: BigInt(Math.round(1e9 * arrived)) });
    };
    clock.see({ samples: 1, start: instant(1000) });
    assert.deepEqual([clock.latestS, clock.leastS], [undefined, undefined]);
    came(1000, 999.6);
    came(1001, 1000.75);
    assert.ok(Math.abs((clock.latestS ?? 0) + 0.25) < 1e-6, `${clock.latestS}`);
    assert.ok(Math.abs((clock.leastS ?? 0) + 0.4) < 1e-6, `${clock.leastS}`);
  });
});

it('a source is seen through, block by block', async () => {
  const block = { samples: 3, start: instant(7) };
  const source = {
    kind: 'spectra',
    inputs: 2,
    blocks: async function* () {
      yield await Promise.resolve(block);
    },
  } as unknown as Source;
  const seen: string[] = [];
  const through = seenSource(source, ({ samples }) => {
    seen.push(`${samples} come`);
    return () => seen.push(`${samples} done`);
  });
  assert.equal(through.inputs, 2);
  assert.deepEqual({ ...through }.inputs, 2);
  for await (const one of through.blocks(9)) seen.push(one === (block as unknown) ? 'worked' : 'another');
  assert.deepEqual(seen, ['3 come', 'worked', '3 done']);
});
