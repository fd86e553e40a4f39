/** Tests of the library from an optional package. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { version } from '../../core/program/version.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { packagedLibrary } from './library.js';

/** As npm installs it: node_modules/corella beside node_modules/@corella/PLATFORM. */
function installed(written: string | undefined): { readonly from: string; readonly beside: string } {
  const modules = join(temporaryFolder('packaged'), 'node_modules');
  const beside = join(modules, '@corella', `${process.platform}-${process.arch}`);
  mkdirSync(join(modules, 'corella'), { recursive: true });
  mkdirSync(beside, { recursive: true });
  if (written !== undefined)
    writeFileSync(join(beside, 'package.json'), JSON.stringify({ version: written }));
  return { from: pathToFileURL(join(modules, 'corella', 'main.js')).href, beside };
}

describe('the library of an optional package', () => {
  it('is found beside the package', () => {
    const { from, beside } = installed(version());
    assert.equal(packagedLibrary(from), join(beside, 'native'));
  });

  it('is not used from another version, and may be absent', () => {
    assert.equal(packagedLibrary(installed('0.0.1').from), undefined);
    assert.equal(packagedLibrary(installed(undefined).from), undefined);
  });
});
