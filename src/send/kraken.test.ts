import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { voltagesAT } from '../core/axes.js';
import { addSamples, parseInstant, secondsBetween } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { KrakenStream } from '../formats/index.js';
import { serveKraken, type ServedKraken } from './kraken.js';

const FRAME = 16_384;
const start = parseInstant('2026-06-21T11:00:00Z');
const rateHz = 2.4e6;

/** Two inputs of six and a half frames; frame 4 has a gap. */
function recording(type: 'ci8' | 'ci16'): VoltageSource {
  return {
    kind: 'voltages',
    type,
    inputs: 2,
    polarisations: 1,
    sampleRateHz: rateHz,
    start,
    centreFrequencyHz: 1.42e9,
    async *blocks(blockSamples) {
      for (let first = 0; first < 6.5 * FRAME; first += blockSamples) {
        const samples = Math.min(blockSamples, 6.5 * FRAME - first);
        const numbers = Array.from({ length: 4 * samples }, (_, n) => ((first + n * 7) % 251) - 125);
        const values = type === 'ci8' ? Int8Array.from(numbers) : Int16Array.from(numbers);
        const box = { firstInput: 0, endInput: 1, firstSample: 3, endSample: 9 };
        yield await Promise.resolve({
          type,
          inputs: 2,
          samples,
          gaps: first === 4 * FRAME ? [box] : [],
          voltages: voltagesAT(values, type, 2, samples),
          start: addSamples(start, first, rateHz),
        });
      }
    },
    close: () => Promise.resolve(),
  };
}

async function sentAndReceived(
  version: 1 | 2,
  type: 'ci8' | 'ci16',
  faults: { readonly lose: number; readonly corrupt: number },
) {
  const stop = new AbortController();
  let listening: (port: number) => void = () => undefined;
  const port = new Promise<number>((resolve) => {
    listening = resolve;
  });
  const sending: Promise<ServedKraken> = serveKraken({
    source: recording(type),
    version,
    address: '127.0.0.1',
    port: 0,
    speed: Infinity,
    loop: false,
    limitS: Infinity,
    seed: 3,
    stop: stop.signal,
    onListening: listening,
    onProgress: () => undefined,
    ...faults,
  });
  const stream = new KrakenStream({
    address: { host: '127.0.0.1', port: await port, version },
    polarisations: 1,
    sampleRateHz: rateHz,
    say: (line) => {
      if (line.includes('connection ended')) stream.stop();
    },
    onNoise: () => undefined,
  });
  const blocks: { readonly frame: number; readonly voltages: number[] }[] = [];
  for await (const source of stream.sources())
    for await (const block of source.blocks(FRAME))
      blocks.push({
        frame: Math.round(
          (secondsBetween(version === 1 ? start : source.start, block.start) * rateHz) / FRAME,
        ),
        voltages: [...block.voltages],
      });
  await stream.close();
  return { blocks, sent: await sending, account: stream.account };
}

async function framesOf(type: 'ci8' | 'ci16'): Promise<number[][]> {
  const frames: number[][] = [];
  for await (const { voltages } of recording(type).blocks(FRAME)) frames.push([...voltages]);
  return frames;
}

describe('a KrakenSDR that is sent', () => {
  it('in version 1 is received sample by sample; a frame with a gap is skipped and counted', async () => {
    const { blocks, sent, account } = await sentAndReceived(1, 'ci16', { lose: 0, corrupt: 0 });
    const truth = await framesOf('ci16');
    assert.deepEqual(
      blocks.map(({ frame }) => frame),
      [0, 1, 2, 3, 5],
    );
    for (const { frame, voltages } of blocks)
      assert.deepEqual(
        voltages,
        truth[frame].map((value) => value / 32_768),
      );
    assert.equal(account.skippedFrames, 1);
    assert.equal(sent.leftOverSamples, FRAME / 2);
  });

  it('with lost and damaged frames is in the account, all but those at the end', async () => {
    const { blocks, sent, account } = await sentAndReceived(1, 'ci8', { lose: 0.3, corrupt: 0.3 });
    assert.ok(sent.skippedFrames > 1 && sent.damagedFrames > 0);
    assert.equal(account.damagedHeaders, sent.damagedFrames);
    assert.equal(blocks.length, sent.frames - sent.damagedFrames);
    const [first, last] = [blocks[0].frame, blocks[blocks.length - 1].frame];
    assert.equal(account.skippedFrames, last - first + 1 - blocks.length);
  });

  it('in version 2 is received byte by byte, and what was lost cannot be seen', async () => {
    const { blocks, account } = await sentAndReceived(2, 'ci8', { lose: 0, corrupt: 0 });
    const truth = await framesOf('ci8');
    assert.deepEqual(
      blocks.map(({ voltages }) => voltages),
      [0, 1, 2, 3, 5].map((frame) => truth[frame]),
    );
    assert.deepEqual(
      blocks.map(({ frame }) => frame),
      [0, 1, 2, 3, 4],
    );
    assert.equal(account.skippedFrames, undefined);
  });
});
