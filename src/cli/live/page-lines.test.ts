import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageLines } from './page-lines.js';

const TOKEN = 'a-token-of-our-own';
const at = (url: string, isLocal: boolean) => ({ url, steerUrl: `${url}#token=${TOKEN}`, isLocal });
const local = at('http://127.0.0.1:8080/', true);
const wide = at('http://192.0.2.7:8080/', false);
const settings = { tokenFile: undefined, tokenOption: '--token-file' };

describe('where a page is', () => {
  it('is reported without the token where others read it', () => {
    for (const page of [local, wide]) {
      const lines = pageLines(page, { ...settings, tokenIs: 'hidden' }).join('\n');
      assert.ok(!lines.includes(TOKEN), lines);
      assert.match(lines, /name a file for it with --token-file/);
      assert.ok(
        !pageLines(page, { ...settings, tokenFile: 'token', tokenIs: 'shown' })
          .join('')
          .includes(TOKEN),
      );
    }
  });
  it('is an address that can be used, on a terminal', () => {
    assert.deepEqual(pageLines(local, { ...settings, tokenIs: 'shown' }), [
      `the sky is at http://127.0.0.1:8080/; to steer, at http://127.0.0.1:8080/#token=${TOKEN}`,
    ]);
    // From other machines, reading needs the token too.
    assert.match(
      pageLines(wide, { ...settings, tokenIs: 'shown' })[0],
      /is at http:\/\/192\.0\.2\.7:8080\/#token=/,
    );
  });
  it('is reported with a warning where other machines reach it', () => {
    assert.equal(pageLines(local, { ...settings, tokenIs: 'shown' }).length, 1);
    assert.match(pageLines(wide, { ...settings, tokenIs: 'hidden' })[1], /without encryption/);
    assert.match(pageLines(wide, { ...settings, tokenFile: 'token', tokenIs: 'hidden' })[1], /warning/);
  });
});
