import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CorellaError } from '../../core/errors.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openInput } from './input.js';
import {
  checkOutput,
  makeFolder,
  openOutput,
  openOutputSet,
  writeFileWhole,
  type OutputFile,
} from './output.js';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('output files', () => {
  const folder = temporaryFolder('output');

  it('appear only when finished, with headers patched', async () => {
    const path = join(folder, 'a.bin');
    const file = await openOutput(path);
    await Promise.all([file.write(text('0123')), file.write(text('4567'))]);
    await file.writeAt(2, text('xx'));
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name === 'a.bin'),
      [],
    );
    await file.finish();
    await file.abandon();
    assert.equal(await readFile(path, 'utf8'), '01xx4567');
    assert.equal(file.sizeBytes, 8);
    assert.deepEqual(await readdir(folder), ['a.bin']);
  });

  it('never replace what is being read, and may when it was', async () => {
    const path = join(folder, 'read.bin');
    await writeFile(path, 'the only copy');
    const input = await openInput(path);
    await assert.rejects(openOutput(path), /read\.bin: is the very file that is read/);
    await input.close();
    // Opened meanwhile.
    const output = await openOutput(path);
    await output.write(text('new'));
    const again = await openInput(path);
    await assert.rejects(output.finish(), /is the very file that is read/);
    await again.close();
    assert.equal(await readFile(path, 'utf8'), 'the only copy');
    await writeFileWhole(path, 'new');
    assert.equal(await readFile(path, 'utf8'), 'new');
    await rm(path);
  });

  it('are refused while another process writes them', { skip: process.platform !== 'linux' }, async () => {
    for (const place of ['live.uvh5', 'live.ms/table.dat']) {
      const path = join(folder, place);
      if (place.includes('/')) await mkdir(join(folder, 'live.ms'));
      const code = `import { openSync, writeSync } from 'node:fs'; writeSync(openSync(${JSON.stringify(path)}, 'w'), 'live'); console.log('open'); setInterval(() => {}, 1000);`;
      const other = spawn(process.execPath, ['--input-type=module', '-e', code]);
      await once(other.stdout, 'data');
      const output = join(folder, place.split('/')[0]);
      const closed = once(other, 'close');
      try {
        await assert.rejects(checkOutput(output), new RegExp(`written by another process, ${other.pid}`));
      } finally {
        other.kill();
        await closed;
      }
      await checkOutput(output);
      await rm(output, { recursive: true });
    }
  });

  it('leave nothing when abandoned, and keep what was there', async () => {
    const path = join(folder, 'b.bin');
    await writeFileWhole(path, 'old');
    const file = await openOutput(path);
    await file.write(text('new'));
    await file.abandon();
    await file.abandon();
    assert.equal(await readFile(path, 'utf8'), 'old');
    await assert.rejects(file.write(text('more')), /after it was finished or abandoned/);
    await rm(path);
    assert.deepEqual(await readdir(folder), ['a.bin']);
  });

  it('take a patch that runs on beyond the end, and refuse one that leaves a hole', async () => {
    const file = await openOutput(join(folder, 'c.bin'));
    await file.write(text('abc'));
    await file.writeAt(2, text('de'));
    assert.equal(file.sizeBytes, 4);
    await file.write(text('f'));
    await assert.rejects(file.writeAt(6, text('g')), /outside/);
    await file.finish();
    assert.equal(await readFile(join(folder, 'c.bin'), 'utf8'), 'abdef');
    await rm(join(folder, 'c.bin'));
  });

  it('are refused by name where another program cut them: no hole is left where their bytes were', async () => {
    const steps: Record<string, (file: OutputFile) => Promise<void>> = {
      write: (file) => file.write(text('89')),
      patch: (file) => file.writeAt(0, text('xx')),
      resize: (file) => file.resize(20),
      finish: (file) => file.finish(),
    };
    for (const [step, go] of Object.entries(steps)) {
      const path = join(folder, `cut-${step}.bin`);
      const file = await openOutput(path);
      await file.write(text('01234567'));
      await file.appear();
      // A file that grows under its final name can be damaged by other programs.
      await truncate(path, 3);
      await assert.rejects(
        go(file),
        (error: unknown) =>
          error instanceof CorellaError &&
          error.message.startsWith(
            `${path}: was truncated by another program while it was written: 3 bytes are left of 8; write it again`,
          ),
        step,
      );
      await file.abandon();
      assert.equal(await readFile(path, 'utf8'), '012', `${step}: left as it was found`);
      await rm(path);
    }
    // Truncating it ourselves is not an error, nor is growth by another process.
    const path = join(folder, 'ours.bin');
    const file = await openOutput(path);
    await file.write(text('01234567'));
    await file.resize(4);
    await file.write(text('ab'));
    await file.finish();
    assert.equal(await readFile(path, 'utf8'), '0123ab');
    await rm(path);
  });

  it('report why a place cannot be written', async () => {
    await assert.rejects(openOutput(join(folder, 'none', 'x')), (error: unknown) => {
      assert.ok(error instanceof CorellaError);
      assert.match(error.message, /x: cannot be written: the folder .*none does not exist; make it first/);
      return true;
    });
    await assert.rejects(openOutput(join(folder, 'a.bin', 'x')), /is not a folder/);
    await assert.rejects(openOutput(folder), /it is a folder; name a file inside it/);
    await assert.rejects(openOutput(''), /no file name/);
    await assert.rejects(makeFolder(join(folder, 'a.bin')), /a file of that name is in the way/);
    await assert.rejects(makeFolder('/proc/corella'), /the folder cannot be made/);
  });

  it('come in sets: all or none', async () => {
    const blocked = join(folder, 'set.meta');
    const data = join(folder, 'set.data');
    const set = await openOutputSet([data, blocked]);
    await set.files[0].write(text('d'));
    await set.files[1].write(text('m'));
    // A folder takes the second name between opening and finishing: the first file must not remain.
    await mkdir(blocked);
    await assert.rejects(set.finish(), /it is a folder/);
    assert.deepEqual((await readdir(folder)).sort(), ['a.bin', 'set.meta']);
    await rm(blocked, { recursive: true });

    const good = await openOutputSet([data, blocked]);
    await good.finish();
    assert.deepEqual((await readdir(folder)).sort(), ['a.bin', 'set.data', 'set.meta']);
    await rm(data);
    await rm(blocked);
  });

  for (const ending of ['SIGINT', 'exit', 'throw']) {
    it(`are removed when the process ends by ${ending}`, async () => {
      const script = join(folder, 'run.mjs');
      const module = new URL('./output.js', import.meta.url).href;
      await writeFile(
        script,
        `import { openOutput } from ${JSON.stringify(module)};
         const file = await openOutput(${JSON.stringify(join(folder, 'half.bin'))});
         await file.write(new Uint8Array(10));
         if (${JSON.stringify(ending)} === 'exit') process.exit(3);
         if (${JSON.stringify(ending)} === 'throw') throw new Error('fell');
         process.kill(process.pid, 'SIGINT');
         setInterval(() => {}, 1000);`,
      );
      const child = spawn(process.execPath, [script], { stdio: 'ignore' });
      const [code, signal] = await new Promise<[number | null, string | null]>((done) => {
        child.on('exit', (exitCode, exitSignal) => {
          done([exitCode, exitSignal]);
        });
      });
      assert.deepEqual(
        [code, signal],
        ending === 'SIGINT' ? [null, 'SIGINT'] : [ending === 'exit' ? 3 : 1, null],
      );
      await rm(script);
      assert.deepEqual(await readdir(folder), ['a.bin']);
    });
  }
});
