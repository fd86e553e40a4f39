/** Tests that need no card: names, numbers, places, and the error without a card. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { describeDevices, explainAuto, openBackend } from '../select.js';
import { choosePath, describeCuda, openCuda } from './cuda.js';
import { chooseDevice, type DeviceFacts } from './device.js';
import { driverPrototypes } from './driver.js';
import { cacheFolder, cacheKey } from './kernels.js';
import { compilerPlaces, openLibrary, userFolders } from './libraries.js';
import { chooseTarget, compilerPrototypes, openCompiler } from './nvrtc.js';
import { koffiType, parsePrototype } from './prototypes.js';
import { pitchBytesFor, spectraRequest } from './spectra.js';
import { allocateNative, MEMCPY_2D_BYTES, memcpy2DLayout, writeRowCopy } from './structs.js';
import { wgmmaHeader } from './wgmma.js';

const card = (capability: number, name = 'a card'): DeviceFacts => ({
  ordinal: 0,
  name,
  capability,
  multiprocessors: 1,
  memoryBytes: 8e9,
  sharedBytesPerBlock: 99e3,
});
const presence = describeCuda();

describe('cuda bindings', () => {
  it('every prototype parses, and each of its types has a binding', () => {
    for (const [name, text] of Object.entries({ ...driverPrototypes, ...compilerPrototypes })) {
      const prototype = parsePrototype(text);
      assert.equal(prototype.name, name);
      for (const { type } of [...prototype.parameters, { type: prototype.result }])
        assert.ok(koffiType(type));
    }
  });

  it('text is copied, other memory and handles go by address', () => {
    const { parameters } = parsePrototype(
      'CUresult f(const char *a, const char **b, CUstream s, CUdeviceptr p, size_t n)',
    );
    assert.deepEqual(
      parameters.map(({ type }) => koffiType(type)),
      ['const char *', 'void *', 'void *', 'uint64_t', 'size_t'],
    );
    assert.throws(() => koffiType('CUmystery'), /no binding for the C type 'CUmystery'/);
  });

  it('a copy of rows states where from and where to, by direction', () => {
    const memory = allocateNative(MEMCPY_2D_BYTES);
    const copy = { host: 7n, hostPitchBytes: 10, device: 9n, devicePitchBytes: 128, widthBytes: 10, rows: 3 };
    const at = memcpy2DLayout;
    const word = (offset: number): number => Number(memory.bytes.getBigUint64(offset, true));
    writeRowCopy(memory.bytes, copy, 'up');
    assert.deepEqual([at.srcHost, at.srcPitch, at.dstDevice, at.dstPitch].map(word), [7, 10, 9, 128]);
    assert.deepEqual([at.WidthInBytes, at.Height].map(word), [10, 3]);
    writeRowCopy(memory.bytes, copy, 'down');
    assert.deepEqual([at.dstHost, at.dstPitch, at.srcDevice, at.srcPitch].map(word), [7, 10, 9, 128]);
    assert.equal(memory.bytes.getInt32(at.srcMemoryType, true), 2);
    assert.equal(memory.address % 128n, 0n);
  });
});

describe('choosing a card, a path and a target', () => {
  it('refuses a card that is too old, and one that is not there', () => {
    assert.throws(
      () => chooseDevice([card(52, 'GTX 980')]),
      /GTX 980 has compute capability 5.2, the kernels need 6.1/,
    );
    assert.throws(() => chooseDevice([]), /no NVIDIA GPU is visible/);
    assert.throws(() => chooseDevice([card(90)], 1), /device is 1; give a whole number from 0 to 0/);
  });

  it('takes the best path the card has, or the one asked for', () => {
    assert.equal(choosePath(card(90), ''), 'hopper');
    assert.equal(choosePath(card(80), ''), 'tensor');
    assert.equal(choosePath(card(120), ''), 'tensor');
    assert.equal(choosePath(card(75), ''), 'dp4a');
    assert.equal(choosePath(card(90), 'dp4a'), 'dp4a');
    assert.throws(
      () => choosePath(card(80), 'hopper'),
      /path 'hopper' does not run on a card; choose one of tensor, dp4a/,
    );
  });

  it('compiles for the card itself, or leaves the rest to the driver', () => {
    assert.deepEqual(chooseTarget(90, [75, 80, 90]), { kind: 'cubin', architecture: 'sm_90a' });
    assert.deepEqual(chooseTarget(80, [75, 80, 90]), { kind: 'cubin', architecture: 'sm_80' });
    assert.deepEqual(chooseTarget(130, [75, 80, 120]), { kind: 'ptx', architecture: 'compute_120' });
    assert.equal(chooseTarget(61, [75, 80]), undefined);
  });
});

describe('where libraries and compiled kernels are', () => {
  const folder = temporaryFolder('libraries');

  it('looks first where the user wants it, and below', () => {
    const folders = userFolders({ CORELLA_CUDA_PATH: '/opt/a:/opt/b' });
    assert.deepEqual(folders.slice(0, 3), ['/opt/a', '/opt/a/lib64', '/opt/a/lib']);
    assert.ok(folders.includes('/opt/b/lib64'));
    assert.deepEqual(userFolders({}), []);
  });

  it("finds Python wheels beside the PATH's Pythons", () => {
    const wheel = join(folder, 'lib', 'python3.12', 'site-packages', 'nvidia', 'cu13', 'lib');
    mkdirSync(wheel, { recursive: true });
    assert.ok(compilerPlaces({ PATH: join(folder, 'bin') }).folders.includes(wheel));
    assert.ok(compilerPlaces({ VIRTUAL_ENV: folder }).folders.includes(wheel));
  });

  it('reports what was not found and what to do; a file that is no library is passed over', () => {
    writeFileSync(join(folder, 'libmissing.so'), 'not a library');
    assert.throws(
      () => openLibrary({ title: 'A thing', names: ['libmissing.so'], folders: [folder], fix: 'get it' }),
      /cuda: A thing \(libmissing.so\) was not found; get it/,
    );
  });

  it('keeps kernels in the cache folder, by all that decides them', () => {
    assert.equal(cacheFolder({ XDG_CACHE_HOME: '/c' }), '/c/corella/kernels');
    assert.match(cacheFolder({}), /\.cache\/corella\/kernels$/);
    const request = { name: 'a.cu', source: 'x', headers: { h: 'y' }, defines: { A: 1, B: 2 } };
    const target = { kind: 'cubin', architecture: 'sm_90a' } as const;
    const key = cacheKey(request, target, '13.0');
    assert.equal(cacheKey({ ...request, defines: { B: 2, A: 1 } }, target, '13.0'), key);
    const others = [
      cacheKey({ ...request, source: 'z' }, target, '13.0'),
      cacheKey({ ...request, headers: { h: 'z' } }, target, '13.0'),
      cacheKey({ ...request, defines: { A: 1, B: 3 } }, target, '13.0'),
      cacheKey(request, { ...target, architecture: 'sm_80' }, '13.0'),
      cacheKey(request, target, '12.9'),
    ];
    assert.equal(new Set([key, ...others]).size, 6);
  });
});

describe('absence', () => {
  it(
    'is reported in one line, and auto goes on',
    { skip: presence.present ? 'there is a card here' : false },
    async () => {
      assert.ok(!presence.present);
      assert.match(presence.reason, /^[^\n]+$/);
      assert.match(presence.fix, /another backend: cpu|driver|CORELLA_CUDA_PATH/);
      await assert.rejects(openCuda(), (error: Error) => error.message.includes(presence.reason));
      const devices = describeDevices();
      assert.equal(devices.find((device) => device.kind === 'cuda')?.present, false);
      assert.match(explainAuto(devices), /'cuda' is absent: /);
      const backend = await openBackend('auto');
      assert.notEqual(backend.kind, 'cuda');
      await backend.close();
    },
  );
});

describe('sources', () => {
  it('rows are padded to whole spans of 128 bytes', () => {
    // 64 samples of 2 bytes are one span, 65 need two; 16 complex floats are one.
    assert.equal(pitchBytesFor('ci8', 64), 128);
    assert.equal(pitchBytesFor('ci4', 65), 256);
    assert.equal(pitchBytesFor('cf32', 16), 128);
    assert.equal(pitchBytesFor('ci8', 1), 128);
  });

  it('a wgmma of N columns names N / 2 sums, four operands and a descriptor', () => {
    const text = wgmmaHeader([32]);
    assert.match(text, /m64n32k32\.s32\.s8\.s8 \{%0, %1,[^}]*%15\}, \{%16, %17, %18, %19\}, %20, 1;/);
    assert.equal(text.match(/"\+r"/g)?.length, 16);
  });

  const compiler = ((): string | undefined => {
    try {
      openCompiler();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  })();
  it(
    'compile at run time; an error carries the log and the defines',
    { skip: compiler ?? false },
    async () => {
      const target = { kind: 'cubin', architecture: 'sm_80' } as const;
      const image = await openCompiler().compile(spectraRequest(), target);
      assert.deepEqual([...image.subarray(0, 4)], [0x7f, 0x45, 0x4c, 0x46]); // an ELF file
      const broken = {
        name: 'broken.cu',
        source: '__global__ void f() { wrong; }',
        headers: {},
        defines: { SIZE: 3 },
      };
      await assert.rejects(
        openCompiler().compile(broken, target),
        /broken.cu does not compile for sm_80 with -DSIZE=3[\s\S]*"wrong" is undefined/,
      );
    },
  );
});
