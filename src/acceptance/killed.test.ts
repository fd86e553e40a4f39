/**
 * Every product of the registry, while its run is killed, its disk fills up, or a second process writes the same: a
 * file under its final name is readable, and the next run makes the same bytes.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { productNames, type ProductName } from '../products/index.js';
import { noSets as skip } from '../formats/testing/altered-sets.js';
import { corella, corellaHere, program } from './corella.js';

const folder = temporaryFolder('killed');
const MODEL = 'CygA';

const noSmallDisk =
  spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs -o size=64k none "$0"', '/mnt']).status !== 0 &&
  'no file system of a small size can be made here (unshare)';

/** Runs the program where `into` is a disk of this size; what is on it afterwards is in INTO-copy. */
async function ranOnSmallDisk(
  into: string,
  sizeKb: number,
  asked: readonly string[],
): Promise<{ readonly status: number | null; readonly stderr: string }> {
  await mkdir(join(folder, into), { recursive: true });
  await mkdir(join(folder, `${into}-copy`));
  const script = `mount -t tmpfs -o size=${sizeKb}k none ${into} && "$@"; code=$?; cp -a ${into}/. ${into}-copy; exit $code`;
  const run = [process.execPath, program, ...asked];
  const { status, stderr } = spawnSync('unshare', ['-Urm', 'sh', '-c', script, 'sh', ...run], {
    cwd: folder,
  });
  return { status, stderr: String(stderr) };
}

/** A new product without a line here makes the first test fail. */
const trials: Readonly<Record<ProductName, readonly string[]>> = {
  visibilities: ['visibilities: v.uvh5, integration: 5ms', 'visibilities: v.uvfits, integration: 5ms'],
  images: [
    'images: i.fits, every: 50ms, picture: false, pixels: 32, field: 10',
    'images: d.fits, every: 5ms, method: direct, picture: false, pixels: 32, field: 10',
  ],
  beams: ['beams: b.fil, towards: [CygA]'],
  spectra: ['spectra: s.sigmf-meta'],
  gains: [`gains: g.json, sources: ${MODEL}, every: 50ms, integration: 25ms`],
};
/** Fraction of its bytes when it is killed. */
const PART = 0.3;
const all = Object.values(trials).flat();

