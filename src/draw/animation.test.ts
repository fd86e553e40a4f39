/** Animations decoded by hand: chunks in order, and every picture's pixels. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { makeCanvas } from './canvas.js';
import { encodeAnimation } from './png.js';
import { renderContactSheet } from './render.js';
import type { Picture } from './shapes.js';

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function chunksOf(bytes: Uint8Array): Chunk[] {
  const buffer = Buffer.from(bytes);
  const chunks: Chunk[] = [];
  for (let at = 8; at < buffer.length;) {
    const length = buffer.readUInt32BE(at);
    chunks.push({
      type: buffer.toString('latin1', at + 4, at + 8),
      data: buffer.subarray(at + 8, at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
}

describe('a contact sheet', () => {
  it('holds its pictures side by side, row by row', async () => {
    const papers = [0x102030, 0x405060, 0x708090];
    const pictures = papers.map((paper): Picture => ({ width: 4, height: 2, paper, shapes: [] }));
    const chunks = chunksOf(await renderContactSheet(pictures, { columns: 2 }));
    assert.deepEqual([chunks[0].data.readUInt32BE(0), chunks[0].data.readUInt32BE(4)], [8, 4]);
    const rows = inflateSync(chunks[1].data);
    const red = (x: number, y: number): number => rows[y * (1 + 3 * 8) + 1 + 3 * x];
    assert.deepEqual(
      [red(0, 0), red(3, 1), red(4, 0), red(7, 1), red(0, 2), red(3, 3)],
      [16, 16, 64, 64, 112, 112],
    );
    // No value: the background of the first picture.
    assert.equal(red(4, 2), 16);
  });
});

describe('an animation', () => {
  it('holds its pictures one after the other', async () => {
    const colours = [0x102030, 0x405060, 0x708090];
    const chunks = chunksOf(await encodeAnimation(colours.map((colour) => makeCanvas(3, 2, colour))));
    assert.deepEqual(
      chunks.map(({ type }) => type),
      ['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'fcTL', 'fdAT', 'IEND'],
    );
    assert.deepEqual([chunks[1].data.readUInt32BE(0), chunks[1].data.readUInt32BE(4)], [3, 0]);
    const counted = chunks.filter(({ type }) => type === 'fcTL' || type === 'fdAT');
    assert.deepEqual(
      counted.map(({ data }) => data.readUInt32BE(0)),
      [0, 1, 2, 3, 4],
    );
    for (const { data } of chunks.filter(({ type }) => type === 'fcTL')) {
      assert.equal(data.length, 26);
      assert.deepEqual([data.readUInt32BE(4), data.readUInt32BE(8)], [3, 2]);
      assert.equal(data.readUInt16BE(20) / data.readUInt16BE(22), 0.2);
    }
    const packed = [chunks[3].data, chunks[5].data.subarray(4), chunks[7].data.subarray(4)];
    for (const [k, data] of packed.entries()) {
      const rows = inflateSync(data);
      assert.equal(rows.length, 2 * (1 + 9));
      assert.deepEqual(
        [...rows.subarray(1, 4)],
        [colours[k] >> 16, (colours[k] >> 8) & 255, colours[k] & 255],
      );
    }
  });
});
