import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { allocateSpectra, spectraCAT, type SpectraCAT, type SpectraType } from '../../core/axes.js';
import type { SpectraShape } from '../../core/blocks.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openCpu } from './cpu.js';
import { chooseIsa, isaNumber, levelsOf, levelsUpTo, type Isa } from './levels.js';
import { compiledLevels } from './compiled.testing.js';
import { loadNative } from './library.js';

const library = loadNative();

/** Every element differs from its neighbours on each axis, and all are in the allowed range. */
function pattern(type: SpectraType, channels: number, inputs: number, samples: number): SpectraCAT {
  const spectra = allocateSpectra(type, channels, inputs, samples);
  for (let n = 0; n < spectra.length; n++) {
    if (type === 'ci8') spectra[n] = ((n * 37) % 255) - 127;
    else if (type === 'ci4') spectra[n] = ((((n * 5) % 15) - 7) & 15) << 4 || (((n * 11) % 15) - 7) & 15;
    else spectra[n] = n * 0.25 - 7;
  }
  return spectra;
}

describe('the cpu backend', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    it(`gives back what was written, at level ${isa}`, async () => {
      const cpu = await openCpu({ isa, threads: 2 });
      after(() => cpu.close());
      for (const type of ['ci8', 'ci4', 'cf32'] as const) {
        for (const [channels, inputs, samples] of [
          [1, 1, 1],
          [2, 3, 7],
          [3, 16, 64],
          [2, 19, 130],
          [1, 33, 65],
        ] as const) {
          const shape: SpectraShape = { type, channels, inputs, capacity: 200 };
          const block = cpu.allocateSpectra(shape);
          // Longer contents first: nothing of them may remain.
          await block.write(pattern(type, channels, inputs, 200), 200);
          const spectra = pattern(type, channels, inputs, samples);
          await block.write(spectra, samples);
          assert.equal(block.samples, samples);
          assert.deepEqual(await block.read(), spectra, `${type} ${channels}×${inputs}×${samples}`);
          assert.deepEqual(block.violations, []);
          await block.close();
        }
      }
    });

    it(`finds values that no spectrum may hold, at level ${isa}`, async () => {
      const cpu = await openCpu({ isa, threads: 1 });
      after(() => cpu.close());
      const bad = {
        ci8: Int8Array.of(1, 2, 3, -128, 5, 6, 7, 8, 9, -127, 127, 0),
        ci4: Uint8Array.of(0x11, 0x08, 0x97, 0x79, 0x07, 0x70),
        cf32: Float32Array.of(1, 2, 3, Infinity, 5, 6, 7, 8, 9, 10, 11, 12),
      } satisfies Record<SpectraType, Int8Array | Uint8Array | Float32Array>;
      for (const type of ['ci8', 'ci4', 'cf32'] as const) {
        const block = cpu.allocateSpectra({ type, channels: 1, inputs: 2, capacity: 3 });
        await block.write(spectraCAT(bad[type], type, 1, 2, 3), 3);
        assert.deepEqual(block.violations, [{ channel: 0, input: 0, sample: 1 }], type);
      }
    });
  }

  it('keeps the event loop free and two backends apart', async () => {
    const [one, two] = [await openCpu({ threads: 2 }), await openCpu({ threads: 1 })];
    const shape: SpectraShape = { type: 'ci8', channels: 8, inputs: 32, capacity: 512 };
    const spectra = pattern('ci8', 8, 32, 512);
    const blocks = [one, two, one, two].map((cpu) => cpu.allocateSpectra(shape));
    let wasFree = false;
    setImmediate(() => (wasFree = true));
    await Promise.all(blocks.map((block) => block.write(spectra, 512)));
    assert.ok(wasFree);
    for (const copy of await Promise.all(blocks.map((block) => block.read())))
      assert.deepEqual(copy, spectra);
    await Promise.all([one.close(), two.close()]);
    await one.close();
    await assert.rejects(blocks[0].read(), /the cpu backend is closed/);
    await blocks[0].close();
  });

  it('waits for calls under way before it closes', async () => {
    const cpu = await openCpu({ threads: 1 });
    const block = cpu.allocateSpectra({ type: 'cf32', channels: 4, inputs: 16, capacity: 1024 });
    const writing = block.write(pattern('cf32', 4, 16, 1024), 1024);
    await cpu.close();
    await writing;
  });

  it('turns refusals and lack of memory in native code into errors for people', async () => {
    const cpu = await openCpu({ threads: 1 });
    after(() => cpu.close());
    assert.throws(() => cpu.native.allocate(-1), /cpu: a size is negative/);
    assert.throws(() => cpu.native.allocate(2 ** 50), /not enough memory/);
    await assert.rejects(openCpu({ threads: 0 }), /threads is 0/);
  });
});