const here = (...words: readonly string[]) => corellaHere(folder, ...words);
async function ran(...words: readonly string[]): Promise<void> {
  const { code, stderr } = await here(...words);
  assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}`);
}
const fileOf = (product: string): string => `${all.indexOf(product)}.yaml`;
const words = (product: string, into: string): string[] => [
  'run',
  fileOf(product),
  '--into',
  into,
  '--backend',
  'cpu',
  '--quiet',
  '--overwrite',
];
const namesIn = (into: string): Promise<string[]> => readdir(join(folder, into)).catch(() => []);
const isPartialFile = (name: string): boolean => name.startsWith('.');

async function bytesIn(into: string): Promise<number> {
  const sizes = (await namesIn(into)).map((name) => stat(join(folder, into, name)).then(({ size }) => size, () => 0)); // prettier-ignore
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Every file under its final name is readable. */
async function assertReadable(into: string): Promise<void> {
  for (const name of await namesIn(into)) {
    if (isPartialFile(name) || /\.(?:fil\.json|sigmf-data|csv)$/.test(name)) continue;
    const path = join(into, name);
    // This reads the whole file.
    await ran('compare', path, path);
  }
}

/** Repeats the run over the existing files, and compares with an undisturbed one. */
async function assertRepeats(product: string, into: string): Promise<void> {
  await ran('recover', into, '--remove');
  await ran(...words(product, into));
  assert.deepEqual(await namesIn(into), await namesIn(`whole-${fileOf(product)}`));
  for (const name of await namesIn(into)) {
    const [made, whole] = [into, `whole-${fileOf(product)}`].map((one) => readFile(join(folder, one, name)));
    assert.ok((await made).equals(await whole), `${name} differs`);
  }
}

describe('what becomes of each product', () => {
  before(async () => {
    const sky = [
      'simulate',
      '--telescope',
      'lwasv',
      '--stations',
      '6',
      '--rate',
      '400kHz',
      '--duration',
      '500ms',
    ];
    await ran(...sky, '-o', 'v', '--quiet');
    for (const product of all) {
      const text = `corella: 1\nsource: { recording: v.sigmf-meta }\nfront: { channels: 16, bits: 4 }\nproducts:\n  - { ${product} }\n`;
      await writeFile(join(folder, fileOf(product)), text);
      await ran(...words(product, `whole-${fileOf(product)}`));
    }
  });

  it('is tried for all that there are', () => {
    assert.deepEqual(Object.keys(trials).sort(), [...productNames].sort());
  });

  for (const product of all)
    it(`after kill -9: ${product}`, async () => {
      const wholeBytes = await bytesIn(`whole-${fileOf(product)}`);
      const into = `killed-${fileOf(product)}`;
      const child = spawn(process.execPath, [program, ...words(product, into)], { cwd: folder, stdio: 'ignore' }); // prettier-ignore
      const end = once(child, 'close');
      while (child.exitCode === null && !((await bytesIn(into)) > PART * wholeBytes))
        await new Promise((resolve) => setTimeout(resolve, 2));
      child.kill('SIGKILL');
      await end;
      await assertReadable(into);
      await here('recover', into);
      await assertReadable(into);
      await assertRepeats(product, into);
    });

  for (const product of all)
    it(`on a full disk: ${product}`, { skip: noSmallDisk }, async () => {
      const into = `full-${fileOf(product)}`;
      const size = Math.ceil((await bytesIn(`whole-${fileOf(product)}`)) / 2 / 4096) * 4;
      const { status, stderr } = await ranOnSmallDisk(into, size, words(product, into));
      assert.ok(status === 1 || status === 2, `${status} ${stderr}`);
      assert.match(stderr, /full|has .* left/);
      await assertReadable(`${into}-copy`);
      assert.ok(!(await namesIn(`${into}-copy`)).some(isPartialFile));
      await rm(join(folder, into), { recursive: true });
      await assertRepeats(product, `${into}-copy`);
    });

  for (const product of all)
    it(`beside a second process: ${product}`, async () => {
      const into = `twice-${fileOf(product)}`;
      const codes = await Promise.all([0, 1].map(() => corella(folder, ...words(product, into))));
      assert.ok(
        codes.some(({ code }) => code === 0),
        codes.map(({ stderr }) => stderr).join(),
      );
      await assertReadable(into);
      await assertRepeats(product, into);
    });
});

describe('a Measurement Set beside another product', () => {
  const asked = ['run', 'set.yaml', '--backend', 'cpu', '--quiet', '--overwrite'];
  before(async () => {
    const text =
      'corella: 1\nsource: { recording: v.sigmf-meta }\nfront: { channels: 16, bits: 4 }\nproducts:\n' +
      '  - { visibilities: small/v.ms, integration: 5ms }\n  - { visibilities: beside-set.uvh5, integration: 5ms }\n';
    await writeFile(join(folder, 'set.yaml'), text);
    await mkdir(join(folder, 'small'));
  });
  async function assertOtherIsWhole(): Promise<void> {
    await ran('compare', 'beside-set.uvh5', join(`whole-${fileOf(all[0])}`, 'v.uvh5'));
    await rm(join(folder, 'beside-set.uvh5'));
  }

  it(
    'whose disk fills up holds what was finished, and the other goes on',
    { skip: skip || noSmallDisk },
    async () => {
      const { status, stderr } = await ranOnSmallDisk('small', 7000, asked);
      assert.equal(status, 2, stderr);
      assert.match(stderr, /small\/v\.ms: cannot be written: the disk of .* is full; .* is whole and holds/);
      assert.deepEqual(await namesIn('small-copy'), ['v.ms']);
      await ran('compare', 'small-copy/v.ms', 'small-copy/v.ms');
      await assertOtherIsWhole();
    },
  );

  it('whose process dies ends with the reason, leaves nothing, and the other goes on', { skip }, async () => {
    const child = spawn(process.execPath, [program, ...asked], { cwd: folder });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const end = once(child, 'close') as Promise<[code: number]>;
    let writing: number | undefined;
    while (child.exitCode === null && writing === undefined) {
      writing = (await namesIn('small')).length > 0 ? await childOf(child.pid ?? 0) : undefined;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    process.kill(writing ?? 0, 'SIGKILL');
    assert.deepEqual([(await end)[0], await namesIn('small')], [2, []], stderr);
    assert.match(stderr, /v\.ms: cannot be written by casacore \(casacore's process ended by SIGKILL/);
    await assertOtherIsWhole();
  });
});

/** Its process that writes a set. */
async function childOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  for (const one of children.trim().split(' ').filter(Boolean))
    if ((await readFile(`/proc/${one}/cmdline`, 'utf8')).includes('set-process')) return Number(one);
  return undefined;
}
