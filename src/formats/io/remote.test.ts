import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { confineReading, openInput } from './input.js';
import { isUnder } from './remote.js';

const bytes = Uint8Array.from({ length: 300_000 }, (_, k) => (k * 31) % 251);

/** Serves byte ranges like a web server; `etag` may change in between. */
const file = { etag: '"one"', bytes, asked: [] as string[] };
function ranges(request: IncomingMessage, response: ServerResponse): void {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  file.asked.push(request.headers.range ?? '');
  if (!range) {
    response.end(file.bytes);
    return;
  }
  const [first, last] = [Number(range[1]), Math.min(Number(range[2]), file.bytes.length - 1)];
  response
    .writeHead(206, { 'content-range': `bytes ${first}-${last}/${file.bytes.length}`, etag: file.etag })
    .end(file.bytes.subarray(first, last + 1));
}

async function served(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('a file on a web server', () => {
  it('is read by ranges, small reads together', () =>
    served(ranges, async (url) => {
      const input = await openInput(`${url}/x.bin`);
      assert.equal(input.sizeBytes, bytes.length);
      file.asked.length = 0;
      for (const at of [0, 10, 70_000, 299_990]) {
        const some = new Uint8Array(10);
        await input.readExactly(some, at);
        assert.deepEqual(some, bytes.slice(at, at + 10));
      }
      assert.equal(file.asked.length, 1);
      const most = new Uint8Array(200_000);
      await input.readExactly(most, 50_000);
      assert.deepEqual(most, bytes.slice(50_000, 250_000));
      assert.equal(file.asked[1], 'bytes=50000-249999');
      await assert.rejects(input.readExactly(new Uint8Array(20), 299_990), /ends 10 B too early/);
      await input.close();
    }));

  it('that changes meanwhile is noticed', () =>
    served(ranges, async (url) => {
      const read = async (change: () => void) => {
        const input = await openInput(`${url}/x.bin`);
        change();
        await input.readExactly(new Uint8Array(100_000), 0);
      };
      await assert.rejects(
        read(() => (file.etag = '"two"')),
        /has changed since it was opened: another version/,
      );
      await assert.rejects(
        read(() => (file.bytes = bytes.slice(0, 200_000))),
        /it has 200000 bytes, and had 300000/,
      );
      file.bytes = bytes;
    }));

  it('is refused where the server answers no ranges, sends elsewhere, or has it not', async () => {
    await served(
      (_, response) => response.end(bytes),
      (url) => assert.rejects(openInput(`${url}/x`), /does not serve byte ranges/),
    );
    await served(
      (_, response) => response.writeHead(302, { location: 'http://elsewhere/' }).end(),
      (url) => assert.rejects(openInput(`${url}/x`), /leads elsewhere, to http:\/\/elsewhere/),
    );
    await served(
      (_, response) => response.writeHead(404).end(),
      (url) => assert.rejects(openInput(`${url}/x`), /there is no such file/),
    );
  });

  it('is asked for again where the network fails', () => {
    let fails = 2;
    return served(
      (request, response) => {
        if (fails-- > 0) request.socket.destroy();
        else ranges(request, response);
      },
      async (url) => {
        assert.equal((await openInput(`${url}/x`)).sizeBytes, bytes.length);
      },
    );
  });

  it('is read under the addresses that were given alone', () =>
    served(ranges, async (url) => {
      const release = await confineReading([`${url}/data`]);
      try {
        await (await openInput(`${url}/data/x.bin`)).close();
        for (const path of [
          '/other/x.bin',
          '/data/../other/x',
          '/database/x',
          '/data/%2e%2e/x',
          '/data/a%2Fb',
        ])
          await assert.rejects(openInput(url + path), /is outside/, path);
        await assert.rejects(openInput('/etc/hostname'), /is outside/);
      } finally {
        release();
      }
      assert.equal(isUnder('http://user@host/data/x', ['http://host/data']), false);
      assert.equal(isUnder('http://host.evil/data/x', ['http://host']), false);
    }));
});
