/** The filter's taps as floats, and filters of many taps, by the command line. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { join } from 'node:path';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { corellaHere } from './corella.js';

void describe('taps', () => {
  const folder = temporaryFolder('taps');
  const run = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await corellaHere(folder, ...line.split(' '));
    assert.equal(code, 0, `${line}: ${stderr}`);
    return stdout;
  };
  before(() => run('simulate --telescope eda2 --stations 2 --rate 400kHz --duration 20ms -o v.sigmf-meta'));

  /** Means of the first pair, [c]. */
  async function powers(words: string): Promise<number[]> {
    await run(`correlate v.sigmf-meta --channels 8 --integration 1s -o out.uvh5 --overwrite ${words}`);
    const file = await openFile(join(folder, 'out.uvh5'));
    try {
      assert.ok(file.kind === 'visibilities');
      for await (const { visibilities, counts, polarisations: p } of file.integrations())
        return Array.from({ length: 8 }, (_, c) => visibilities[2 * 3 * c * p * p] / counts[3 * c]);
      throw new Error('no integration');
    } finally {
      await file.close();
    }
  }

  void it('of floats leave no floor, and the same powers to a thousandth', async () => {
    const beyond = async (words: string): Promise<number> =>
      (
        JSON.parse(await run(`channelise --response --filter sharp --json --overwrite ${words}`.trim())) as {
          leakageBeyondDb: number;
        }
      ).leakageBeyondDb;
    const [rounded, floats] = [await beyond(''), await beyond('--float-taps')];
    assert.ok(floats < rounded - 5, `${floats} dB, rounded ${rounded} dB`);
    const [plain, wide] = [await powers('--bits float'), await powers('--bits float --float-taps')];
    plain.forEach((power, c) => {
      assert.ok(Math.abs(wide[c] / power - 1) < 1e-3, `channel ${c}`);
      assert.notEqual(wide[c], power);
    });
  });

  void it('may be 200, and are refused beyond 256', async () => {
    const many = await powers('--taps 200 --bits float');
    assert.ok(many.every((power) => power > 0));
    const { stderr } = await corellaHere(
      folder,
      ...'correlate v.sigmf-meta --channels 8 --taps 257 -o x.uvh5'.split(' '),
    );
    assert.match(stderr, /--taps: 257 is out of range; give a whole number, from 1 to 256/);
  });
});
