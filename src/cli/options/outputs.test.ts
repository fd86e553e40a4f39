import { checkOutputs, recordingPaths } from '../../formats/index.js';
import assert from 'node:assert/strict';
import { link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { Command } from 'commander';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { checkDemoFolder, checkPngName, refuseNamedTwice } from './outputs.js';

it('results never replace what they are made from, by whatever name, and land where one can write', async () => {
  const folder = temporaryFolder('outputs');
  const [from, other] = [join(folder, 'a.uvh5'), join(folder, 'b.uvh5')];
  await writeFile(from, 'x');
  await link(from, other);
  await checkOutputs({ paths: [join(folder, 'new.fits')], from });
  await checkOutputs({ paths: [from], overwrite: true });
  for (const path of [from, other, join(folder, '.', 'a.uvh5')]) {
    await assert.rejects(
      checkOutputs({ paths: [join(folder, 'c'), path], from }),
      /the very file that is read/,
    );
  }
  await assert.rejects(checkOutputs({ paths: [join(folder, 'nowhere', 'x.fits')] }), /nowhere/);
});

it('nothing that is there is replaced unless someone says so', async () => {
  const folder = temporaryFolder('outputs');
  const [there, absent] = [join(folder, 'night.sigmf-data'), join(folder, 'night.sigmf-meta')];
  await writeFile(there, 'the only copy');
  await assert.rejects(checkOutputs({ paths: [absent, there] }), { kind: 'file.exists', where: there });
  await checkOutputs({ paths: [absent, there], overwrite: true });
  await checkOutputs({ paths: [absent] });
});

it('a Measurement Set, which is a folder, is replaced like a file, and no other folder is', async () => {
  const folder = temporaryFolder('outputs');
  const [set, other, named] = ['a.ms', 'b.ms', 'c.fits'].map((name) => join(folder, name));
  for (const path of [set, other, named]) await mkdir(path);
  for (const path of [set, named]) await writeFile(join(path, 'table.dat'), 'a table');
  await assert.rejects(checkOutputs({ paths: [set] }), { kind: 'file.exists', where: set });
  await checkOutputs({ paths: [set], overwrite: true });
  await assert.rejects(
    checkOutputs({ paths: [set], from: set, overwrite: true }),
    /the very file that is read/,
  );
  for (const path of [other, named])
    await assert.rejects(checkOutputs({ paths: [path], overwrite: true }), /it is a folder/);
});

it('a demo takes a folder that is new, empty or of the same demo, and no other', async () => {
  const folder = temporaryFolder('demo-folder');
  const asked = { stations: 8, time: 'now', pixels: undefined };
  await checkDemoFolder(join(folder, 'new'), asked, {});
  await checkDemoFolder(folder, asked, {});
  await writeFile(join(folder, 'voltages.sigmf-data'), 'someone’s');
  await assert.rejects(
    checkDemoFolder(folder, asked, {}),
    /holds voltages\.sigmf-data already; name another folder/,
  );
  await checkDemoFolder(folder, asked, { overwrite: true });
  await writeFile(join(folder, 'summary.json'), JSON.stringify({ options: asked }));
  await checkDemoFolder(folder, asked, {});
  await assert.rejects(
    checkDemoFolder(folder, { ...asked, stations: 16 }, {}),
    /holds the demo of other options; name another folder/,
  );
  await checkDemoFolder(folder, { ...asked, stations: 16 }, { overwrite: true });
  // Written by an earlier version without the options, or by another program.
  for (const text of ['{}', 'no JSON']) {
    await writeFile(join(folder, 'summary.json'), text);
    await assert.rejects(checkDemoFolder(folder, asked, {}), /other options/);
  }
});

it('pictures end in .png', () => {
  checkPngName('--picture', 'x.PNG');
  assert.throws(() => {
    checkPngName('--picture', 'x.jpg');
  }, /--picture: 'x.jpg' does not end in .png/);
});

it('recordings are written as SigMF, and no name that asks for another format is lengthened to one', () => {
  for (const name of ['night', 'night.sigmf', 'night.sigmf-data', 'night.sigmf-meta'])
    assert.deepEqual(recordingPaths(name), ['night.sigmf-data', 'night.sigmf-meta'], name);
  assert.equal(recordingPaths('night.2026')[1], 'night.2026.sigmf-meta');
  for (const name of ['night.uvfits', 'night.UVH5', 'night.vdif', 'night.fits', 'night.json'])
    assert.throws(() => recordingPaths(name), /written as SigMF; end the name in \.sigmf-meta/, name);
});

it('one file is not named for two things', async () => {
  const folder = temporaryFolder('twice');
  const [x, link2] = [join(folder, 'x.json'), join(folder, 'y.json')];
  await writeFile(x, '{}');
  await link(x, link2);
  const checked = (...words: string[]): Promise<unknown> =>
    new Command('x')
      .argument('<from>')
      .argument('[to]')
      .option('--out <path>', '', 'usual.uvh5')
      .option('--equaliser-out <path>')
      .option('--delays <path>')
      .option('--name <word>')
      .hook('preAction', (_, command) => refuseNamedTwice(command))
      .action(() => undefined)
      .parseAsync(words, { from: 'user' });
  for (const [words, error] of [
    [['a.uvh5', '--out', './a.uvh5'], /is the very file that is read/],
    [['a.sigmf-meta', '--equaliser-out', 'a.sigmf-data'], /a\.sigmf-data: is the very file that is read/],
    [['a.uvh5,b.uvh5', 'b.uvh5'], /b\.uvh5: is the very file that is read/],
    [['a.uvh5', 'b.uvh5', '--out', 'b.uvh5'], /b\.uvh5: is named as --out and as the result/],
    [['a.uvh5', '--equaliser-out', 'usual.uvh5'], /is named as --out and as --equaliser-out/],
    [
      ['a.uvh5', '--delays', x, '--equaliser-out', link2],
      /y\.json: is named as --equaliser-out and as --delays/,
    ],
  ] as const)
    await assert.rejects(checked(...words), error, words.join(' '));
  await checked('a.uvh5', 'b.uvh5', '--delays', x, '--equaliser-out', 'z.json', '--name', 'a.uvh5');
});
