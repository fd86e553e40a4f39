/** A frequency outside the telescope's band is reported: with a wrong one every position on the sky is wrong. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { corella, withFolder } from './corella.js';

// With channels, the centre is half a channel below that of the band.
const words = /1\.(4|3999\d*) GHz is outside the band of lwasv, 3 MHz to 88 MHz/;
const short = ['--telescope', 'lwasv', '--stations', '4', '--rate', '100kHz', '--duration', '40ms'];

it('a band outside the telescope’s gives a warning, and one that reaches into it does not', () =>
  withFolder(async (folder) => {
    const run = async (...line: string[]): Promise<string> => {
      const { code, stdout, stderr } = await corella(folder, ...line);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.match(
      await run('simulate', ...short, '--frequency', '1.4GHz', '-o', 'odd.sigmf-meta'),
      words,
      'simulate',
    );
    assert.match(
      await run('correlate', 'odd.sigmf-meta', '--channels', '8', '-o', 'odd.uvh5'),
      words,
      'correlate',
    );
    const direct = ['image', '--direct', 'odd.sigmf-meta', '--channels', '8', '--field', '5', '--json'];
    const { outsideBand } = JSON.parse(await run(...direct)) as { outsideBand?: object };
    assert.deepEqual(outsideBand, { lowHz: 3e6, highHz: 88e6 });
    assert.match(
      await run('live', 'odd.sigmf-meta', '--channels', '8', '-o', 'live.uvh5', '--json'),
      words,
      'live',
    );
    const edge = await run('simulate', ...short, '--frequency', '88.04MHz', '-o', 'edge.sigmf-meta');
    assert.doesNotMatch(edge, /outside/);
  }));
