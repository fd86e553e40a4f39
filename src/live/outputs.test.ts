import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { checkObservation } from '../observation/index.js';
import { checkLive } from './index.js';

describe('the files of a live run', () => {
  const folder = temporaryFolder('live-outputs');
  const at = (name: string): string => join(folder, name);
  const checked = (products: readonly object[], overwrite?: true): Promise<unknown> =>
    checkLive(
      checkObservation({
        corella: 1,
        source: { listen: '4399' },
        telescope: 'lwasv',
        ...(overwrite && { overwrite }),
        products,
      }),
    );
  const beams = (name: string, more = {}) => ({ beams: at(name), towards: ['CygA'], ...more });

  it('are each of one product, with those whose names are derived', async () => {
    await symlink('other.uvh5', at('link.uvh5'));
    const pairs = [
      [{ visibilities: at('v.uvh5') }, { visibilities: at('./v.uvh5') }, 'v.uvh5'],
      [{ visibilities: at('link.uvh5') }, { visibilities: at('other.uvh5') }, 'other.uvh5'],
      [beams('b.fil'), beams('b.sf'), 'b-samples.fil'],
      [beams('b.fil', { grid: '2x1', spacing: 1 }), beams('b-2.fil'), 'b-2.fil'],
      [{ spectra: at('s.sigmf-meta') }, { spectra: at('s.sigmf-data') }, 's.sigmf-data'],
      [{ images: at('i.fits'), picture: true }, { images: at('i.png') }, 'i.png'],
      [{ gains: at('g.json') }, { gains: at('h.json'), 'delays-out': at('g.json') }, 'g.json'],
    ] as const;
    for (const [x, y, name] of pairs)
      await assert.rejects(checked([x, y]), { where: at(name) }, JSON.stringify([x, y]));
    await checked([{ visibilities: at('v.uvh5') }, beams('b.fil'), beams('c.sf'), { images: at('i.png') }]);
  });

  it('replace no recording and no counts of beams', async () => {
    for (const name of ['s.sigmf-data', 'b-samples.fil']) await writeFile(at(name), 'the only copy');
    for (const product of [{ spectra: at('s.sigmf-meta') }, beams('b.fil')]) {
      await assert.rejects(checked([product]), { kind: 'file.exists' });
      await checked([product], true);
    }
  });

  it('of more beams than can be made are refused', async () => {
    await assert.rejects(
      checked([beams('b.fil', { grid: '99999x99999', spacing: 1 })]),
      /grid: .*take 1 to 4096/,
    );
  });
});
