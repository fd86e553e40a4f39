/**
 * Live images of packets from the network: made if this machine keeps the cadence, else refused with the possible
 * cadence.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { freePort, skipSockets } from '../receive/testing/sockets.js';
import { corella, program, withFolder } from './corella.js';

const SEND =
  'send --simulate --telescope lwasv --stations 4 --rate 400Hz --perfect --duration 6s --loop --format snap2 --channels 4';
const LIVE =
  'live --telescope lwasv --stations 4 --rate 100 --no-page --backend reference --pixels 24 --field 20 --picture sky.png --for 4s --integration 1s';

describe('live images of packets', { skip: await skipSockets() }, () => {
  for (const method of ['', '--direct'])
    it(`${method || 'from visibilities'}: as often as this machine makes them`, () =>
      withFolder(async (folder) => {
        const port = await freePort();
        const live = async (every: string) =>
          corella(folder, ...`${LIVE} --listen ${port} --image ${every} ${method}`.trim().split(' '));
        const words = `${SEND} --to 127.0.0.1:${port}`.split(' ');
        const sender = spawn(process.execPath, [program, ...words], { cwd: folder, stdio: 'ignore' });
        try {
          const refused = await live('20us');
          assert.equal(refused.code, 1, refused.stderr);
          assert.match(
            refused.stderr,
            method === ''
              ? /--image: an image from visibilities takes .* here, and one every 20 µs was asked for; .*image less often, like \d/
              : /--image: a direct image takes .* here, and one every 20 µs was asked for; /,
          );
          assert.deepEqual(await readdir(folder), []);
          const made = await live('1s');
          assert.equal(made.code, 0, made.stderr);
          assert.ok((await readdir(folder)).includes('sky.png'));
        } finally {
          sender.kill('SIGKILL');
          await once(sender, 'close');
        }
      }));
});
