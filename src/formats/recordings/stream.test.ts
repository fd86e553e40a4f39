import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { instant, secondsBetween } from '../../core/instant.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { streamOf, tcpStream, type ByteStream, type Came } from '../io/byte-stream.js';
import { describeSigmf } from './sigmf/describe.js';
import { openSampleStream, type StreamDescription, type StreamEvent } from './stream.js';

const start = instant(1000);
const plain: StreamDescription = {
  type: 'cu8',
  inputs: 2,
  polarisations: 1,
  sampleRateHz: 1000,
  centreFrequencyHz: 1e8,
  start,
  quietMs: 60,
};

const kept = (block: VoltageBlock): { values: number[]; samples: number; sinceS: number } => ({
  values: [...block.voltages],
  samples: block.samples,
  sinceS: secondsBetween(start, block.start),
});

describe('samples from a stream', () => {
  it('of unsigned bytes, as dongles send them, become signed and turn to [a][t]', async () => {
    const pipe = new PassThrough();
    // Three samples of two inputs, (I, Q) each: 128 is 0.
    pipe.end(Uint8Array.of(128, 129, 0, 255, 127, 130, 1, 254, 126, 131, 2, 253));
    const source = await openSampleStream([streamOf('pipe', pipe)], plain);
    assert.equal(source.type, 'ci8');
    const blocks = [];
    for await (const block of source.blocks(2)) blocks.push(kept(block));
    assert.deepEqual(blocks, [
      { values: [0, 1, -1, 2, -128, 127, -127, 126], samples: 2, sinceS: 0 },
      { values: [-2, 3, -126, 125], samples: 1, sinceS: 0.002 },
    ]);
  });

  it('that come at another rate than stated are reported, unless their time is stated', async () => {
    const paceOf = async (description: StreamDescription): Promise<readonly StreamEvent[]> => {
      const pipe = new PassThrough();
      const events: StreamEvent[] = [];
      pipe.write(new Uint8Array(4 * 1000));
      const source = await openSampleStream([streamOf('pipe', pipe)], description, (event) => {
        events.push(event);
      });
      // 1,004 samples in 150 ms or more, where a million a second are stated.
      setTimeout(() => pipe.end(new Uint8Array(4 * 4)), 150);
      for await (const block of source.blocks(1000)) assert.ok(block.samples > 0);
      return events.filter(({ kind }) => kind === 'pace');
    };
    const { start: stated, ...asTheyCome } = { ...plain, sampleRateHz: 1e6, quietMs: 20_000, paceMs: 100 };
    const [event, ...more] = await paceOf(asTheyCome);
    assert.ok(event.kind === 'pace' && more.length === 0);
    assert.ok(event.rateHz < 7000 && !event.isAsStated && event.lateS > 0.1, JSON.stringify(event));
    assert.deepEqual(await paceOf({ ...asTheyCome, start: stated }), []);
  });

  it('cut anywhere on their way give the same blocks', async () => {
    const bytes = Uint8Array.from({ length: 4 * 100 }, (_, k) => (k * 37) & 255);
    const read = async (cuts: readonly number[]): Promise<number[]> => {
      const pipe = new PassThrough();
      const source = openSampleStream([streamOf('pipe', pipe)], plain);
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        pipe.write(bytes.slice(at, cut));
        at = cut;
      }
      pipe.end();
      const values: number[] = [];
      for await (const block of (await source).blocks(16)) values.push(...block.voltages);
      return values;
    };
    const whole = await read([]);
    assert.equal(whole.length, 400);
    assert.deepEqual(await read([1, 2, 3, 7, 100, 101, 399]), whole);
  });

  it('of several streams stand side by side', async () => {
    const pipes = [new PassThrough(), new PassThrough()];
    pipes[0].end(Uint8Array.of(1, 2, 3));
    pipes[1].end(Uint8Array.of(11, 12, 13));
    const source = await openSampleStream(
      pipes.map((pipe, n) => streamOf(`pipe ${n}`, pipe)),
      { ...plain, type: 'i8', inputs: 1 },
    );
    assert.equal(source.inputs, 2);
    const blocks = [];
    for await (const block of source.blocks(8)) blocks.push([...block.voltages]);
    assert.deepEqual(blocks, [[1, 2, 3, 11, 12, 13]]);
  });

  it('that are no numbers, or no voltage, are missing', async () => {
    const pipe = new PassThrough();
    // Four samples of two inputs.
    pipe.end(new Uint8Array(Float32Array.of(1, 2, NaN, 3, 4, -3e38, 5, Infinity).buffer));
    const source = await openSampleStream([streamOf('pipe', pipe)], { ...plain, type: 'f32' });
    for await (const { samples, voltages, gaps } of source.blocks(4)) {
      assert.equal(samples, 4);
      assert.deepEqual([...voltages], [1, 0, 4, 5, 2, 3, 0, 0]);
      assert.deepEqual(
        gaps.map(({ firstInput, firstSample, endSample }) => [firstInput, firstSample, endSample]),
        [
          [0, 1, 2],
          [1, 2, 4],
        ],
      );
    }
  });

  it('that pause go on after what is missing, and report it', async () => {
    const pipe = new PassThrough();
    const events: StreamEvent['kind'][] = [];
    pipe.write(Uint8Array.of(1, 2, 3));
    const source = await openSampleStream(
      [streamOf('pipe', pipe)],
      { ...plain, type: 'i8', inputs: 1 },
      ({ kind }) => {
        events.push(kind);
        if (kind === 'silent') setTimeout(() => pipe.end(Uint8Array.of(4, 5)), 100);
      },
    );
    const blocks = [];
    for await (const block of source.blocks(1024)) blocks.push(kept(block));
    assert.deepEqual(
      blocks.map(({ values }) => values),
      [
        [1, 2, 3],
        [4, 5],
      ],
    );
    assert.deepEqual(events, ['silent', 'again', 'ended']);
    // At least the length of the silence, at a thousand samples per second.
    assert.ok(blocks[1].sinceS >= 0.003 + 0.09, String(blocks[1].sinceS));
  });

  it("by TCP are asked for again when the server goes away; rtl_tcp's greeting is no sample", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      const greeting = Buffer.alloc(12);
      greeting.write('RTL0');
      socket.write(Buffer.concat([greeting, Uint8Array.of(10 * sockets.length, 7)]));
      if (sockets.length === 1) setTimeout(() => socket.destroy(), 50);
    });
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        resolve((server.address() as { port: number }).port);
      });
    });
    const source = await openSampleStream([tcpStream('127.0.0.1', port)], {
      ...plain,
      type: 'i8',
      inputs: 1,
    });
    const values: number[] = [];
    for await (const block of source.blocks(64)) {
      values.push(...block.voltages);
      if (values.length === 4) source.stop();
    }
    assert.deepEqual(values, [10, 7, 20, 7]);
    await source.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('that cannot be opened are all closed, so that the program ends', async () => {
    const closed: string[] = [];
    const stream = (name: string, next: () => Promise<Came>): ByteStream => ({
      name,
      next,
      close: () => {
        closed.push(name);
        return Promise.resolve();
      },
    });
    const good = stream('good', () => Promise.resolve(new Uint8Array(4)));
    const bad = stream('bad', () => Promise.reject(new Error('tags')));
    await assert.rejects(openSampleStream([good, bad], plain), /tags/);
    assert.deepEqual(closed.sort(), ['bad', 'good']);
  });
});

it('of a SigMF file whose samples are of no known kind are refused', async () => {
  const path = join(temporaryFolder('stream-meta'), 'x.sigmf-meta');
  // Of which every object has one.
  const global = { 'core:datatype': 'constructor', 'core:version': '1.0.0' };
  await writeFile(path, JSON.stringify({ global, captures: [{ 'core:sample_start': 0 }], annotations: [] }));
  await assert.rejects(describeSigmf(path), /core:datatype 'constructor' is not read from a stream/);
});
