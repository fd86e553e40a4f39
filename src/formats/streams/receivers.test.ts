/** Against small servers that follow the protocols' specifications byte by byte. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { ByteStream } from '../io/byte-stream.js';
import { rtlTcpStream } from './rtl-tcp.js';
import { zmqStream } from './zmtp.js';

async function serve(test: TestContext, talk: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function read(stream: ByteStream, length: number): Promise<number[]> {
  const bytes: number[] = [];
  for (let quiet = 0; bytes.length < length && quiet < 100;) {
    const came = await stream.next(50);
    if (came === 'ended') break;
    if (came === 'quiet') quiet++;
    else bytes.push(...came);
  }
  await stream.close();
  return bytes;
}

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');

describe('rtl_tcp', () => {
  it('is set to rate and frequency, and its greeting is no sample, cut anywhere', async (test) => {
    for (const cut of [1, 4, 11, 12]) {
      const got: Buffer[] = [];
      const port = await serve(test, (socket) => {
        socket.on('data', (data) => got.push(data));
        const bytes = Buffer.concat([
          Buffer.from('RTL0'),
          hex('00000005 0000001d'),
          Buffer.from([9, 8, 7, 6]),
        ]);
        socket.setNoDelay(true);
        socket.write(bytes.subarray(0, Math.min(cut, 12)));
        // The rest follows after the settings.
        socket.on('data', () => Buffer.concat(got).length >= 10 && socket.write(bytes.subarray(12)));
        if (cut < 12) setTimeout(() => socket.write(bytes.subarray(cut, 12)), 20);
      });
      const settings = { sampleRateHz: 2_400_000, centreFrequencyHz: 1_420_000_000 };
      assert.deepEqual(await read(rtlTcpStream('127.0.0.1', port, settings), 4), [9, 8, 7, 6]);
      // 2400000 = 0x249f00, 1420000000 = 0x54a37b00
      assert.equal(Buffer.concat(got).toString('hex'), '0200249f000154a37b00');
    }
  });

  it('refuses what it cannot be set to, and another server', async (test) => {
    const settings = { sampleRateHz: 500_000, centreFrequencyHz: 1e8 };
    assert.throws(() => rtlTcpStream('h', 1, settings), /cannot sample at 500000 Hz/);
    const odd = { sampleRateHz: 2_400_000, centreFrequencyHz: 1e8 + 0.5 };
    assert.throws(() => rtlTcpStream('h', 1, odd), /cannot be set/);
    const port = await serve(test, (socket) => socket.write('HTTP/1.1 200 OK\r\n'));
    await assert.rejects(
      rtlTcpStream('127.0.0.1', port, { ...odd, centreFrequencyHz: 1e8 }).next(50),
      /does not greet as rtl_tcp does/,
    );
  });
});

describe('ZeroMQ', () => {
  /** Signature, 3.1, NULL, not a server. */
  const greeting = hex(`ff 00000000 00000000 7f 03 01 4e554c4c ${'00'.repeat(16)} 00 ${'00'.repeat(31)}`);
  const readyOf = (type: string): Buffer =>
    Buffer.concat([
      Buffer.from([4, 22 + type.length]),
      Buffer.from([5]),
      Buffer.from('READY'),
      Buffer.from([11]),
      Buffer.from('Socket-Type'),
      Buffer.from([0, 0, 0, type.length]),
      Buffer.from(type),
    ]);

  it('is greeted, asked for everything, and gives the bytes of messages, short and long, in pieces', async (test) => {
    const long = Buffer.from(Array.from({ length: 300 }, (_, k) => k & 255));
    const messages = Buffer.concat([
      hex('00 03 010203'),
      // A command (PING) contains no samples; a message of two frames does.
      hex('04 07 0450494e47 0000'),
      hex('01 01 04'),
      hex('00 00'),
      Buffer.concat([hex('02 000000000000012c'), long]),
    ]);
    for (const [type, ours] of [
      ['PUB', 'SUB'],
      ['PUSH', 'PULL'],
    ]) {
      const got: Buffer[] = [];
      let asked: () => void = () => undefined;
      const allAsked = new Promise<void>((resolve) => (asked = resolve));
      const port = await serve(test, (socket) => {
        socket.setNoDelay(true);
        socket.on('data', (data) => {
          got.push(data);
          const all = Buffer.concat(got).toString('latin1');
          if (all.includes(type === 'PUB' ? '\x00\x01\x01' : 'PULL')) asked();
        });
        const bytes = Buffer.concat([greeting, readyOf(type), messages]);
        // In uneven pieces.
        let at = 0;
        const more = (): void => {
          if (at >= bytes.length) return;
          socket.write(bytes.subarray(at, at + 37));
          at += 37;
          setTimeout(more, 1);
        };
        more();
      });
      assert.deepEqual(await read(zmqStream('127.0.0.1', port), 304), [1, 2, 3, 4, ...long], type);
      await allAsked;
      const said = Buffer.concat(got);
      assert.equal(said.subarray(0, 64).toString('hex'), greeting.toString('hex').replace('0301', '0300'));
      assert.equal(
        said.subarray(64).toString('hex'),
        readyOf(ours).toString('hex') + (type === 'PUB' ? '000101' : ''),
      );
    }
  });

  it('with tags among its samples is refused, and samples that begin alike are not', async (test) => {
    const tagged = hex('f05f01 4000000000000000 0000000000000000 0102');
    const alike = hex('f05f01 4000000000000000 0000000000000040 0102');
    for (const body of [tagged, alike]) {
      const port = await serve(test, (socket) =>
        socket.write(Buffer.concat([greeting, readyOf('PUSH'), Buffer.from([0, body.length]), body])),
      );
      const reading = read(zmqStream('127.0.0.1', port), body.length);
      if (body === tagged) await assert.rejects(reading, /sends tags among its samples/);
      else assert.deepEqual(await reading, [...body]);
    }
  });

  it('of another kind, or with a password, is refused', async (test) => {
    const plain = Buffer.from(greeting);
    plain.set(Buffer.from('PLAIN'), 12);
    const refused: readonly (readonly [Buffer, RegExp])[] = [
      [Buffer.concat([greeting, readyOf('REP')]), /is a REP socket/],
      // Of which every object has one.
      [Buffer.concat([greeting, readyOf('constructor')]), /is a constructor socket/],
      [plain, /asks for the mechanism PLAIN/],
      [Buffer.from('x'.repeat(64)), /does not greet as ZeroMQ/],
    ];
    for (const [bytes, words] of refused) {
      const port = await serve(test, (socket) => socket.write(bytes));
      await assert.rejects(zmqStream('127.0.0.1', port).next(200), words);
    }
  });
});
