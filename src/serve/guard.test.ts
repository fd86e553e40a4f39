import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openGuard, tokenOf } from './guard.js';

const TOKEN = 'abcdefghijklmnop1234';
const request = (
  headers: Record<string, string>,
  remoteAddress = '127.0.0.1',
  version: readonly [number, number] = [1, 1],
): IncomingMessage =>
  ({
    headers: { host: 'localhost:8080', ...headers },
    httpVersionMajor: version[0],
    httpVersionMinor: version[1],
    socket: { remoteAddress },
  }) as unknown as IncomingMessage;

describe('who may read the page', () => {
  const guard = openGuard({
    host: '0.0.0.0',
    port: () => 8080,
    token: TOKEN,
    names: ['page.example.org'],
  });

  it('this machine without a token, others with it alone', () => {
    assert.ok(guard.mayRead(request({})));
    assert.ok(guard.mayRead(request({}, '::ffff:127.0.0.1')));
    assert.ok(!guard.mayRead(request({}, '10.0.0.7')));
    assert.ok(!guard.mayRead(request({}, '210.127.0.1')), '127. in the middle is not this machine');
    assert.ok(guard.mayRead(request({ authorization: `Bearer ${TOKEN}` }, '10.0.0.7')));
    assert.ok(!guard.mayRead(request({ authorization: `Bearer ${TOKEN}x` }, '10.0.0.7')));
    assert.ok(guard.hasToken(request({ 'sec-websocket-protocol': `corella, token.${TOKEN}` })));
  });

  it('refuses a proxy without a token', () => {
    for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'])
      assert.ok(!guard.mayRead(request({ [name]: '10.0.0.7' })), name);
    assert.ok(!guard.mayRead(request({}, '127.0.0.1', [1, 0])), "nginx's HTTP/1.0");
    // A page of another site whose name resolves to this server.
    assert.ok(!guard.mayRead(request({ host: 'evil.example:8080' })));
    assert.ok(!guard.namesUs(request({ host: 'evil.example:8080' })));
    assert.ok(guard.namesUs(request({ host: 'page.example.org' })));
    assert.ok(!guard.isOurOrigin(request({ origin: 'https://evil.example' })));
  });

  it('a token is made for its owner alone, kept, and refused where it is short', async () => {
    const path = join(temporaryFolder('token'), 'token');
    const made = await tokenOf(path);
    assert.ok(made.length >= 16);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal(await readFile(path, 'utf8'), `${made}\n`);
    assert.equal(await tokenOf(path), made);
    await writeFile(path, 'fifteen-letters\n');
    await assert.rejects(tokenOf(path), /holds no token/);
    await assert.rejects(tokenOf(`${path}-none`, 'refuse'), /is not there/);
  });
});
