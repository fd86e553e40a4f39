import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import type { Format, OpenedFile } from './format.js';
import { openFile, visibilityFormatFor } from './registry.js';

const opened = (name: string): OpenedFile =>
  ({ format: name, kind: 'voltages', sampleRateHz: 1e6, centreFrequencyHz: 5e7 }) as OpenedFile;
const format = (name: string, firstByte: number, writes: 'writes' | 'reads'): Format => ({
  name,
  title: name.toUpperCase(),
  extensions: [`.${name}`],
  kinds: [
    {
      title: name.toUpperCase(),
      holds: 'visibilities',
      reads: writes === 'writes' ? [] : ['metafits', 'tuning'],
    },
  ],
  recognise: (_, head) => head[0] === firstByte,
  open: () => Promise.resolve(opened(name)),
  ...(writes === 'writes' && {
    createVisibilities: () => Promise.reject(new Error('not here')),
    repair: () => Promise.resolve(0),
  }),
});
const known = [format('one', 1, 'reads'), format('two', 2, 'writes')];

describe('format registry', () => {
  const folder = temporaryFolder('registry');
  const made = async (name: string, ...bytes: number[]): Promise<string> => {
    await writeFile(join(folder, name), new Uint8Array(bytes));
    return join(folder, name);
  };

  it('goes by content before the name', async () => {
    assert.equal((await openFile(await made('a.one', 2), {}, known)).format, 'two');
  });

  it('refuses options that a file is not read with, and reports which files are', async () => {
    const [one, two] = [await made('o', 1), await made('t', 2)];
    assert.equal((await openFile(one, { metafits: 'x', tuning: 2 }, known)).format, 'one');
    await assert.rejects(
      openFile(two, { metafits: 'x' }, known),
      /t: source\.metafits means nothing for TWO; leave it out: it is for ONE$/,
    );
    await assert.rejects(
      openFile(two, { format: 'two', tuning: 1 }, known),
      /source\.tuning means nothing for TWO/,
    );
  });

  it('reports what is wrong with what it cannot open', async () => {
    await assert.rejects(
      openFile(join(folder, 'none'), {}, known),
      /none: there is no such file; check the name/,
    );
    await assert.rejects(openFile(folder, {}, known), /it is a folder/);
    await assert.rejects(openFile(await made('empty'), {}, known), /the file is empty/);
    await assert.rejects(openFile(await made('b.two', 9), {}, known), /named like TWO but does not hold it/);
    await assert.rejects(
      openFile(await made('c.txt', 9), {}, known),
      /in no format known here; known are ONE \(\.one\); TWO \(\.two\)/,
    );
  });

  it('refuses formats of the field that are not read here by their own names', async () => {
    const cards = (...lines: string[]): string => lines.map((line) => line.padEnd(80)).join('');
    for (const [name, text, words] of [
      [
        'b.fits',
        cards('SIMPLE  =                    T', 'NAXIS   =                    2'),
        /is FITS, but holds neither/,
      ],
      ['c.fil', '\u000c\0\0\0HEADER_START', /SIGPROC filterbank/],
      ['d.timestamp', '2015 04 27 18 45 00 0.000000240 \n', /d\.dat: there is no such file/],
      [
        'd.dat',
        '\u00e0\u000e',
        /samples of a GMRT \(GSB\) recording, by the \.timestamp file beside it; name/,
      ],
      ['e.ms.tar.gz', '\u001f\u008b', /is compressed \(gzip\); unpack it first/],
    ] as const) {
      await writeFile(join(folder, name), text, 'latin1');
      await assert.rejects(openFile(join(folder, name)), words);
    }
    // Without casacore a Measurement Set is refused, with what to install.
    await mkdir(join(folder, 'f.ms'));
    await made('f.ms/table.dat', 1);
    await assert.rejects(openFile(join(folder, 'f.ms'), {}, known), /is a Measurement Set/);
  });

  it('chooses a writer by the name', () => {
    assert.equal(visibilityFormatFor('x/Y.TWO', {}, known).name, 'two');
    assert.throws(
      () => visibilityFormatFor('x.one', {}, known),
      /cannot write '.one' files; visibilities are written as TWO \(\.two\)/,
    );
    assert.throws(() => visibilityFormatFor('x', {}, known), /no extension/);
  });

  it('refuses a writer that cannot hold what is asked, and names those that can', () => {
    const growing = { appears: 'first-integration' } as const;
    const sums = { values: 'sums' } as const;
    for (const path of ['a.uvfits', 'a.uvh5']) assert.ok(visibilityFormatFor(path, growing).grows);
    assert.equal(visibilityFormatFor('a.uvh5', sums).name, 'uvh5');
    assert.throws(
      () => visibilityFormatFor('a.ms', growing),
      /a Measurement Set appears when it is finished; write \.uvfits or \.uvh5/,
    );
    assert.throws(() => visibilityFormatFor('a.ms', sums), /not whole sums; write sums as \.uvh5/);
    assert.throws(() => visibilityFormatFor('a.uvfits', sums), /UVFITS keeps means .* write sums as \.uvh5/);
    // By default a format does not grow, and holds no sums.
    assert.throws(() => visibilityFormatFor('a.two', growing, known), /appears when it is finished/);
    assert.throws(() => visibilityFormatFor('a.two', sums, known), /not whole sums/);
  });
});
