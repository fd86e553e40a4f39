/** The program of docs/library.md, run as it stands there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { corella, withFolder } from './corella.js';

const page = new URL('../../docs/library.md', import.meta.url);
const skip = existsSync(page) ? false : 'the documentation is not here';

it('the program in docs/library.md makes its images', { skip }, async () => {
  const program = /```ts\n(.*?)```/s.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
  await withFolder(async (folder) => {
    const made = await corella(folder, 'simulate', '--stations', '12', '--rate', '400kHz', '--duration', '12ms', '--quiet'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
    const library = new URL('../index.js', import.meta.url).href;
    await writeFile(join(folder, 'program.mjs'), program.replace("'corella'", `'${library}'`));
    const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder });
    // 12 ms less the filter's own length are two whole integrations of 5 ms, and a little.
    assert.match(stdout, /^3 images of \d+ spectra, 0 samples missing\n$/);
    const pictures = (await readdir(folder)).filter((name) => name.endsWith('.png'));
    assert.deepEqual(pictures.sort(), ['sky-0.png', 'sky-1.png', 'sky-2.png']);
  });
});
