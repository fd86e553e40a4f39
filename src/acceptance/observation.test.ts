import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corella, corellaHere } from './corella.js';

const folder = temporaryFolder('observation');
const products = {
  visibilities: '{ visibilities: run.uvh5, integration: 20ms }',
  images: '{ images: sky.fits, every: 10ms, method: direct, picture: false }',
  flat: '{ images: flat.fits, every: 4ms }',
  spectra: '{ spectra: ch.sigmf-meta }',
} as const;

const ran = async (...words: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await corella(folder, ...words);
  assert.equal(code, 0, stderr);
  return stdout;
};

const write = (name: string, made: readonly string[], more = ''): Promise<void> =>
  writeFile(
    join(folder, name),
    `corella: 1\nsource: { recording: v.sigmf-meta }\nfront: { channels: 16, bits: 4 }\nflags: { inputs: [3] }\n${more}products:\n${made.map((one) => `  - ${one}\n`).join('')}`,
  );

/** FITS files with the same header, and nearly equal numbers. */
function assertAlike(x: Buffer, y: Buffer): void {
  const data = x.indexOf('END     ', 0, 'latin1');
  assert.ok(x.subarray(0, data).equals(y.subarray(0, data)));
  assert.equal(x.length, y.length);
  const start = Math.ceil((data + 80) / 2880) * 2880;
  const values = (of: Buffer): number[] =>
    Array.from({ length: Math.floor((of.length - start) / 4) }, (_, n) => of.readFloatBE(start + 4 * n));
  const [ours, theirs] = [values(x), values(y)];
  const peak = theirs.reduce(
    (most, value) => (Number.isNaN(value) ? most : Math.max(most, Math.abs(value))),
    0,
  );
  assert.ok(peak > 0);
  ours.forEach((value, n) => {
    assert.ok(Number.isNaN(value) === Number.isNaN(theirs[n]) || !(Math.abs(value) > 0));
    assert.ok(!(Math.abs(value - theirs[n]) > 1e-5 * peak), `pixel ${n}: ${value} and ${theirs[n]}`);
  });
}

