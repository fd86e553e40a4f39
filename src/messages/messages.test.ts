import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { explained, message, messagesIn, reworded, shown, textOf, type Line } from './index.js';

describe('a message', () => {
  const high = message('calibrate.leakage-high', { largest: 1.93, most: 0.5 });

  it('has code, severity, data and text', () => {
    assert.deepEqual(
      { code: high.code, severity: high.severity, data: high.data },
      { code: 'calibrate.leakage-high', severity: 'warning', data: { largest: 1.93, most: 0.5 } },
    );
    assert.match(high.text, /^leakage of 193\.0 % is more than antennas have \(50\.0 %\)/);
  });

  it('of a warning is shown with its code, a note is not', () => {
    assert.equal(shown(high), `warning: ${high.text} [calibrate.leakage-high]`);
    const note = message('calibrate.beam-unknown');
    assert.deepEqual([shown(note), note.data], [note.text, {}]);
  });

  it('among lines is found, and put into other words without changing its data', () => {
    const lines: Line[] = ['a.fits: 64 pixels', high];
    assert.deepEqual(messagesIn(lines), [high]);
    const other = reworded(high, (text) => text.replace('products.gains.feeds', '--feeds'));
    assert.match(textOf(other), /--feeds/);
    assert.deepEqual((other as typeof high).data, high.data);
    assert.equal(
      reworded('x', (text) => text + text),
      'xx',
    );
  });
});

describe('the table of messages', () => {
  it('has codes of area and name, each once, with an explanation in sentences', () => {
    const codes = explained.map(({ code }) => code);
    assert.equal(new Set(codes).size, codes.length);
    assert.ok(codes.length > 100, String(codes.length));
    for (const { code, kind, help, data } of explained) {
      assert.match(code, kind === 'message' ? /^[a-z][a-z-]*\.[a-z][a-z-]*$/ : /^[a-z][a-z.-]*$/, code);
      assert.match(help, /^[A-Z`].*\.$/s, code);
      for (const [name, what] of Object.entries(data)) assert.ok(what.length > 1, `${code} ${name}`);
    }
  });

  const source = new URL('../../src/', import.meta.url);
  const noSources = existsSync(source) ? false : 'a bundle has no sources';
  it('has no message that nothing makes', { skip: noSources }, async () => {
    const files = (await readdir(source, { recursive: true })).filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.endsWith('.test.ts') &&
        !/^(?:messages\/(?!index\.ts)|acceptance\/)/.test(file),
    );
    const all = (await Promise.all(files.map((file) => readFile(new URL(file, source), 'utf8')))).join('\n');
    const unused = explained.filter(({ code, kind }) => kind === 'message' && !all.includes(`'${code}'`));
    assert.deepEqual(
      unused.map(({ code }) => code),
      [],
    );
  });
});