describe('instruction-set levels', () => {
  const all = (best: Isa) => ({ best, levels: levelsUpTo(best) });

  it('that were not compiled are refused', () => {
    const own = { best: 'avx512', levels: ['avx512'] } as const;
    assert.equal(chooseIsa(own, undefined, '', 'x64'), 'avx512');
    assert.throws(
      () => chooseIsa(own, 'avx2', '', 'x64'),
      /cpu: the native library was compiled without AVX2; choose avx512, or compile all levels: npm run build/,
    );
    assert.throws(() => chooseIsa(own, undefined, 'portable', 'x64'), /CORELLA_ISA: the native library/);
    assert.throws(() => chooseIsa(own, 'amx', '', 'x64'), /this processor has no AMX/);
  });

  it('follow the option, then the environment, then the best there is', () => {
    assert.equal(chooseIsa(all('avx512'), undefined, '', 'x64'), 'avx512');
    assert.equal(chooseIsa(all('avx512'), undefined, 'avx2', 'x64'), 'avx2');
    assert.equal(chooseIsa(all('avx512'), 'portable', 'avx2', 'x64'), 'portable');
    assert.throws(
      () => chooseIsa(all('avx2'), undefined, 'amx', 'x64'),
      /CORELLA_ISA: this processor has no AMX/,
    );
    assert.equal(chooseIsa(all('i8mm'), undefined, '', 'arm64'), 'i8mm');
    assert.equal(chooseIsa(all('i8mm'), undefined, 'dotprod', 'arm64'), 'dotprod');
    assert.equal(chooseIsa(all('i8mm'), 'portable', 'dotprod', 'arm64'), 'portable');
    assert.throws(
      () => chooseIsa(all('dotprod'), undefined, 'i8mm', 'arm64'),
      /CORELLA_ISA: this processor has no NEON with int8 matrices; choose portable, dotprod$/,
    );
  });

  it('are a chain for each architecture', () => {
    assert.deepEqual(levelsUpTo('avx512'), ['portable', 'avx2', 'avx512']);
    assert.deepEqual(levelsUpTo('i8mm'), ['portable', 'dotprod', 'i8mm']);
    assert.deepEqual(levelsUpTo('portable'), ['portable']);
    // the numbers of native.h
    assert.deepEqual(
      (['portable', 'avx2', 'avx512', 'amx', 'dotprod', 'i8mm'] satisfies Isa[]).map(isaNumber),
      [0, 1, 2, 3, 1, 2],
    );
    assert.deepEqual(levelsOf('riscv64'), ['portable']);
    assert.throws(
      () => chooseIsa(all('avx2'), undefined, 'sse9', 'x64'),
      /'sse9' is not an instruction set; choose portable, avx2/,
    );
    assert.throws(
      () => chooseIsa(all('dotprod'), undefined, 'avx2', 'arm64'),
      /'avx2' is an instruction set of x64, and this processor is arm64; choose portable, dotprod, i8mm/,
    );
    assert.throws(
      () => chooseIsa(all('amx'), undefined, 'dotprod', 'x64'),
      /'dotprod' is an instruction set of arm64/,
    );
    assert.throws(() => chooseIsa(all('amx'), 'i8mm', '', 'x64'), /cpu: this processor has no NEON/);
  });

  it('lets a process end that has not closed it, with threads that look for work', () => {
    if ('what' in library) return;
    const cpu = new URL('cpu.js', import.meta.url).href;
    const words = `import('${cpu}').then((m) => m.openCpu({ threads: 16 })).then(() => console.log('opened'))`;
    for (let n = 0; n < 4; n++)
      assert.equal(execFileSync(process.execPath, ['-e', words], { encoding: 'utf8' }), 'opened\n');
  });

  it('refuses a library that was built from other sources', () => {
    if ('what' in library) return;
    const folder = temporaryFolder('other-library');
    const recorded = readFileSync(join(dirname(library.path), 'build.json'), 'utf8');
    /** The result of opening it, with another record beside the same library. */
    const opened = (name: string, record: string, bytes?: Buffer): string => {
      const place = join(folder, name);
      mkdirSync(place);
      if (bytes) writeFileSync(join(place, basename(library.path)), bytes);
      else copyFileSync(library.path, join(place, basename(library.path)));
      writeFileSync(join(place, 'build.json'), record);
      const cpu = new URL('cpu.js', import.meta.url).href;
      const words = `import('${cpu}').then((m) => m.openCpu()).then(() => 'opened', (e) => e.message).then(console.log)`;
      const env = { ...process.env, CORELLA_NATIVE: place };
      return execFileSync(process.execPath, ['-e', words], { env, encoding: 'utf8' });
    };
    assert.match(opened('same', recorded), /^opened/);
    // An older library under the same name: the library itself reports its build.
    const { hash } = JSON.parse(recorded) as { readonly hash: string };
    const bytes = readFileSync(library.path);
    assert.ok(bytes.indexOf(hash, 0, 'latin1') > 0, 'the library knows its own hash');
    const forged = Buffer.from(bytes.toString('latin1').replaceAll(hash, '0123456789abcdef'), 'latin1');
    assert.match(
      opened('forged', recorded, forged),
      /was built from other sources than this program: it is not the library that its build\.json describes; run npm/,
    );
    // Compiled for one processor, and used on one that lacks its instructions.
    const foreign = recorded.replace(/"levels": \[[^\]]*\]/, '"levels": ["none"]');
    assert.notEqual(foreign, recorded);
    assert.match(
      opened('foreign', foreign),
      /the native library was compiled for another processor: none, and this one has .+; compile it here: npm (run build|rebuild corella) \(all levels/,
    );
    const silent = Buffer.from(
      bytes.toString('latin1').replaceAll('corella_build', 'corella_bu1ld'),
      'latin1',
    );
    assert.equal(silent.length, bytes.length);
    assert.match(opened('silent', recorded, silent), /it does not say what it was built from; run npm/);
    const another = recorded.replace(
      'corella_open(char *error, ',
      'corella_open(char *error, int32_t more, ',
    );
    assert.notEqual(another, recorded);
    assert.match(
      opened('other', another),
      /was built from other sources than this program: its corella_open takes other arguments; run npm (run build|rebuild corella)/,
    );
    assert.match(
      opened('less', recorded.replaceAll('corella_open', 'corella_was')),
      /it has no corella_open;/,
    );
    const { functions, ...old } = JSON.parse(recorded) as Record<string, unknown>;
    assert.ok(functions);
    assert.match(
      opened('old', JSON.stringify(old)),
      /it does not state what it offers; run npm (run build|rebuild corella)/,
    );
  });

  it('is hardened: a guarded stack, imported functions in read-only memory', (test) => {
    if ('what' in library) return;
    if (process.platform !== 'linux' || process.env.CORELLA_NATIVE !== undefined) {
      test.skip('a build for Linux alone, without sanitizers');
      return;
    }
    const file = readFileSync(library.path);
    assert.ok(file.includes('__stack_chk_fail'), 'the stack protector');
    assert.ok(/__\w+_chk\0/.test(file.toString('latin1').replaceAll('__stack_chk', '')), '_FORTIFY_SOURCE');
    const { segments, dynamic } = elf(file);
    assert.ok(segments.includes(0x6474e552), 'PT_GNU_RELRO');
    // DF_BIND_NOW of DT_FLAGS or DF_1_NOW of DT_FLAGS_1.
    assert.ok(
      dynamic.some(
        ([tag, value]) =>
          (tag === 30n && (value & 8n) !== 0n) || (tag === 0x6ffffffbn && (value & 1n) !== 0n),
      ),
      '-z now',
    );
  });
});

/** Types of an ELF file's segments, and the entries of its dynamic section (64 bits, little-endian). */
function elf(file: Buffer): { segments: number[]; dynamic: (readonly [bigint, bigint])[] } {
  const [at, each, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)];
  const headers = Array.from({ length: count }, (_, n) => at + n * each);
  const own = headers.find((header) => file.readUInt32LE(header) === 2) ?? 0;
  const [first, bytes] = [own + 8, own + 32].map((place) => Number(file.readBigUInt64LE(place)));
  return {
    segments: headers.map((header) => file.readUInt32LE(header)),
    dynamic: Array.from({ length: bytes / 16 }, (_, n) => [
      file.readBigInt64LE(first + 16 * n),
      file.readBigInt64LE(first + 16 * n + 8),
    ]),
  };
}