describe('an observation', () => {
  before(async () => {
    await ran(
      'simulate',
      '--telescope',
      'lwasv',
      '--stations',
      '6',
      '--duration',
      '60ms',
      '-o',
      'v.sigmf-meta',
    );
  });

  it('with two products in one file is refused by check and run, and nothing is replaced', async () => {
    const beams = (path: string): string => `{ beams: ${path}, towards: [CygA] }`;
    for (const [first, second, where] of [
      [products.visibilities, products.visibilities, 'run.uvh5'],
      // What is beside them has the same name.
      [beams('b.fil'), beams('b.sf'), 'b-samples.fil'],
      ['{ images: sky.fits, every: 10ms }', '{ images: sky.fit, every: 10ms }', 'sky.png'],
    ] as const) {
      await write('twice.yaml', [first, second]);
      for (const command of ['check', 'run']) {
        const { code, stderr } = await corellaHere(folder, command, 'twice.yaml', '--quiet');
        assert.equal(code, 1, `${command}: ${first} and ${second}`);
        assert.match(stderr, new RegExp(`^corella: ${where}: .*give each product a path of its own`));
      }
    }
    const names = await readdir(folder);
    assert.ok(!names.some((name) => /^(?:run|b|sky)[.-]/.test(name)), names.join());
  });

  it('makes several products at once, each with the same bytes as the one made alone', async () => {
    await write('all.yaml', Object.values(products));
    await ran('run', 'all.yaml', '--into', 'all');
    for (const [name, product] of Object.entries(products)) {
      await write(`${name}.yaml`, [product]);
      await ran('run', `${name}.yaml`, '--into', 'alone');
    }
    const names = await readdir(join(folder, 'all'));
    assert.deepEqual(names.sort(), (await readdir(join(folder, 'alone'))).sort());
    assert.ok(names.length >= 6);
    for (const name of names) {
      const [together, alone] = await Promise.all(
        ['all', 'alone'].map((one) => readFile(join(folder, one, name))),
      );
      // Sums of floats depend on how they are divided: images are the same within 1e-5 of the peak.
      if (name.endsWith('.fits')) assertAlike(together, alone);
      else if (!name.endsWith('.png')) assert.ok(together.equals(alone), `${name} differs`);
    }
  });

  it('is in the history of what it made, and makes the same bytes again', async () => {
    await write('other.yaml', ['{ visibilities: run.uvfits, integration: 20ms }']);
    await ran('run', 'other.yaml', '--into', 'alone');
    for (const name of ['run.uvh5', 'run.uvfits', 'sky.fits', 'flat.fits', 'ch.sigmf-meta']) {
      await writeFile(join(folder, 'again.yaml'), await ran('inspect', join('alone', name), '--plan'));
      await ran('run', 'again.yaml', '--into', 'again', '--overwrite');
      const [first, again] = await Promise.all(
        ['alone', 'again'].map((one) => readFile(join(folder, one, name))),
      );
      assert.ok(first.equals(again), `${name} differs`);
    }
  });

  it('refuses bad files by line, column and field, and suggests what was meant', async () => {
    await writeFile(
      join(folder, 'bad.yaml'),
      'corella: 1\nsource: { recording: v.sigmf-meta }\nfront:\n  chanels: 16\nproducts:\n  - spectra: c.sigmf-meta\n',
    );
    const { code, stderr } = await corellaHere(folder, 'run', 'bad.yaml');
    assert.equal(code, 1);
    assert.match(stderr, /bad\.yaml:4:3: front\.chanels: .*channels/);
  });

  it('refuses what cannot be done before anything is written', async () => {
    const track = 'front: { channels: 16, delays: { track: CygA } }\n';
    await writeFile(
      join(folder, 'track.yaml'),
      `corella: 1\nsource: { recording: v.sigmf-meta }\n${track}products:\n  - spectra: tracked.sigmf-meta\n`,
    );
    const { code, stderr } = await corellaHere(folder, 'run', 'track.yaml');
    assert.equal(code, 1);
    assert.match(stderr, /products\.spectra: tracked spectra/);
    assert.ok(!(await readdir(folder)).some((name) => name.startsWith('tracked')));
  });

  it('refuses a part of the telescope that does not have the inputs of the recording', async () => {
    await writeFile(
      join(folder, 'few.yaml'),
      'corella: 1\nsource: { recording: v.sigmf-meta }\nstations: 3\nproducts:\n  - visibilities: few.uvh5\n',
    );
    const { code, stderr } = await corellaHere(folder, 'check', 'few.yaml');
    assert.equal(code, 1);
    assert.match(stderr, /v\.sigmf-meta: has 12 inputs, 6 × 2, where lwasv has 3 stations/);
  });

  it('is checked beforehand: the plan, sizes and free disk', async () => {
    const facts = JSON.parse(await ran('check', 'all.yaml', '--json')) as {
      readonly channels: number;
      readonly products: readonly { readonly product: string; readonly freeBytes: number }[];
    };
    assert.equal(facts.channels, 16);
    assert.deepEqual(
      facts.products.map(({ product }) => product),
      ['visibilities', 'images', 'images', 'spectra'],
    );
    assert.ok(facts.products.every(({ freeBytes }) => freeBytes > 0));
  });

  it('is refused beforehand where a run would refuse: no such folder, an output in place of the input', async () => {
    const refused = async (source: string, product: string, words: RegExp): Promise<void> => {
      const text = `corella: 1\nsource: ${source}\noverwrite: true\nproducts:\n  - ${product}\n`;
      await writeFile(join(folder, 'refused.yaml'), text);
      for (const command of ['check', 'run']) {
        const { code, stderr } = await corellaHere(folder, command, 'refused.yaml');
        assert.equal(code, 1, command);
        assert.match(stderr, words, command);
      }
    };
    const recording = '{ recording: v.sigmf-meta }';
    await refused(recording, '{ visibilities: nowhere/v.uvh5 }', /the folder .*nowhere does not exist/);
    await refused(
      recording,
      '{ spectra: v.sigmf-meta }',
      /v\.sigmf-(meta|data): is the very file that is read/,
    );
    await ran('correlate', 'v.sigmf-meta', '--channels', '16', '--integration', '20ms', '-o', 'sums.uvh5');
    const sums = '{ visibilities: sums.uvh5 }';
    await refused(sums, '{ visibilities: nowhere/v.uvh5 }', /the folder .*nowhere does not exist/);
    await refused(sums, '{ visibilities: sums.uvh5 }', /sums\.uvh5: .*is the very file that is read/);
  });

  it('of live data is checked beforehand as far as that is possible', async () => {
    const live = (source: string, telescope: string): Promise<void> =>
      writeFile(
        join(folder, 'live.yaml'),
        `corella: 1\nsource: { listen: 4015, format: ${source} }\ntelescope: ${telescope}\nproducts:\n  - visibilities: live.uvh5\n`,
      );
    await live('chips', 'lwasv');
    const said = await ran('check', 'live.yaml');
    assert.match(said, /telescope: lwasv, 256 stations × 2\n/);
    assert.match(said, /visibilities: live\.uvh5; .* free/);
    assert.ok(!(await readdir(folder)).includes('live.uvh5'));
    // An interface of the machine that observes.
    await writeFile(
      join(folder, 'other.yaml'),
      'corella: 1\nsource: { listen: "239.1.2.3:4015", interface: eth77 }\ntelescope: lwasv\nproducts:\n  - visibilities: live.uvh5\n',
    );
    const here = await corellaHere(folder, 'check', 'other.yaml');
    assert.equal(here.code, 0, here.stderr);
    assert.match(
      here.stdout + here.stderr,
      /on this machine there is no interface 'eth77' .*check\.not-here/,
    );
    const run = await corellaHere(folder, 'run', 'other.yaml');
    assert.deepEqual([run.code, run.stderr.includes("there is no interface 'eth77'")], [1, true], run.stderr);
    await live('chips', 'lwasvv');
    const { code, stderr } = await corellaHere(folder, 'check', 'live.yaml');
    assert.equal(code, 1);
    assert.match(stderr, /lwasvv/);
  });
});
