/** The content of a file decides its format and its report; the file name never does. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createHdf5 } from './hdf5/write.js';
import { openOutput } from './io/output.js';
import { openFile } from './registry.js';
import { encodeVdif } from './testing/plain-vdif.js';
import { encodeSkalow } from './testing/skalow-dump.js';
import { header, integration } from './visibilities/uvh5/testing.js';
import { createUvh5 } from './visibilities/uvh5/write.js';

const folder = temporaryFolder('content');
const at = (name: string): string => join(folder, name);

async function ours(name: string, of = header): Promise<string> {
  const writer = await createUvh5(at(name), of, { values: 'complex64' });
  await writer.append(integration(0));
  await writer.finish();
  return at(name);
}
const formatOf = async (path: string, telescope?: typeof header.telescope): Promise<string> => {
  const file = await openFile(path, telescope && { telescope });
  await file.close();
  return file.format;
};

describe('content decides', () => {
  it('UVH5 is UVH5 under the name of a station’s dump, and a dump one under the name of UVH5', async () => {
    assert.equal(await formatOf(await ours('eda2_correlation_burst_204.hdf5')), 'uvh5');
    writeFileSync(at('dump.uvh5'), await encodeSkalow(3));
    assert.equal(await formatOf(at('dump.uvh5'), header.telescope), 'skalow');
    copyFileSync(await ours('plain.uvh5'), at('no-extension'));
    assert.equal(await formatOf(at('no-extension')), 'uvh5');
  });

  it('HDF5 behind a user block is read', async () => {
    const bytes = readFileSync(await ours('bare.uvh5'));
    for (const blockBytes of [512, 1 << 15]) {
      const path = at(`block-${blockBytes}`);
      writeFileSync(path, Buffer.concat([Buffer.alloc(blockBytes, 'notes of an observer\n'), bytes]));
      const file = await openFile(path);
      assert.ok(file.kind === 'visibilities' && file.integrationCount === 1);
      await file.close();
    }
  });

  it('content of no known format is refused as such', async () => {
    const said = async (name: string): Promise<string> => {
      writeFileSync(at(name), Buffer.alloc(300, 0x55));
      return openFile(at(name)).then(
        () => assert.fail('it was opened'),
        (error: unknown) => String(error),
      );
    };
    // Without an extension, the time-stamp file's name cannot be derived.
    assert.match(await said('mystery'), /mystery: is in no format known here/);
    assert.match(
      await said('foo.bin'),
      /is in no format known here; if it is plain binary, .*source\.format: raw/,
    );
    writeFileSync(at('gsb.timestamp'), '2015 04 27 18 45 00 0.000000240 \n');
    assert.match(await said('gsb.dat'), /GSB/);
    writeFileSync(at('cut.uvh5x'), readFileSync(await ours('cut.uvh5')).subarray(0, 900));
    await assert.rejects(openFile(at('cut.uvh5x')), /cannot be opened as HDF5 .*it is damaged or cut short/);
  });

  it('VDIF without a sync word is VDIF by its frames, whatever its name', async () => {
    const bytes = encodeVdif({ frames: 6, samples: 64 });
    for (const name of ['mystery2', 'station.dada', 'station.dat']) {
      writeFileSync(at(name), bytes);
      const file = await openFile(at(name), { sampleRateHz: 128e3 });
      await file.close();
      assert.equal(file.format, 'vdif', name);
    }
    // One header alone is not VDIF: any bytes form some header.
    writeFileSync(at('once.dat'), Buffer.concat([bytes.subarray(0, 96), Buffer.alloc(900, 0x55)]));
    await assert.rejects(openFile(at('once.dat')), /is in no format known here/);
  });

  it('a foreign .dat is not called damaged LWA frames', async () => {
    writeFileSync(at('foreign.dat'), Buffer.alloc(5000, 0x37));
    await assert.rejects(openFile(at('foreign.dat')), /is in no format known here; if it is plain binary/);
  });

  it('folders and archives that are data sets of others are named as what they are', async () => {
    const refused = (path: string, words: RegExp): Promise<void> => assert.rejects(openFile(path), words);
    for (const [name, parts, words] of [
      ['a.uv', ['visdata', 'vartable', 'header'], /is a MIRIAD data set.*fits op=uvout/],
      ['200101', ['in_read', 'bl_read', 'sch_read'], /is a MIR data set.*pyuvdata/],
    ] as const) {
      mkdirSync(at(name));
      for (const part of parts) writeFileSync(join(at(name), part), '');
      await refused(at(name), words);
    }
    mkdirSync(at('plain'));
    await refused(at('plain'), /it is a folder/);
    const tar = Buffer.alloc(1024);
    tar.write('recording.vdif');
    tar.write('ustar', 257);
    writeFileSync(at('recording.tar'), tar);
    await refused(at('recording.tar'), /is an archive \(tar\).*tar xf/);
    writeFileSync(at('20240101_120000_xst.dat'), Buffer.alloc(4096, 0x55));
    await refused(at('20240101_120000_xst.dat'), /is by its name a LOFAR crosslet or array statistics file/);
    const statistics = await openOutput(at('statistics.h5'));
    const group = { kind: 'group', items: {} } as const;
    await (
      await createHdf5(statistics, { kind: 'group', items: { 'XST_2024-01-01T00:00:00.000_SB100': group } })
    ).commit();
    await statistics.finish();
    await refused(at('statistics.h5'), /holds crosslet statistics of a LOFAR station \(XST\)/);
    // A frame of 64 tracks: a sync word of 32 ones on each.
    const tracks = Buffer.alloc(20_000, 0x5a);
    tracks.fill(0xff, 9000, 9256);
    writeFileSync(at('tape.m4'), tracks);
    await refused(at('tape.m4'), /looks like Mark 4/);
  });

  it('a link that leads nowhere is reported as one', async () => {
    symlinkSync('gone.uvh5', at('link.uvh5'));
    await assert.rejects(openFile(at('link.uvh5')), /is a link to gone\.uvh5, which is not there/);
  });

  it('a site off the Earth is refused by its number', async () => {
    const { telescope } = header;
    const off = { ...telescope, site: { ...telescope.site, latitudeDeg: 200 } };
    const path = await ours('off.uvh5', { ...header, telescope: off });
    await assert.rejects(openFile(path), /its site is at latitude 200°/);
  });
});
