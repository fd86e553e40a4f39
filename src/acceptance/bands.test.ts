/** Two machines with half the band each: their combined result equals that of one machine with all of it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openFile, readFitsImage } from '../formats/index.js';
import { corellaHere, withFolder } from './corella.js';

const well = async (folder: string, line: string): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...line.split(' '));
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
};

async function contents(path: string) {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('no visibilities');
    const all = [];
    for await (const one of file.integrations('own'))
      all.push({ start: one.start, durationS: one.durationS, sums: [...one.visibilities], counts: [...one.counts] }); // prettier-ignore
    return { frequenciesHz: [...file.header.frequenciesHz], all };
  } finally {
    await file.close();
  }
}

describe('parts of the band', () => {
  it('combined are the whole, bit for bit, and so are its images; a part that was missing is reported', () =>
    withFolder(async (folder) => {
      await well(folder, 'simulate --stations 6 --rate 100kHz --duration 600ms --perfect -o sky');
      await well(folder, 'send sky.sigmf-meta --format snap2 --channels 4 --to cap.pcap --lose 3%');
      const live =
        'live --from cap.pcap --telescope lwasv --stations 6 --rate 25000 --integration 100ms --values sums';
      await well(folder, `${live} -o whole.uvh5`);
      await well(folder, `${live} -o low.uvh5 --channels 0-1`);
      await well(folder, `${live} -o high.uvh5 --channels 2-3`);
      await well(folder, 'farm combine high.uvh5 low.uvh5 --values sums -o both.uvh5');
      const whole = await contents(join(folder, 'whole.uvh5'));
      assert.equal(whole.frequenciesHz.length, 4);
      assert.ok(whole.all.length >= 5);
      assert.deepEqual(await contents(join(folder, 'both.uvh5')), whole);
      for (const name of ['whole', 'both'])
        await well(folder, `image ${name}.uvh5 --pixels 40 --no-picture -o ${name}.fits`);
      const [one, both] = await Promise.all(
        ['whole', 'both'].map(async (name) => (await readFitsImage(join(folder, `${name}.fits`))).values),
      );
      const peak = one.reduce((most, value) => (value > most ? value : most), 0);
      assert.ok(peak > 0);
      one.forEach((value, k) => {
        assert.ok(Number.isNaN(value) ? Number.isNaN(both[k]) : Math.abs(value - both[k]) <= 1e-6 * peak);
      });
      // The high half was missing for a while.
      const { start } = whole.all[2];
      const from = new Date(1000 * (start.unixSeconds + start.fraction)).toISOString();
      await well(folder, `convert high.uvh5 late.uvh5 --times ${from}..`);
      const report = JSON.parse(await well(folder, 'farm combine low.uvh5 late.uvh5 -o gap.uvh5 --json')) as {
        absent: { path: string; integrations: number }[];
      };
      assert.deepEqual(report.absent.map(({ path, integrations }) => [path, integrations]), [['late.uvh5', 2]]); // prettier-ignore
      const gap = await contents(join(folder, 'gap.uvh5'));
      assert.equal(gap.all.length, whole.all.length);
      const counts = gap.all.map((integration) => integration.counts.slice(integration.counts.length / 2));
      assert.ok(counts[1].every((count) => count === 0) && counts[2].some((count) => count > 0));
      const outside = await corellaHere(folder, ...`${live} -o x.uvh5 --channels 2-9`.split(' '));
      assert.match(outside.stderr, /--receive-channels: 2-9 is outside the channels received, 0 to 3/);
      const twice = await corellaHere(folder, ...'farm combine low.uvh5 whole.uvh5 -o y.uvh5'.split(' '));
      assert.match(twice.stderr, /holds channels that another holds too/);
    }));
});
