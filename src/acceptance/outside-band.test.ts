/** A frequency that the telescope does not hear is told: with a wrong one every place on the sky is wrong. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { corella, withFolder } from './corella.js';

// Of channels the middle is half of one below the band’s.
const words = /1\.(4|3999\d*) GHz is outside the band of lwasv, 3 MHz to 88 MHz/;
const short = ['--telescope', 'lwasv', '--stations', '4', '--rate', '100kHz', '--duration', '40ms'];

it('a band outside the telescope’s is told, and one that reaches into it is not', () =>
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
